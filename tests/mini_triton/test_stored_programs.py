"""Programs of whole models on disk. Not graded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from functorch.compile import make_boxed_func  # noqa: E402
from mini_triton.fusion import stored  # noqa: E402
from mini_triton.fusion.backend import mini_triton, programs  # noqa: E402
from mini_triton.runtime import keys  # noqa: E402

from tests.support.m12_fusion.compiler import imported  # noqa: E402

__all__ = ["imported"]


def layers(x: Any) -> Any:
    """Kernels, an operator that PyTorch computes, a constant, and a view as a result."""
    return torch.softmax(x.cumsum(0) * torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=x.dtype), -1).t(), x.t()


def compiled(
    function: Callable[..., Any] = layers, *, shape: Any = (6, 4), dtype: Any = torch.float32, **options: Any
) -> int:
    """The number of programs that a call and its backward pass compile in what could be a new process."""
    torch._dynamo.reset()
    before = len(programs)
    x = torch.randn(shape).to(dtype).requires_grad_()
    y = x.detach().clone().requires_grad_()
    expected, found = function(x), torch.compile(function, backend=mini_triton, **options)(y)
    torch.testing.assert_close(found, expected)
    for results in (expected, found):
        sum(part.double().square().sum() for part in results).backward()
    torch.testing.assert_close(y.grad, x.grad)
    return len(programs) - before


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINI_TRITON_CACHE_PROGRAMS", "1")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(stored, "SHORT", 0)


def test_a_program_is_compiled_once() -> None:
    assert [compiled(), compiled()] == [2, 0]


def test_a_program_for_all_sizes_is_compiled_once() -> None:
    counts = [compiled(shape=(rows, 4), dynamic=True) for rows in (6, 7)]
    assert counts[0] == 2
    assert compiled(shape=(6, 4), dynamic=True) == 0


@pytest.mark.parametrize(
    "other",
    [{"shape": (7, 4)}, {"dtype": torch.float64}, {"options": {"fuse": False}}, {"function": lambda x: (x.sin(), x)}],
    ids=["sizes", "dtype", "options", "function"],
)
def test_another_program_is_compiled(other: dict[str, Any]) -> None:
    compiled()
    assert compiled(**other) == 2


def test_strides_matter() -> None:
    def call(x: Any) -> int:
        torch._dynamo.reset()
        before = len(programs)
        torch.testing.assert_close(torch.compile(layers, backend=mini_triton)(x), layers(x))
        return len(programs) - before

    x = torch.randn(6, 4)
    assert [call(x), call(x.t().contiguous().t()), call(x)] == [1, 1, 0]


def test_changed_sources_are_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled()
    monkeypatch.setattr(keys, "hash_sources", lambda: "other sources")
    assert compiled() == 2


def test_a_fast_compilation_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "SHORT", 1000)
    assert [compiled(), compiled()] == [2, 2]


def test_a_program_that_cannot_be_kept_is_compiled_again() -> None:
    @stored.keep
    def back_end(graph: Any, inputs: Any, options: Any = None) -> Any:
        compile_pass = lambda graph, inputs: make_boxed_func(graph.forward)  # noqa: E731
        return stored.aot_autograd(fw_compiler=compile_pass)(graph, inputs)

    for _ in range(2):
        torch._dynamo.reset()
        x = torch.randn(6, 4)
        found = torch.compile(layers, backend=back_end)(x)
        torch.testing.assert_close(found, layers(x))


def test_inductor_does_not_find_our_programs() -> None:
    compiled()
    torch._dynamo.reset()
    x = torch.randn(6, 4)
    before = torch._dynamo.utils.counters["aot_autograd"]["autograd_cache_hit"]
    torch.testing.assert_close(torch.compile(layers)(x), layers(x))
    assert torch._dynamo.utils.counters["aot_autograd"]["autograd_cache_hit"] == before
