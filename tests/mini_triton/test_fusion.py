"""Programs in PyTorch through both ways to this compiler: its own back end, and PyTorch's Inductor. Not graded."""

import copy
import itertools
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from mini_triton import fusion  # noqa: E402
from mini_triton.fusion import inductor  # noqa: E402
from mini_triton.fusion.backend import mini_triton  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from bench import fusion as bench  # noqa: E402
from tests.support.m12_fusion.compiler import imported  # noqa: E402
from tests.support.m12_fusion.programs import PROGRAMS, compare, on, run  # noqa: E402

__all__ = ["imported"]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def check(name: str, backend: Any, strides: bool = True, **options: Any) -> None:
    """Compile a program, and compare everything that it computes with eager."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    function, inputs = PROGRAMS[name]()
    if isinstance(function, torch.nn.Module):
        function.to(DEVICE)
    other = copy.deepcopy(function)
    expected = run(function, on(DEVICE, inputs), function)
    got = run(torch.compile(other, backend=backend, **options), on(DEVICE, inputs), other)
    compare(expected, got, strides)


@pytest.mark.parametrize("name, dynamic", [*zip(PROGRAMS, itertools.cycle([False, True]), strict=False)])
def test_the_back_end_computes_what_eager_computes(name: str, dynamic: bool) -> None:
    """Every other program has symbolic sizes. Similar programs are neighbors, so both kinds compile each feature."""
    check(name, mini_triton, dynamic=dynamic)


INDUCTORS_OWN_DEFECTS = {"swapped", "large_ranges"}
"""It stores the same values in both arguments; its kernel adds a number of 41 bits to indices of 32."""


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in INDUCTORS_OWN_DEFECTS])
def test_inductor_on_this_compiler(name: str) -> None:
    inductor.enable()
    try:
        check(name, "inductor", strides=False)
    finally:
        inductor.disable()


def test_an_operator_of_another_library_may_have_the_name_of_one_of_pytorchs() -> None:
    @torch.library.custom_op("kata::sin", mutates_args=())
    def plus_one(x: torch.Tensor) -> torch.Tensor:  # type: ignore[name-defined]
        return x + 1

    plus_one.register_fake(torch.empty_like)
    x = torch.randn(5, device=DEVICE)
    torch._dynamo.reset()
    torch.testing.assert_close(torch.compile(lambda x: plus_one(x) * 2, backend=mini_triton)(x), (x + 1) * 2)


def test_random_numbers_are_drawn_in_eagers_order() -> None:
    def drawn(x: Any) -> Any:
        a, b = torch.rand(4, device=DEVICE), torch.randn(4, device=DEVICE)
        return b.sort().values + x, torch.nn.functional.dropout(a * x, 0.5), torch.bernoulli(torch.sigmoid(x))

    torch._dynamo.reset()
    x = torch.randn(4, device=DEVICE)
    torch.manual_seed(3)
    expected = drawn(x)
    torch.manual_seed(3)
    for got, right in zip(torch.compile(drawn, backend=mini_triton)(x), expected, strict=True):
        torch.testing.assert_close(got, right)


def test_a_checkpoint_drops_the_same_elements_again() -> None:
    def block(x: Any) -> Any:
        return torch.nn.functional.dropout(torch.tanh(x), 0.3)

    def twice(x: Any) -> Any:
        return checkpoint(block, x, use_reentrant=False) + checkpoint(block, x * 2, use_reentrant=False)

    torch._dynamo.reset()
    x = torch.randn(40, device=DEVICE, requires_grad=True)
    found = []
    for function in (twice, torch.compile(twice, backend=mini_triton)):
        torch.manual_seed(3)
        result = function(x)
        found.append((result, *torch.autograd.grad(result.sum(), x)))
    for right, got in zip(*found, strict=True):
        torch.testing.assert_close(got, right)


def test_a_product_reads_its_operands_before_they_are_overwritten() -> None:
    torch._dynamo.reset()
    fusion.programs.clear()
    x, w = torch.randn(100, 70, device=DEVICE), torch.randn(70, 70, device=DEVICE)
    torch.compile(lambda x, w: x.copy_(x @ w), backend=mini_triton)(x, w)
    (program,) = fusion.programs
    assert len(program.kernels) == 2, "tiles of the same rows are computed by different programs, in any order"


def test_a_batch_may_be_larger_than_a_row_of_a_grid() -> None:
    x, y = torch.randn(66000, 2, 3, device=DEVICE), torch.randn(66000, 3, 2, device=DEVICE)
    torch._dynamo.reset()
    got = torch.compile(lambda x, y: torch.bmm(x, y).relu(), backend=mini_triton)(x, y)
    torch.testing.assert_close(got, torch.bmm(x, y).relu())


def test_one_compilation_serves_all_sizes() -> None:
    torch._dynamo.reset()
    fusion.programs.clear()
    function = torch.compile(lambda x: torch.softmax(x * 2, -1), backend=mini_triton, dynamic=True)
    for rows, columns in ((3, 5), (8, 4000), (16, 77)):
        x = torch.randn(rows, columns, device=DEVICE)
        torch.testing.assert_close(function(x), torch.softmax(x * 2, -1))
    assert len(fusion.programs) == 1


def test_kernels_are_fused() -> None:
    torch._dynamo.reset()
    fusion.programs.clear()
    x, w = torch.randn(8, 100, device=DEVICE), torch.randn(100, device=DEVICE)
    torch.compile(lambda x, w: torch.nn.functional.layer_norm(torch.relu(x), (100,), w), backend=mini_triton)(x, w)
    (program,) = fusion.programs
    assert len(program.kernels) == 1, program.source
    assert program.bytes == 4 * (2 * x.numel() + w.numel())
    assert fusion.draw(program).startswith("<svg")


@pytest.mark.parametrize("shape", [(16, 32, 32, 32), (16384, 64)], ids=["pictures", "columns"])
def test_batch_norm_reads_its_input_once_for_the_statistics_and_once_more(shape: tuple[int, ...]) -> None:
    """Their mean is far from 0, so that a difference of squares would cancel."""
    torch._dynamo.reset()
    fusion.programs.clear()
    torch.manual_seed(0)
    x = torch.randn(shape, device=DEVICE) + 50
    wide, eager, compiled = (torch.ones(shape[1], device=DEVICE, dtype=d) for d in (torch.float64, x.dtype, x.dtype))
    norm = lambda x, v: torch.nn.functional.batch_norm(x, torch.zeros_like(v), v, training=True, momentum=1)  # noqa: E731
    right, other = norm(x.double(), wide), norm(x, eager)
    got = torch.compile(norm, backend=mini_triton)(x, compiled)
    for found, judged, exact in ((got, other, right), (compiled, eager, wide)):
        assert (found - exact).norm() <= 4 * (judged - exact).norm()
    (program,) = fusion.programs
    assert program.bytes < 3.1 * 4 * x.numel()


def test_rows_and_columns_are_summed_by_one_kernel() -> None:
    torch._dynamo.reset()
    fusion.programs.clear()
    x = torch.randn(8192, 260, device=DEVICE, requires_grad=True)
    w, b = (torch.randn(260, device=DEVICE, requires_grad=True) for _ in range(2))
    norm = lambda x, w, b: torch.nn.functional.layer_norm(x, (260,), w, b)  # noqa: E731
    seed = torch.randn_like(x)
    got = torch.autograd.grad(torch.compile(norm, backend=mini_triton)(x, w, b), (x, w, b), seed)
    wide = [t.detach().double().requires_grad_() for t in (x, w, b)]
    for gradient, expected in zip(got, torch.autograd.grad(norm(*wide), wide, seed.double()), strict=True):
        torch.testing.assert_close(gradient.double(), expected, rtol=1e-5, atol=1e-5 * float(expected.abs().max()))
    _, backward = fusion.programs
    assert len(backward.kernels) == 2, "one for rows and sums of pieces of columns, and one that adds the pieces up"


@pytest.mark.parametrize("name", ["softmax", "layer norm", "rms norm", "Adam step"])
def test_kernels_and_bytes_beside_inductor(name: str) -> None:
    case = next(case for case in bench.cases() if case.name == name)
    _, ours = bench.compiled_by_us(case)
    _, theirs = bench.compiled_by_inductor(case)
    assert ours.kernels + ours.calls <= 1.2 * (theirs.kernels + theirs.calls), (ours, theirs)
    assert ours.bytes <= 1.2 * theirs.bytes, (ours, theirs)
