"""Two kernels, built operation by operation without a front end.

Each docstring contains the kernel's source, which the compiler of milestone 5 can compile. Building the IR by hand
shows what a front end must decide: where a scalar becomes a tensor, to which shape a mask is broadcast, and what a loop
carries.
"""

from __future__ import annotations

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Module
from mini_triton.ir.scopes import for_, function, yield_
from mini_triton.ir.types import F16, F32, I32, FloatType, PointerType, TensorType, Type

ALIGNMENT = 16  # divisor of addresses and sizes that lets real Triton load 16 bytes at a time


def vector_add(block: int, element: FloatType = F32) -> Module:
    """A module with a kernel for out = x + y, with one tile of elements per program:

        def vector_add(x, y, out, n):
            offsets = program_id(0) * BLOCK + arange(0, BLOCK)
            inside = offsets < n
            total = load(x + offsets, mask=inside) + load(y + offsets, mask=inside)
            store(out + offsets, total, mask=inside)

    The kernel is named `vector_add`. BLOCK is `block`; x, y and out point to elements of type `element`; n is an i32.
    Declare every argument as a multiple of `ALIGNMENT`.
    """
    module, ir = Module(), Builder()
    pointer = PointerType(element)
    # Task 3.7: Build the operations of the source above. The module is valid after any line of the source, so you can
    # print what you have built so far, in the session that `python -m grader python milestone3` starts.
    raise NotImplementedError("Task 3.7: Two kernels by hand")
    return module


def matmul(block_m: int, block_n: int, block_k: int) -> Module:
    """A module with a kernel for c = a @ b: one tile of c per program, and sums along K in fp32:

        def matmul(a, b, c, M, N, K, stride_a, stride_b, stride_c):
            rows = program_id(0) * BLOCK_M + arange(0, BLOCK_M)
            columns = program_id(1) * BLOCK_N + arange(0, BLOCK_N)
            inner = arange(0, BLOCK_K)
            a_tile = a + rows[:, None] * stride_a + inner[None, :]
            b_tile = b + inner[:, None] * stride_b + columns[None, :]
            total = zeros((BLOCK_M, BLOCK_N), float32)
            for k in range(0, cdiv(K, BLOCK_K)):
                left = K - k * BLOCK_K
                x = load(a_tile, mask=(rows[:, None] < M) & (inner[None, :] < left), other=0.0)
                y = load(b_tile, mask=(inner[:, None] < left) & (columns[None, :] < N), other=0.0)
                total = dot(x, y, total)
                a_tile += BLOCK_K
                b_tile += BLOCK_K * stride_b
            c_tile = c + rows[:, None] * stride_c + columns[None, :]
            store(c_tile, total.to(float16), mask=(rows[:, None] < M) & (columns[None, :] < N))

    The matrices are fp16 and row-major, with the shapes (M, K), (K, N) and (M, N). M, N and K need not be multiples of
    the tile sizes. A stride is the distance between rows, in elements. All integers are i32. The kernel is named
    `matmul`. Declare every argument, including M, N, K and the strides, as a multiple of `ALIGNMENT`: on a GPU, the
    kernel is valid only for such arguments.
    """
    module, ir = Module(), Builder()
    pointers = dict.fromkeys(("a", "b", "c"), PointerType(F16))
    integers = dict.fromkeys(("M", "N", "K", "stride_a", "stride_b", "stride_c"), I32)
    # Task 3.7: Build the operations of the source above. `cdiv(x, y)` is `(x + y - 1) // y`. As in Triton, `//` rounds
    # toward zero, and the precision of `dot` is "tf32". Evaluate `a + rows[:, None] * stride_a + inner[None, :]` from
    # left to right, as Python does: the sum of the two i32 offsets might overflow.
    raise NotImplementedError("Task 3.7: Two kernels by hand")
    return module
