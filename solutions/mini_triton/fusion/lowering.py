"""From a graph of ATen operators to tensors as functions of an index.

Each operator has a function here that says what an element of its result is. An operator without one is called: PyTorch
computes it, and the report says so.

Source: PyTorch's `torch/_inductor/lowering.py`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch.fx import Graph, Node

from mini_triton.fusion.body import Body, Value, chosen
from mini_triton.fusion.indexing import Index, bounds, divide, numel, ravel, remainder, strides_of, sympify, unravel
from mini_triton.fusion.operators import OPERATORS, Kind, computed_in, identity, promote
from mini_triton.fusion.tensors import (
    Called,
    Computed,
    Product,
    Reduction,
    Stored,
    Tensor,
    View,
    broadcast_index,
    hint,
    sizes_of,
    strides_in,
)

Lowered = Any
"""What a node is: a tensor, several, a symbolic size, or None."""
ZERO = sympy.Integer(0)


class Unsupported(Exception):
    """An operator cannot be computed by a generated kernel, for this reason."""


HANDLERS: dict[str, Callable[..., Any]] = {}


def lowers(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark the function that lowers these operators of ATen."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        HANDLERS.update(dict.fromkeys(names, function))
        return function

    return register


def lower_graph(graph: Graph) -> dict[Node, Lowered]:
    """What each node of the graph is. Operators that cannot be lowered are `Called`."""
    lowered: dict[Node, Lowered] = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            lowered[node] = lower_argument(node)
        elif node.op == "get_attr":
            lowered[node] = stored(node.name, getattr(graph.owning_module, node.target))
        elif node.op == "call_function":
            lowered[node] = lower_call(node, lowered)
    return lowered


def lower_argument(node: Node) -> Lowered:
    value = node.meta["val"]
    return stored(node.name, value) if isinstance(value, torch.Tensor) else sympify(value)


def stored(name: str, value: torch.Tensor) -> Stored:
    return Stored(name, value.dtype, sizes_of(value), strides_in(value), value.device)


def lower_call(node: Node, lowered: dict[Node, Lowered]) -> Lowered:
    """What a call of an operator is."""
    value = node.meta.get("val")
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool | int | float):
        return sympify(value)
    arguments = torch.fx.map_arg(node.args, lambda n: lowered[n])
    keywords = torch.fx.map_arg(node.kwargs, lambda n: lowered[n])
    if node.target is operator.getitem:
        return arguments[0][arguments[1]]
    # [task 12.1] `HANDLERS` has the function for an operator, by `name_of(node)`: it takes the node, arguments and
    # keywords. What has none, or raises `Unsupported`, or is not `is_supported`, is `called`, with the reason.
    handler = HANDLERS.get(name_of(node))
    reason = why_not(node)
    if handler is None:
        return called(node, arguments, keywords, "no kernel is written for it")
    if reason:
        return called(node, arguments, keywords, reason)
    try:
        return handler(node, *arguments, **keywords)
    except Unsupported as error:
        return called(node, arguments, keywords, str(error))
    # [end]


def name_of(node: Node) -> str:
    """The operator's name without its namespace and overload: "add" for aten.add.Tensor. (Given.)"""
    target = node.target
    return target._schema.name.partition("::")[2] if hasattr(target, "_schema") else getattr(target, "__name__", "")


SUPPORTED = (
    *(torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
)


def why_not(node: Node) -> str:
    """Why no kernel can compute this node, whatever operator it is. (Given.)"""
    values = [node.meta.get("val"), *(n.meta.get("val") for n in node.all_input_nodes)]
    for value in values:
        for x in value if isinstance(value, tuple | list) else (value,):
            if not isinstance(x, torch.Tensor):
                continue
            if x.dtype not in SUPPORTED:
                return f"kernels do not compute with {x.dtype}"
            if x.layout != torch.strided:
                return f"a tensor's layout is {x.layout}"
            if any(symbol.name.startswith("u") for size in sizes_of(x) for symbol in size.free_symbols):
                return "a size depends on the values of a tensor"
    return ""


def called(node: Node, arguments: Any, keywords: Any, reason: str) -> Lowered:
    """The result of an operator that PyTorch computes: a tensor, or several. (Given.)"""
    inputs = tuple(x for x in torch.utils._pytree.tree_leaves((arguments, keywords)) if isinstance(x, Tensor))
    value = node.meta.get("val")

    def result(x: Any, number: int | None) -> Lowered:
        if not isinstance(x, torch.Tensor):
            return Called(node.name, torch.int64, (), (), torch.device("cpu"), inputs, node, reason, number)
        name = node.name if number is None else f"{node.name}_{number}"
        return Called(name, x.dtype, sizes_of(x), strides_in(x), x.device, inputs, node, reason, number)

    if isinstance(value, tuple | list):
        return [result(x, number) for number, x in enumerate(value)]
    return result(value, None)


def tensor_of(kind: type[Any], node: Node, inputs: Sequence[Tensor], **fields: Any) -> Any:
    """A tensor of a kind, with the shape, dtype and strides that PyTorch gives the node. (Given.)"""
    value = node.meta["val"]
    shape, strides = sizes_of(value), strides_in(value)
    return kind(node.name, value.dtype, shape, strides, value.device, tuple(inputs), **fields)


def elementwise(node: Node, inputs: Sequence[Any], at: Callable[..., Value], **fields: Any) -> Computed:
    return tensor_of(Computed, node, [x for x in inputs if isinstance(x, Tensor)], at=at, **fields)


# --- elementwise operators


def operand(body: Body, x: Any, index: Index, dtype: torch.dtype) -> Value:
    """One operand of an elementwise operator at the index of its result, as a value of a dtype."""
    # [task 12.2] A number is a constant, a symbolic size is an index, and a tensor is broadcast.
    if isinstance(x, Tensor):
        return body.cast(body.value(x, broadcast_index(index, x.shape)), dtype)
    if isinstance(x, sympy.Expr) and not x.is_number:
        return body.number(x, dtype)
    return body.constant(float(x) if dtype.is_floating_point else bool(x) if dtype == torch.bool else int(x), dtype)
    # [end]


def lower_operator(name: str, node: Node, *operands: Any) -> Computed:
    """An elementwise operator of the table."""
    kind = OPERATORS[name].kind
    dtype = promote(kind, list(operands))
    result = computed_in(node.meta["val"].dtype)

    def at(body: Body, index: Index) -> Value:
        # [task 12.2]
        values = [operand(body, x, index, dtype) for x in operands]
        value = body.apply(name, values, torch.bool if kind is Kind.COMPARE else dtype)
        return body.cast(value, result)
        # [end]

    return elementwise(node, operands, at)


def lower_from_table(
    node: Node, *operands: Any, alpha: Any = 1, rounding_mode: str | None = None, **_: Any
) -> Computed:
    name = name_of(node)
    if alpha != 1:
        at_first, x, y = name, *operands
        return combined(node, [x, y], lambda a, b, c: c(at_first, a, c("mul", b, alpha)))
    if rounding_mode is not None:
        name = {"floor": "floor_divide", "trunc": "trunc_divide"}[rounding_mode]
        return combined(node, operands, lambda a, b, c: c(name, a, b))
    if name == "div" and node.target.namespace == "prims" and not node.meta["val"].dtype.is_floating_point:
        name = "trunc_divide"
    return lower_operator(name, node, *operands)


HANDLERS.update(dict.fromkeys(OPERATORS, lower_from_table))
for _name in ("where", "floor_divide", "trunc_divide"):
    del HANDLERS[_name]


def combined(node: Node, operands: Sequence[Any], formula: Callable[..., Any]) -> Computed:
    """Several operators in one: `formula(a, b, apply)` with `apply(name, …)`, on the operands' common dtype."""
    dtype = promote(Kind.SAME, list(operands))
    result = computed_in(node.meta["val"].dtype)

    def at(body: Body, index: Index) -> Value:
        def apply(name: str, *values: Any) -> Value:
            given = [x if isinstance(x, Value) else operand(body, x, index, dtype) for x in values]
            kind = OPERATORS[name].kind
            return body.apply(name, given, torch.bool if kind is Kind.COMPARE else dtype)

        values = [operand(body, x, index, dtype) for x in operands]
        return body.cast(formula(*values, apply), result)

    return elementwise(node, operands, at)


@lowers("pow")
def lower_pow(node: Node, x: Any, y: Any) -> Computed:
    if y in (2, 3, 4):
        return combined(
            node, [x], lambda a, apply: functools.reduce(lambda p, _: apply("mul", p, a), range(int(y) - 1), a)
        )
    if isinstance(y, float) and y == 0.5:
        return combined(node, [x], lambda a, c: c("sqrt", a))
    if not node.meta["val"].dtype.is_floating_point:
        raise Unsupported("a power of integers")
    return lower_operator("pow", node, x, y)


@lowers("clamp")
def lower_clamp(node: Node, x: Any, least: Any = None, most: Any = None) -> Computed:
    operands = [x, *(bound for bound in (least, most) if bound is not None)]

    def formula(a: Value, *rest: Any) -> Any:
        *limits, apply = rest
        if least is not None:
            a = apply("maximum", a, limits.pop(0))
        return apply("minimum", a, limits[0]) if most is not None else a

    return combined(node, operands, formula)


@lowers("where")
def lower_where(node: Node, condition: Tensor, x: Any, y: Any) -> Computed:
    dtype = promote(Kind.SAME, [x, y])

    def at(body: Body, index: Index) -> Value:
        values = (
            operand(body, condition, index, torch.bool),
            operand(body, x, index, dtype),
            operand(body, y, index, dtype),
        )
        return body.cast(body.apply("where", values, dtype), computed_in(node.meta["val"].dtype))

    return elementwise(node, [condition, x, y], at)


@lowers("_to_copy", "convert_element_type")
def lower_cast(node: Node, x: Tensor, *_: Any, **__: Any) -> Computed:
    wanted = node.meta["val"].dtype
    if node.meta["val"].device != x.device:
        raise Unsupported(f"from {x.device} to {node.meta['val'].device}")

    def at(body: Body, index: Index) -> Value:
        value = body.cast(body.value(x, index), wanted)
        return body.cast(value, computed_in(wanted))

    return elementwise(node, [x], at)


@lowers("lift_fresh_copy")
def lower_constant(node: Node, x: Tensor) -> View:
    return view(node, x, lambda index: index)


@lowers("clone", "contiguous")
def lower_clone(node: Node, x: Tensor, **_: Any) -> View:
    """A copy is the same elements in other memory: it is made only for those who need that memory."""
    return view(node, x, lambda index: index, shares_memory=False)


@lowers("copy")
def lower_copy(node: Node, target: Tensor, x: Tensor, *_: Any) -> Computed:
    dtype = computed_in(target.dtype)
    return elementwise(node, [x], lambda body, index: operand(body, x, index, dtype))


@lowers("copy_")
def lower_copy_(node: Node, target: Tensor, x: Tensor, *_: Any) -> Computed:
    while isinstance(target, View) and target.shape == target.inputs[0].shape:
        target = target.inputs[0]
    if not isinstance(target, Stored) or not target.is_dense:
        raise Unsupported("it writes into a part of a tensor")
    dtype = computed_in(target.dtype)
    result = elementwise(node, [x], lambda body, index: operand(body, x, index, dtype), into=target)
    result.strides = target.strides
    return result


# --- constants


@lowers("full", "full_like", "scalar_tensor", "zeros", "ones")
def lower_full(node: Node, *arguments: Any, **_: Any) -> Computed:
    number = arguments[0] if name_of(node) == "scalar_tensor" else arguments[1]
    dtype = computed_in(node.meta["val"].dtype)
    return elementwise(node, [], lambda body, index: operand(body, number, index, dtype), is_free=True)


@lowers("arange", "iota")
def lower_arange(node: Node, *arguments: Any, start: Any = 0, step: Any = 1, **_: Any) -> Computed:
    if name_of(node) == "arange":
        start, step = (0, 1) if len(arguments) == 1 else (arguments[0], arguments[2] if len(arguments) > 2 else 1)
    if any(isinstance(x, float) for x in (start, step)):
        raise Unsupported("a range of floats")
    dtype = computed_in(node.meta["val"].dtype)
    start, step = sympify(start), sympify(step)
    return elementwise(
        node, [], lambda body, index: body.cast(body.index(start + step * index[0]), dtype), is_free=True
    )


# --- views


def view(node: Node, x: Tensor, index_of: Callable[[Index], Index], shares_memory: bool = True) -> View:
    """A view of `x`: its element at an index is that of `x` at `index_of(index)`."""
    value = node.meta["val"]
    result: View = tensor_of(View, node, [x], at=lambda body, index: body.value(x, index_of(index)), is_free=True)
    result.shares_memory = shares_memory
    result.offset_in_base = sympify(value.storage_offset())
    return result


@lowers("view", "_unsafe_view", "reshape", "squeeze", "unsqueeze", "view_of", "alias", "detach")
def lower_view(node: Node, x: Tensor, *_: Any) -> View:
    # [task 12.2] The elements of a reshaped tensor have the same row-major order.
    shape = sizes_of(node.meta["val"])
    if shape == x.shape:
        return view(node, x, lambda index: index)
    return view(node, x, lambda index: unravel(ravel(index, shape), x.shape))
    # [end]


@lowers("permute")
def lower_permute(node: Node, x: Tensor, axes: Sequence[int]) -> View:
    # [task 12.2] Dimension n of the result is dimension `axes[n]` of `x`; axes may be negative.
    places = [axis % len(x.shape) for axis in axes]
    return view(node, x, lambda index: tuple(index[places.index(axis)] for axis in range(len(places))))
    # [end]


@lowers("expand")
def lower_expand(node: Node, x: Tensor, *_: Any, **__: Any) -> View:
    return view(node, x, lambda index: broadcast_index(index, x.shape))


@lowers("broadcast_in_dim")
def lower_broadcast_in_dim(node: Node, x: Tensor, shape: Any, axes: Sequence[int]) -> View:
    def index_of(index: Index) -> Index:
        return tuple(ZERO if size == 1 else index[axis] for axis, size in zip(axes, x.shape, strict=True))

    return view(node, x, index_of)


@lowers("as_strided")
def lower_as_strided(node: Node, x: Tensor, shape: Any, strides: Any, offset: Any = None) -> View:
    if not x.is_dense or isinstance(x, Stored) or isinstance(x, View):
        raise Unsupported("strides over memory that is not known")
    steps = [sympify(stride) for stride in strides]

    def index_of(index: Index) -> Index:
        place = sympy.Add(*(i * step for i, step in zip(index, steps, strict=True)))
        return x.index_at(sympy.expand(place + sympify(offset or 0)))

    return view(node, x, index_of)


def clamp_bound(bound: Any, size: sympy.Expr, default: Any) -> sympy.Expr:
    """A bound of a slice as Python's slices have it. (Given.)"""
    if bound is None or bound == 2**63 - 1:
        return sympify(default)
    bound = sympify(bound)
    if size.is_number and bound.is_number:
        return sympy.Integer(min(max(bound + size if bound < 0 else bound, 0), size))
    return bound + size if bound.is_negative else bound


@lowers("slice")
def lower_slice(node: Node, x: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1) -> View:
    # [task 12.2] `clamp_bound` makes a bound of `start`.
    axis %= len(x.shape)
    first = clamp_bound(start, x.shape[axis], 0)
    return view(node, x, lambda index: (*index[:axis], first + step * index[axis], *index[axis + 1 :]))
    # [end]


@lowers("select")
def lower_select(node: Node, x: Tensor, axis: int, place: Any) -> View:
    axis %= len(x.shape)
    place = sympify(place)
    place = place + x.shape[axis] if place.is_negative else place
    return view(node, x, lambda index: (*index[:axis], place, *index[axis:]))


@lowers("split_with_sizes")
def lower_split(node: Node, x: Tensor, sizes: Sequence[Any], axis: int = 0) -> list[View]:
    axis %= len(x.shape)
    result, first = [], ZERO
    for number, part in enumerate(node.meta["val"]):

        def index_of(index: Index, first: sympy.Expr = first) -> Index:
            return (*index[:axis], first + index[axis], *index[axis + 1 :])

        at = lambda body, index, index_of=index_of: body.value(x, index_of(index))  # noqa: E731
        piece = View(f"{node.name}_{number}", x.dtype, sizes_of(part), strides_in(part), x.device, (x,), at, True)
        piece.offset_in_base = sympify(part.storage_offset())
        result.append(piece)
        first = first + sympify(sizes[number])
    return result


@lowers("flip")
def lower_flip(node: Node, x: Tensor, axes: Sequence[int]) -> View:
    flipped = {axis % len(x.shape) for axis in axes}

    def index_of(index: Index) -> Index:
        return tuple(x.shape[axis] - 1 - i if axis in flipped else i for axis, i in enumerate(index))

    return view(node, x, index_of, shares_memory=False)


@lowers("repeat")
def lower_repeat(node: Node, x: Tensor, repeats: Any) -> View:
    def index_of(index: Index) -> Index:
        aligned = index[len(index) - len(x.shape) :]
        return tuple(ZERO if size == 1 else remainder(i, size) for i, size in zip(aligned, x.shape, strict=True))

    return view(node, x, index_of, shares_memory=False)


# --- pieces put together


@lowers("cat")
def lower_cat(node: Node, tensors: Sequence[Tensor], axis: int = 0) -> Computed:
    tensors = [x for x in tensors if x.shape != (0,)]
    axis %= len(node.meta["val"].shape)
    dtype = computed_in(node.meta["val"].dtype)

    def at(body: Body, index: Index) -> Value:
        def from_piece(number: int, first: sympy.Expr) -> Value:
            x = tensors[number]
            inside = (*index[:axis], index[axis] - first, *index[axis + 1 :])
            if number == len(tensors) - 1:
                return body.cast(body.value(x, inside), dtype)
            last = first + x.shape[axis]
            condition = less(body, index[axis], last)
            return body.where(
                condition, lambda: body.cast(body.value(x, inside), dtype), lambda: from_piece(number + 1, last)
            )

        return from_piece(0, ZERO)

    return elementwise(node, tensors, at)


def less(body: Body, i: Any, bound: Any) -> Value:
    return body.apply("lt", [body.index(sympify(i)), body.index(sympify(bound))], torch.bool)


def inside_of(body: Body, i: sympy.Expr, first: sympy.Expr, end: sympy.Expr) -> list[Value]:
    """The conditions for first <= i < end that are not known to be true."""
    low, high = bounds(i)
    conditions = []
    if not (low - first).is_nonnegative:
        conditions.append(body.apply("ge", [body.index(i), body.index(first)], torch.bool))
    if not sympy.expand(end - 1 - high).is_nonnegative:
        conditions.append(less(body, i, end))
    return conditions


def where_all(body: Body, conditions: list[Value], then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
    """`then()` where all conditions are true."""
    if not conditions:
        return then()
    condition = conditions[0]
    for other in conditions[1:]:
        condition = body.apply("logical_and", [condition, other], torch.bool)
    return body.where(condition, then, otherwise)


@lowers("constant_pad_nd")
def lower_pad(node: Node, x: Tensor, pads: Sequence[Any], number: Any = 0) -> Computed:
    dtype = computed_in(x.dtype)
    before = [ZERO] * len(x.shape)
    for place, size in enumerate(pads[::2]):
        before[len(x.shape) - 1 - place] = sympify(size)
    padded = [axis for axis in range(len(x.shape)) if sympify(node.meta["val"].shape[axis]) != x.shape[axis]]

    def at(body: Body, index: Index) -> Value:
        inside = tuple(i - pad for i, pad in zip(index, before, strict=True))
        conditions = [c for axis in padded for c in inside_of(body, inside[axis], ZERO, x.shape[axis])]
        return where_all(body, conditions, lambda: body.value(x, inside), lambda: operand(body, number, (), dtype))

    return elementwise(node, [x], at)


@lowers("slice_scatter")
def lower_slice_scatter(
    node: Node, x: Tensor, piece: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Computed:
    axis %= len(x.shape)
    first = clamp_bound(start, x.shape[axis], 0)
    last = clamp_bound(end, x.shape[axis], x.shape[axis])
    dtype = computed_in(x.dtype)

    def at(body: Body, index: Index) -> Value:
        i = index[axis]
        conditions = inside_of(body, i, first, last)
        if step != 1:
            rest = body.index(remainder(i - first, sympify(step)))
            conditions.append(body.apply("eq", [rest, body.index(ZERO)], torch.bool))
        inside = (*index[:axis], divide(i - first, sympify(step)) if step != 1 else i - first, *index[axis + 1 :])
        return where_all(body, conditions, lambda: operand(body, piece, inside, dtype), lambda: body.value(x, index))

    return elementwise(node, [x, piece], at)


@lowers("select_scatter")
def lower_select_scatter(node: Node, x: Tensor, piece: Tensor, axis: int, place: Any) -> Computed:
    axis %= len(x.shape)
    place = sympify(place)
    place = place + x.shape[axis] if place.is_negative else place
    dtype = computed_in(x.dtype)

    def at(body: Body, index: Index) -> Value:
        condition = body.apply("eq", [body.index(index[axis]), body.index(place)], torch.bool)
        inside = (*index[:axis], *index[axis + 1 :])
        return body.where(condition, lambda: operand(body, piece, inside, dtype), lambda: body.value(x, index))

    return elementwise(node, [x, piece], at)


# --- indices that are values


def index_from(body: Body, indices: Tensor, index: Index, size: sympy.Expr) -> sympy.Expr:
    """An element of a tensor of integers as part of an index; negative ones count from the end."""
    value = body.cast(body.value(indices, index), torch.int64)
    negative = body.apply("lt", [value, body.index(ZERO)], torch.bool)
    wrapped = body.apply("add", [value, body.index(size)], torch.int64)
    return chosen(body.apply("where", [negative, wrapped, value], torch.int64).number)


@lowers("gather")
def lower_gather(node: Node, x: Tensor, axis: int, indices: Tensor, **_: Any) -> Computed:
    if not x.shape:
        raise Unsupported("a tensor without dimensions")
    axis %= len(x.shape)

    def at(body: Body, index: Index) -> Value:
        place = index_from(body, indices, index, x.shape[axis])
        return body.value(x, (*index[:axis], place, *index[axis + 1 :]))

    return elementwise(node, [x, indices], at)


@lowers("embedding")
def lower_embedding(node: Node, weight: Tensor, indices: Tensor, *_: Any, **__: Any) -> Computed:
    def at(body: Body, index: Index) -> Value:
        return body.value(weight, (index_from(body, indices, index[:-1], weight.shape[0]), index[-1]))

    return elementwise(node, [weight, indices], at)


@lowers("index_select")
def lower_index_select(node: Node, x: Tensor, axis: int, indices: Tensor) -> Computed:
    if not x.shape or len(indices.shape) != 1:
        raise Unsupported("a tensor without dimensions")
    axis %= len(x.shape)

    def at(body: Body, index: Index) -> Value:
        place = index_from(body, indices, (index[axis],), x.shape[axis])
        return body.value(x, (*index[:axis], place, *index[axis + 1 :]))

    return elementwise(node, [x, indices], at)


@lowers("index")
def lower_index(node: Node, x: Tensor, indices: Sequence[Any]) -> Computed:
    given = [axis for axis, i in enumerate(indices) if i is not None]
    if any(indices[axis].dtype == torch.bool for axis in given):
        raise Unsupported("an index of bools")
    rank = max(len(indices[axis].shape) for axis in given)
    first = given[0] if given == list(range(given[0], given[-1] + 1)) else 0

    def at(body: Body, index: Index) -> Value:
        common = index[first : first + rank]
        rest = iter((*index[:first], *index[first + rank :]))
        place = [
            index_from(body, indices[axis], broadcast_index(common, indices[axis].shape), x.shape[axis])
            if axis in given
            else next(rest)
            for axis in range(len(x.shape))
        ]
        return body.value(x, tuple(place))

    return elementwise(node, [x, *(indices[axis] for axis in given)], at)


@lowers("scatter")
def lower_scatter(node: Node, x: Tensor, axis: int, indices: Tensor, source: Any, **_: Any) -> Computed:
    if not x.shape or _:
        raise Unsupported("a scatter that reduces")
    axis %= len(x.shape)
    others = [n for n in range(len(x.shape)) if n != axis]
    if indices.shape[axis] != 1 or any(indices.shape[n] != x.shape[n] for n in others):
        raise Unsupported("it writes to places that are known at run time")
    dtype = computed_in(x.dtype)

    def at(body: Body, index: Index) -> Value:
        single = (*index[:axis], ZERO, *index[axis + 1 :])
        place = body.cast(body.value(indices, single), torch.int64)
        hit = body.apply("eq", [body.index(index[axis]), place], torch.bool)
        new = operand(body, source, single, dtype)
        return body.apply("where", [hit, new, body.value(x, index)], dtype)

    return elementwise(node, [x, indices, *([source] if isinstance(source, Tensor) else [])], at)


# --- reductions

KINDS = {"sum": "sum", "amax": "max", "amin": "min", "prod": "prod", "argmax": "argmax", "argmin": "argmin"}


def axes_of(x: Tensor, axes: Any) -> tuple[int, ...]:
    """The dimensions to reduce, as numbers from 0; all of them for None and for (). (Given.)"""
    axes = (axes,) if isinstance(axes, int) else tuple(axes or range(len(x.shape)))
    return tuple(sorted({axis % len(x.shape) for axis in axes})) if x.shape else ()


def reduce(node: Node, kind: str, x: Tensor, axes: Any, dtype: torch.dtype, part: str = "") -> Tensor:
    """A reduction over dimensions, with the shape of the node: `kind` is sum, max, min, prod, argmax, argmin, any."""
    places = axes_of(x, axes)
    if numel(x.shape) == 0 or not places:
        raise Unsupported("there is nothing to reduce")
    common = dtype if kind in ("sum", "prod") else x.dtype
    source = converted(x, common, node.name)
    shape = tuple(sympy.Integer(1) if axis in places else size for axis, size in enumerate(x.shape))
    name = f"{node.name}{part}_rows"
    if pieces := number_of_pieces(source, places, kind):
        source, axis = split(source, places, kind, pieces, f"{name}_pieces")
        whole = Reduction(name, dtype, one_at(source.shape, axis), (), x.device, (source,), kind, (axis,))
        whole.strides = tuple(strides_of(whole.shape))
        at = lambda body, index: body.value(whole, unravel(ravel(index, shape), whole.shape))  # noqa: E731
        return View(f"{name}_whole", dtype, shape, tuple(strides_of(shape)), x.device, (whole,), at, True)
    return Reduction(name, dtype, shape, tuple(strides_of(shape)), x.device, (source,), kind, places)


def one_at(shape: tuple[sympy.Expr, ...], axis: int) -> tuple[sympy.Expr, ...]:
    return (*shape[:axis], sympy.Integer(1), *shape[axis + 1 :])


LONG, FEW, MANY = 2**14, 256, 512
"""Rows so long are split if there are so few programs: then there are about so many."""


def number_of_pieces(source: Tensor, axes: tuple[int, ...], kind: str) -> int:
    """In how many pieces rows are reduced, so that a GPU is busy; 0 if they stay whole. (Given.)"""
    length = hint(numel([source.shape[axis] for axis in axes]))
    rows = hint(numel([size for axis, size in enumerate(source.shape) if axis not in axes]))
    programs = rows if source.order[-1] in axes else -(-rows // 32)
    if kind.startswith("arg") or length < LONG or programs >= FEW:
        return 0
    most = min(MANY // programs, length // 1024)
    return next((pieces for pieces in range(most, most // 2, -1) if length % pieces == 0), most)


def split(source: Tensor, axes: tuple[int, ...], kind: str, pieces: int, name: str) -> tuple[Reduction, int]:
    """The rows of a tensor, reduced piece by piece. What is left to reduce is the dimension of the pieces."""
    kept = [axis for axis in range(len(source.shape)) if axis not in axes]
    inner = [axis for axis in source.order if axis in axes]  # in the order of memory
    sizes = [source.shape[axis] for axis in inner]
    length = (
        sympy.ceiling(numel(sizes) / pieces) if numel(sizes).is_number else divide(numel(sizes) + pieces - 1, pieces)
    )
    is_inner = source.order[-1] in axes
    first = len(kept) if is_inner else 0  # the dimension of the pieces; that of a piece's elements is the next
    outer = tuple(source.shape[axis] for axis in kept)
    shape = (*outer[:first], sympy.Integer(pieces), length, *outer[first:])
    dtype = computed_in(source.dtype)

    def at(body: Body, index: Index) -> Value:
        place = sympy.expand(index[first] * length + index[first + 1])
        found = dict(zip(inner, unravel(place, sizes), strict=True))
        found |= dict(zip(kept, (*index[:first], *index[first + 2 :]), strict=True))
        conditions = inside_of(body, place, ZERO, numel(sizes))
        element = tuple(found[axis] for axis in range(len(source.shape)))
        neutral = identity(kind, dtype)
        return where_all(body, conditions, lambda: body.value(source, element), lambda: body.constant(neutral, dtype))

    strides = tuple(strides_of(shape))
    rows = Computed(f"{name}_split", source.dtype, shape, strides, source.device, (source,), at=at, is_free=True)
    result = one_at(shape, first + 1)
    strides = tuple(strides_of(result))
    return Reduction(name, source.dtype, result, strides, source.device, (rows,), kind, (first + 1,)), first


def converted(x: Tensor, dtype: torch.dtype, name: str) -> Tensor:
    """The tensor in another dtype, computed by whoever needs it."""
    if x.dtype == dtype:
        return x
    wanted = computed_in(dtype)
    at = lambda body, index: body.cast(body.value(x, index), wanted)  # noqa: E731
    return Computed(f"{name}_as_{dtype}", dtype, x.shape, x.strides, x.device, (x,), at, is_free=True)


def shaped(node: Node, x: Tensor, value: torch.Tensor | None = None, name: str = "") -> View:
    """A reduction without the dimensions of size 1 that the node's result does not have."""
    value = node.meta["val"] if value is None else value
    shape = sizes_of(value)
    at = lambda body, index: body.value(x, unravel(ravel(index, shape), x.shape))  # noqa: E731
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
    """The mean of squared distances from the mean: two reductions."""
    places = axes_of(x, axes)
    correction = 1 if correction is None else correction
    count = numel([x.shape[axis] for axis in places])
    dtype = computed_in(x.dtype)
    wide = converted(x, dtype, node.name)
    total = reduce(node, "sum", wide, places, dtype, "_total")

    def distance_at(body: Body, index: Index) -> Value:
        number = operand(body, count, index, dtype)
        mean = body.apply("div", [body.value(total, broadcast_index(index, total.shape)), number])
        distance = body.apply("sub", [body.value(wide, index), mean])
        return body.apply("mul", [distance, distance])

    squares = Computed(f"{node.name}_squares", dtype, x.shape, x.strides, x.device, (wide, total), distance_at)
    squares.is_free = True
    rows = reduce(node, "sum", squares, places, dtype, "_squares")
    shape = sizes_of(node.meta["val"])

    def at(body: Body, index: Index) -> Value:
        value = body.value(rows, unravel(ravel(index, shape), rows.shape))
        return body.apply("div", [value, operand(body, count - correction, index, dtype)])

    return elementwise(node, [rows], at)


# --- products


@lowers("mm", "bmm")
def lower_product(node: Node, a: Tensor, b: Tensor) -> Product:
    if a.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        raise Unsupported(f"a product of {a.dtype}")
    if numel(a.shape) == 0 or numel(b.shape) == 0:
        raise Unsupported("there is nothing to multiply")
    return tensor_of(Product, node, [a, b])
