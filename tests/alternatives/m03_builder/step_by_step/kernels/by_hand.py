def vector_add(block: int, element: FloatType = F32) -> Module:
    module, b = Module(), Builder()
    pointer = PointerType(element)
    inputs: dict[str, Type] = {"x": pointer, "y": pointer, "out": pointer, "n": I32}
    aligned = {"x": 16, "y": 16, "out": 16, "n": 16}
    with function(b, module, "vector_add", inputs, divisibility=aligned) as kernel:
        x, y, out, n = kernel.arguments
        numbers = b.create("tt.make_range", start=0, end=block)
        size = b.constant(block, I32)
        pid = b.create("tt.get_program_id", axis="x")
        start = b.mul(size, pid)
        offsets = b.add(numbers, start)
        inside = b.compare("sgt", n, offsets)
        y_block = b.load(b.addptr(y, offsets), inside)
        x_block = b.load(b.addptr(x, offsets), inside)
        total = b.add(y_block, x_block)
        b.store(b.addptr(out, offsets), total, inside)
    return module


def matmul(block_m: int, block_n: int, block_k: int) -> Module:
    module, b = Module(), Builder()
    pointers = dict.fromkeys(("a", "b", "c"), PointerType(F16))
    integers = dict.fromkeys(("M", "N", "K", "stride_a", "stride_b", "stride_c"), I32)
    inputs: dict[str, Type] = {**pointers, **integers}
    aligned = dict.fromkeys(inputs, 16)
    with function(b, module, "matmul", inputs, divisibility=aligned) as kernel:
        a, b_matrix, c, M, N, K, stride_a, stride_b, stride_c = kernel.arguments
        tile_a, tile_b, tile_c = (block_m, block_k), (block_k, block_n), (block_m, block_n)

        rows = b.create("tt.make_range", start=0, end=block_m)
        rows = b.add(rows, b.mul(b.create("tt.get_program_id", axis="x"), b.constant(block_m, I32)))
        rows = b.expand_dims(rows, -1)
        columns = b.create("tt.make_range", start=0, end=block_n)
        columns = b.add(columns, b.mul(b.create("tt.get_program_id", axis="y"), b.constant(block_n, I32)))
        columns = b.expand_dims(columns, 0)
        inner = b.create("tt.make_range", start=0, end=block_k)

        # Everything in its full shape at once.
        a_tile = b.addptr(b.splat(a, tile_a), b.broadcast_to(b.mul(rows, stride_a), tile_a))
        a_tile = b.addptr(a_tile, b.broadcast_to(b.expand_dims(inner, 0), tile_a))
        b_tile = b.addptr(b.splat(b_matrix, tile_b), b.mul(b.expand_dims(inner, 1), stride_b))
        b_tile = b.addptr(b_tile, b.broadcast_to(columns, tile_b))
        rows_inside = b.compare("slt", b.broadcast_to(rows, tile_a), M)
        columns_inside = b.compare("slt", b.broadcast_to(columns, tile_b), N)

        lower, step = b.constant(0, I32), b.constant(1, I32)
        upper = b.sub(b.add(K, b.constant(block_k, I32)), b.constant(1, I32))
        upper = b.elementwise("arith.divsi", upper, b.constant(block_k, I32))
        zeros = b.constant(0, TensorType(tile_c, F32))
        with for_(b, lower, upper, step, [a_tile, zeros, b_tile]) as loop:
            a_now, total, b_now = loop.carried
            left = b.sub(K, b.mul(b.constant(block_k, I32), loop.variable))
            inner_a = b.compare("slt", b.expand_dims(inner, 0), left)
            inner_b = b.compare("slt", b.expand_dims(inner, 1), left)
            y_mask = b.elementwise("arith.andi", columns_inside, inner_b)
            y = b.load(b_now, y_mask, b.constant(0.0, TensorType(tile_b, F16)))
            x_mask = b.elementwise("arith.andi", rows_inside, inner_a)
            x = b.load(a_now, x_mask, b.constant(0.0, TensorType(tile_a, F16)))
            total = b.create("tt.dot", x, y, total, inputPrecision="tf32")
            a_now = b.addptr(a_now, b.constant(block_k, TensorType(tile_a, I32)))
            b_now = b.addptr(b_now, b.mul(b.constant(block_k, I32), stride_b))
            yield_(b, a_now, total, b_now)
        total = b.create("arith.truncf", loop.results[1], result=TensorType(tile_c, F16))
        mask_m = b.compare("slt", b.broadcast_to(rows, tile_c), M)
        mask_n = b.compare("slt", b.broadcast_to(columns, tile_c), N)
        c_tile = b.addptr(b.addptr(c, columns), b.mul(rows, stride_c))
        b.store(c_tile, total, b.elementwise("arith.andi", mask_n, mask_m))
    return module
