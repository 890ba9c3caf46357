"""Figures of milestone 14: which lane holds what, and where matrices lie in shared memory."""

from __future__ import annotations

from docs.figures.drawing import Drawing, figure

COLORS = ("blue-soft", "orange-soft", "green-soft", "purple-soft")


@figure
def fragments() -> Drawing:
    """The factors and the sums of one instruction, with the lane of each element; a word has a color."""
    from mini_triton.backends.threads.fragments import Arrangement, factor_layout, sum_layout
    from mini_triton.backends.threads.layouts import Layout

    d = Drawing(500, "The first matrix is left of the sums, the second above them; each element has its lane's number")
    sums = sum_layout((16, 8), Arrangement(1, 1))
    cell, left, top = 14, 8, 24

    def draw(x: float, y: float, layout: Layout, word: int) -> None:
        """A matrix; `word` registers have one color."""
        places = {layout.index(number, lane): (lane, number) for lane in range(32) for number in layout.distinct}
        rows, columns = (1 + max(index[axis] for index in places) for axis in (0, 1))
        held = [[places[row, column] for column in range(columns)] for row in range(rows)]
        d.cells(
            x,
            y,
            [[lane for lane, _ in row] for row in held],
            lambda i, j: COLORS[held[i][j][1] // word],
            cell,
            cell,
            8,
        )

    right, below = left + 16 * cell + 16, top + 16 * cell + 16
    draw(right, top, factor_layout(sums, 1, 16, 2), 2)
    draw(left, below, factor_layout(sums, 0, 16, 2), 2)
    draw(right, below, sums, 1)
    d.text(right, 16, "second matrix, 16 x 8", "ink", 12, bold=True)
    d.text(left, below - 8, "first matrix, 16 x 16", "ink", 12, bold=True)
    d.text(right + 8 * cell + 6, below + 12, "sums,", "ink", 12, bold=True)
    d.text(right + 8 * cell + 6, below + 28, "16 x 8", "ink", 12, bold=True)
    d.lines(left, top + 40, ["A number is a lane.", "In the matrices, a color is a", "32-bit word with two elements;",
                             "in the sums, a register. Both", "count blue, orange, green,", "purple."],
            color="muted", size=12)  # fmt: skip
    return d


@figure
def tile_places() -> Drawing:
    """Eight rows in shared memory, row by row and in a tile; one place of each row stands out."""
    from mini_triton.backends.threads.tiles import Tile

    d = Drawing(236, "Row by row, the same place of eight rows is in one group of banks; in a tile, it is in eight")
    width, height, top = 16, 16, 48
    for number, (title, tile) in enumerate(
        (("row by row", None), ("rows of 128 bytes", Tile((8, 64), 2, 1, 0)), ("of 64 bytes", Tile((8, 32), 2, 1, 0)))
    ):
        x, columns = 10 + 144 * number, tile.shape[1] if tile else 64
        cells = {}
        for row in range(8):
            for place in range(columns // 8):
                byte = tile.place((row, 8 * place)) if tile else 128 * row + 16 * place
                cells[divmod(byte // 16, 8)] = (row, place)
        table = [[cells[line, bank] for bank in range(8)] for line in range(columns // 8)]
        d.text(x + 4 * width, 18, title, "ink", 12, "middle", bold=True)
        d.text(x + 4 * width, 38, "eight groups of banks", "muted", 11, "middle")
        d.cells(
            x,
            top,
            [[f"{row}.{place}" for row, place in line] for line in table],
            lambda i, j, table=table: "orange-soft" if table[i][j][1] == 2 else "blue-soft",  # type: ignore[misc]
            width,
            height,
            8,
        )
        banks = [bank for (_, bank), (_, place) in cells.items() if place == 2]
        ways = max(map(banks.count, banks))
        d.text(x + 4 * width, 196, f"{ways} cycle{'s' * (ways > 1)}", "orange", 12, "middle")
    d.text(10, 222, "row.place, 16 bytes each; orange: place 2 of eight rows, read at once", "muted", 11)
    return d


@figure
def in_flight() -> Drawing:
    """Three iterations of a loop: products and copies in turns, and products beside copies."""
    d = Drawing(
        196, "Waiting at once, products and copies take turns; with late products, tensor cores always have work"
    )
    for y, title, late in ((20, "each product is waited for at once", False), (112, "late products", True)):
        d.text(8, y, title, "ink", 12, bold=True)
        for row, name in enumerate(("tensor cores", "threads")):
            d.text(8, y + 26 + 28 * row, name, "muted", 11)
        for number in range(3):
            x = 88 + (76 if late else 112) * number
            product, copy = (x, x + 4) if late else (x + 36, x)
            d.label(product, y + 10, 74, 24, f"product {number}", "blue-soft", "blue", size=11)
            d.label(copy, y + 38, 34, 24, f"copy {number + 2}", "orange-soft", "orange", size=9)
            if late and number:
                d.line((x - 1, y + 10), (x - 1, y + 62), color="green")
    d.text(88, 192, "green: wgmma.wait_group 1, for the product before", "green", 11)
    return d


@figure
def product_steps() -> Drawing:
    """One step of a warp with 32 x 32 sums: a cell is 8 x 8 elements, a number its instruction."""
    from mini_triton.backends.threads.fragments import Arrangement, factor_layout, sum_layout
    from mini_triton.backends.threads.layouts import Layout

    d = Drawing(244, "Four loads of four words each serve eight products of 16 x 8 sums")
    sums = sum_layout((32, 32), Arrangement(1, 1))
    cell, left, top = 28, 10, 26

    def draw(x: float, y: float, layout: Layout, registers: int, first: int, colors: tuple[str, ...]) -> None:
        """A matrix; each instruction loads or computes so many registers of a thread, and numbers begin at `first`."""
        places = {layout.index(number): number // registers for number in layout.distinct}
        rows, columns = (1 + max(index[axis] for index in places) // 8 for axis in (0, 1))
        held = [[places[8 * row, 8 * column] for column in range(columns)] for row in range(rows)]
        names = [[first + number for number in row] for row in held]
        d.cells(x, y, names, lambda i, j: colors[held[i][j] % len(colors)], cell, cell)

    right, below = left + 2 * cell + 24, top + 2 * cell + 24
    draw(right, top, factor_layout(sums, 1, 16, 2), 8, 3, COLORS[2:])
    draw(left, below, factor_layout(sums, 0, 16, 2), 8, 1, COLORS[:2])
    draw(right, below, sums, 4, 1, ("faint",))
    d.text(right, top - 8, "second factor", "ink", 12, bold=True)
    d.text(left, below - 8, "first factor", "ink", 12, bold=True)
    d.text(right, below + 4 * cell + 18, "sums", "ink", 12, bold=True)
    factors = [
        "A cell has 8 x 8 elements,",
        "two in each lane.",
        "Here, a number is an ldmatrix,",
        "which loads four cells.",
    ]
    products = [
        "Here, a number is an mma.sync. It",
        "computes two cells, and takes four",
        "of the first factor, to their left,",
        "and two of the second factor,",
        "above them.",
    ]
    d.lines(right + 4 * cell + 14, top + 8, factors, color="muted", size=11, step=16)
    d.lines(right + 4 * cell + 14, below + 12, products, color="muted", size=11, step=16)
    return d


@figure
def ring() -> Drawing:
    """A loop of four iterations with a ring of three slots: copies start two iterations ahead."""
    d = Drawing(178, "While iteration i computes from one slot, the copies of the next two iterations fill the others")
    left, top, width, height = 48, 30, 65, 32
    for column, name in enumerate(("before", *(f"iteration {number}" for number in range(4)), "after")):
        d.text(left + (column + 0.5) * width, 20, name, "muted", 11, "middle")
    for slot in range(3):
        d.text(4, top + slot * height + 20, f"slot {slot}", "ink", 12, bold=True)
    for number in range(6):
        start, y = max(0, number - 1), top + number % 3 * height
        x, end = left + start * width, left + min(number + 1, 5) * width
        style = ("faint", "muted") if number >= 4 else ("orange-soft", "orange")
        d.label(x + 3, y + 3, end - x - 6, height - 6, f"copy {number}", *style, size=11, dashed=number >= 4)
        if number < 4:
            d.label(end + 3, y + 3, width - 6, height - 6, f"compute {number}", "blue-soft", "blue", size=10)
    for column in range(1, 6):
        x = left + column * width
        d.line((x, top - 2), (x, top + 3 * height + 2), color="green")
    d.text(left, top + 3 * height + 20, "green: a wait, which is also a barrier", "green", 11)
    d.text(
        left,
        top + 3 * height + 38,
        "dashed: a copy that reads nothing, because there is no such iteration",
        "muted",
        11,
    )
    return d
