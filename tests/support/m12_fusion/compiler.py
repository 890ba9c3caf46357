"""PyTorch's compiler, loaded before the first test."""

import pytest

from tests.oracles import pytorch


@pytest.fixture(scope="session", autouse=True)
def imported() -> None:
    """Import PyTorch's compiler, so that its load time and its absence do not count against the first test.

    `pytorch` also sets the number of threads. Otherwise, pickle would set it while Dynamo traces, which is an error:
    pickle looks for a function's name in all modules, and `pytorch` is one of them.

    After each compilation, it flushes the processor's caches to measure how long guards take. No test asks for this
    time, so the 25 ms are saved.
    """
    pytorch.manual_seed(0)
    import torch._inductor.compile_fx  # noqa: F401
    from torch._dynamo import guards

    guards.profile_guard_manager = lambda *_: 0.0
