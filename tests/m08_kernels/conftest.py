"""The kernel cache lasts for one test run, and a missing PyTorch is reported once."""

import pytest

from tests.oracles import pytorch as torch
from tests.support.m07_jit.kernel_cache import cache_folder

__all__ = ["cache_folder"]


@pytest.fixture(scope="session", autouse=True)
def imported() -> None:
    """Report a failing import or a missing PyTorch once, and not as a failure of the first random case."""
    torch.manual_seed(0)
