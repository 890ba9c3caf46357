"""Which loads and stores of a kernel a GPU does with wide instructions, and why not the others. (Given.)

    python -m mini_triton.tools.coalescing add.py add --signature "*fp32:16, *fp32:16, *fp32:16, i32, 1024"

    add.py:9  load   16 bytes an instruction; threads along axis 0
        x = tl.load(x_ptr + at, mask=at < n)

A signature has a type for each parameter, `:16` after what is a multiple of 16, and a number for a constant, as that of
Triton's own `triton.tools.compile`. An instruction moves at most 16 bytes for a thread. It needs neighbours in memory,
an address that is a multiple of what it moves, a mask that is the same for all of them, and enough elements for all
threads.

Source: `lib/Dialect/TritonGPU/Transforms/Coalesce.cpp` and `getVectorSize` of `LoadStoreOpToLLVM.cpp` in Triton.
"""

from __future__ import annotations

import argparse
import ast
import linecache
import runpy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mini_triton.errors import Loc
from mini_triton.given.compiler import ASTSource, compile
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.ops.elementwise import width
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.parser import parse_module
from mini_triton.ir.types import TensorType
from mini_triton.transforms.axis_info import AxisAnalysis, Facts

WIDEST = 16
THREADS = 32
"""Bytes of the widest instruction, and threads of a warp."""


@dataclass(frozen=True)
class Access:
    """A load or a store of a tensor, and how a GPU does it."""

    kind: str  # "load" or "store"
    loc: Loc | None
    bytes: int  # that an instruction moves for a thread
    axis: int  # along which threads should lie
    reason: str  # why it is not more

    def __str__(self) -> str:
        place = f"{Path(self.loc.file).name}:{self.loc.line}" if self.loc else "?"
        source = linecache.getline(self.loc.file, self.loc.line).strip() if self.loc else ""
        head = f"{place}  {self.kind:6} {self.bytes:2} bytes an instruction; threads along axis {self.axis}"
        return "\n    ".join(filter(None, [head, source, self.reason]))


def accesses(module: Module, warps: int = 4) -> Iterator[Access]:
    """The loads and stores of tensors in a module."""
    analysis = AxisAnalysis(module)
    for operation in module.walk():
        if operation.name in ("tt.load", "tt.store") and isinstance(operation.operands[0].type, TensorType):
            yield explain(operation, analysis, warps * THREADS)


def explain(operation: Operation, analysis: AxisAnalysis, threads: int) -> Access:
    """How many bytes an instruction moves, and what above all keeps it from moving more."""
    pointers = operation.operands[0]
    type = pointers.type
    assert isinstance(type, TensorType)
    element = max(1, width(pointee(type)) // 8)
    info = analysis[pointers]
    axis = max(range(type.rank), key=lambda axis: (info[axis].contiguity, axis))
    facts = info[axis]
    masks = operation.operands[1 if operation.name == "tt.load" else 2 :][:1]
    limits = {
        neighbours(facts): facts.contiguity,
        f"its address is known to be a multiple of {facts.divisibility} bytes, of no more": facts.divisibility
        // element,
        f"a program has {type.numel} elements for {threads} threads": type.numel // threads,
    }
    for mask in masks:
        same = analysis[mask][axis].constancy
        limits[f"its mask is known to be the same for {counted(same)}, for no more"] = same
    reason, limit = min(limits.items(), key=lambda item: item[1])
    most = max(1, WIDEST // element)
    elements = max(1, min(most, limit))
    return Access(operation.name[3:], operation.loc, elements * element, axis, reason if elements < most else "")


def neighbours(facts: Facts) -> str:
    """What is known of the addresses of neighbouring elements."""
    if facts.contiguity > 1:
        return f"{counted(facts.contiguity)} are known to be neighbours in memory, no more"
    if facts.constancy > 1:
        return f"{counted(facts.constancy)} are at the same address"
    return "its elements are not known to be neighbours in memory along any axis: there may be a stride between them"


def counted(number: int) -> str:
    """`1 element`, `2 elements`."""
    return f"{number} element{'s' * (number != 1)}"


def source_of(kernel: Any, signature: str) -> ASTSource:
    """A kernel, with what a signature says of its parameters."""
    names = list(kernel.signature.parameters)
    words = [word.strip() for word in signature.split(",")]
    if len(words) != len(names):
        raise SystemExit(f"{kernel.fn.__name__} has {len(names)} parameters: {', '.join(names)}; not {len(words)}")
    types, constants, attributes = {}, {}, {}
    for name, word in zip(names, words, strict=True):
        type, _, known = word.partition(":")
        if type.lstrip("*")[:1].isalpha():
            types[name] = type
            attributes[name] = [["tt.divisibility", 16]] if known == "16" else []
        else:
            types[name], constants[name] = "constexpr", ast.literal_eval(word)
    return ASTSource(kernel, types, constants, attributes)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="coalescing", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", help="a Python file")
    parser.add_argument("kernel", help="the name of a kernel in it")
    parser.add_argument("--signature", required=True, help='such as "*fp32:16, i32, 1024"')
    parser.add_argument("--num-warps", type=int, default=4)
    options = parser.parse_args(arguments)
    compiled = compile(source_of(runpy.run_path(options.file)[options.kernel], options.signature))
    for access in accesses(parse_module(str(compiled.texts["passes"])), options.num_warps):
        print(access)


if __name__ == "__main__":
    main()
