"""Figures that explain an idea; nothing in them depends on the compiler."""

from __future__ import annotations

import math

from docs.figures.drawing import Drawing, figure


@figure
def types() -> Drawing:
    """Signedness ends where the IR begins."""
    d = Drawing(
        250, "A kernel's dtypes are signed or unsigned; in the IR, only operations distinguish signed from unsigned"
    )
    d.text(16, 24, "in the kernel: dtypes", bold=True)
    d.label(30, 38, 120, 30, "x: int32", "blue-soft", "blue", mono=True)
    d.label(290, 38, 120, 30, "y: uint8", "blue-soft", "blue", mono=True)
    d.arrow((90, 68), (180, 96))
    d.arrow((350, 68), (260, 96))
    d.label(150, 96, 140, 30, "promote → int32", "blue-soft", "blue", mono=True)
    d.line((0, 150), (440, 150), dashed=True)
    d.text(424, 144, "above: width and signedness", "muted", 12, "end")
    d.text(424, 166, "below: width only", "muted", 12, "end")
    d.arrow((220, 126), (220, 180))
    d.text(16, 172, "in the IR: types", bold=True)
    d.box(40, 182, 360, 54)
    d.text(54, 204, "%y2 = arith.extui %y : i8 to i32", mono=True)
    d.text(54, 225, "%z  = arith.addi %x, %y2 : i32", mono=True)
    return d


@figure
def broadcasting() -> Drawing:
    """A column and a row make a tile."""
    d = Drawing(214, "A column of shape (4, 1) and a row of shape (1, 4) are broadcast to the shape (4, 4)")
    rows, columns = [0, 10, 20, 30], [0, 1, 2, 3]
    d.text(29, 22, "(4, 1)", "muted", 12, "middle", True)
    d.cells(16, 32, [[row] for row in rows], lambda i, j: "blue-soft")
    d.text(60, 88, "+", size=18)
    d.text(142, 22, "(1, 4)", "muted", 12, "middle", True)
    d.cells(90, 68, [columns], lambda i, j: "orange-soft")
    d.text(212, 88, "=", size=18)
    d.text(292, 22, "(4, 4)", "muted", 12, "middle", True)
    d.cells(240, 32, [[row + column for column in columns] for row in rows], lambda i, j: "faint")
    d.text(16, 160, "x[:, None]", "blue", mono=True)
    d.text(90, 160, "  + y[None, :]", "orange", mono=True)
    d.lines(
        16,
        184,
        [
            "A dimension of size 1 is broadcast to the other size.",
            "It is an error if two sizes differ and neither is 1.",
        ],
        color="muted",
        size=12,
    )
    return d


@figure
def dominance() -> Drawing:
    """What an operation can see."""
    d = Drawing(
        284, "An operation sees values defined earlier in its block and in the blocks around it, never inside another"
    )
    d.box(12, 12, 416, 260)
    d.text(26, 34, "tt.func(%x)", mono=True)
    d.label(44, 46, 120, 26, "%a = …", "blue-soft", "blue", mono=True)
    d.text(178, 64, "sees %x", "muted", 12)
    d.box(44, 84, 370, 112, "paper")
    d.text(56, 106, "scf.if %c {", mono=True)
    d.label(72, 116, 120, 26, "%b = …", "orange-soft", "orange", mono=True)
    d.text(230, 134, "sees %x, %a", "muted", 12)
    d.text(56, 180, "}", mono=True)
    d.text(72, 180, "%b ends here", "orange", 12)
    d.label(44, 208, 120, 26, "%d = …", "blue-soft", "blue", mono=True)
    d.text(230, 226, "sees %x, %a, but not %b", "muted", 12)
    d.arrow((156, 116), (156, 72), color="green")
    d.arrow((44, 221), (30, 221), (30, 59), (44, 59), color="green")
    d.text(414, 34, "earlier and enclosing: visible", "green", 12, "end")
    d.arrow((164, 221), (212, 221), (212, 129), (192, 129), color="orange", dashed=True)
    d.text(222, 180, "inside another: not visible", "orange", 12)
    d.text(26, 264, "A terminator passes values out: scf.yield %b", "muted", 12)
    return d


@figure
def visitor() -> Drawing:
    """Nodes are visited from the leaves up."""
    d = Drawing(268, "The visitor visits the operands of a node first, and Python applies the operator")
    d.text(16, 24, "tl.store(x, a * N + b)", mono=True)
    places = {
        "Call": (150, 52, "5"),
        "Name x": (60, 104, "1"),
        "BinOp +": (240, 104, "4"),
        "BinOp *": (170, 156, "3"),
        "Name b": (330, 156, ""),
        "Name a": (110, 208, ""),
        "Name N": (230, 208, ""),
    }
    for parent, child in (("Call", "Name x"), ("Call", "BinOp +"), ("BinOp +", "BinOp *"), ("BinOp +", "Name b")):
        d.line((places[parent][0], places[parent][1] + 13), (places[child][0], places[child][1] - 13))
    for child in ("Name a", "Name N"):
        d.line((170, 169), (places[child][0], places[child][1] - 13))
    for name, (x, y, _) in places.items():
        fill = "blue-soft" if name.startswith("Name") else "orange-soft" if name.startswith("Bin") else "green-soft"
        d.label(x - 42, y - 13, 84, 26, name, fill, fill.removesuffix("-soft"), size=12)
    d.text(292, 108, "a·N + b: emits addi", "muted", 12)
    d.text(16, 160, "emits muli", "muted", 12)
    d.line((84, 156), (126, 156), dashed=True)
    d.text(202, 56, "emits tt.store", "muted", 12)
    d.text(16, 244, "Names", "blue", 12, bold=True)
    d.text(66, 244, "are looked up in the scope; they emit nothing.", "muted", 12)
    d.text(16, 260, "Operators", "orange", 12, bold=True)
    d.text(88, 260, "are applied by Python; tensors emit operations.", "muted", 12)
    return d


@figure
def loop_scopes() -> Drawing:
    """One name, four values."""
    d = Drawing(
        330,
        "The name total is bound to four values: before the loop, at the start and end of an iteration, and after it",
    )
    d.label(20, 16, 180, 30, "total = 0", "blue-soft", "blue", mono=True)
    d.text(214, 36, "%total   before", "muted", 12, mono=True)
    d.arrow((110, 46), (110, 84))
    d.text(120, 70, "initial value", "muted", 12)
    d.box(12, 84, 416, 150, "paper")
    d.text(300, 104, "scf.for", mono=True, color="muted")
    d.label(20, 94, 180, 30, "for i in range(n):", "orange-soft", "orange", mono=True)
    d.text(214, 126, "%total_1 at the start", "muted", 12, mono=True)
    d.arrow((110, 124), (110, 152))
    d.label(38, 152, 162, 30, "total += i", "orange-soft", "orange", mono=True)
    d.text(214, 172, "%total_2 at the end", "muted", 12, mono=True)
    d.text(38, 212, "scf.yield %total_2", mono=True)
    d.arrow((180, 207), (410, 207), (410, 120), (372, 120), color="orange")
    d.text(330, 225, "the next iteration", "orange", 12, "middle")
    d.arrow((110, 222), (110, 262))
    d.text(120, 252, "the result", "muted", 12)
    d.label(20, 262, 180, 30, "tl.store(x, total)", "green-soft", "green", mono=True)
    d.text(214, 282, "%total_0 after", "muted", 12, mono=True)
    d.text(20, 316, "SSA values never change. A loop carries names that change.", "muted", 12)
    return d


@figure
def program_axis() -> Drawing:
    """All programs in one array."""
    d = Drawing(272, "Program numbers form a column, the offsets a row; their sum has a row for each program")
    d.text(16, 24, "program_id(0) * 4   +   arange(0, 4)   =   offsets", mono=True)
    d.text(50, 52, "(3, 1)", "muted", 12, "middle", True)
    d.cells(36, 64, [[0], [4], [8]], lambda i, j: "blue-soft", 30)
    d.text(163, 52, "(4,)", "muted", 12, "middle", True)
    d.cells(110, 88, [[0, 1, 2, 3]], lambda i, j: "orange-soft")
    d.text(316, 52, "(3, 4)", "muted", 12, "middle", True)
    d.cells(
        264,
        64,
        [[4 * i + j for j in range(4)] for i in range(3)],
        lambda i, j: "faint" if 4 * i + j > 9 else "green-soft",
    )
    for i in range(3):
        d.text(374, 80 + 24 * i, f"program {i}", "muted", 11)
    d.text(16, 168, "varying", "blue", bold=True)
    d.text(80, 168, "differs from program to program: axis 0")
    d.text(16, 192, "uniform", "orange", bold=True)
    d.text(80, 192, "the same for all programs: no program axis")
    d.lines(
        16,
        224,
        [
            "One NumPy call computes the sums for all programs of the launch.",
            "With n = 10, the mask switches off the last two lanes (gray).",
        ],
        color="muted",
        size=12,
    )
    return d


@figure
def branches() -> Drawing:
    """A divergent branch, over time."""
    d = Drawing(
        248, "A divergent branch: one side runs under a mask, the other under its inverse; then all programs go on"
    )
    took = [True, False, True, True, False]
    for program, taken in enumerate(took):
        y = 40 + 28 * program
        d.text(16, y + 16, f"program {program}", "muted", 12)
        d.label(92, y, 70, 22, "v > 0 ?", "faint", size=11)
        d.label(
            168,
            y,
            84,
            22,
            "sqrt" if taken else "",
            "green-soft" if taken else "paper",
            "green",
            size=11,
            dashed=not taken,
        )
        d.label(
            258,
            y,
            84,
            22,
            "" if taken else "negate",
            "paper" if taken else "orange-soft",
            "orange",
            size=11,
            dashed=taken,
        )
        d.label(348, y, 76, 22, "store", "faint", size=11)
    for x, name in ((127, "condition"), (210, "mask"), (300, "~mask"), (386, "all")):
        d.text(x, 28, name, "ink", 12, "middle", True)
    d.arrow((92, 196), (424, 196))
    d.text(424, 214, "time", "muted", 12, "end")
    d.text(16, 232, "The generated code skips a branch that no program takes.", "muted", 12)
    return d


@figure
def divergence() -> Drawing:
    """A loop that programs leave one by one."""
    d = Drawing(
        268,
        "Program i runs i iterations; the arrays contain only the programs that are still in the loop",
    )
    d.text(16, 24, "for k in range(program_id): …", mono=True)
    for program in range(5):
        y = 48 + 28 * program
        d.text(16, y + 16, f"program {program}", "muted", 12)
        for number in range(4):
            active = number < program
            d.label(
                100 + 58 * number,
                y,
                54,
                22,
                f"round {number}" if active else "",
                "blue-soft" if active else "paper",
                "blue",
                size=11,
                dashed=not active,
            )
        d.text(342, y + 16, "in the loop" if program == 4 else f"leaves after {program}", "muted", 12)
    d.text(100, 210, "P = 4      P = 3      P = 2       P = 1", "ink", 12, mono=False)
    d.lines(
        16,
        236,
        [
            "Arrays get shorter when programs leave, so nothing is computed",
            "for finished programs, and the body needs no mask.",
        ],
        color="muted",
        size=12,
    )
    return d


@figure
def modes() -> Drawing:
    """Three ways to run the same IR."""
    d = Drawing(
        262,
        "Interpreter: a call for each program and operation. Batched: a call for each operation. Fast: fewer calls",
    )
    for top, name, note, fill in (
        (16, "interpreter", "a call for each program and each operation", "orange-soft"),
        (98, "batched", "a call for each operation, for all programs", "blue-soft"),
        (180, "fast", "offsets and masks are not stored at all", "green-soft"),
    ):
        color = fill.removesuffix("-soft")
        d.text(16, top + 12, name, color, bold=True)
        d.text(108, top + 12, note, "muted", 12)
        for operation in range(4):
            x = 16 + 104 * operation
            if name == "interpreter":
                for program in range(6):
                    d.box(x + 15 * program, top + 22, 13, 32, fill, color, radius=2)
            elif name == "batched":
                d.box(x, top + 22, 88, 32, fill, color, radius=2)
            elif operation in (1, 3):
                d.box(x, top + 22, 88, 32, fill, color, radius=2)
            else:
                d.box(x, top + 34, 88, 8, "paper", color, dashed=True, radius=2)
    for operation, name in enumerate(("offsets", "load", "mask", "add")):
        d.text(60 + 104 * operation, 252, name, "muted", 12, "middle", True)
    return d


@figure
def cache_key() -> Drawing:
    """What a compiled kernel depends on."""
    d = Drawing(300, "The key hashes everything that the machine code depends on; it leaves out the arguments' values")
    inputs = (
        ("source", "of the kernel and its callees", "blue-soft"),
        ("globals", "that they read: tl.constexpr", "blue-soft"),
        ("types", "*fp32, i32, … of the arguments", "green-soft"),
        ("constants", "BLOCK=1024, None, integers equal to 1", "green-soft"),
        ("÷ 16", "whether arguments are multiples", "green-soft"),
        ("options", "num_warps=4, num_stages=3, …", "orange-soft"),
        ("versions", "a hash of the compiler's own source", "orange-soft"),
    )
    for number, (name, note, fill) in enumerate(inputs):
        y = 14 + 30 * number
        d.label(14, y, 78, 24, name, fill, fill.removesuffix("-soft"), size=12)
        d.text(102, y + 16, note, "muted", 12)
        d.line((362, y + 12), (384, y + 12))
    d.arrow((384, 26), (384, 246))
    d.label(296, 246, 130, 30, "key", "purple-soft", "purple")
    d.text(14, 250, "Not in the key: values of other integers,", "ink", 12)
    d.text(14, 268, "lengths and contents of arrays. A launch", "ink", 12)
    d.text(14, 286, "with a new length reuses the kernel.", "ink", 12)
    return d


@figure
def running_maximum() -> Drawing:
    """The online softmax."""
    values = [1.0, 2.0, 4.0, 3.0, 0.5, 5.0]
    d = Drawing(
        300, "A row is read in tiles of two; when the maximum rises, the sum so far is multiplied by exp(old - new)"
    )
    highest, total = -math.inf, 0.0
    for tile in range(3):
        pair = values[2 * tile : 2 * tile + 2]
        left = 24 + 138 * tile
        higher = max(highest, *pair)
        decay = math.exp(highest - higher) if tile else 0.0
        total = total * decay + sum(math.exp(value - higher) for value in pair)
        for number, value in enumerate(pair):
            height = 22 * value
            d.box(left + 44 * number, 160 - height, 36, height, "blue-soft", "blue", radius=2)
            d.text(left + 44 * number + 18, 152 - height, f"{value:g}", "blue", 12, "middle")
        level = 160 - 22 * higher
        d.line((left - 10, level), (left + 100, level), color="orange", width=2.5)
        d.text(left + 40, 182, f"tile {tile}", "muted", 12, "middle")
        d.lines(
            left - 12,
            208,
            [f"maximum {higher:g}", f"× {decay:.3f}" if tile else "", f"sum {total:.3f}"],
            color="ink",
            size=13,
        )
        highest = higher
    d.line((10, 160), (430, 160))
    d.text(12, 20, "maximum so far", "orange", 12)
    d.lines(
        12,
        272,
        [
            "exp(x − 4) = exp(x − 2) · exp(2 − 4): one factor corrects the sum",
            "so far, so one pass finds the maximum and the sum.",
        ],
        color="muted",
        size=12,
    )
    return d


@figure
def coalescing() -> Drawing:
    """Threads, and the sectors of memory that they access."""
    d = Drawing(
        292,
        "Eight threads with neighboring elements share a 32-byte sector; with a stride of 8, each thread needs one",
    )
    for top, stride, title in ((16, 1, "x + i: neighbors"), (146, 8, "x + 8 * i: a stride")):
        color = "green" if stride == 1 else "orange"
        moved = "1 sector moves: 32 bytes, all used" if stride == 1 else "8 sectors move: 256 bytes, 32 used"
        d.text(16, top + 10, title, mono=True)
        d.text(424, top + 10, moved, color, 12, "end")
        for thread in range(8):
            x = 28 + 49 * thread
            d.label(x, top + 22, 40, 22, f"t{thread}", "blue-soft", "blue", size=12)
            used = (x, 40) if stride == 1 else (x, 5)
            if stride > 1:
                d.box(x - 3, top + 74, 46, 24, "paper", "rule", radius=2)
            d.box(used[0], top + 76, used[1], 20, f"{color}-soft", color, radius=2)
            d.arrow(
                (x + 20 if stride == 1 else x + 10, top + 44),
                (x + 20 if stride == 1 else x + 3, top + 74),
                color="blue",
            )
        if stride == 1:
            d.box(24, top + 72, 391, 28, "none", "rule", radius=2)
    d.lines(16, 272, ["A gray frame is a sector: 32 bytes, the smallest unit of a transfer."], color="muted", size=12)
    return d


@figure
def threads_and_tiles() -> Drawing:
    """Threads of CUDA beside tiles of Triton."""
    d = Drawing(
        356,
        "In CUDA C, each of eight threads names its own element; in Triton, each of two programs names a tile of four "
        "elements, and the compiler assigns the elements to threads",
    )

    def memory(y: float) -> None:
        d.cells(32, y, [list(range(8))], lambda i, j: "faint", width=47)

    d.text(16, 24, "CUDA C: you write the code of one thread", bold=True)
    d.text(16, 44, "i = blockIdx.x * 4 + threadIdx.x", "blue", mono=True)
    memory(130)
    for block in range(2):
        left = 32 + 188 * block
        d.box(left + 1, 54, 186, 46, "paper", "rule")
        d.text(left + 94, 68, f"block {block}", "muted", 11, "middle")
        for thread in range(4):
            x = left + 5.5 + 47 * thread
            d.label(x, 74, 36, 22, f"t{thread}", "blue-soft", "blue", size=12)
            d.arrow((x + 18, 96), (x + 18, 128), color="blue")
    d.line((0, 172), (440, 172), dashed=True)
    d.text(16, 198, "Triton: you write the code of one program", bold=True)
    d.text(16, 218, "i = program_id(0) * 4 + arange(0, 4)", "orange", mono=True)
    memory(272)
    for program in range(2):
        left = 32 + 188 * program
        d.label(left + 1, 228, 186, 24, f"program {program}", "orange-soft", "orange", size=12)
        d.box(left + 1, 269, 186, 30, "none", "orange")
        d.arrow((left + 94, 252), (left + 94, 268), color="orange")
    threads = [f"t{place % 4 // 2}" for place in range(8)]
    d.cells(32, 306, [threads], lambda i, j: "green-soft", width=47, height=20)
    d.text(32, 344, "The compiler chooses the threads, for example two elements each.", "green", 12)
    return d


@figure
def operations() -> Drawing:
    """Operations contain regions, regions blocks, blocks operations."""
    d = Drawing(
        318,
        "A function is an operation with a region; its block contains operations, one of which is a loop with a region",
    )
    d.box(12, 12, 416, 258, "blue-soft", "blue")
    d.text(24, 32, "tt.func", "blue", mono=True)
    d.text(416, 32, "an operation", "blue", 12, "end")
    d.box(24, 42, 392, 218, "paper", "rule", dashed=True)
    d.text(404, 58, "its region", "muted", 12, "end")
    d.box(36, 66, 368, 184)
    d.text(48, 86, "block (%x, %n)", mono=True)
    d.text(392, 86, "takes arguments, lists operations", "muted", 12, "end")
    d.label(48, 96, 150, 24, "arith.constant", "blue-soft", "blue", mono=True, size=12)
    d.box(48, 126, 344, 82, "blue-soft", "blue")
    d.text(58, 144, "scf.for", "blue", 12, mono=True)
    d.box(120, 134, 262, 66, "faint", "rule")
    d.text(130, 152, "block (%i, %acc)", size=12, mono=True)
    d.label(130, 162, 110, 24, "arith.addf", "blue-soft", "blue", mono=True, size=12)
    d.label(248, 162, 124, 24, "scf.yield", "orange-soft", "orange", mono=True, size=12)
    d.label(48, 216, 150, 24, "tt.return", "orange-soft", "orange", mono=True, size=12)
    d.text(16, 290, "Orange: terminators, which end a block and pass its values on.", "muted", 12)
    d.text(16, 308, "The whole module is an operation, too: builtin.module.", "muted", 12)
    return d


@figure
def builder() -> Drawing:
    """One call, two operations, in the right place."""
    d = Drawing(
        252,
        "The call compare(slt, offsets, n) appends a splat and a comparison, both with the line's location",
    )
    d.text(16, 24, "offsets < n", mono=True)
    d.text(424, 24, "kernel.py, line 7", "muted", 12, "end")
    d.arrow((60, 32), (60, 54))
    d.box(16, 54, 190, 96, "purple-soft", "purple")
    d.text(28, 74, "the builder knows", "purple", bold=True)
    d.lines(28, 96, ["where: end of this block", "which line: 7", "n is a scalar: splat it"], color="purple", size=12)
    d.box(250, 54, 174, 152)
    d.text(262, 74, "block", "muted", 12)
    for number, name in enumerate(("tt.get_program_id", "…", "tt.splat %n", "arith.cmpi slt")):
        new = number > 1
        d.label(
            262,
            82 + 30 * number,
            150,
            24,
            name,
            "green-soft" if new else "paper",
            "green" if new else "muted",
            mono=True,
            size=12,
        )
    d.arrow((206, 128), (258, 154), color="green")
    d.arrow((206, 140), (258, 184), color="green")
    d.text(16, 232, "Each operation gets its type from its rule, and line 7 as its location.", "muted", 12)
    return d


@figure
def tournament() -> Drawing:
    """A reduction as a tournament."""
    d = Drawing(240, "Eight elements are combined in three rounds: single elements, then pairs, then groups of four")
    values, y = list("abcdefgh"), 30.0
    places = [36.0 + 52 * number for number in range(8)]
    for depth in range(4):
        for place, value in zip(places, values, strict=True):
            d.label(
                place - 22 - 6 * depth,
                y - 13,
                44 + 12 * depth,
                26,
                value,
                "blue-soft" if depth else "faint",
                "blue" if depth else "ink",
                mono=True,
            )
        if depth < 3:
            middles = [(left + right) / 2 for left, right in zip(places[::2], places[1::2], strict=True)]
            for number, place in enumerate(places):
                d.line((place, y + 13), (middles[number // 2], y + 43))
            places, values, y = middles, [a + b for a, b in zip(values[::2], values[1::2], strict=True)], y + 56
    d.text(16, 232, "combine(left, right): the region, once for each blue box", "muted", 12)
    return d


@figure
def dispatcher() -> Drawing:
    """The linker's function checks promises, the strictest first."""
    d = Drawing(228, "add_default inspects its arguments and calls the variant whose promises hold")
    d.label(8, 84, 108, 40, "add_default(x, n)", "purple-soft", "purple", size=12)
    for number, (promise, variant) in enumerate(
        (
            ("x % 16 == 0, n == 1", "*fp32:16, i32:1"),
            ("x % 16 == 0, n % 16 == 0", "*fp32:16, i32:16"),
            ("otherwise", "*fp32, i32"),
        )
    ):
        y = 32 + 66 * number
        d.arrow((116, 104), (140, y + 14), (298, y + 14))
        d.text(144, y + 8, promise, "muted", 11.5)
        d.label(300, y, 128, 28, variant, "green-soft", "green", mono=True, size=12)
        d.text(364, y + 44, ("fastest", "fast", "always works")[number], "muted", 12, "middle")
    return d


@figure
def launching() -> Drawing:
    """A launch: warm in a few steps, cold through all stages."""
    d = Drawing(
        276, "A warm launch goes from its arguments to the kernel in memory; a cold launch looks on disk, or compiles"
    )
    d.label(16, 16, 130, 30, "arguments", "faint")
    d.arrow((146, 31), (172, 31))
    d.label(172, 16, 130, 30, "specialization", "blue-soft", "blue")
    d.arrow((237, 46), (237, 76))
    d.label(172, 76, 130, 30, "in memory?", "green-soft", "green")
    d.arrow((302, 91), (330, 91), color="green")
    d.label(330, 76, 98, 30, "run", "purple-soft", "purple")
    d.text(336, 66, "warm: µs", "green", 12)
    d.arrow((237, 106), (237, 136))
    d.text(246, 126, "no", "muted", 12)
    d.label(172, 136, 130, 30, "on disk?", "orange-soft", "orange")
    d.arrow((302, 151), (378, 151), (378, 108), color="orange")
    d.text(246, 186, "no", "muted", 12)
    d.arrow((237, 166), (237, 196))
    d.label(16, 196, 352, 30, "source → TTIR → passes → NumPy, each verified", "orange-soft", "orange", size=12)
    d.arrow((368, 211), (398, 211), (398, 108), color="orange")
    d.text(16, 156, "cold: milliseconds", "orange", 12)
    d.text(16, 252, "The key finds a kernel on disk. Specializations and options find it", "muted", 12)
    d.text(16, 268, "in memory, because computing the key would take too long.", "muted", 12)
    return d


@figure
def liveness() -> Drawing:
    """Live operations are found backwards from effects."""
    d = Drawing(
        240, "From the store, marks spread back to %sum_next and %sum; %count is needed only by itself and stays dead"
    )
    d.label(144, 196, 164, 28, "tt.store %p, %r#0", "green-soft", "green", mono=True, size=12)
    d.label(144, 130, 164, 28, "%sum_next = %sum + %x", "green-soft", "green", mono=True, size=12)
    d.label(16, 66, 112, 28, "%sum", "green-soft", "green", mono=True, size=12)
    d.label(144, 66, 164, 28, "%x = tt.load", "green-soft", "green", mono=True, size=12)
    d.label(324, 66, 100, 28, "%count", "orange-soft", "orange", mono=True, size=12)
    d.label(324, 130, 100, 28, "%count_next", "orange-soft", "orange", mono=True, size=12)
    d.arrow((226, 196), (226, 158), color="green")
    d.arrow((196, 130), (96, 94), color="green")
    d.arrow((226, 130), (226, 94), color="green")
    d.arrow((40, 94), (40, 144), (144, 144), color="green", dashed=True)
    d.arrow((358, 130), (358, 94), color="orange")
    d.arrow((390, 94), (390, 130), color="orange", dashed=True)
    d.text(16, 24, "arrow: needs", "muted", 12)
    d.text(120, 24, "dashed: needs the value of the previous iteration", "muted", 12)
    d.lines(324, 180, ["needed only by", "itself: dead"], 16, color="orange", size=12)
    d.text(16, 214, "an effect: live", "green", 12)
    return d


@figure
def pipelines() -> Drawing:
    """nvcc's pipeline beside Triton's."""
    d = Drawing(
        404,
        "nvcc compiles CUDA C++ through NVVM IR to PTX; Triton compiles Python through TTIR, TTGIR and LLVM IR to PTX; "
        "ptxas assembles both",
    )
    nvcc = (
        (0, "CUDA C++", "one thread", "", "blue"),
        (3, "NVVM IR", "one thread", "cicc", "orange"),
        (4, "PTX", "virtual registers", "cicc: NVVM", "orange"),
        (5, "cubin", "machine code", "ptxas", "orange"),
        (6, "host program", "has a fatbinary", "fatbinary, cudafe++", "orange"),
    )
    triton = (
        (0, "Python", "one program", "", "blue"),
        (1, "TTIR", "whole tensors", "CodeGenerator", "green"),
        (2, "TTGIR", "elements to threads", "make_ttgir", "green"),
        (3, "LLVM IR", "one thread", "make_llir", "green"),
        (4, "PTX", "virtual registers", "make_ptx: LLVM's NVPTX", "green"),
        (5, "cubin", "machine code", "make_cubin: ptxas", "orange"),
        (6, "this process", "has the cubin", "CUDA's driver", "orange"),
    )
    for left, title, boxes in ((16, "nvcc", nvcc), (236, "Triton", triton)):
        d.text(left + 94, 18, title, bold=True, anchor="middle")
        above = 0.0
        for row, name, note, tool, color in boxes:
            top = 28.0 + 50 * row
            if tool:
                d.arrow((left + 24, above), (left + 24, top), color=color)
                d.text(left + 34, top - 6, tool, color, 11)
            d.box(left, top, 188, 30, f"{color}-soft", color)
            d.text(left + 8, top + 20, name, color)
            d.text(left + 182, top + 20, note, color, 11, "end")
            above = top + 30
    d.text(16, 382, "green: open source", "green", 12)
    d.text(156, 382, "orange: NVIDIA's, closed source", "orange", 12)
    d.text(16, 398, "In CUDA C++, you choose layouts; in Triton, make_ttgir does.", "muted", 12)
    return d


@figure
def while_regions() -> Drawing:
    """The two regions of a while."""
    d = Drawing(
        318,
        "The region before computes the condition; if it is true, the region after gets the forwarded values, "
        "and yields the next arguments of before; if it is false, the forwarded values are the results",
    )
    d.label(120, 12, 150, 28, "initial value", "faint", size=12)
    d.arrow((195, 40), (195, 66))
    d.text(206, 58, "n", "muted", 12, mono=True)
    d.box(34, 66, 326, 82, "blue-soft")
    d.text(48, 86, "before(n)", "blue", 12, bold=True)
    d.text(48, 110, "square = n * n", "blue", mono=True)
    d.text(48, 134, "scf.condition(square > 9) n, square", "blue", mono=True)
    d.arrow((195, 148), (195, 184))
    d.text(206, 170, "if true: n, square", "muted", 12)
    d.box(34, 184, 326, 58, "orange-soft")
    d.text(48, 204, "after(n, square)", "orange", 12, bold=True)
    d.text(48, 228, "scf.yield n - 1", "orange", mono=True)
    d.arrow((34, 224), (14, 224), (14, 81), (34, 81), color="orange")
    d.arrow((360, 130), (402, 130), (402, 286), (270, 286), color="green")
    d.text(428, 120, "if false", "green", 12, "end")
    d.label(120, 272, 150, 28, "results: n, square", "green-soft", "green", size=12)
    return d


@figure
def scopes() -> Drawing:
    """Which operations the dictionary of CSE contains."""
    d = Drawing(256, "The dictionary grows inside a region and loses these entries at its end; outer entries stay")
    rows = [
        ("%v = addi %a, %b", 0, ["v"], ""),
        ("scf.if %c {", 0, ["v"], ""),
        ("%w = addi %b, %a", 1, ["v"], "known: use %v"),
        ("} else {", 0, ["v"], ""),
        ("%x = subi %a, %b", 1, ["v", "x"], "new"),
        ("}", 0, ["v"], "%x is forgotten"),
        ("%y = subi %a, %b", 0, ["v", "y"], "new again"),
    ]
    d.text(16, 24, "the walk", bold=True)
    d.text(212, 24, "known after the line", bold=True)
    for number, (text, depth, known, note) in enumerate(rows):
        y = 40 + number * 28
        d.text(16 + 18 * depth, y + 16, text, mono=True)
        for place, name in enumerate(known):
            fill = "orange-soft" if name == "x" else "blue-soft"
            d.label(212 + 46 * place, y, 42, 22, f"%{name}", fill, fill.removesuffix("-soft"), mono=True, size=12)
        if note:
            d.text(432, y + 16, note, "green" if "known" in note else "muted", 12, "end")
    d.text(16, 248, "At the end of a region, the dictionary is as it was at its start.", "muted", 12)
    return d


@figure
def backwards() -> Drawing:
    """From an element of the result to an element of the operand."""
    d = Drawing(164, "Element 27 of the result is element (2, 3) of the transposed matrix, and element (3, 2) of x")
    boxes = [
        (12, "x", "(12, 5)", "[3, 2]", "[k % 12, k // 12]"),
        (158, "x.t()", "(5, 12)", "[2, 3]", "[k // 12, k % 12]"),
        (304, "x.t().reshape(60)", "(60,)", "[27]", "[k]"),
    ]
    for x, name, shape, place, index in boxes:
        fill = "green-soft" if name == "x" else "blue-soft"
        color = fill.removesuffix("-soft")
        d.box(x, 12, 124, 94, fill)
        d.text(x + 62, 32, name, color, 11, "middle", True)
        d.text(x + 62, 51, f"shape {shape}", color, 12, "middle")
        d.text(x + 62, 74, place, color, 14, "middle", True, True)
        d.text(x + 62, 96, index, color, 11, "middle", True)
    d.arrow((304, 69), (282, 69), color="orange")
    d.arrow((158, 69), (136, 69), color="orange")
    d.text(293, 124, "unravel", "orange", 12, "middle", True)
    d.text(147, 124, "swap the axes", "orange", 12, "middle")
    d.text(12, 150, "Ask the result for an element, and go back to memory step by step.", "muted", 12)
    return d


@figure
def source_index() -> Drawing:
    """From an index of a transposed tensor to an index of the range from which it comes."""
    d = Drawing(138, "An index of a transposed tensor, and the index at which each of its operands is read")
    boxes = [
        ("%c", "tt.trans", "8 x 4", "(i0, i1)"),
        ("%b", "tt.broadcast", "4 x 8", "(i1, i0)"),
        ("%a", "tt.expand_dims", "1 x 8", "(0, i0)"),
        ("%r", "tt.make_range", "8", "(i0,)"),
    ]
    for number, (name, operation, shape, place) in enumerate(boxes):
        x, fill, color = 8 + 107 * number, "blue-soft", "blue"
        if number == 3:
            fill, color = "green-soft", "green"
        else:
            d.arrow((x + 98, 86), (x + 107, 86), color="orange")
        d.box(x, 12, 98, 88, fill)
        d.lines(x + 49, 31, [name, operation], color=color, size=11, anchor="middle", mono=True)
        d.text(x + 49, 70, shape, color, 12, "middle")
        d.text(x + 49, 91, place, color, 13, "middle", True, True)
    d.text(12, 124, "Only the range computes something: int32(i0).", "muted", 12)
    return d


@figure
def gpu() -> Drawing:
    """The parts of an H200, and the bandwidth between them."""
    d = Drawing(
        330,
        "An H200: each of 132 multiprocessors has four schedulers with 64 KiB of registers each, and 228 KiB of shared "
        "memory; all share 50 MB of L2 cache and 141 GB of DRAM",
    )
    for shift in (12, 6):
        d.box(12 + shift, 12 + shift, 404, 158, "paper")
    d.box(12, 12, 404, 158, "faint")
    d.text(24, 32, "a multiprocessor (SM): runs programs", bold=True)
    d.text(404, 32, "132 of them", "muted", 12, "end")
    for quarter in range(4):
        x = 24 + quarter * 95
        d.box(x, 42, 93, 72, "blue-soft", "blue")
        lines = ("a scheduler", "≤ 16 warps", "64 KiB registers", "a tensor core")
        d.lines(x + 46, 57, lines, 17, color="blue", size=11, anchor="middle")
    d.box(24, 130, 378, 30, "green-soft", "green")
    d.text(36, 150, "shared memory, up to 228 KiB", "green", 12)
    d.text(390, 150, "and the L1 cache", "green", 12, "end")
    d.arrow((214, 114), (214, 130), color="green")
    d.text(224, 126, "all SMs: 33 TB/s", "green", 11)
    d.arrow((214, 182), (214, 214))
    d.box(12, 214, 416, 30, "purple-soft", "purple")
    d.text(24, 234, "L2 cache, 50 MB: all SMs share it", "purple", 12)
    d.arrow((214, 244), (214, 274), color="orange")
    d.text(224, 264, "4.8 TB/s", "orange", 12)
    d.box(12, 274, 416, 30, "orange-soft", "orange")
    d.text(24, 294, "DRAM (global memory), 141 GB: the arguments of kernels", "orange", 12)
    d.text(12, 322, "The closer to the arithmetic, the faster and the smaller.", "muted", 12)
    return d
