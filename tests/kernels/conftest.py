"""Kernels are cached for this run only."""

from tests.support.m07_jit.kernel_cache import cache_folder

__all__ = ["cache_folder"]
