"""Softmax by PyTorch in fp64, how far a kernel may be off, and the tests that tasks 8.2 and 8.3 share.

The fixture `kernel` is the tested kernel, and the fixture `block` the length of its blocks.
"""

import math
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call, is_array, kernel_call, triton_call
from tests.support.m08_kernels.tensors import ADDITIONS, SEEDS, U, dtype_of, guarded, normal, padded, rounding

INF = math.inf
SCALES = (1.0, 30.0, 1e4)  # differences of 1e4 are far out of the range of exp


def expected_of(x: Any) -> Any:
    return torch.softmax(x.double(), 1)


def allowed(x: Any, expected: Any, block: int = 4096) -> Any:
    """The limit of the error, as the sum of several errors.

    Rounding `x - max` changes its exponential by a relative error of U * |x - max|, and so does each of at most two
    products within exp. A kernel may also compute exp2(log2(e) * x - log2(e) * max), which rounds products of x and max
    instead. exp itself, the division and each rescaling of an online softmax add 4 U each. Sums have errors as well.
    """
    finite = torch.nan_to_num(x.double(), nan=0.0, posinf=0.0, neginf=0.0)
    highest = finite.amax(1, keepdim=True)
    steps = ADDITIONS + 8 + 8 * math.ceil(x.shape[1] / block)
    # the sum's error is an average of its terms' errors, in which terms far below the maximum do not count
    moved = 3 * (highest - finite) + finite.abs() + highest.abs()
    far = 4 * math.log(max(x.shape[1], 2)) + 2 * highest.abs()
    relative = U * (moved + far + steps)
    dtype = dtype_of(x).replace("float64", "float32")  # the kernel computes fp64 in fp32 as well
    return torch.nan_to_num(expected) * relative + rounding(torch.nan_to_num(expected), dtype)


def check(x: Any, block: int = 4096, because: str = "") -> None:
    """Require that the host function returns PyTorch's result."""
    from kernels.softmax import softmax

    expected = expected_of(x)
    call = host_call(softmax, x, block=block)
    result = call()
    because = "; ".join(filter(None, [because, wrong_sum(result, expected)]))
    call.compare("the result", result, expected, allowed(x, expected, block), x.dtype, because)


@given(st.lists(st.sampled_from([-INF, -3.0, 0.0, 2.5, INF, math.nan]), min_size=1, max_size=56))
@example([-INF] * 20 + [1.0])
@example([1.0] + [-INF] * 20)
@example([-INF] * 40)
def test_infinities_and_nan(block: int, row: list[float]) -> None:
    because = "-inf becomes 0, and a row becomes NaN if it contains NaN or inf, or only -inf"
    check(torch.tensor([row, [1.0] * len(row)]), block, because)


@given(st.integers(1, 40), SEEDS, st.sampled_from([-1000.0, 1000.0]))
@example(3, 0, -1000.0)
@example(40, 0, -1e38)  # exponentials underflow unless the first maximum is -inf
def test_rows_far_from_zero(block: int, columns: int, seed: int, shift: float) -> None:
    because = "a number that is added to all elements of a row does not change its softmax"
    check(normal((2, columns), seed) + shift, block, because)


@given(st.integers(1, 40), SEEDS, st.integers(1, 9))
def test_the_kernel_touches_nothing_else(kernel: Any, block: int, columns: int, seed: int, gap: int) -> None:
    """Require that a kernel reads rows with gaps between them, and writes only the rows of its programs."""
    x = normal((3, columns), seed)
    out, whole = guarded(torch.full((3, columns + gap + 1), -7.0), -7.0)
    arguments = (out, padded(x, gap, math.nan), columns + gap + 1, columns + gap, columns)
    call = kernel_call(kernel, (2,), *arguments, BLOCK=block)
    call()
    right = expected_of(x[:2])
    expected, limit = (torch.zeros(out.shape, dtype=torch.float64) for _ in range(2))
    expected[:] = -7.0
    expected[:2, :columns], limit[:2, :columns] = right, allowed(x[:2], right, block)
    because = "out held -7; 2 programs write 2 rows, and must not write the gaps between rows"
    call.compare_guarded("out", (out, whole), expected, limit, because)


@one_in(25)
@given(SEEDS)
def test_under_real_triton(device: str, block: int, seed: int) -> None:
    from kernels.softmax import softmax

    for columns, dtype in ((37, "float32"), (130, "float16")):
        x = normal((2, columns), seed, dtype, 5.0)
        x[1, :34] = -INF
        expected = expected_of(x)
        triton_call(device, softmax, x, block=block).gives(expected, allowed(x, expected, block), x.dtype)


def wrong_sum(result: Any, expected: Any) -> str:
    """The row whose sum is furthest from 1, in words."""
    if not is_array(result) or result.shape != expected.shape:
        return ""
    sums = result.double().sum(1)
    off = (sums - 1).abs().nan_to_num(0.0) * expected.isfinite().all(1)
    row = int(off.argmax())
    return f"row {row} of the result sums to {float(sums[row]):.3g}, not 1" if off[row] > 0.01 else ""
