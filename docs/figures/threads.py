"""Figures of milestone 13: who holds what, and how threads exchange elements."""

from __future__ import annotations

from typing import Any

from docs.figures.drawing import Drawing, figure

SHAPE = 8, 16
"""The shape of the tiles whose threads a figure shows."""


@figure
def scan_steps() -> Drawing:
    """A scan over lanes: each lane takes what an earlier lane has, from distances 1, 2 and 4."""
    d = Drawing(258, "Eight lanes add the sums of lanes at distances 1, 2 and 4; then each holds the sum up to itself")
    x = [64 + 50 * lane for lane in range(8)]
    for step, name in enumerate(("has", "1", "2", "4")):
        y, before, distance = 44 + 58 * step, (1 << step) // 2, 1 << step
        d.text(8, y + 4, name, "muted", 12)
        for lane in range(8):
            first = max(0, lane - distance + 1)
            text = "abcdefgh"[first : lane + 1] if lane - first < 4 else f"{'abcdefgh'[first]}…{'abcdefgh'[lane]}"
            color = "green" if first == 0 else "blue"
            d.label(x[lane] - 21, y - 12, 42, 24, text, f"{color}-soft", color, mono=True, size=12)
            if step:
                d.line((x[lane], y - 46), (x[lane], y - 12))
                if lane >= before:
                    d.line((x[lane - before], y - 46), (x[lane], y - 12), color="orange")
    for lane in range(8):
        d.text(x[lane], 22, f"lane {lane}", "ink", 11, "middle", True)
    d.text(64, 252, "orange: shfl.sync.up by 1, 2, 4; green: all up to the lane", "orange", 12)
    return d


@figure
def on_demand() -> Drawing:
    """A store asks for one register; the request goes back through the operations."""
    d = Drawing(238, "A request for register 5 of a square becomes requests for register 5 of its operands")
    values = [
        (30, "%square", "mul.lo.s32 %r6, %r5, %r5", "blue"),
        (86, "%sum", "add.s32 %r5, %r4, %r0", "blue"),
        (142, "%range", "xor.b32 %r4, %r3, 513", "blue"),
        (198, "%many", "%r0, the only element", "green"),
    ]
    d.text(16, 20, "value", "muted", 12)
    d.text(84, 20, "registers of a thread", "muted", 12)
    d.text(276, 20, "instruction", "muted", 12)
    for y, name, text, color in values:
        d.text(16, y + 18, name, mono=True, size=12)
        d.cells(84, y + 2, [range(8)], lambda i, j, color=color: f"{color}-soft" if j == 5 else "faint", 22)  # type: ignore[misc]
        d.text(276, y + 18, text, color, 11, mono=True)
    for y in (30, 86):
        d.arrow((205, y + 28), (205, y + 56), color="blue")
    d.arrow((216, 114), (262, 132), (262, 186), (216, 198), color="green")
    return d


@figure
def words_in_registers() -> Drawing:
    """Eight elements of 16 bits in memory, four words, eight registers."""
    d = Drawing(
        216, "Eight neighbors of 2 bytes in memory are four words of 4 bytes, and then eight registers of 16 bits"
    )
    colors = ("blue", "orange", "green", "purple")
    d.text(28, 22, "16 bytes in memory, from the lowest address", "muted", 12)
    d.cells(28, 30, [[f"x[{number}]" for number in range(8)]], lambda i, j: f"{colors[j // 2]}-soft", 48, 26)
    for number, color in enumerate(colors):
        x = 28 + 96 * number
        d.line((x + 48, 58), (x + 48, 84))
        d.label(x + 2, 84, 92, 26, f"%r{8 + number}", f"{color}-soft", color, mono=True)
        for half in range(2):
            d.line((x + 24 + 48 * half, 110), (x + 24 + 48 * half, 136))
            d.label(
                x + 2 + 48 * half, 136, 44, 26, f"%h{2 * number + half}", f"{color}-soft", color, mono=True, size=12
            )
    d.text(28, 186, "four words:  ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%d3]", "muted", 12)
    d.text(28, 206, "two elements each, the first in the lower half:  mov.b32 {%h0, %h1}, %r8", "muted", 11)
    return d


@figure
def who_holds_what() -> Drawing:
    """Four neighbors of a row in a thread."""
    alt = "A tile of 8 rows and 16 columns: each of 32 lanes holds four neighbors of a row, and four lanes hold a row"
    return holders(alt, order=(1, 0), sizes={1: 4}, text="a cell: lane · register; four lanes hold a row")


@figure
def along_columns() -> Drawing:
    """Four neighbors of a column in a thread."""
    alt = "The same tile: each of 32 lanes holds four neighbors of a column, and two lanes hold a column"
    return holders(alt, order=(0, 1), sizes={0: 4}, text="a cell: lane · register; two lanes hold a column")


def holders(alt: str, order: tuple[int, int], sizes: dict[int, int], text: str) -> Drawing:
    """A tile with the lane and the register of each element, and the bits of an index."""
    from mini_triton.backends.threads.layouts import blocked

    layout = blocked(SHAPE, order, sizes, 1)
    places = {layout.index(register, lane): (lane, register) for lane in range(32) for register in layout.distinct}
    cells = [[places[row, column] for column in range(SHAPE[1])] for row in range(SHAPE[0])]
    d = Drawing(278, alt)
    colors = ("blue-soft", "orange-soft", "green-soft", "purple-soft")
    d.cells(12, 12, [[f"{lane}·{register}" for lane, register in row] for row in cells],
            lambda i, j: colors[cells[i][j][0] % 4], 26, 22, 8)  # fmt: skip
    d.text(12, 206, text, "muted", 12)
    owners = {vector: f"lane {1 << bit}" for bit, vector in enumerate(layout.lanes)}
    owners |= {vector: f"reg. {1 << bit}" for bit, vector in enumerate(layout.registers)}
    bits(d, 12, "bits of the row", owners, [(4, 0), (2, 0), (1, 0)])
    bits(d, 196, "bits of the column", owners, [(0, 8), (0, 4), (0, 2), (0, 1)])
    return d


def bits(d: Drawing, x: float, title: str, owners: dict[Any, str], vectors: list[tuple[int, int]]) -> None:
    """Which bit of a place each bit of an index comes from."""
    d.text(x, 230, title, "ink", 12, bold=True)
    for number, vector in enumerate(vectors):
        fill = "blue-soft" if owners[vector].startswith("lane") else "orange-soft"
        d.label(x + 58 * number, 250, 54, 22, owners[vector], fill, fill.removesuffix("-soft"), size=11)
        d.text(x + 58 * number + 27, 245, str(max(vector)), "muted", 11, "middle", True)


@figure
def reduction_tree() -> Drawing:
    """Sixteen elements of two warps with four lanes of two registers, combined bit by bit."""
    from mini_triton.backends.threads.layouts import Layout

    layout = Layout(((1,),), ((2,), (4,)), ((8,),))
    d = Drawing(364, "Elements are combined in a thread's registers, then by two shuffles, then through shared memory")
    left, wide, rows = 56, 47, (28, 86, 144, 202, 308)
    held = [[{layout.index(register, thread)[0]} for register in range(2)] for thread in range(8)]

    def boxes(y: float, parts: list[set[int]]) -> None:
        for thread, part in enumerate(parts):
            color = ("blue", "orange")[thread // 4] if len(part) < 16 else "green"
            text = f"{min(part)}–{max(part)}"
            d.label(left + wide * thread + 3, y, wide - 6, 24, text, f"{color}-soft", color, mono=True, size=12)

    def joined(y: float, distance: int, color: str) -> None:
        for thread in range(8):
            for other in (thread, thread ^ distance):
                x = [left + wide * place + wide / 2 for place in (other, thread)]
                d.line((x[0], y - 34), (x[1], y), color="rule" if other == thread else color)

    for warp in range(2):
        d.text(
            left + 4 * wide * warp + 2 * wide,
            18,
            f"warp {warp}, four lanes",
            ("blue", "orange")[warp],
            12,
            "middle",
            True,
        )
    d.text(4, rows[0] + 16, "elements", "muted", 11)
    elements = [min(part) for parts in held for part in parts]
    d.cells(left, rows[0], [elements], lambda i, j: ("blue-soft", "orange-soft")[j // 8], wide / 2)
    parts = [set.union(*one) for one in held]
    for place in range(16):
        x = left + wide / 4 + wide / 2 * place
        d.line((x, rows[0] + 24), (left + wide * (place // 2) + wide / 2, rows[1]))
    boxes(rows[1], parts)
    d.text(4, rows[1] - 12, "registers", "muted", 11)
    for bit, y in enumerate(rows[2:4]):
        joined(y, 1 << bit, "purple")
        parts = [parts[thread] | parts[thread ^ 1 << bit] for thread in range(8)]
        boxes(y, parts)
        d.text(4, y - 12, f"shuffle {1 << bit}", "purple", 11)
    y = rows[3] + 52
    for warp in range(2):
        middle = left + 4 * wide + 100 * warp - 50
        d.arrow((left + 4 * wide * warp + wide / 2, rows[3] + 24), (middle, y), color="muted")
        text = f"{min(parts[4 * warp])}–{max(parts[4 * warp])}"
        d.label(middle - 50, y, 100, 24, text, ("blue-soft", "orange-soft")[warp], mono=True, size=12)
    d.text(4, y + 16, "shared memory", "muted", 11)
    for thread in range(8):
        d.line((left + 4 * wide, y + 24), (left + wide * thread + wide / 2, rows[4]))
    boxes(rows[4], [parts[thread] | parts[thread ^ 4] for thread in range(8)])
    d.text(4, rows[4] + 44, "The bits of an element's index: register 1, lanes 2 and 4, warp 8.", "muted", 11)
    return d


@figure
def swizzle() -> Drawing:
    """A tile of 32 x 32 words in shared memory, row by row and as the compiler places it."""
    from mini_triton.backends.threads.layouts import apply, blocked, invert
    from mini_triton.backends.threads.swizzles import places

    shape = (32, 32)
    source, target = (blocked(shape, order, {}, 1).flat(shape) for order in ((1, 0), (0, 1)))
    cell, top = 6, 46
    d = Drawing(296, "Row by row, a column of 32 words is in one bank; with a swizzle, rows and columns use all banks")
    ways = []
    for left, place_of in ((16, tuple(1 << bit for bit in range(10))), (232, invert(places(source, target, 10, 4)))):
        d.box(left, top, 32 * cell, 32 * cell, "faint", radius=0)
        for flat, color in ((source, "blue"), (target, "orange")):
            found = [divmod(apply(place_of, apply(flat[1], lane)), 32) for lane in range(32)]
            for line, bank in found:
                d.box(left + cell * bank, top + cell * line, cell, cell, f"{color}-soft", color, radius=0)
            ways.append(max([bank for _, bank in found].count(bank) for bank in range(32)))
    for left, title in ((16, "row by row"), (232, "places(…)")):
        d.text(left + 96, 20, title, "ink", 13, "middle", True)
        d.text(left + 96, 38, "32 banks", "muted", 11, "middle")
    for x, (row, column) in ((16, ways[:2]), (232, ways[2:])):
        d.text(x, 258, f"store a row: {row} cycle{'s' * (row > 1)}", "blue", 12)
        d.text(x, 276, f"load a column: {column} cycle{'s' * (column > 1)}", "orange", 12)
    return d
