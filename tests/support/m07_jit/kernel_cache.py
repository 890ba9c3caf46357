"""Fixtures for milestones that launch kernels: compiled kernels go to a folder of this run, not to the user's."""

from collections.abc import Iterator

import pytest

SWITCHES = ("MINI_TRITON_ALWAYS_COMPILE", "MINI_TRITON_PRINT", "MINI_TRITON_KERNEL_DUMP", "MINI_TRITON_DUMP_DIR")


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        for switch in SWITCHES:
            patch.delenv(switch, raising=False)
        yield
