"""Report how wide a kernel's loads and stores are on a GPU, and why they are not wider. (Given.)

    mini-triton coalescing add.py add --signature "*fp32:16, *fp32:16, *fp32:16, i32, 1024"

    add.py:9  load   4 bytes per instruction; threads along axis 0
        x = tl.load(x_ptr + at, mask=at < n)
        its mask is known to be constant over runs of 1 element only: `n` is not known to be a multiple of 4

Signatures are those of `triton.tools.compile` in Triton. A signature lists a type for each parameter, followed by `:16`
if the argument is a multiple of 16, and a value for each constant.
"""

from __future__ import annotations

import argparse
import ast
import linecache
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mini_triton.analysis.axis_info import AxisAnalysis
from mini_triton.compat.compiler import ASTSource, compile
from mini_triton.errors import Loc, TritonError
from mini_triton.frontend.function import KernelSource
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module
from mini_triton.ir.types import shape_of
from mini_triton.language.signature import parse_type
from mini_triton.tools.blame import Blame
from mini_triton.tools.loading import kernel_in, load_file
from mini_triton.transforms.coalescing import WIDEST, Access, accesses
from mini_triton.transforms.manager import without_descriptors

SEPARATOR = re.compile(r",(?![^\[(]*[\])])\s*")
"""A comma outside brackets. In this type, both commas are inside: `tensordesc<fp32[16, 16]>`."""


def report(module: Module, warps: int = 4) -> Iterator[str]:
    """A report on each load and store of a module whose programs have `warps` warps each."""
    blame = Blame(AxisAnalysis(module))
    found = list(accesses(module, warps))
    for access in found:
        lines = [
            f"{place(access.operation.loc)}  {access}",
            source_line(access.operation.loc),
            "" if access.bytes >= WIDEST else blame.explain(access),
            rearranged(access, found),
        ]
        yield "\n    ".join(filter(None, lines))


def rearranged(access: Access, found: Sequence[Access]) -> str:
    """A note if at least as many accesses of the same shape place threads along a different axis; otherwise empty."""
    shape = shape_of(access.operation.operands[0].type)
    alike = [other for other in found if shape_of(other.operation.operands[0].type) == shape]
    axes = Counter(other.axis for other in alike)
    for other in alike:
        if other.axis != access.axis and axes[other.axis] >= axes[access.axis]:
            where = f"those of {place(other.operation.loc)} lie along axis {other.axis}"
            return f"{where}: threads exchange elements through shared memory"
    return ""


def place(loc: Loc | None) -> str:
    """A short source location: `add.py:9`."""
    return f"{Path(loc.file).name}:{loc.line}" if loc else "?"


def source_line(loc: Loc | None) -> str:
    """The author's line of source at this location; empty if there is none."""
    return linecache.getline(loc.file, loc.line).strip() if loc else ""


# --- the command


def source_of(kernel: KernelSource, signature: str) -> ASTSource:
    """A kernel, with the types, constants and hints of a signature. Raises `ValueError` for a wrong signature."""
    names = list(kernel.signature.parameters)
    words = SEPARATOR.split(signature.strip())
    if len(words) != len(names):
        counts = f"{len(names)} parameters ({', '.join(names)}), and the signature has {len(words)}"
        raise ValueError(f"{kernel.fn.__name__} has {counts}")
    types, constants, attributes = {}, {}, {}
    for name, word in zip(names, words, strict=True):
        type, _, known = word.partition(":")
        if name in kernel.constexprs or not type.lstrip("*")[:1].isalpha():
            types[name], constants[name] = "constexpr", literal(name, word)
        elif known not in ("", "16"):
            raise ValueError(f"{name}: only :16 may follow a type, not :{known}")
        else:
            parse_type(type)
            types[name], attributes[name] = type, [["tt.divisibility", 16]] if known else []
    return ASTSource(kernel, types, constants, attributes)


def literal(name: str, word: str) -> Any:
    """The value of a constant in a signature. Raises `ValueError` if it is not a literal."""
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError) as error:
        raise ValueError(f"{name} is a constant: it needs a value, not {word!r}") from error


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="mini-triton coalescing",
        description="Report how wide a kernel's loads and stores are on a GPU, and why they are not wider.",
    )
    parser.add_argument("file", help="a Python file")
    parser.add_argument("kernel", help="the name of a kernel in the file")
    parser.add_argument("--signature", required=True, help='such as "*fp32:16, i32, 1024"')
    parser.add_argument("--num-warps", type=int, default=4, metavar="N")
    options = parser.parse_args(arguments)
    try:
        kernel = kernel_in(load_file(Path(options.file)), options.kernel)
        compiled = compile(source_of(kernel, options.signature))
    except (ValueError, TritonError) as error:
        parser.error(str(error))
    print(*report(without_descriptors(parse_module(str(compiled.texts["passes"]))), options.num_warps), sep="\n")


if __name__ == "__main__":
    main()
