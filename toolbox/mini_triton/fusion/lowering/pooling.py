"""Pooling: an element of the result combines a window of the operand, and its gradient goes to that window. (Given.)

Source: `max_pool2d_with_indices_backward` and its neighbors in PyTorch's `torch/_inductor/lowering.py`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sympy
import torch
from torch.fx import Node

from mini_triton.fusion.body import Body, Value
from mini_triton.fusion.indexing import Index, divide, remainder
from mini_triton.fusion.lowering.graph import ZERO, Unsupported, lowers
from mini_triton.fusion.lowering.pieces import inside_of, where_all
from mini_triton.fusion.operators import computed_in
from mini_triton.fusion.tensors import Computed, Tensor, sizes_of, strides_in

MOST = 25
"""The largest number of elements in a window, because a kernel loads each of them in a line of its own."""
Conditions = list[Value]


class Windows:
    """Windows along rows and columns: along each, `kernel` elements from position `stride * number - padding`.

    `sizes` are the operand's, `numbers` counts the windows. Raises `Unsupported` for large windows and unknown sizes.
    """

    def __init__(self, x: torch.Tensor, result: torch.Tensor, kernel: Any, stride: Any, padding: Any) -> None:
        self.sizes, self.numbers = sizes_of(x)[-2:], sizes_of(result)[-2:]
        self.kernel, self.stride, self.padding = (
            [sympy.Integer(n) for n in [*side] * (2 // len(side))] for side in (kernel, stride or kernel, padding)
        )
        if self.kernel[0] * self.kernel[1] > MOST:
            raise Unsupported("a large window")
        if not all(size.is_number for size in (*self.sizes, *self.numbers)):
            raise Unsupported("sizes that are not known")

    def elements(self, body: Body, window: Index) -> Iterator[tuple[Index, Conditions]]:
        """The places in a window, in row-major order, and the conditions under which they lie in the operand."""
        for steps in itertools.product(*map(range, self.kernel)):
            starts = zip(window, self.stride, self.padding, steps, strict=True)
            place = tuple(number * stride - padding + step for number, stride, padding, step in starts)
            inside = [inside_of(body, i, ZERO, size) for i, size in zip(place, self.sizes, strict=True)]
            yield place, [*inside[0], *inside[1]]

    def around(self, body: Body, place: Index) -> Iterator[tuple[Index, Conditions]]:
        """The windows that contain a place, each if its conditions hold."""
        axes = [self.around_along(body, axis, i) for axis, i in enumerate(place)]
        for row, column in itertools.product(*axes):
            yield (row[0], column[0]), [*row[1], *column[1]]

    def around_along(self, body: Body, axis: int, i: sympy.Expr) -> list[tuple[sympy.Expr, Conditions]]:
        kernel, stride, found = self.kernel[axis], self.stride[axis], []
        last, first = (f(i + self.padding[axis], stride) for f in (divide, remainder))  # where the last window has i
        for step in range(-(-kernel // stride)):
            exists = inside_of(body, last - step, ZERO, self.numbers[axis])
            found.append((last - step, exists + inside_of(body, first + step * stride, ZERO, kernel)))
        return found


def pooled(name: str, value: torch.Tensor, inputs: Sequence[Tensor], at: Callable[[Body, Index], Value]) -> Computed:
    return Computed(name, value.dtype, sizes_of(value), strides_in(value), value.device, tuple(inputs), at)


def add_up(body: Body, terms: Iterator[tuple[Conditions, Callable[[], Value]]], dtype: torch.dtype) -> Value:
    """The sum of the terms whose conditions hold."""
    zero = body.constant(0.0, dtype)
    values = (where_all(body, conditions, term, lambda: zero) for conditions, term in terms)
    return functools.reduce(lambda a, b: body.apply("add", [a, b]), values)


@lowers("max_pool2d_with_indices")
def lower_max_pool(
    node: Node, x: Tensor, kernel: Any, stride: Any = (), padding: Any = (0,), dilation: Any = (1,), *_: Any
) -> list[Computed]:
    values, places = node.meta["val"]
    dtype = computed_in(x.dtype)
    if {*dilation} != {1} or not dtype.is_floating_point:
        raise Unsupported("a pooling with gaps, or of integers")
    windows = Windows(node.args[0].meta["val"], values, kernel, stride, padding)

    def largest(body: Body, index: Index) -> tuple[Value, Value]:
        """The last NaN in a window, or else the first of its largest elements; and its place."""
        least = body.constant(-float("inf"), dtype)
        best: tuple[Value, Value] | None = None
        for place, inside in windows.elements(body, index[-2:]):
            element = where_all(body, inside, functools.partial(body.value, x, (*index[:-2], *place)), lambda: least)
            here = body.index(place[0] * windows.sizes[1] + place[1])
            if best is None:
                start = [body.apply("maximum", [body.index(i), body.index(ZERO)]) for i in place]
                row = body.apply("mul", [start[0], body.index(windows.sizes[1])])
                best = element, body.apply("add", [row, start[1]])
            is_larger = body.apply("gt", [element, best[0]], torch.bool)
            takes = body.apply("logical_or", [is_larger, body.apply("isnan", [element], torch.bool)])
            best = body.apply("where", [takes, element, best[0]]), body.apply("where", [takes, here, best[1]])
        assert best is not None
        return best[0], body.cast(best[1], torch.int64)

    return [
        pooled(f"{node.name}_values", values, [x], lambda body, index: largest(body, index)[0]),
        pooled(f"{node.name}_places", places, [x], lambda body, index: largest(body, index)[1]),
    ]


@lowers("max_pool2d_with_indices_backward")
def lower_max_pool_backward(
    node: Node, gradient: Tensor, x: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, *rest: Any
) -> Computed:
    places: Tensor = rest[-1]
    if {*dilation} != {1}:
        raise Unsupported("a pooling with gaps")
    result, dtype = node.meta["val"], computed_in(gradient.dtype)
    windows = Windows(result, node.args[0].meta["val"], kernel, stride, padding)

    def at(body: Body, index: Index) -> Value:
        here = body.index(index[-2] * windows.sizes[1] + index[-1])

        def part(window: Index) -> Value:
            place = body.cast(body.value(places, (*index[:-2], *window)), torch.int32)
            is_here = body.apply("eq", [place, here], torch.bool)
            operands = [is_here, body.value(gradient, (*index[:-2], *window)), body.constant(0.0, dtype)]
            return body.apply("where", operands, dtype)

        around = windows.around(body, index[-2:])
        return add_up(body, ((inside, functools.partial(part, window)) for window, inside in around), dtype)

    return pooled(node.name, result, [gradient, places], at)


def average(node: Node, x: Tensor, places: Callable[..., Iterator[tuple[Index, Conditions]]], count: Any) -> Computed:
    """The elements of `x` at the places that belong to an index, added up and divided by a count."""
    dtype = computed_in(x.dtype)

    def at(body: Body, index: Index) -> Value:
        found = places(body, index[-2:])
        terms = ((inside, functools.partial(body.value, x, (*index[:-2], *place))) for place, inside in found)
        return body.apply("div", [add_up(body, terms, dtype), body.constant(float(count), dtype)])

    return pooled(node.name, node.meta["val"], [x], at)


def windows_of_average(x: Any, result: Any, sides: Sequence[Any], ceil: bool, counts_padding: bool) -> Windows:
    if ceil or (any(sides[2]) and not counts_padding):
        raise Unsupported("windows of several sizes")
    return Windows(x, result, *sides)


@lowers("avg_pool2d")
def lower_average(
    node: Node,
    x: Tensor,
    kernel: Any,
    stride: Any = (),
    padding: Any = (0,),
    ceil: bool = False,
    counts_padding: bool = True,
    divisor: int | None = None,
) -> Computed:
    sides = kernel, stride, padding
    windows = windows_of_average(node.args[0].meta["val"], node.meta["val"], sides, ceil, counts_padding)
    return average(node, x, windows.elements, divisor or windows.kernel[0] * windows.kernel[1])


@lowers("avg_pool2d_backward")
def lower_average_backward(node: Node, gradient: Tensor, x: Tensor, *how: Any) -> Computed:
    *sides, ceil, counts_padding, divisor = how
    windows = windows_of_average(node.meta["val"], node.args[0].meta["val"], sides, ceil, counts_padding)
    return average(node, gradient, windows.around, divisor or windows.kernel[0] * windows.kernel[1])
