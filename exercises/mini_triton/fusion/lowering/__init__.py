"""From a graph of ATen operators to tensors as functions of an index.

Each operator has a function in this package that describes an element of the operator's result:

    graph.py         how to find the function that lowers a node (12.1)
    elementwise.py   elementwise operators (12.1)
    views.py         the same elements at different indices (12.2)
    pieces.py        results assembled from pieces: concatenation, slices with new elements (12.6)
    indices.py       indices that are values (12.6)

In `toolbox/`, `formulas.py`, `more_views.py`, `padding.py`, `pooling.py`, `lookups.py` and `reductions.py` lower all
other operators.

Source: PyTorch's `torch/_inductor/lowering.py`.
"""

from mini_triton.fusion.lowering import formulas, lookups, more_views, padding, pieces, pooling, reductions
from mini_triton.fusion.lowering.graph import Lowered, lower_graph

__all__ = ["Lowered", "formulas", "lookups", "lower_graph", "more_views", "padding", "pieces", "pooling", "reductions"]
