from mini_triton.ir.core import Value


class _Range:
    """A block of indices, with the program's own start if it has an axis."""

    def __init__(self, b: Builder, axis: str | None, size: int) -> None:
        self.b = b
        self.indices = b.create("tt.make_range", start=0, end=size)
        if axis:
            start = b.mul(b.constant(size, I32), b.create("tt.get_program_id", axis=axis))
            self.indices = b.add(self.indices, start)

    @property
    def row(self) -> Value:
        return self.b.expand_dims(self.indices, 0)

    @property
    def column(self) -> Value:
        return self.b.expand_dims(self.indices, 1)


def vector_add(block: int, element: FloatType = F32) -> Module:
    module, b = Module(), Builder()
    pointer = PointerType(element)
    parameters: dict[str, Type] = {"x": pointer, "y": pointer, "out": pointer, "n": I32}
    aligned = {name: ALIGNMENT for name in parameters}
    with function(b, module, "vector_add", parameters, divisibility=aligned) as kernel:
        x, y, out, n = kernel.arguments
        offsets = _Range(b, "x", block).indices
        inside = b.compare("slt", offsets, n)
        target = b.addptr(out, offsets)
        left = b.load(b.addptr(x, offsets), inside)
        right = b.load(b.addptr(y, offsets), inside)
        b.store(target, b.add(left, right), inside)
    return module


def matmul(block_m: int, block_n: int, block_k: int) -> Module:
    module, b = Module(), Builder()
    pointers = dict.fromkeys(("a", "b", "c"), PointerType(F16))
    integers = dict.fromkeys(("M", "N", "K", "stride_a", "stride_b", "stride_c"), I32)
    parameters: dict[str, Type] = {**pointers, **integers}
    aligned = {name: ALIGNMENT for name in parameters}
    with function(b, module, "matmul", parameters, divisibility=aligned) as kernel:
        a_ptr, b_ptr, c_ptr, M, N, K, stride_a, stride_b, stride_c = kernel.arguments
        rows, columns = _Range(b, "x", block_m), _Range(b, "y", block_n)
        inner = _Range(b, None, block_k)
        row_inside, column_inside = b.compare("slt", rows.column, M), b.compare("slt", columns.row, N)
        a_tile = b.addptr(b.addptr(a_ptr, b.mul(stride_a, rows.column)), inner.row)
        b_tile = b.addptr(b.addptr(b_ptr, b.mul(stride_b, inner.column)), columns.row)
        move_b = b.mul(b.constant(block_k, I32), stride_b)
        count = b.add(K, b.constant(block_k - 1, I32))
        count = b.create("arith.divsi", count, b.constant(block_k, I32))
        zeros = b.constant(0.0, TensorType((block_m, block_n), F32))
        with for_(b, b.constant(0, I32), count, b.constant(1, I32), (b_tile, a_tile, zeros)) as loop:
            b_now, a_now, total = loop.carried
            left = b.sub(K, b.mul(loop.variable, b.constant(block_k, I32)))
            a_inside = b.elementwise("arith.andi", row_inside, b.compare("sgt", left, inner.row))
            b_inside = b.elementwise("arith.andi", b.compare("sgt", left, inner.column), column_inside)
            x = b.load(a_now, a_inside, b.constant(0.0, F16))
            y = b.load(b_now, b_inside, b.constant(0.0, F16))
            total = b.create("tt.dot", x, y, total, inputPrecision="tf32")
            yield_(b, b.addptr(b_now, move_b), b.addptr(a_now, b.constant(block_k, I32)), total)
        _, _, total = loop.results
        rounded = b.create("arith.truncf", total, result=TensorType((block_m, block_n), F16))
        c_tile = b.addptr(b.addptr(c_ptr, b.mul(stride_c, rows.column)), columns.row)
        b.store(c_tile, rounded, b.elementwise("arith.andi", row_inside, column_inside))
    return module
