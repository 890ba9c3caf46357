"""Figures drawn from the compiler's own results."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from docs.figures.drawing import Drawing, figure

ADD = """@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)
"""


def compiled(**options: Any) -> Any:
    """The vector addition, compiled for 1024 elements a program."""
    import numpy as np

    from grader.workbench import execute

    kernel = execute(ADD, "add.py")["add"]
    return kernel.warmup(np.float32, np.float32, np.float32, 4096, BLOCK=1024, grid=(4,), **options)


@figure
def pipeline() -> Drawing:
    """The stages, with the milestones that build them; their names are those of the runtime's list."""
    from mini_triton.runtime.pipeline import STAGES

    stages = [stage.name for stage in STAGES]
    assert [name for name in stages if name in ("source", "ttir", "passes", "numpy", "ttgir", "ptx")]
    d = Drawing(
        392,
        "A kernel's source becomes TTIR; passes optimize the TTIR; NumPy, Numba, threads or real Triton run it",
    )
    d.box(90, 12, 260, 58)
    d.lines(104, 34, ["@jit", "def add(x, y, out, n): …"], mono=True)
    d.arrow((220, 70), (220, 100))
    d.text(232, 90, "Python's syntax tree", "muted", 12)
    d.label(90, 100, 260, 34, "front end, language", "blue-soft", "blue")
    d.text(364, 122, "4, 5", "blue", 12)
    d.arrow((220, 134), (220, 164))
    d.text(232, 154, "TTIR", "muted", 12, mono=True)
    d.label(90, 164, 260, 34, "types, operations, builder", "blue-soft", "blue")
    d.text(364, 186, "1, 2, 3", "blue", 12)
    d.arrow((220, 198), (220, 220))
    d.label(90, 220, 260, 34, "passes", "purple-soft", "purple")
    d.text(364, 242, "9", "purple", 12)
    d.arrow((120, 254), (67, 290))
    d.arrow((185, 254), (169, 290))
    d.arrow((255, 254), (271, 290))
    d.arrow((320, 254), (373, 290))
    d.label(20, 290, 94, 34, "NumPy, 6, 7", "green-soft", "green", size=12)
    d.label(122, 290, 94, 34, "Numba, 10", "green-soft", "green", size=12)
    d.label(224, 290, 94, 34, "threads, 13", "green-soft", "green", size=12)
    d.label(326, 290, 94, 34, "real Triton, 10", "orange-soft", "orange", size=12)
    for x, text in ((67, "any CPU"), (169, "any CPU"), (271, "PTX, a GPU"), (373, "PTX, a GPU")):
        d.arrow((x, 324), (x, 346))
        d.text(x, 362, text, "ink", 12, "middle")
    d.text(16, 384, "Numbers are milestones. 8: write kernels; 11: tune them; 12: fusion.", "muted", 12)
    return d


@figure
def one_operation() -> Drawing:
    """One sum at every stage, in the words of each."""
    tree = ast.parse(ADD).body[0]
    assert isinstance(tree, ast.FunctionDef)
    assignment = tree.body[2]
    assert isinstance(assignment, ast.Assign) and isinstance(assignment.value, ast.BinOp)
    kernel = compiled()
    ttir = next(line.strip() for line in kernel.asm["ttir"].splitlines() if "arith.addf" in line)
    numpy = next(line.strip() for line in kernel.asm["numpy"].splitlines() if "total =" in line and "#" not in line)
    ptx = next(line.strip() for line in kernel.lower("sm_90").asm["ptx"].splitlines() if "add.f32" in line)
    operator = type(assignment.value.op).__name__
    d = Drawing(350, f"The same addition in five forms: Python source, syntax tree, TTIR ({ttir}), NumPy and PTX")
    rows = (
        ("source", "tl.load(…) + tl.load(…)", "faint", "ink"),
        ("syntax tree", f"BinOp(Call, {operator}(), Call)", "blue-soft", "blue"),
        ("TTIR", ttir, "blue-soft", "blue"),
        ("NumPy", numpy, "green-soft", "green"),
        ("PTX", re.sub(r"\s+", " ", ptx), "orange-soft", "orange"),
    )
    notes = (
        "",
        "5: a node of Python's tree",
        "2: an operation on 1024 elements",
        "6: one call, for all programs",
        "10: one element, one thread",
    )
    for number, ((name, text, fill, color), note) in enumerate(zip(rows, notes, strict=True)):
        y = 30 + 64 * number
        d.text(16, y - 6, name, "ink", 12, bold=True)
        d.text(424, y - 6, note, "muted", 12, "end")
        d.box(16, y, 408, 30, fill)
        d.text(28, y + 20, text, color, 12, mono=True)
    return d


@figure
def grouping() -> Drawing:
    """Which program computes which tile of a product, according to the kernel's own function."""
    import numpy as np
    from kernels.matmul import tile_of

    from grader.workbench import execute

    names = execute(
        "@triton.jit\n"
        "def ask(out, tile_of: tl.constexpr, GROUP: tl.constexpr):\n"
        "    row, column = tile_of(tl.program_id(0), 5, 4, GROUP)\n"
        "    tl.store(out + row * 4 + column, tl.program_id(0))\n",
        "ask.py",
    )
    d = Drawing(
        262, "With GROUP=1, the first four programs load 1 strip of a and 4 strips of b; with GROUP=2, 2 of each"
    )
    for left, group in ((44, 1), (268, 2)):
        out = np.zeros((5, 4), np.int32)
        names["ask"][(20,)](out, tile_of, group)
        first = out < 4
        across, down = first.any(0, keepdims=True), first.any(1, keepdims=True)
        d.text(left + 52, 22, f"GROUP={group}", "ink", 13, "middle", True)
        d.cells(left, 56, out.tolist(), _marked("green-soft", first))
        d.cells(left, 30, [[""] * 4], _marked("orange-soft", across), height=14)
        d.cells(left - 22, 56, [[""]] * 5, _marked("blue-soft", down), width=14)
        d.text(left + 116, 42, "b", "orange", 12, mono=True)
        d.text(left - 19, 192, "a", "blue", 12, mono=True)
        strips = int(down.sum()), int(across.sum())
        d.text(left + 42, 204, f"{strips[0]} + {strips[1]} = {sum(strips)} strips", "ink", 13, "middle")
    d.lines(
        16,
        232,
        [
            "Green: the tiles of programs 0 to 3, which run at the same time.",
            "If they load fewer strips, more of the data is already in the cache.",
        ],
        color="muted",
        size=12,
    )
    return d


@figure
def passes() -> Drawing:
    """How many operations each pass leaves of one kernel."""
    from mini_triton.transforms.manager import optimize

    from grader.workbench.passes import define

    module = define(
        "for i in range(0, n):\n"
        "    at = i * 32 + tl.arange(0, 32)\n"
        "    tl.store(x + at, tl.load(x + at) * (1.0 * factor))",
        x="*fp32",
        n="i32",
        factor="fp32",
    )

    def sizes() -> tuple[int, int]:
        operations = [operation for operation in module.walk() if operation.name not in ("builtin.module", "tt.func")]
        parents = [operation.parent_op for operation in operations]
        return len(operations), sum(parent is not None and parent.name == "scf.for" for parent in parents)

    rows = [("front end", *sizes())]
    for name in ("cse", "canonicalize", "licm", "dce"):
        optimize(module, name)
        rows.append((name, *sizes()))
    d = Drawing(
        238, "Operations of a kernel after each pass: " + ", ".join(f"{name} {total}" for name, total, _ in rows)
    )
    d.text(16, 22, "operations", "ink", 12, bold=True)
    d.text(132, 22, "in the loop", "orange", 12)
    d.text(212, 22, "outside it", "blue", 12)
    for number, (name, total, inside) in enumerate(rows):
        y = 36 + 34 * number
        d.text(122, y + 17, name, "ink", 12, "end", name != "front end")
        d.box(132, y, 13 * inside, 24, "orange-soft", "orange", radius=2)
        d.box(132 + 13 * inside, y, 13 * (total - inside), 24, "blue-soft", "blue", radius=2)
        d.text(140 + 13 * total, y + 17, str(total), "muted", 12)
    d.text(16, 226, "Operations in the loop count most: they run in every iteration.", "muted", 12)
    return d


@figure
def layout() -> Drawing:
    """A blocked layout, as the chapter's own `Blocked` computes it."""
    import numpy as np
    from mini_triton.backends.layouts import Blocked

    blocked = Blocked((1, 4), (4, 8), (4, 1), (1, 0))
    owners = blocked.owners((6, 32))
    d = Drawing(240, "Each thread owns four neighbors in a row; eight threads cover a row, and a warp covers four rows")
    d.text(16, 22, "sizePerThread = [1, 4]   threadsPerWarp = [4, 8]", size=12, mono=True)
    fills = ("blue-soft", "green-soft")
    color = lambda i, j: "orange-soft" if i > 3 else fills[(j // 4 + i) % 2]  # noqa: E731
    d.cells(16, 36, [[""] * 32] * 6, color, width=12.75)
    for (i, j), thread in np.ndenumerate(owners[:, ::4]):
        ink = color(i, 4 * j).removesuffix("-soft")
        d.text(41.5 + 51 * j, 52.3 + 24 * i, str(thread), ink, 12, "middle", True)
    d.text(16, 204, "A number names the thread that owns the four elements under it.", "muted", 12)
    d.text(16, 222, "Blue and green: warp 0. Orange: rows 4 and 5, in warp 1.", "muted", 12)
    return d


def _marked(color: str, where: Any) -> Callable[[int, int], str]:
    """The color of a table's cells: this one where an array is true."""
    return lambda i, j: color if where[i, j] else "faint"


@figure
def fused() -> Drawing:
    """A graph of operators with a box around each kernel, as the back end of `torch.compile` has partitioned it."""
    import torch
    from mini_triton import fusion

    torch._dynamo.reset()
    fusion.programs.clear()
    function = lambda x, w, b: torch.softmax(torch.relu(x @ w + b), -1).cumsum(-1)  # noqa: E731
    model = torch.compile(function, backend=fusion.mini_triton)
    model(torch.zeros(32, 64), torch.zeros(64, 48), torch.zeros(48))
    (program,) = fusion.programs
    product, softmax, call = program.groups
    assert [len(group.members) for group in program.groups] == [3, 5, 1]
    places = {"arg0_1": (62, 34), "arg1_1": (164, 34), "arg2_1": (266, 34), "mm": (84, 92), "add": (140, 132)}
    places |= {"relu": (140, 172), "amax_rows": (76, 242), "sub": (140, 282), "exp": (140, 322)}
    places |= {"sum_1_rows": (76, 362), "div": (140, 402), "cumsum": (140, 472)}
    names = {"arg0_1": "x", "arg1_1": "w", "arg2_1": "b", "amax_rows": "amax", "sum_1_rows": "sum"}
    d = Drawing(
        506, "One kernel computes product, bias and ReLU; another computes a softmax; PyTorch computes a cumulative sum"
    )
    for group, top, height, color in (
        (product, 68, 128, "blue"),
        (softmax, 218, 208, "green"),
        (call, 448, 48, "orange"),
    ):
        d.box(12, top, 212, height, f"{color}-soft", color, dashed=group.is_call)
        kernel = "PyTorch" if group.is_call else next(k for k in program.kernels if k.tensors[-1] in group.stored).name
        said = [kernel.rpartition("_")[0] or kernel]
        said += [] if group.is_call else [f"moves {group.bytes:,} bytes", f"stores {group.stored[0].name}"]
        d.lines(236, top + 20, said, 17, color=color, size=12)
    for tensor, sources in program.partition.uses.sources.items():
        for source in sources:
            (x0, y0), (x, y) = places[source.name], places[tensor.name]
            d.arrow((x0, y0 + 13), (x, y - 13))
        x, y = places[tensor.name]
        text = f"{names.get(tensor.name, tensor.name)} {'×'.join(map(str, tensor.shape))}"
        d.label(x - 48, y - 13, 96, 26, text, "paper", size=12, mono=True)
    return d


@figure
def registers() -> Drawing:
    """Registers and spills of a thread for growing tiles of a matrix product."""
    import mini_triton.language as tl
    import numpy as np
    from kernels.matmul import matmul_kernel

    d = Drawing(246, "A thread's registers for five tiles of a product on an H100: only 256 elements per thread spill")
    left, scale = 116, 0.9
    d.text(12, 24, "tile, warps", bold=True)
    d.text(left, 24, "registers of a thread", bold=True)
    inputs = [np.float16] * 3 + [4096] * 3 + [4096, 1] * 3
    for row, (m, n, warps) in enumerate(((64, 64, 4), (64, 128, 4), (128, 128, 4), (128, 256, 4), (128, 256, 8))):
        tiles = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 32, "GROUP": 8, "ACTIVATION": "", "TOTAL": tl.float32}
        kernel = matmul_kernel.warmup(*inputs, **tiles, num_warps=warps, num_stages=2).lower("sm_90").kernel
        y, elements = 38 + row * 34, m * n // (32 * warps)
        d.text(12, y + 17, f"{m} × {n}, {warps}", mono=True, size=12)
        d.box(left, y, max(kernel.registers, elements) * scale, 26)
        d.box(left, y, elements * scale, 26, "blue-soft", "blue")
        d.text(left + 6, y + 17, str(elements), "blue", 12)
        taken = f"{kernel.registers}, {kernel.spills} spill" if kernel.spills else str(kernel.registers)
        d.text(left + 6 + max(kernel.registers, elements) * scale, y + 17, taken, "muted", 12)
    d.line((left + 255 * scale, 34), (left + 255 * scale, 208), color="orange", width=1)
    d.text(12, 230, "blue: elements of the tile; orange: the limit of 255 registers", "muted", 12)
    return d
