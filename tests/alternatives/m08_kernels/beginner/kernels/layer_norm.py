"""Layer normalisation of rows, and its gradient, one small step after the other."""


def forward_kernel(out, x, weight, bias, mean_out, rstd_out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns_of_row = tl.arange(0, BLOCK)
    inside = columns_of_row < columns
    start = row.to(tl.int64) * columns
    x_pointers = x + start + columns_of_row
    out_pointers = out + start + columns_of_row

    values = tl.load(x_pointers, mask=inside, other=0.0)
    values = values.to(tl.float32)
    sum_of_values = tl.sum(values, axis=0)
    mean = sum_of_values / columns
    tl.store(mean_out + row, mean)

    differences = values - mean
    squares = differences * differences
    squares = tl.where(inside, squares, 0.0)
    sum_of_squares = tl.sum(squares, axis=0)
    variance = sum_of_squares / columns
    root = tl.sqrt(variance + eps)
    rstd = 1.0 / root
    tl.store(rstd_out + row, rstd)

    weights = tl.load(weight + columns_of_row, mask=inside, other=1.0)
    biases = tl.load(bias + columns_of_row, mask=inside, other=0.0)
    normalised = differences / root
    result = normalised * weights.to(tl.float32)
    result = result + biases.to(tl.float32)
    result = result.to(out.dtype.element_ty)
    tl.store(out_pointers, result, mask=inside)


def backward_kernel(
    dx, dweight_parts, dbias_parts, dy, x, weight, mean, rstd, rows, columns, BLOCK: tl.constexpr
):  # fmt: skip
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    columns_of_row = tl.arange(0, BLOCK)
    inside = columns_of_row < columns
    weights = tl.load(weight + columns_of_row, mask=inside, other=0.0)
    weights = weights.to(tl.float32)
    sum_for_weight = tl.zeros([BLOCK], dtype=tl.float32)
    sum_for_bias = tl.zeros([BLOCK], dtype=tl.float32)

    rounds = (rows + programs - 1) // programs
    for round_number in range(0, rounds):
        row = round_number * programs + program
        if row < rows:
            start = row.to(tl.int64) * columns
            values = tl.load(x + start + columns_of_row, mask=inside, other=0.0)
            values = values.to(tl.float32)
            gradients = tl.load(dy + start + columns_of_row, mask=inside, other=0.0)
            gradients = gradients.to(tl.float32)
            row_mean = tl.load(mean + row)
            row_rstd = tl.load(rstd + row)

            normalised = (values - row_mean) * row_rstd
            sum_for_weight = sum_for_weight + gradients * normalised
            sum_for_bias = sum_for_bias + gradients

            g = gradients * weights  # 0 where it is masked off, and so is its product with anything
            average_of_g = tl.sum(g, axis=0) / columns
            average_of_product = tl.sum(g * normalised, axis=0) / columns
            result = g - average_of_g
            result = result - normalised * average_of_product
            result = result * row_rstd
            tl.store(dx + start + columns_of_row, result.to(dx.dtype.element_ty), mask=inside)

    line = program * columns
    tl.store(dweight_parts + line + columns_of_row, sum_for_weight, mask=inside)
    tl.store(dbias_parts + line + columns_of_row, sum_for_bias, mask=inside)


def sum_parts_kernel(
    dweight, dbias, dweight_parts, dbias_parts, parts, columns, BLOCK_P: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = mine < columns
    weight_total = tl.zeros([BLOCK], dtype=tl.float32)
    bias_total = tl.zeros([BLOCK], dtype=tl.float32)
    for line in range(0, parts):  # one line at a time: simple, and slower than BLOCK_P at a time
        weight_total = weight_total + tl.load(dweight_parts + line * columns + mine, mask=inside, other=0.0)
        bias_total = bias_total + tl.load(dbias_parts + line * columns + mine, mask=inside, other=0.0)
    tl.store(dweight + mine, weight_total.to(dweight.dtype.element_ty), mask=inside)
    tl.store(dbias + mine, bias_total.to(dbias.dtype.element_ty), mask=inside)
