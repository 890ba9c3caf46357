import itertools
from collections import defaultdict

OUT_AND_BACK = {"b64": ("", ""), "b16": ("cvt.u32.u16", "cvt.u16.u32"), "b32": ("", "")}
"""How a register becomes 32 bits wide, and how it is restored."""


def pair_up(threads: Threads, combination: Block, many: Sequence[Elements]) -> Elements:
    """All elements, combined in a balanced tree."""
    many = list(many)
    while len(many) > 1:
        pairs = [many[place : place + 2] for place in range(0, len(many), 2)]
        many = [threads.inline(combination, [*pair[0], *pair[1]]) if len(pair) > 1 else pair[0] for pair in pairs]
    return many[0]


def reduce(threads: Threads, operation: Operation) -> None:
    axis, layout = axis_of(operation), threads.choice.of_source(operation)
    result, block = layout.without(axis), operation.regions[0].block
    rows: dict[int, list[Elements]] = defaultdict(list)
    for number in layout.distinct:
        rows[result.first(number)].append([threads.register(value, layout, number) for value in operation.operands])
    totals = {kept: pair_up(threads, block, elements) for kept, elements in rows.items()}
    distances = [1 << bit for bit in reversed(range(len(layout.lanes))) if layout.lanes[bit][axis]]
    for kept, distance in itertools.product(totals, distances):
        other = [shuffle(threads, "bfly", register, distance) for register in totals[kept]]
        totals[kept] = threads.inline(block, other + totals[kept])
    if sum(vector[axis] for vector in layout.warps):
        totals = of_warps(threads, block, [value.type for value in operation.operands], layout, axis, totals)
    for place in range(len(operation.results)):
        threads.hold(operation.results[place], result, {kept: total[place] for kept, total in totals.items()})


def shuffle(threads: Emitter, mode: str, register: Register, distance: int) -> Register:
    if register.kind == "pred":
        number = threads.op("selp.b16", 1, 0, register)
        return threads.op("setp.eq.s16", shuffle(threads, mode, number, distance), 1)
    wide, narrow = OUT_AND_BACK[register.kind]
    if register.kind == "b64":
        parts = [threads.op("cvt.u32.u64", register), threads.op("cvt.u32.u64", threads.op("shr.u64", register, 32))]
    else:
        parts = [threads.op(wide, register) if wide else register]
    clamp = {"up": 0}.get(mode, 31)
    parts = [threads.op(f"shfl.sync.{mode}.b32", part, distance, clamp, -1) for part in parts]
    if len(parts) == 2:
        return threads.op("mov.b64", tuple(parts))
    return threads.op(narrow, parts[0]) if narrow else parts[0]


def of_warps(
    threads: Threads, combination: Block, types: Sequence[Type], layout: Layout, axis: int, totals: dict[int, Elements]
) -> dict[int, Elements]:
    slots = Slots(threads, types, layout, axis)
    copies = 0
    for bit, vector in enumerate(layout.threads):
        of_lane = bit < LANE_BITS
        rest = any(size for other, size in enumerate(vector) if other != axis or not of_lane)
        copies |= 0 if rest else 1 << bit
    mine = threads.op("and.b32", threads.thread, copies)
    guard = threads.op("setp.eq.s32", mine, 0)
    for kept, elements in totals.items():
        slots.put(kept, elements, guard)
    return {kept: pair_up(threads, combination, slots.get(kept)) for kept in totals}
