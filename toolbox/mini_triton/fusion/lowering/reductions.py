"""Reductions and matrix products: operators that read whole rows."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import sympy
import torch
from torch.fx import Graph, Node

from mini_triton.fusion.body import Body, Value
from mini_triton.fusion.indexing import Index, broadcast_index, index_before, join, numel, strides_of, unravel
from mini_triton.fusion.libraries import is_large
from mini_triton.fusion.lowering.elementwise import lower_operator, operand
from mini_triton.fusion.lowering.graph import (
    ZERO,
    Unsupported,
    elementwise,
    lowers,
    name_of,
    tensor_of,
)
from mini_triton.fusion.lowering.pieces import inside_of, where_all
from mini_triton.fusion.operators import computed_in, identity
from mini_triton.fusion.tensors import (
    At,
    Computed,
    Product,
    Reduction,
    Tensor,
    View,
    hint,
    sizes_of,
    strides_in,
)
from mini_triton.fusion.tiles import fits

KINDS = {"sum": "sum", "amax": "max", "amin": "min", "prod": "prod", "argmax": "argmax", "argmin": "argmin"}


def axes_of(x: Tensor, axes: Any) -> tuple[int, ...]:
    """The dimensions to reduce, counted from 0. None and () mean all dimensions. (Given.)"""
    axes = (axes,) if isinstance(axes, int) else tuple(axes or range(len(x.shape)))
    return tuple(sorted({axis % len(x.shape) for axis in axes})) if x.shape else ()


def reduce(node: Node, kind: str, x: Tensor, axes: Any, dtype: torch.dtype, part: str = "") -> Tensor:
    """A reduction with the shape of the node. `kind` is sum, max, min, prod, argmax, argmin or any."""
    places = axes_of(x, axes)
    if numel(x.shape) == 0 or not places:
        raise Unsupported("there is nothing to reduce")
    common = dtype if kind in ("sum", "prod") else x.dtype
    source = converted(x, common, node.name)
    shape = tuple(sympy.Integer(1) if axis in places else size for axis, size in enumerate(x.shape))
    name = f"{node.name}{part}_rows"
    if pieces := number_of_pieces(source, places, kind, has_rows(node, source)):
        rows, axis = split(source, places, kind, pieces, f"{name}_pieces")
        whole = reduced(name, kind, reduced(f"{name}_pieces", kind, rows, axis + 1), axis, dtype)
        at = lambda body, index: body.value(whole, index_before(index, shape, whole.shape))  # noqa: E731
        return View(f"{name}_whole", dtype, shape, tuple(strides_of(shape)), x.device, (whole,), at, True)
    return Reduction(name, dtype, shape, tuple(strides_of(shape)), x.device, (source,), kind, places)


def reduced(name: str, kind: str, x: Tensor, axis: int, dtype: torch.dtype | None = None) -> Reduction:
    """A reduction of one dimension, whose size becomes 1."""
    shape = one_at(x.shape, axis)
    dtype = dtype or computed_in(x.dtype)
    return Reduction(name, dtype, shape, tuple(strides_of(shape)), x.device, (x,), kind, (axis,))


def one_at(shape: tuple[sympy.Expr, ...], axis: int) -> tuple[sympy.Expr, ...]:
    return (*shape[:axis], sympy.Integer(1), *shape[axis + 1 :])


LONG_ROW, LONG_COLUMN, LARGE = 16384, 8192, 2**20
"""From this length on, rows and columns are split if there are few programs. So are the columns of a tensor with this
many elements, unless the kernel also computes rows."""
FEW, MANY = 264, 2048
"""Fewer than `FEW` programs are few. Splitting raises the number of programs to about `MANY`."""
SHORTEST_ROW, SHORTEST_COLUMN = 1024, 16
"""The least number of elements of a piece."""
PIECES, PIECES_OF_ROWS = 128, 512
"""The largest number of pieces of a column; the second number is for kernels that also compute rows."""


def number_of_pieces(source: Tensor, axes: tuple[int, ...], kind: str, beside_rows: bool) -> int:
    """Into how many pieces to split rows to keep a GPU busy; 0 for no split, as for unknown lengths. (Given.)"""
    length = numel([source.shape[axis] for axis in axes])
    rows = hint(numel([size for axis, size in enumerate(source.shape) if axis not in axes]))
    is_inner = source.order[-1] in axes
    programs = rows if is_inner else -(-rows // 64)
    if programs >= FEW or kind.startswith("arg") or not length.is_number:
        return 0
    if length < LONG_ROW if is_inner else length < LONG_COLUMN and (beside_rows or length * rows < LARGE):
        return 0
    if is_inner:
        most = min(MANY // programs, int(length) // SHORTEST_ROW)
    else:
        most = min(PIECES_OF_ROWS if beside_rows else PIECES, int(length) // SHORTEST_COLUMN)
    return next((pieces for pieces in range(most, most // 2, -1) if length % pieces == 0), most)


def has_rows(node: Node, source: Tensor) -> bool:
    """Whether the node's program has a tensor with one element per row of the source, as in a norm. (Given.)"""
    return (*source.shape[:-1], 1) in shapes_in(node.graph)


@functools.lru_cache(1)
def shapes_in(graph: Graph) -> set[tuple[sympy.Expr, ...]]:
    """The shapes of all tensors of a graph."""
    values = (node.meta.get("val") for node in graph.nodes)
    return {sizes_of(value) for value in values if isinstance(value, torch.Tensor)}


def split(source: Tensor, axes: tuple[int, ...], kind: str, pieces: int, name: str) -> tuple[Computed, int]:
    """The rows of a tensor in pieces, and the dimension of the pieces. The elements of a piece follow it."""
    kept = [axis for axis in range(len(source.shape)) if axis not in axes]
    inner = [axis for axis in source.order if axis in axes]  # in the order of memory
    sizes = [source.shape[axis] for axis in inner]
    length = sympy.ceiling(numel(sizes) / pieces)
    is_inner = source.order[-1] in axes
    first = len(kept) if is_inner else 0
    outer = tuple(source.shape[axis] for axis in kept)
    shape = (*outer[:first], sympy.Integer(pieces), length, *outer[first:])
    dtype = computed_in(source.dtype)

    def at(body: Body, index: Index) -> Value:
        place = join(index[first] * length + index[first + 1])
        found = dict(zip(inner, unravel(place, sizes), strict=True))
        found |= dict(zip(kept, (*index[:first], *index[first + 2 :]), strict=True))
        conditions = inside_of(body, place, ZERO, numel(sizes))
        element = tuple(found[axis] for axis in range(len(source.shape)))
        neutral = identity(kind, dtype)
        return where_all(body, conditions, lambda: body.value(source, element), lambda: body.constant(neutral, dtype))

    strides = tuple(strides_of(shape))
    return Computed(f"{name}_split", source.dtype, shape, strides, source.device, (source,), at, True), first


def converted(x: Tensor, dtype: torch.dtype, name: str) -> Tensor:
    """The tensor in a different dtype, computed wherever it is needed."""
    if x.dtype == dtype:
        return x
    wanted = computed_in(dtype)
    at = lambda body, index: body.cast(body.value(x, index), wanted)  # noqa: E731
    return Computed(f"{name}_as_{dtype}", dtype, x.shape, x.strides, x.device, (x,), at, is_free=True)


def shaped(node: Node, x: Tensor, value: torch.Tensor | None = None, name: str = "") -> View:
    """A reduction without the dimensions of size 1 that the node's result lacks."""
    value = node.meta["val"] if value is None else value
    shape = sizes_of(value)
    at = lambda body, index: body.value(x, index_before(index, shape, x.shape))  # noqa: E731
    return View(name or node.name, x.dtype, shape, strides_in(value), x.device, (x,), at, True)


@lowers("sum", "prod", "amax", "amin", "argmax", "argmin")
def lower_reduction(node: Node, x: Tensor, axes: Any = None, *_: Any, **__: Any) -> View:
    return shaped(node, reduce(node, KINDS[name_of(node)], x, axes, node.meta["val"].dtype))


@lowers("any", "all")
def lower_any(node: Node, x: Tensor, axes: Any = None, *_: Any, **__: Any) -> View:
    kind = name_of(node)
    at = lambda body, index: operand(body, x, index, torch.bool)  # noqa: E731
    true = Computed(f"{node.name}_bool", torch.bool, x.shape, x.strides, x.device, (x,), at, is_free=True)
    return shaped(node, reduce(node, kind, true, axes, torch.bool))


@lowers("max", "min")
def lower_max(node: Node, x: Tensor, axis: Any = None, *_: Any, **__: Any) -> Any:
    kind = name_of(node)
    if isinstance(axis, Tensor):
        return lower_operator({"max": "maximum", "min": "minimum"}[kind], node, x, axis)
    if axis is None:
        return shaped(node, reduce(node, kind, x, None, x.dtype))
    values, places = node.meta["val"]
    return [
        shaped(node, reduce(node, kind, x, axis, x.dtype), values, f"{node.name}_0"),
        shaped(node, reduce(node, f"arg{kind}", x, axis, torch.int64, "_at"), places, f"{node.name}_1"),
    ]


@lowers("var")
def lower_var(node: Node, x: Tensor, axes: Any = None, correction: Any = None, *_: Any, **kwargs: Any) -> Tensor:
    """The mean of squared distances from the mean.

    Long rows are read once: distances are measured from the mean of each piece, and then from these to the row's mean.
    Elements of a piece that does not fit in registers are first measured from one of them.

    Source: T. F. Chan, G. H. Golub, R. J. LeVeque: Updating Formulae and a Pairwise Algorithm for Computing Sample
    Variances (1979).
    """
    places = axes_of(x, axes)
    correction = 1 if correction is None else correction
    count = numel([x.shape[axis] for axis in places])
    wide = converted(x, computed_in(x.dtype), node.name)
    pieces = number_of_pieces(wide, places, "sum", has_rows(node, wide))
    if pieces and count % pieces == 0:
        rows, axis = split(wide, places, "sum", pieces, node.name)
        length = rows.shape[axis + 1]
        totals = reduced(f"{node.name}_totals", "sum", rows, axis + 1)
        if fits(length, wide.order[-1] in places, LONG_ROW):
            within: Tensor = reduced(f"{node.name}_within", "sum", squares(rows, totals, length), axis + 1)
        else:
            within = read_once(rows, axis + 1, node.name)
        between = squares(totals, reduced(f"{node.name}_total", "sum", totals, axis), pieces)

        def both_at(body: Body, index: Index) -> Value:
            mean = body.apply("div", [body.value(between, index), operand(body, length, index, wide.dtype)])
            return body.apply("add", [body.value(within, index), mean])

        both = dataclasses.replace(between, name=f"{node.name}_both", inputs=(within, *between.inputs), at=both_at)
        total: Tensor = reduced(f"{node.name}_squares", "sum", both, axis)
    else:
        mean = reduce(node, "sum", wide, places, wide.dtype, "_total")
        total = reduce(node, "sum", squares(wide, mean, count), places, wide.dtype, "_squares")
    shape = sizes_of(node.meta["val"])

    def at(body: Body, index: Index) -> Value:
        value = body.value(total, index_before(index, shape, total.shape))
        return body.apply("div", [value, operand(body, sympy.Max(count - correction, 0), index, wide.dtype)])

    return elementwise(node, [total], at)


def read_once(x: Tensor, axis: int, name: str) -> Computed:
    """The squared distances from the mean of a dimension, summed, from two sums over distances from element 0."""
    length, shape = x.shape[axis], one_at(x.shape, axis)

    def from_first(body: Body, index: Index) -> Value:
        first = body.value(x, (*index[:axis], ZERO, *index[axis + 1 :]))
        return body.apply("sub", [body.value(x, index), first])

    def squared(body: Body, index: Index) -> Value:
        return body.apply("mul", [from_first(body, index)] * 2)

    def computed(name: str, at: At, shape: Any, *inputs: Tensor) -> Computed:
        return Computed(name, x.dtype, shape, tuple(strides_of(shape)), x.device, inputs, at, is_free=True)

    moved = reduced(f"{name}_moved", "sum", computed(f"{name}_distances", from_first, x.shape, x), axis)
    spread = reduced(f"{name}_spread", "sum", computed(f"{name}_squared", squared, x.shape, x), axis)

    def within(body: Body, index: Index) -> Value:
        distance = body.value(moved, index)
        square = body.apply("mul", [distance, distance])
        mean = body.apply("div", [square, operand(body, length, index, x.dtype)])
        return body.apply("sub", [body.value(spread, index), mean])

    return computed(f"{name}_within", within, shape, spread, moved)


def squares(x: Tensor, total: Tensor, count: Any) -> Computed:
    """The squared distances of elements from their mean."""

    def at(body: Body, index: Index) -> Value:
        number = operand(body, count, index, x.dtype)
        mean = body.apply("div", [body.value(total, broadcast_index(index, total.shape)), number])
        distance = body.apply("sub", [body.value(x, index), mean])
        return body.apply("mul", [distance, distance])

    return Computed(f"{x.name}_squares", x.dtype, x.shape, x.strides, x.device, (x, total), at, is_free=True)


# --- products


FASTER = "cuBLAS multiplies large matrices faster"


@lowers("addmm")
def lower_sum_with_product(node: Node, *_: Any, **__: Any) -> Tensor:
    raise Unsupported(FASTER)


@lowers("mm", "bmm")
def lower_product(node: Node, a: Tensor, b: Tensor) -> Product:
    if a.device.type == "cuda" and is_large(*map(hint, (*a.shape[-2:], b.shape[-1]))):
        raise Unsupported(FASTER)
    if a.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        raise Unsupported(f"a product of {a.dtype}")
    if numel(a.shape) == 0 or numel(b.shape) == 0:
        raise Unsupported("there is nothing to multiply")
    return tensor_of(Product, node, [a, b])
