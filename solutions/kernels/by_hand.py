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
    # [task 3.7] Build the operations of the source above. The module is valid after any line of the source, so you can
    # print what you have built so far, in the session that `python -m grader python milestone3` starts.
    inputs: dict[str, Type] = {"x": pointer, "y": pointer, "out": pointer, "n": I32}
    with function(ir, module, "vector_add", inputs, divisibility=dict.fromkeys(inputs, ALIGNMENT)) as kernel:
        x, y, out, n = kernel.arguments
        start = ir.mul(ir.create("tt.get_program_id", axis="x"), ir.constant(block, I32))
        offsets = ir.add(start, ir.create("tt.make_range", start=0, end=block))
        inside = ir.compare("slt", offsets, n)
        total = ir.add(ir.load(ir.addptr(x, offsets), inside), ir.load(ir.addptr(y, offsets), inside))
        ir.store(ir.addptr(out, offsets), total, inside)
    # [end]
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
    # [task 3.7] Build the operations of the source above. `cdiv(x, y)` is `(x + y - 1) // y`. As in Triton, `//` rounds
    # toward zero, and the precision of `dot` is "tf32". Evaluate `a + rows[:, None] * stride_a + inner[None, :]` from
    # left to right, as Python does: the sum of the two i32 offsets might overflow.
    inputs: dict[str, Type] = {**pointers, **integers}
    with function(ir, module, "matmul", inputs, divisibility=dict.fromkeys(inputs, ALIGNMENT)) as kernel:
        a_ptr, b_ptr, c_ptr, M, N, K, stride_a, stride_b, stride_c = kernel.arguments
        zero, one, step = ir.constant(0, I32), ir.constant(1, I32), ir.constant(block_k, I32)
        zero_f16 = ir.constant(0.0, F16)

        start_m = ir.mul(ir.create("tt.get_program_id", axis="x"), ir.constant(block_m, I32))
        start_n = ir.mul(ir.create("tt.get_program_id", axis="y"), ir.constant(block_n, I32))
        rows = ir.expand_dims(ir.add(start_m, ir.create("tt.make_range", start=0, end=block_m)), 1)
        columns = ir.expand_dims(ir.add(start_n, ir.create("tt.make_range", start=0, end=block_n)), 0)
        inner = ir.create("tt.make_range", start=0, end=block_k)
        inner_row, inner_column = ir.expand_dims(inner, 0), ir.expand_dims(inner, 1)

        a_tile = ir.addptr(ir.addptr(a_ptr, ir.mul(rows, stride_a)), inner_row)
        b_tile = ir.addptr(ir.addptr(b_ptr, ir.mul(inner_column, stride_b)), columns)
        total = ir.constant(0.0, TensorType((block_m, block_n), F32))
        rounded_up = ir.add(K, ir.constant(block_k - 1, I32))
        steps = ir.elementwise("arith.divsi", rounded_up, step)
        with for_(ir, zero, steps, one, [total, a_tile, b_tile]) as loop:
            running, a_now, b_now = loop.carried
            left = ir.sub(K, ir.mul(loop.variable, step))
            in_a = ir.elementwise("arith.andi", ir.compare("slt", rows, M), ir.compare("slt", inner_row, left))
            in_b = ir.elementwise("arith.andi", ir.compare("slt", inner_column, left), ir.compare("slt", columns, N))
            x, y = ir.load(a_now, in_a, zero_f16), ir.load(b_now, in_b, zero_f16)
            product = ir.create("tt.dot", x, y, running, inputPrecision="tf32")
            yield_(ir, product, ir.addptr(a_now, step), ir.addptr(b_now, ir.mul(stride_b, step)))
        total = loop.results[0]

        c_tile = ir.addptr(ir.addptr(c_ptr, ir.mul(rows, stride_c)), columns)
        in_c = ir.elementwise("arith.andi", ir.compare("slt", rows, M), ir.compare("slt", columns, N))
        rounded = ir.create("arith.truncf", total, result=TensorType((block_m, block_n), F16))
        ir.store(c_tile, rounded, in_c)
    # [end]
    return module
