"""Fusion: a back end of `torch.compile`, which writes kernels for our compiler.

The back end takes a graph of PyTorch's operators and returns a function with the same results. This function runs fewer
kernels than eager mode, and the kernels move fewer bytes.

Yours, in reading order, with their tasks:

    backend.py     what `torch.compile` calls (12.1)
    lowering/      how to compute an element of each operator's result (12.1, 12.2, 12.6)
    indexing.py    index expressions: broadcasting and views move no data (12.2)
    grouping.py    which tensors one kernel computes (12.3)
    body.py        loops, and the straight-line programs inside them (12.4)
    source.py      the source of a kernel; reductions (12.4)
    products.py    the source of a matrix product (12.5)
    program.py     memory, launches and calls, in order (12.5)
    inductor.py    compiling the kernels that PyTorch's own compiler writes (12.7)

Given and worth reading: `tensors.py` (the values of the graph). Also given, in `toolbox/`: `operators.py` (the table of
elementwise operators, and their dtypes), `tiles.py` (the sizes of tiles) and `report.py` (what was fused, as text and
as a picture).
"""

from __future__ import annotations

import importlib
from typing import Any

EXPORTS = {"mini_triton": "backend", "explain": "backend", "draw": "report", "programs": "backend"}


def __getattr__(name: str) -> Any:
    if name not in EXPORTS:
        raise AttributeError(f"mini_triton.fusion has no {name}")
    return getattr(importlib.import_module(f"{__name__}.{EXPORTS[name]}"), name)
