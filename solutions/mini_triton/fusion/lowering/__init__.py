"""From a graph of ATen operators to tensors as functions of an index.

Each operator has a function here that says what an element of its result is:

    graph.py         which function lowers a node (12.1)
    elementwise.py   operators of one element each, constants (12.2)
    views.py         the same elements at other indices (12.2)
    pieces.py        results put together: concatenation, padding
    indices.py       elements at places that are values (12.6)
    reductions.py    rows, and matrix products

Source: PyTorch's `torch/_inductor/lowering.py`.
"""

from mini_triton.fusion.lowering import elementwise, indices, pieces, reductions, views
from mini_triton.fusion.lowering.graph import Lowered, lower_graph

__all__ = ["Lowered", "elementwise", "indices", "lower_graph", "pieces", "reductions", "views"]
