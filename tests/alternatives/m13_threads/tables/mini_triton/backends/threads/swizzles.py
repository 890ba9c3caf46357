from itertools import combinations


def places(source: Flat, target: Flat, bits: int, size: int) -> Columns:
    units = [2**bit for bit in range(bits)]
    chosen = list(shared_registers(source, target, size))
    together = {4: 5, 8: 4, 16: 3}[max(WORD, size * 2 ** len(chosen))]
    lanes = [[lane for lane in flat[1][:together] if lane > 0] for flat in (source, target)]
    count = bits
    while count and size * 2 ** (bits - count) < LINE:
        count -= 1
    common = [unit for unit in units if (unit in lanes[0]) == (unit in lanes[1])]
    for unit in [*sorted(common, key=lambda unit: unit in lanes[0]), *lanes[0][::-1]]:
        if unit not in chosen and size * 2 ** len(chosen) < WORD:
            chosen.append(unit)
    lines: list[int] = []
    for one in [*reversed(units), *(a + b for a, b in combinations(units, 2))]:
        more = [*chosen, *lines, one]
        if len(lines) < count and all(is_independent(more + sorted({*some} - {*chosen})) for some in lanes):
            lines.append(one)
    for unit in units:
        if is_independent([*chosen, *lines, unit]):
            chosen.append(unit)
    return tuple(chosen + lines)
