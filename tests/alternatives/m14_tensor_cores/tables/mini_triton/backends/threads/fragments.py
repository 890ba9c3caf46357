def sum_layout(shape: Sequence[int], warps: Arrangement) -> Layout:
    per_warp = shape[0] // warps.rows // ROWS, shape[1] // warps.columns // COLUMNS
    registers = [(0, 1), (8, 0)]
    step = COLUMNS
    while step < COLUMNS * per_warp[1]:
        registers.append((0, step))
        step *= 2
    row = ROWS
    steps = []
    while row < shape[0]:
        steps.append((row, 0))
        row *= 2
    bits = warps.rows.bit_length() - 1
    if warps.groups:
        of_warps, own = steps[:bits], steps[bits:]
    else:
        of_warps, own = steps[len(steps) - bits :], steps[: len(steps) - bits]
    while step < shape[1]:
        of_warps.append((0, step))
        step *= 2
    for _ in range(warps.copies.bit_length() - 1):
        of_warps.append((0, 0))
    return Layout((*registers, *own), ((0, 2), (0, 4), (1, 0), (2, 0), (4, 0)), tuple(of_warps))


def factor_layout(layout: Layout, axis: int, depth: int, size: int) -> Layout:
    def at(own: int, inner: int) -> Index:
        return (inner, own) if axis else (own, inner)

    inside = [at(0, 1 << bit) for bit in range(depth.bit_length() - 1)]
    word = {4: 0, 2: 1, 1: 2}[size]  # bits of an element's number in a word
    blocks = [at(vector[axis], 0) for vector in layout.registers if vector[axis] > 7]
    first = [] if axis else [blocks.pop(0)]
    registers = (*inside[:word], *first, *inside[word + 2 :], *blocks)
    lanes = (*inside[word : word + 2], at(1, 0), at(2, 0), at(4, 0))
    return Layout(registers, lanes, tuple(at(vector[axis], 0) for vector in layout.warps))
