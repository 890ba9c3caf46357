"""The kernel cache lasts for one test run, and PyTorch's compiler is loaded before the first test."""

from __future__ import annotations

import pytest

from tests.oracles import pytorch
from tests.support.m07_jit.kernel_cache import cache_folder

__all__ = ["cache_folder"]


@pytest.fixture(scope="session", autouse=True)
def imported() -> None:
    """Import PyTorch's compiler, so that its load time and its absence do not count against the first test."""
    pytorch.manual_seed(0)
    import torch._inductor.compile_fx  # noqa: F401
