"""Record what real Triton compiles the accepted text of `add` to: `python -m docs.play.record` writes add.json.

The operations carry the lines of the kernel, so that the page shows the PTX of each line. Two promises are recorded:
all arguments are multiples of 16, or all but `n`.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).with_name("add.json")
BLOCK = 1024
_LOC = re.compile(r"\s*\.loc\s+\d+ (\d+)")


def main() -> None:
    """Compile the reference's text, and write the record."""
    sys.path[:0] = [str(ROOT), str(ROOT / "solutions")]
    from first.kernels import add
    from first.slice import I32, POINTER, Kernel, compile_kernel, read, text

    from tests.oracles import triton

    types = {"x": POINTER, "y": POINTER, "out": POINTER, "n": I32}
    kernel, tree = Kernel("add", **types, BLOCK=BLOCK), read(add)
    lines: list[int] = []
    for statement in tree.body:
        kernel.statement(statement)
        lines += [statement.lineno] * (len(kernel.ops) - len(lines))
    accepted = text(compile_kernel(add, **types, BLOCK=BLOCK))
    variants = {}
    for name, multiples in (("wide", {"x", "y", "out", "n"}), ("narrow", {"x", "y", "out"})):
        head, *body = text(kernel, multiples).splitlines()
        located = [f'{row} loc("kernels.py":{line}:0)' for row, line in zip(body, lines, strict=False)]
        compiled = triton.compile_ttir("\n".join([head, *located, *body[len(lines) :]]) + "\n")
        assert compiled, compiled.diagnostic
        variants[name] = by_line(compiled.ptx)
    record = {"triton": triton.version(), "text": accepted, **variants}
    RECORDED.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def by_line(ptx: str) -> list[list]:
    """Pairs of a line of the kernel, or 0, and the PTX instructions that belong to it, in the order of the PTX."""
    found, at = [], 0
    for row in ptx[ptx.index("{") : ptx.index(".section") if ".section" in ptx else None].splitlines():
        if located := _LOC.match(row):
            at = int(located[1])
        elif re.match(r"\s+(?!\.|//|\$)\S.*;", row):
            found.append((at, re.sub(r"\s*//.*", "", row).strip().replace("\t", " ")))
    return [[line, [row for _, row in rows]] for line, rows in groupby(found, key=lambda pair: pair[0])]


if __name__ == "__main__":
    main()
