"""Real Triton's recorded answers: linear layouts, also those that it chooses for the accesses of kernels.

    linear_layouts.vectors()[layout, shape]    # of the blocked layouts in `threads.json`
    linear_layouts.kernels()[0].accesses       # of random kernels

Record the answers again by

    python -m tests.oracles.linear_layouts [--check]
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tests import oracles
from tests.oracles import records, triton

FILE = records.FOLDER / "linear_layouts.json"
MANY = 80  # the number of kernels
SIZES = {"i8": 1, "fp16": 2, "fp32": 4, "fp64": 8}
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


def questions() -> Iterator[Kernel]:
    """Kernels that load a tile or two of any shape and store their sum, with different types, strides and offsets."""
    chosen = random.Random(13)
    for number in range(MANY):
        rank = chosen.choice((1, 1, 2, 2, 2, 3))
        shape = [1 << chosen.randint(0, {1: 12, 2: 7, 3: 5}[rank]) for _ in range(rank)]
        shape[-1] = max(shape[-1], 2)
        axes = "ijk"[:rank]
        lines = [
            f"{axis} = tl.arange(0, {size})"
            + (f"[{', '.join(':' if other == axis else 'None' for other in axes)}]" if rank > 1 else "")
            for axis, size in zip(axes, shape, strict=True)
        ]
        signature, divisible = {}, []

        def pointers(name: str) -> str:
            signature[name] = "*" + chosen.choice(tuple(SIZES))
            if chosen.random() < 0.8:
                divisible.append(name)
            order, stride, terms = chosen.sample(range(rank), rank), 1, []
            for axis in order:
                terms.append(f"{axes[axis]} * {stride}" if stride > 1 else axes[axis])
                stride *= shape[axis]
            return f"{name} + {' + '.join([*reversed(terms), *chosen.choice(((), (), ('8',), ('2',), ('1',)))])}"

        loaded = [f"tl.load({pointers(name)})" for name in "xy"[: chosen.randint(1, 2)]]
        lines.append(f"tl.store({pointers('out')}, {' + '.join(loaded)})")
        body = "\n    ".join(lines)
        head = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
        text = f"{head}def kernel({', '.join(signature)}):\n    {body}\n"
        yield Kernel(text, signature, tuple(divisible), chosen.choice((1, 2, 4, 8)))


def linear(definition: str, shape: Sequence[int]) -> Vectors:
    """The installed Triton's vectors of a blocked layout, as TTGIR defines it."""
    parts = [[int(number) for number in part.split(", ")] for part in re.findall(r"= \[([\d, ]+)\]", definition)]
    return triton.linear_layout(*parts, shape)


def ask() -> dict[str, Any]:
    """The answers of the installed Triton."""
    from mini_triton.ir.printer import print_module

    threads = json.loads((records.FOLDER / "threads.json").read_text())["tensors"]
    known = {(entry["layout"], tuple(entry["shape"])) for entry in threads}
    vectors = [[layout, shape, linear(layout, shape)] for layout, shape in sorted(known)]
    kernels = []
    for kernel in questions():
        (ttgir,) = triton.coalesced([print_module(kernel.module())], warps=kernel.warps)
        layouts = dict(BLOCKED.findall(ttgir))
        found = [
            (kind, linear(layouts[name], [int(size) for size in shape.split("x")[:-1]]))
            for kind, shape, name in ACCESS.findall(ttgir)
        ]
        kernels.append([*kernel[:-1], found])
    return json.loads(json.dumps({"vectors": vectors, "kernels": kernels}))


@functools.cache
def load() -> dict[str, Any]:
    """All answers."""
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    oracles.note("triton", f"records {recorded['version']}")
    return recorded


def vectors() -> dict[tuple[str, tuple[int, ...]], Vectors]:
    """The vectors of blocked layouts, by definition in TTGIR and by shape."""
    return {(layout, tuple(shape)): as_vectors(parts) for layout, shape, parts in load()["vectors"]}


def kernels() -> list[Kernel]:
    """Kernels with the layouts of their accesses."""
    return [
        Kernel(text, signature, tuple(divisible), warps, [(kind, as_vectors(parts)) for kind, parts in accesses])
        for text, signature, divisible, warps, accesses in load()["kernels"]
    ]


def as_vectors(parts: Any) -> Vectors:
    return tuple(tuple(map(tuple, part)) for part in parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns 1 if a check finds a difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.linear_layouts", description="Record layouts.")
    parser.add_argument("--check", action="store_true", help="change nothing, report what differs")
    answers = ask()
    if parser.parse_args(arguments).check:
        differing = [row for key in ("vectors", "kernels") for row in answers[key] if row not in load()[key]]
        print("\n".join(map(str, differing)) or "the same")
        return 1 if differing else 0
    rows = [
        f' "{key}": [\n' + ",\n".join(f"  {json.dumps(row)}" for row in answers[key]) + "\n ]"
        for key in ("vectors", "kernels")
    ]
    FILE.write_text("{\n" + ",\n".join([f' "version": "{triton.version()}"', *rows]) + "\n}\n", encoding="utf-8")
    print(f"{FILE.name}: {len(answers['kernels'])} kernels, Triton {triton.version()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
