"""Kernels for GPUs, compiled in threads. Not graded."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import mini_triton as triton  # noqa: E402
import mini_triton.language as tl  # noqa: E402
from mini_triton.compat.substitution import real_triton, substituted  # noqa: E402
from mini_triton.fusion import ahead  # noqa: E402
from mini_triton.language.constexpr import constexpr  # noqa: E402
from mini_triton.runtime.compiled_kernel import CompiledKernel  # noqa: E402

from tests.oracles import triton as oracle  # noqa: E402

needs_triton = pytest.mark.skipif(not oracle.available(), reason="real Triton is not installed")


@triton.jit
def softmax(x: Any, out: Any, BLOCK: constexpr) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    e = tl.exp(tl.load(x + at))
    tl.store(out + at, e / tl.sum(e))


def test_a_launch_finds_the_kernel_that_was_compiled_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[Any] = []
    monkeypatch.setattr(CompiledKernel, "lower", lambda kernel, target: lowered.append((kernel, target)))
    monkeypatch.setattr(ahead, "capability_here", lambda gpu: {1: 90}[gpu])
    tensor = SimpleNamespace(device=torch.device("cuda:1"), dtype=torch.float32)
    kernel: Any = SimpleNamespace(
        name="softmax", tensors=[tensor, tensor], numbers=[], constants={"BLOCK": 64, "num_warps": 2}
    )
    exec(ahead.list_kernels([kernel, kernel]), {**vars(ahead), "softmax": softmax})
    x = torch.randn(64)
    assert lowered == [(softmax[(1,)](x, torch.empty_like(x), BLOCK=64, num_warps=2), "sm_90")]


@pytest.mark.parametrize("device, numbers", [("cpu", []), ("cuda:0", ["n"])], ids=["CPU", "number"])
def test_kernels_that_are_not_compiled_ahead(device: str, numbers: list[str]) -> None:
    tensor = SimpleNamespace(device=torch.device(device), dtype=torch.float32)
    kernel: Any = SimpleNamespace(name="softmax", tensors=[tensor], numbers=numbers, constants={})
    assert ahead.list_kernels([kernel]) == ""


@needs_triton
def test_threads_compile_what_one_thread_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Meanwhile, another thread imports ours by the name of real Triton."""
    kernels = [softmax.warmup(torch.float32, torch.float32, BLOCK=32 << n, num_warps=1 << n % 3) for n in range(6)]
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            with substituted():
                __import__("triton")

    def compiled(folder: str, lower: Any) -> list[Any]:
        monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / folder))
        for kernel in kernels:
            kernel.products.clear()
        lower()
        return [dict(kernel.products["gpu", 90][0].asm) for kernel in kernels]

    other = threading.Thread(target=swap)
    other.start()
    try:
        found = compiled("threads", lambda: ahead.lower_all(dict.fromkeys(kernels, "sm_90")))
    finally:
        done.set()
        other.join()
    assert found == compiled("serial", lambda: [kernel.lower("sm_90") for kernel in kernels])


@needs_triton
def test_real_triton_stays_until_the_last_thread_leaves() -> None:
    def file() -> str:
        return str(__import__("triton").__file__)

    first, second = real_triton(), real_triton()
    with substituted():
        ours = file()
        with first:
            theirs = file()
            second.__enter__()
        assert file() == theirs != ours
        second.__exit__(None, None, None)
        assert file() == ours
    assert file() == theirs
