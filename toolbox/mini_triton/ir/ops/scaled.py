"""Products of matrices in the microscaling formats: small floats with one scale for each group of numbers.

Source: the OCP specification "Microscaling Formats (MX)", version 1.0; `DotScaledOp` in Triton's `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from mini_triton.ir.attributes import ScaledFormat
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.definition import op, require
from mini_triton.ir.ops.shape import tensor
from mini_triton.ir.types import BF16, F16, F32, I8, FloatType, Type

T = TypeVar("T")
ELEMENTS: dict[str, Type] = {
    "e2m1": I8,  # two numbers in a byte, the first in the low bits
    "e4m3": FloatType("f8E4M3FN"),
    "e5m2": FloatType("f8E5M2"),
    "bf16": BF16,
    "fp16": F16,
}
"""The element type of a tensor that holds the numbers of a format."""
GROUPS: dict[Type, int] = {I8: 32, ELEMENTS["e4m3"]: 16}
"""How many numbers share a scale, by the element type of the scales: `i8` for E8M0 (a power of two), or E4M3."""


Side = tuple[T, T | None, str, int, int]
"""A matrix, its scales, its format, and two axes. Axes are counted from the end: products are summed along the first
axis, and a byte of "e2m1" holds two numbers along the second axis.
"""


def sides(operation: Operation, operands: Sequence[T]) -> tuple[Side[T], Side[T]]:
    """The left and the right matrix of an operation with these operands."""
    attributes: Mapping[str, Any] = operation.attributes
    a, b, _, *rest = operands
    scales = iter(rest)
    *_, has_left, has_right = attributes["operandSegmentSizes"]
    left, right = (next(scales) if there else None for there in (has_left, has_right))
    packed = -1 if attributes.get("lhs_k_pack", True) else -2, -2 if attributes.get("rhs_k_pack", True) else -1
    return (a, left, attributes["a_elem_type"], -1, packed[0]), (b, right, attributes["b_elem_type"], -2, packed[1])


def unpacked(matrix: Type, format: str, axis: int) -> list[int]:
    """The shape of a matrix, counted in numbers. A byte of "e2m1" counts as two."""
    shape = list(tensor(matrix).shape)
    require(len(shape) in (2, 3), f"it multiplies matrices, got {matrix}")
    require(tensor(matrix).element == ELEMENTS[format], f"numbers of {format} are not held in {matrix}")
    if format == "e2m1":
        shape[axis] *= 2
    return shape


@op("tt.dot_scaled", assembly="custom", pure=True, mixes=True)
def dot_scaled(
    a: Type,
    b: Type,
    c: Type,
    *scales: Type,
    a_elem_type: ScaledFormat,
    b_elem_type: ScaledFormat,
    fastMath: bool,
    lhs_k_pack: bool = True,
    rhs_k_pack: bool = True,
    operandSegmentSizes: tuple[int, ...],
) -> Type:
    """`c + (a * its scales) @ (b * its scales)`; `operandSegmentSizes` states which matrices have scales.

    Scales have the shape (M, K / G) for the left matrix and (N, K / G) for the right one, where G is the size of a
    group (`GROUPS`). With `fastMath`, the result for a NaN scale is undefined.
    """
    require(operandSegmentSizes[:3] == (1, 1, 1) and sum(operandSegmentSizes) == 3 + len(scales), "scales do not fit")
    left = unpacked(a, a_elem_type, -1 if lhs_k_pack else -2)
    right = unpacked(b, b_elem_type, -2 if rhs_k_pack else -1)
    (*batch, m, k), (*other_batch, other_k, n) = left, right
    require(k == other_k and batch == other_batch, f"the inner sizes of {a} and {b} differ")
    require(tensor(c).shape == (*batch, m, n), f"the sum of {a} times {b} cannot have the shape of {c}")
    require(tensor(c).element == F32, f"products are summed in f32, not in {c}")
    rows = [size for size, is_there in zip((m, n), operandSegmentSizes[3:], strict=True) if is_there]
    for scale, row in zip(scales, rows, strict=True):
        group = GROUPS.get(tensor(scale).element)
        require(group is not None, f"scales are i8 or f8E4M3FN, not {scale}")
        assert group is not None
        wanted = (*batch, row, k // group)
        require(tensor(scale).shape == wanted, f"scales for {group} numbers each have the shape {wanted}, got {scale}")
    return c
