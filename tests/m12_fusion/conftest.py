"""The kernel cache lasts for one test run, and PyTorch's compiler is loaded before the first test."""

from tests.support.m07_jit.kernel_cache import cache_folder
from tests.support.m12_fusion.compiler import imported

__all__ = ["cache_folder", "imported"]
