"""Task 8.9: the gradient of layer normalisation."""

import math
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from kernels.layer_norm import backward_kernel, layer_norm_backward

from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call, kernel_call, triton_call
from tests.support.m08_kernels.tensors import ADDITIONS, FLOATS, SEEDS, U, dtype_of, guarded, normal, rounding

EPS = 1e-5
NAMES = ("dx", "dweight", "dbias")
ROWS = st.one_of(st.integers(0, 9), st.sampled_from([15, 16, 17, 50]))  # on a CPU there are 16 parts
COLUMNS = st.one_of(st.sampled_from([1, 2, 17, 63, 64, 65]), st.integers(1, 150))


def arguments(
    rows: int, columns: int, seed: int, dtype: str = "float32", scale: float = 1.0, offset: float = 0.0
) -> Any:
    """dy, x, weight, and each row's mean and rstd, which PyTorch computes."""
    dy, weight = normal((rows, columns), seed + 1, dtype), normal((columns,), seed + 2, dtype)
    x = (normal((rows, columns), seed, "float64", scale) + offset * scale).to(dy.dtype)
    mean = x.double().mean(1)
    rstd = ((x.double() - mean[:, None]).square().mean(1) + EPS).rsqrt()
    return dy, x, weight, mean.float(), rstd.float()


def normalized(x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias, EPS)


def expected_of(arrays: Any) -> dict[str, Any]:
    """The gradients, by PyTorch in fp64."""
    dy, x, weight, _, _ = arrays
    inputs = [part.double().requires_grad_() for part in (x, weight, torch.zeros_like(weight))]
    return dict(zip(NAMES, torch.autograd.grad(normalized(*inputs), inputs, dy.double()), strict=True))


def terms(arrays: Any) -> tuple[Any, Any, Any]:
    """dy, the rows normalized in fp64, and the limits of their errors: mean, rstd and two steps are rounded."""
    dy, x, _, mean, rstd = (part.double() for part in arrays)
    xhat = (x - mean[:, None]) * rstd[:, None]
    return dy, xhat, U * (mean.abs() * rstd)[:, None] + U * x.abs() * rstd[:, None] + 4 * U * xhat.abs()


def allowed(arrays: Any, dtype: str) -> dict[str, Any]:
    """The limits of the errors. A row has two averages, of g = dy * weight and of g * xhat.

    Each addition rounds a term of an average, and so do its products and the division. Sums over rows may have
    any order: a term takes part in at most as many additions as there are rows.
    """
    expected = expected_of(arrays)
    dy, xhat, moved = terms(arrays)
    weight, rstd = arrays[2].double(), arrays[4].double()[:, None]
    g = (dy * weight).abs()
    steps = (ADDITIONS + 6) * U
    first, second = (dy * weight).mean(1, keepdim=True), (dy * weight * xhat).mean(1, keepdim=True)
    of_first = steps * g.mean(1, keepdim=True)
    of_second = ((steps + U) * g * xhat.abs() + g * moved).mean(1, keepdim=True)
    correction = of_first + moved * second.abs() + xhat.abs() * of_second
    magnitude = g + first.abs() + (xhat * second).abs()
    dx = rstd * (correction + 5 * U * magnitude)
    over_rows = dy.shape[0] * U
    dweight = (dy.abs() * (moved + (over_rows + U) * xhat.abs())).sum(0)
    dbias = over_rows * dy.abs().sum(0)
    return {
        name: limit + rounding(expected[name], dtype) for name, limit in zip(NAMES, (dx, dweight, dbias), strict=True)
    }


def compare(call: host_call, results: Any, arrays: Any, because: str = "") -> None:
    """Check all three gradients."""
    expected, limits = expected_of(arrays), allowed(arrays, dtype_of(arrays[0]))
    for name, got in zip(NAMES, results, strict=True):
        call.compare(name, got, expected[name], limits[name], call.arguments[0].dtype, because)


def check(arrays: Any, because: str = "") -> None:
    call = host_call(layer_norm_backward, *arrays)
    compare(call, call(), arrays, because)


@given(ROWS, COLUMNS, SEEDS, st.sampled_from(FLOATS), *map(st.sampled_from, ([1e-3, 1.0, 30.0], [0.0, -7.0, 100.0])))
@example(1, 1, 0, "float32", 1.0, 0.0)
@example(2, 16, 0, "float32", 1.0, 0.0)
@example(3, 1009, 0, "float32", 1.0, 0.0)
@example(300, 5, 0, "float16", 1.0, 0.0)
@example(3, 17, 0, "float32", 1e4, 100.0)
def test_gradients(rows: int, columns: int, seed: int, dtype: str, scale: float, offset: float) -> None:
    beyond = columns & (columns - 1)  # unless it is a power of 2
    because = f"the tile is longer than the row: elements beyond the {columns} must not count" if beyond else ""
    check(arguments(rows, columns, seed, dtype, scale, offset), because=because)


@given(st.integers(1, 12), st.integers(1, 40), st.integers(1, 14), SEEDS, st.sampled_from([64, 128]))
@example(7, 20, 1, 0, 64)
@example(7, 20, 3, 0, 64)
@example(3, 20, 5, 0, 64)
def test_each_program_adds_up_its_rows(rows: int, columns: int, programs: int, seed: int, block: int) -> None:
    arrays = arguments(rows, columns, seed)
    inputs = [guarded(part, math.nan)[0] for part in arrays]
    shapes = {"dx": (rows, columns), "dweight_parts": (programs, columns), "dbias_parts": (programs, columns)}
    results = {name: guarded(torch.full(shape, math.nan), -7.0) for name, shape in shapes.items()}
    pointers = [inner for inner, _ in results.values()]
    call = kernel_call(backward_kernel, (programs,), *pointers, *inputs, rows, columns, BLOCK=block)
    call()
    dx, dweight, dbias = pointers
    call.compare("dx", dx, expected_of(arrays)["dx"], allowed(arrays, "float32")["dx"])
    dy, xhat, moved = terms(arrays)
    for program in range(programs):
        mine = slice(program, None, programs)
        because = f"program {program} sums the rows {list(range(rows))[mine]}"
        limit = (dy.abs() * (moved + (rows + 1) * U * xhat.abs()))[mine].sum(0)
        call.compare(f"dweight_parts[{program}]", dweight[program], (dy * xhat)[mine].sum(0), limit, because=because)
        limit = rows * U * dy.abs()[mine].sum(0)
        call.compare(f"dbias_parts[{program}]", dbias[program], dy[mine].sum(0), limit, because=because)
    for name, (inner, whole) in results.items():
        call.compare(f"the memory around {name}", whole, guarded(inner, -7.0)[1], because="only the result may change")


def test_under_real_triton(device: str) -> None:
    cases = [(3, 37, "float32"), (5, 20, "float16"), (70, 5, "float32")]
    if device == "cuda":  # real Triton's interpreter does not round bf16
        cases += [(300, 1025, "bfloat16"), (1000, 5, "float16")]  # on a GPU there are 256 parts
    for rows, columns, dtype in cases:
        arrays = arguments(rows, columns, 0, dtype)
        call = triton_call(device, layer_norm_backward, *arrays)
        compare(call, call(), arrays)
