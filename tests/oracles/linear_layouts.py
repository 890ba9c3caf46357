"""Real Triton's recorded answers: linear layouts, also those that it chooses for the accesses of kernels.

    linear_layouts.vectors()[layout, shape]    # of the blocked layouts in `threads.json`
    linear_layouts.kernels()[0].accesses       # of random kernels

Record the answers again by

    python -m tests.oracles.linear_layouts [--check]
"""

import json
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tests.oracles import records, tables, triton

MANY = 80  # the number of random kernels
BLOCKED = re.compile(r"(#\w+) = #ttg\.blocked<\{(.*)\}>")
ACCESS = re.compile(r"\btt\.(load|store) .* : tensor<((?:\d+x)+).*, (#\w+)>$", re.MULTILINE)

Vectors = tuple[tuple[tuple[int, ...], ...], ...]
"""The vectors of the bits of registers, lanes and warps."""


class Kernel(NamedTuple):
    """A kernel and the layouts of its loads and stores, in order."""

    text: str
    signature: dict[str, str]
    divisible: tuple[str, ...]
    warps: int
    accesses: list[tuple[str, Vectors]] = []  # noqa: RUF012 (a default that nobody changes)

    def module(self) -> Any:
        """The kernel's module, from our front end."""
        from tests.support import sources

        return sources.compiled(triton.Source(self.text, "kernel", self.signature, {}, self.divisible))


ROWS = "i = tl.arange(0, 1024)"
TILE = "i = tl.arange(0, 64)[:, None]; j = tl.arange(0, 32)[None, :]"
WRITTEN = (
    f"x: *fp32, out: *fp32; {ROWS}; tl.store(out + i, tl.load(x + i))",
    f"x: *fp16, out: *fp32; {ROWS}; tl.store(out + i, tl.load(x + i))",
    f"x: *fp32, out: *fp16; {ROWS}; tl.store(out + i, tl.load(x + i))",
    f"x: *fp32, out: *i8; {ROWS}; tl.store(out + i, tl.load(x + i))",
    "x: *fp32, out: *fp32; i = tl.arange(0, 64); tl.store(out + i, tl.load(x + i))",
    f"x: *fp32, out: *fp32; {TILE}; tl.store(out + i + j * 64, tl.load(x + i * 32 + j))",
    f"x: *fp16, out: *fp32; {TILE}; tl.store(out + i * 32 + j, tl.load(x + i + j * 64) + tl.load(out + i * 32 + j))",
    f"x: *i8, out: *fp32; {ROWS}; j = tl.arange(0, 2048); tl.store(out + i, tl.load(out + i) + tl.sum(tl.load(x + j)))",
)
"""Kernels that differ in one thing: parameters, all multiples of 16, and statements."""


def written() -> Iterator[Kernel]:
    """The kernels that were written by hand, for programs of four warps."""
    for line in WRITTEN:
        parameters, *statements = line.split("; ")
        signature = dict(parameter.split(": ") for parameter in parameters.split(", "))
        yield Kernel(source(signature, statements), signature, tuple(signature), 4)


def source(signature: dict[str, str], statements: Sequence[str]) -> str:
    """A kernel's text."""
    head = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
    body = "\n    ".join(statements)
    return f"{head}def kernel({', '.join(signature)}):\n    {body}\n"


def drawn() -> Iterator[Kernel]:
    """Kernels that load a tile or two of any shape and store their sum, with different types, strides and offsets."""
    chosen = random.Random(13)
    for _ in range(MANY):
        rank = chosen.choice((1, 1, 2, 2, 2, 3))
        shape = {axis: 1 << chosen.randint(0, {1: 12, 2: 7, 3: 5}[rank]) for axis in "ijk"[:rank]}
        names = [*"xy"[: chosen.randint(1, 2)], "out"]
        signature = {name: "*" + chosen.choice(("i8", "fp16", "fp32", "fp64")) for name in names}
        divisible = tuple(name for name in names if chosen.random() < 0.8)
        *loaded, stored = (f"{name} + {offset(chosen, shape)}" for name in names)
        ranges = [f"{axis} = tl.arange(0, {size}){expanded(axis, shape)}" for axis, size in shape.items()]
        store = f"tl.store({stored}, {' + '.join(f'tl.load({pointers})' for pointers in loaded)})"
        yield Kernel(source(signature, [*ranges, store]), signature, divisible, chosen.choice((1, 2, 4, 8)))


def expanded(axis: str, axes: Iterable[str]) -> str:
    """The subscript that makes a range lie along an axis."""
    subscript = ", ".join(":" if other == axis else "None" for other in axes)
    return "" if subscript == ":" else f"[{subscript}]"


def offset(chosen: random.Random, shape: dict[str, int]) -> str:
    """The offsets of all elements of a tensor that is contiguous in some order of its axes."""
    terms, stride = [], 1
    for axis in chosen.sample(list(shape), len(shape)):
        terms.append(f"{axis} * {stride}")
        stride *= shape[axis]
    return " + ".join(terms + chosen.choice(([], [], ["8"], ["2"], ["1"])))


def linear(definition: str, shape: Sequence[int]) -> Vectors:
    """The installed Triton's vectors of a blocked layout, as TTGIR defines it."""
    numbers = [list(map(int, part.split(", "))) for part in re.findall(r"= \[([\d, ]+)\]", definition)]
    sizes, lanes, warps, order = numbers
    return triton.linear_layout(sizes, lanes, warps, order, shape)


def ask() -> dict[str, Any]:
    """The answers of the installed Triton."""
    from mini_triton.ir.printer import print_module

    threads = json.loads((records.FOLDER / "threads.json").read_text())["tensors"]
    known = {(entry["layout"], tuple(entry["shape"])) for entry in threads}
    vectors = [[layout, shape, linear(layout, shape)] for layout, shape in sorted(known)]
    kernels = []
    for kernel in (*written(), *drawn()):
        (ttgir,) = triton.coalesced([print_module(kernel.module())], warps=kernel.warps)
        layouts = dict(BLOCKED.findall(ttgir))
        found = [
            (kind, linear(layouts[name], [int(size) for size in shape.split("x")[:-1]]))
            for kind, shape, name in ACCESS.findall(ttgir)
        ]
        kernels.append([*kernel[:-1], found])
    return {"vectors": vectors, "kernels": kernels}


def vectors() -> dict[tuple[str, tuple[int, ...]], Vectors]:
    """The vectors of blocked layouts, by definition in TTGIR and by shape."""
    return {
        (layout, tuple(shape)): as_vectors(parts) for layout, shape, parts in tables.load("linear_layouts")["vectors"]
    }


def kernels() -> list[Kernel]:
    """Kernels with the layouts of their accesses."""
    return [
        Kernel(text, signature, tuple(divisible), warps, [(kind, as_vectors(parts)) for kind, parts in accesses])
        for text, signature, divisible, warps, accesses in tables.load("linear_layouts")["kernels"]
    ]


def as_vectors(parts: Any) -> Vectors:
    return tuple(tuple(map(tuple, part)) for part in parts)


if __name__ == "__main__":
    sys.exit(tables.record("linear_layouts", **ask()))
