"""The kernel cache lasts for one test run."""

from tests.support.m07_jit.kernel_cache import cache_folder

__all__ = ["cache_folder"]
