"""A fixture for milestones that launch kernels: the user's cache and environment variables have no effect."""

from collections.abc import Iterator

import pytest

SWITCHES = (
    "MINI_TRITON_ALWAYS_COMPILE",
    "MINI_TRITON_BACKEND",
    "MINI_TRITON_DUMP_DIR",
    "MINI_TRITON_KERNEL_DUMP",
    "MINI_TRITON_PRINT",
)


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        for switch in SWITCHES:
            patch.delenv(switch, raising=False)
        yield
