"""The kernel cache lasts for one test run, and a missing PyTorch is reported once."""

from collections.abc import Iterator

import pytest

from tests.oracles import pytorch as torch
from tests.support.m07_jit.kernel_cache import cache_folder

__all__ = ["cache_folder"]

SWITCHES = ("MINI_TRITON_CACHE_AUTOTUNING", "MINI_TRITON_PRINT_AUTOTUNING")


@pytest.fixture(scope="session", autouse=True)
def quiet() -> Iterator[None]:
    """The user's environment variables do not change what tuners keep and print. PyTorch is loaded now."""
    torch.manual_seed(0)
    with pytest.MonkeyPatch.context() as patch:
        for switch in SWITCHES:
            patch.delenv(switch, raising=False)
        yield
