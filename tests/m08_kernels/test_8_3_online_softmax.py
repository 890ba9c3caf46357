"""Task 8.3: softmax of rows that are longer than a tile."""

from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.softmax import online_softmax_kernel
from mini_triton.ir import interpreter
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer

from tests.oracles import pytorch as torch
from tests.support.m08_kernels import softmax
from tests.support.m08_kernels.host_calls import Words, kernel_call
from tests.support.m08_kernels.softmax import SCALES, check
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, normal

LONGER = st.one_of(
    st.sampled_from([1, 15, 16, 17, 48, 240]), st.integers(1, 300)
)  # number of elements by which a row exceeds a tile


@pytest.fixture(scope="module")
def kernel() -> Any:
    return online_softmax_kernel


@pytest.fixture(scope="module")
def block() -> int:
    return 16


@given(
    st.integers(1, 5),
    LONGER,
    SEEDS,
    st.sampled_from(SCALES),
    st.sampled_from([*FLOATS, "float64"]),
    st.sampled_from([16, 64]),
)
@example(1, 8, 77, 1.0, "float32", 16)  # the maximum is in the second tile, and by far the largest element
@example(1, 1, 0, 1.0, "float32", 16)
@example(2, 4936, 0, 1.0, "float16", 64)
@example(1, 904, 0, 1.0, "float32", 4096)
def test_rows_of_many_blocks(rows: int, longer: int, seed: int, scale: float, dtype: str, block: int) -> None:
    because = "rows longer than a tile are read tile by tile"
    check(normal((rows, block + longer), seed, dtype, scale), block, because)


@pytest.mark.parametrize("columns", [16, 40])
def test_a_row_is_read_twice(columns: int) -> None:
    x, out = normal((1, columns), 0), torch.zeros((1, columns))
    call = kernel_call(online_softmax_kernel, (1,), out, x, columns, columns, columns, BLOCK=16)
    call()
    module = parse_module(call.function(*call.arguments, **call.options).asm["ttir"])
    read: list[int] = []

    def load(program: Any, operation: Any, address: Any, mask: Any = True, other: Any = 0) -> Any:
        read.append(np.broadcast_to(mask, np.shape(address)).sum())
        return interpreter.load(program, operation, address, mask, other)

    memory = [Buffer.of("out", out.numpy()), Buffer.of("x", x.numpy())]
    with mock.patch.dict(interpreter.EFFECTS, {"tt.load": load}):
        interpreter.run(module, (1,), [*memory, columns, columns, columns])
    if sum(read) > 2 * columns:
        because = "the maximum and the sum take one reading together, and the result takes another"
        call.fail(f"at most {2 * columns} elements are read", Words(f"{sum(read)} elements are read"), because)


test_infinities_and_nan = softmax.test_infinities_and_nan
test_rows_far_from_zero = softmax.test_rows_far_from_zero
test_the_kernel_touches_nothing_else = softmax.test_the_kernel_touches_nothing_else
test_under_real_triton = softmax.test_under_real_triton
