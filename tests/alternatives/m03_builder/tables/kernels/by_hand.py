"""Two kernels without a front end: what milestone 5 will make from Python, operation by operation.

Each docstring has the kernel's source. Building these by hand shows what a front end has to decide: where a scalar
becomes a tensor, what a mask broadcasts to, what a loop carries.
"""

from __future__ import annotations

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Module, Value
from mini_triton.ir.scopes import for_, function, yield_
from mini_triton.ir.types import F16, F32, I32, FloatType, PointerType, TensorType, Type
from mini_triton.language.dtypes import float16

ALIGNMENT = 16  # bytes for pointers, elements for sizes: lets real Triton load 16 bytes at a time


def vector_add(block: int, element: FloatType = F32) -> Module:
    """out = x + y, one block of elements a program:

        def vector_add(x, y, out, n):
            offsets = program_id(0) * BLOCK + arange(0, BLOCK)
            inside = offsets < n
            total = load(x + offsets, mask=inside) + load(y + offsets, mask=inside)
            store(out + offsets, total, mask=inside)

    The function is named `vector_add`; every argument is a multiple of `ALIGNMENT`; `n` is an i32.
    """
    module, b = Module(), Builder()
    pointer = PointerType(element)
    inputs: dict[str, Type] = dict.fromkeys(("x", "y", "out"), pointer) | {"n": I32}
    with function(b, module, "vector_add", inputs, divisibility=dict.fromkeys(inputs, ALIGNMENT)) as kernel:
        *pointers, n = kernel.arguments
        pid, numbers = b.create("tt.get_program_id", axis="x"), b.create("tt.make_range", start=0, end=block)
        offsets = b.add(numbers, b.mul(b.constant(block, TensorType((block,), I32)), pid))
        x, y, out = (b.addptr(p, offsets) for p in pointers)
        b.store(out, b.add(*(b.load(p, b.compare("slt", offsets, n)) for p in (x, y))), b.compare("slt", offsets, n))
    return module


def matmul(block_m: int, block_n: int, block_k: int) -> Module:
    """c = a @ b for row-major fp16 matrices of any size, one tile of c a program, summed in fp32 along K:

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

    `a` is (M, K), `b` is (K, N), `c` is (M, N); a stride is the distance between rows, in elements, as an i32.
    The function is named `matmul`; every argument is a multiple of `ALIGNMENT`.
    """
    module, b = Module(), Builder()
    pointers = dict.fromkeys(("a", "b", "c"), PointerType(F16))
    integers = dict.fromkeys(("M", "N", "K", "stride_a", "stride_b", "stride_c"), I32)
    inputs: dict[str, Type] = {**pointers, **integers}

    def program(axis: str, size: int) -> Value:
        start = b.mul(b.create("tt.get_program_id", axis=axis), b.constant(size, I32))
        return b.add(start, b.create("tt.make_range", start=0, end=size))

    def tile(base: Value, rows: Value, stride: Value, columns: Value) -> Value:
        return b.addptr(b.addptr(base, b.mul(b.expand_dims(rows, 1), stride)), b.expand_dims(columns, 0))

    def both(rows: Value, height: Value, columns: Value, width: Value) -> Value:
        inside = b.compare("slt", b.expand_dims(columns, 0), width)
        return b.elementwise("arith.andi", b.compare("slt", b.expand_dims(rows, 1), height), inside)

    with function(b, module, "matmul", inputs, divisibility=dict.fromkeys(inputs, ALIGNMENT)) as kernel:
        args = dict(zip(inputs, kernel.arguments, strict=True))
        rows, columns = program("x", block_m), program("y", block_n)
        inner = b.create("tt.make_range", start=0, end=block_k)
        step = b.constant(block_k, I32)
        steps = b.elementwise("arith.divsi", b.add(b.constant(block_k - 1, I32), args["K"]), step)
        inits = [
            tile(args["a"], rows, args["stride_a"], inner),
            tile(args["b"], inner, args["stride_b"], columns),
            b.splat(b.constant(0.0, F32), (block_m, block_n)),
        ]
        with for_(b, b.constant(0, I32), steps, b.constant(1, I32), inits) as loop:
            left = b.sub(args["K"], b.mul(loop.variable, step))
            masks = both(rows, args["M"], inner, left), both(inner, left, columns, args["N"])
            x, y = (b.load(p, mask, b.constant(0.0, F16)) for p, mask in zip(loop.carried[:2], masks, strict=True))
            moves = step, b.mul(args["stride_b"], step)
            moved = (b.addptr(p, move) for p, move in zip(loop.carried[:2], moves, strict=True))
            yield_(b, *moved, b.create("tt.dot", x, y, loop.carried[2], inputPrecision="tf32"))
        total = b.cast(loop.results[2], [("arith.truncf", float16)])
        c = tile(args["c"], rows, args["stride_c"], columns)
        b.store(c, total, both(rows, args["M"], columns, args["N"]))
    return module
