"""Small kernels as TTIR text.

text = kernel("out: *i32, n: i32", "%pid = tt.get_program_id x : i32", "tt.store %out, %pid : !tt.ptr<i32>")
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

Grid = Sequence[int]
Place = tuple[int, int, int]


def kernel(parameters: str, *lines: str, end: str = "tt.return") -> str:
    """A module of one function; a parameter is `name: type`, where `*f32` is a pointer."""
    pairs = [parameter.split(": ") for parameter in parameters.split(", ")]
    types = [(name, f"!tt.ptr<{type[1:]}>" if type.startswith("*") else type) for name, type in pairs]
    header = ", ".join(f"%{name}: {type}" for name, type in types)
    body = "\n".join(f"    {line}" for text in (*lines, end) for line in text.splitlines())
    return f"module {{\n  tt.func public @kernel({header}) {{\n{body}\n  }}\n}}\n"


def tensor(element: str, *shape: int) -> str:
    """A tensor type as text; a scalar's if there is no shape."""
    return f"tensor<{'x'.join(map(str, shape))}x{element}>" if shape else element


def places(grid: Grid) -> Iterator[Place]:
    """The ids of all programs of a grid; axis x runs fastest."""
    sizes = (*grid, 1, 1)[:3]
    return ((x, y, z) for z, y, x in itertools.product(*map(range, reversed(sizes))))
