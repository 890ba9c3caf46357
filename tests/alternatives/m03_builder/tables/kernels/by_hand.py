from mini_triton.ir.core import Value
from mini_triton.language.dtypes import float16


def matmul(block_m: int, block_n: int, block_k: int) -> Module:
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
