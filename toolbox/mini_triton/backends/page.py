"""A kernel at all stages on one page: the size of each stage, the elements of each thread, the memory accesses.

print(write_page(softmax_kernel.warmup(np.float16, np.float16, 1024, 1024, 1000, BLOCK=1024), "sm_90"))
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mini_triton.backends.layouts import WARP, Blocked, layouts
from mini_triton.backends.ptx import Access, accesses, matrix_products
from mini_triton.runtime import pipeline

if TYPE_CHECKING:
    from mini_triton.runtime.compiled_kernel import CompiledKernel

ROWS, COLUMNS = 8, 16
"""The number of pieces of a layout to show."""

SASS_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}  # any other width is 4 bytes
SASS_KINDS = {"LDG": "load", "STG": "store", "LDGSTS": "copy"}


def write_page(kernel: CompiledKernel, target: str = "sm_90") -> str:
    """The page about a kernel, compiled for a GPU."""
    lowered = kernel.lower(target)
    ptx, ttgir, sass = (str(kernel.asm[stage]) for stage in ("ptx", "ttgir", "sass"))
    warps = attribute(ttgir, "ttg.num-warps", 1)
    program = f"a program has {counted(warps, 'warp')} of {WARP} threads"
    lines = [f"{kernel.name} for {target}: {program}", "", *sizes(kernel.asm)]
    for name, layout in layouts(ttgir).items():
        for shape in shapes(ttgir, name)[:1]:
            lines += ["", *picture(name, layout, shape)]
    lines += ["", "global memory: bytes per instruction and thread"]
    lines += [f"  PTX   {accessed(accesses(ptx))}"]
    lines += [f"  SASS  {accessed(sass_accesses(sass))}"] * bool(sass)
    lines += ["", f"shared memory    {lowered.kernel.shared} bytes per program"]
    lines += [f"tensor cores     {counted(matrix_products(ptx), 'instruction')}"]
    return "\n".join(lines) + "\n"


def attribute(ttgir: str, name: str, default: int) -> int:
    """The value of an integer attribute of the module."""
    found = re.search(rf'"?{re.escape(name)}"? = (\d+)', ttgir)
    return int(found[1]) if found else default


def counted(number: int, what: str) -> str:
    """`1 warp`, `4 warps`."""
    return f"{number} {what}{'s' * (number != 1)}"


def sizes(asm: Mapping[str, Any]) -> Iterator[str]:
    """A line for each stage that is text."""
    made = [stage for stage in pipeline.STAGES if stage.name in asm or stage.on_request]
    shown = [stage for stage in made if stage.form.unit and asm[stage.name]]
    width = max(len(stage.name) for stage in shown)
    for stage in shown:
        size = len(re.findall(stage.form.line, asm[stage.name], re.MULTILINE))
        yield f"{stage.name:{width}}{size:6} {stage.form.unit:13} {stage.adds}"


def shapes(ttgir: str, layout: str) -> list[tuple[int, ...]]:
    """The shapes of tensors with a layout, the largest first."""
    found = re.findall(rf"tensor<((?:\d+x)+)[^,#]*, {layout}>", ttgir)
    every = {tuple(map(int, sizes.rstrip("x").split("x"))) for sizes in found}
    return sorted(every, key=lambda shape: (math.prod(shape), shape), reverse=True)


def picture(name: str, layout: Blocked, shape: tuple[int, ...]) -> Iterator[str]:
    """The thread that holds each piece of a tensor, for the first rows and columns of its last two axes."""
    size = layout.size_per_thread
    yield f"{name}, {by(shape)} elements: pieces of {by(size)}, {shares(layout, shape)}"
    columns = list(range(0, shape[-1], size[-1]))
    rows = list(range(0, shape[-2], size[-2])) if len(shape) > 1 else [0]
    many = " …" * (len(columns) > COLUMNS)
    yield "  column   " + "".join(f"{column:5}" for column in columns[:COLUMNS]) + many
    for row in rows[:ROWS]:
        index = (*[0] * (len(shape) - 2), row)[: len(shape) - 1]
        threads = [layout.owner(*index, column) for column in columns[:COLUMNS]]
        yield (f"  row {row:<4} " if len(shape) > 1 else "  thread   ") + "".join(f"{t:5}" for t in threads) + many
    if len(rows) > ROWS:
        yield "  …"


def by(shape: tuple[int, ...]) -> str:
    """`64x32`, or `1024` for a single axis."""
    return "x".join(map(str, shape))


def shares(layout: Blocked, shape: tuple[int, ...]) -> str:
    """How many pieces of a tensor each thread holds; if there are too few, how many threads hold the same piece."""
    pieces, copies = 1, 1
    parts = zip(shape, layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta, strict=True)
    for size, each, lanes, warps in parts:
        pattern = each * lanes * warps
        pieces *= max(1, size // pattern)
        copies *= max(1, pattern // max(size, each))
    return f"{pieces} per thread" + f", the same in {copies} threads" * (copies > 1)


def accessed(found: Counter[Access]) -> str:
    """`4 loads of 16, 2 stores of 16`."""
    parts = [f"{counted(many, kind)} of {size}" for (kind, size), many in sorted(found.items())]
    return ", ".join(part.replace("copys", "copies") for part in parts) or "none"


def sass_accesses(sass: str) -> Counter[Access]:
    """Accesses to global memory in machine code, in the form of `accesses`: `LDG.E.128` loads 16 bytes."""
    found: Counter[Access] = Counter()
    for name, suffixes in re.findall(r"\b(LDGSTS|LDG|STG)\b((?:\.\w+)*)", sass):
        widths = [SASS_WIDTHS[suffix] for suffix in suffixes.split(".") if suffix in SASS_WIDTHS]
        found[SASS_KINDS[name], widths[0] if widths else 4] += 1
    return found
