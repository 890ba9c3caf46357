"""Task 8.7: layer normalisation of rows, with each row's mean and rstd."""

import math
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from kernels.layer_norm import forward_kernel, layer_norm

from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call, kernel_call, triton_call
from tests.support.m08_kernels.tensors import ADDITIONS, FLOATS, LENGTHS, SEEDS, U, dtype_of, guarded, normal, rounding

SCALES = st.sampled_from([1e-3, 1.0, 1e4])
OFFSETS = (0.0, -7.0, 1e3)  # relative to the rows' scale
EPS = (1e-5, 0.5, 1e-12)


def expected_of(arrays: Any, eps: float) -> dict[str, Any]:
    x, weight, bias = arrays
    wide = x.double()
    out = torch.nn.functional.layer_norm(wide, wide.shape[1:], weight.double(), bias.double(), eps)
    variance = (wide - wide.mean(1, keepdim=True)).square().mean(1)
    return {"mean": wide.mean(1), "rstd": (variance + eps).rsqrt(), "out": out}


def allowed(arrays: Any, eps: float, dtype: str) -> dict[str, Any]:
    """The limits of the errors. The mean's error comes from rounded additions and a division.

    A mean that is off by `far` increases the average of the squares by exactly `far ** 2`, because the differences from
    the true mean add up to 0. The variance is also rounded: twice for each square, and once by each addition, by the
    division and by the sum with eps. The root halves a relative error. The root and the division add 4 U each.
    """
    x, weight, bias = arrays
    mean, rstd, out = expected_of(arrays, eps).values()
    wide = x.double()
    far = (ADDITIONS + 5) * U * wide.abs().mean(1)
    relative = ((ADDITIONS + 10) * U + (far * rstd) ** 2) / 2 + 8 * U
    normalized = ((wide - mean[:, None]) * rstd[:, None]).abs()
    moved = (far[:, None] + U * wide.abs()) * rstd[:, None] + normalized * (relative[:, None] + 3 * U)
    limit = weight.double().abs() * moved + U * (out.abs() + bias.double().abs())
    return {"mean": far + rounding(mean, "float32"), "rstd": rstd * relative, "out": limit + rounding(out, dtype)}


def compare(call: host_call, results: Any, arrays: Any, eps: float = 1e-5, because: str = "") -> None:
    """Check all three results. Even fp64 is computed in fp32."""
    out, mean, rstd = results
    expected = expected_of(arrays, eps)
    limits = allowed(arrays, eps, dtype_of(arrays[0]).replace("float64", "float32"))
    kinds = {"mean": (mean, torch.float32), "rstd": (rstd, torch.float32), "out": (out, call.arguments[0].dtype)}
    for name, (got, kind) in kinds.items():
        call.compare(name, got, expected[name], limits[name], kind, because)


def check(arrays: Any, eps: float = 1e-5, because: str = "") -> None:
    call = host_call(layer_norm, *arrays, eps=eps)
    compare(call, call(), arrays, eps, because)


def arguments(
    rows: int, columns: int, seed: int, dtype: str = "float32", scale: float = 1.0, offset: float = 0.0
) -> Any:
    x = normal((rows, columns), seed, "float64", scale) + offset * scale
    weight, bias = (normal((columns,), seed + place, dtype) for place in (1, 2))
    return x.clamp(-6e4, 6e4).to(weight.dtype), weight, bias


@given(st.integers(0, 5), LENGTHS, SEEDS, st.sampled_from([*FLOATS, "float64"]), SCALES, st.sampled_from(EPS))
@example(2, 16, 0, "float32", 1.0, 1e-5)  # without masked-off elements
@example(1, 3, 88, "float32", 1.0, 1e-5)  # a mean far from 0, and a tile that is one element longer than the row
@example(1, 1, 0, "float32", 1.0, 1e-5)
@example(3, 1009, 0, "float32", 1.0, 1e-5)
@example(2, 100, 0, "float32", 1.0, 0.5)
def test_rows_are_normalized(rows: int, columns: int, seed: int, dtype: str, scale: float, eps: float) -> None:
    beyond = columns & (columns - 1)  # unless it is a power of 2
    because = f"the tile is longer than the row: elements beyond the {columns} must not count in mean and rstd"
    check(arguments(rows, columns, seed, dtype, scale), eps, because if beyond else "")


@given(st.integers(1, 5), LENGTHS, SEEDS, SCALES, st.sampled_from(OFFSETS))
@example(2, 100, 0, 1.0, 1e3)
@example(2, 64, 0, 1.0, 1e3)
def test_rows_far_from_zero(rows: int, columns: int, seed: int, scale: float, offset: float) -> None:
    check(
        arguments(rows, columns, seed, scale=scale, offset=offset),
        because="the mean is subtracted before squaring: the average of the squares minus the square of the mean is a "
        "small difference of large numbers",
    )


@given(st.integers(1, 40), SEEDS, st.sampled_from([64, 128]))
def test_the_kernel_touches_nothing_else(columns: int, seed: int, block: int) -> None:
    parts = arguments(3, columns, seed)
    x, weight, bias = (guarded(part, math.nan)[0] for part in parts)
    results = [guarded(torch.zeros(shape), -7.0) for shape in ((3, columns), (3,), (3,))]
    pointers = [inner for inner, _ in results]
    call = kernel_call(forward_kernel, (3,), pointers[0], x, weight, bias, *pointers[1:], columns, 1e-5, BLOCK=block)
    call()
    compare(call, pointers, parts, because="the memory around x, weight and bias is NaN")
    for name, (inner, whole) in zip(("out", "mean_out", "rstd_out"), results, strict=True):
        call.compare(f"the memory around {name}", whole, guarded(inner, -7.0)[1])


def test_under_real_triton(device: str) -> None:
    cases = [(3, 37, "float32", 0.0), (2, 130, "float16", 0.0), (2, 64, "float32", 1e3)]
    if device == "cuda":  # real Triton's interpreter does not round bf16
        cases += [(5, 4097, "bfloat16", -7.0), (300, 5, "bfloat16", 0.0)]
    for rows, columns, dtype, offset in cases:
        arrays = arguments(rows, columns, 0, dtype, 1.0, offset)
        call = triton_call(device, layer_norm, *arrays)
        compare(call, call(), arrays)
