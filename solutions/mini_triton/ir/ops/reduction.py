"""Operations that combine many elements: dot products, reductions and scans.

A reduction has a region, which takes two elements as block arguments and returns their combination with
`tt.reduce.return`. Therefore, one operation covers sum, max, argmax and any function that a user writes.

Source: Triton's `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from mini_triton.formats import FLOATS
from mini_triton.ir.attributes import InputPrecision
from mini_triton.ir.core import Region
from mini_triton.ir.ops.control_flow import argument_types, end_of, operand_types
from mini_triton.ir.ops.definition import NOTHING, op, require, spell
from mini_triton.ir.ops.shape import tensor
from mini_triton.ir.types import (
    BF16,
    F16,
    F32,
    F64,
    I8,
    I32,
    FloatType,
    Scalar,
    TensorType,
    Type,
    element_type,
    shape_of,
)

FP8 = {FloatType(row.mlir) for row in FLOATS.values() if row.width == 8}
ACCUMULATORS: dict[Scalar, tuple[Scalar, ...]] = {
    I8: (I32,),
    **dict.fromkeys(FP8, (F32, F16)),
    F16: (F32, F16),
    BF16: (F32,),
    F32: (F32,),
    F64: (F64,),
}
"""For each element type of the operands, the element types in which products may be summed."""


@op(
    "tt.dot",
    assembly="$a , $b , $c (, inputPrecision = #inputPrecision)? attr-dict : type($a) * type($b) -> type(result)",
    pure=True,
    mixes=True,
)
def dot(a: Type, b: Type, c: Type, *, inputPrecision: InputPrecision = "ieee", maxNumImpreciseAcc: int = 0) -> Type:
    """`c + a @ b` for matrices, or for stacks of matrices along a first dimension."""
    # [task 2.5] `tensor<16x32xf16>`, `tensor<32x8xf16>` and `tensor<16x8xf32>` give `tensor<16x8xf32>`. With three
    # dimensions, the first dimensions of all three operands must be equal. The element types of `a` and `b` must be
    # equal, unless both are in `FP8`; `ACCUMULATORS` lists the element types that `c` may have.
    first, second, third = tensor(a), tensor(b), tensor(c)
    require(first.rank in (2, 3) and first.rank == second.rank, f"it multiplies matrices, got {a} and {b}")
    *batch, m, k = first.shape
    *other_batch, other_k, n = second.shape
    require(k == other_k and batch == other_batch, f"the inner sizes of {a} and {b} differ")
    require(third.shape == (*batch, m, n), f"the sum of {a} times {b} cannot have the shape of {c}")
    same = first.element == second.element or {first.element, second.element} <= FP8
    require(same, f"elements differ: {a} and {b}")
    require(third.element in ACCUMULATORS.get(first.element, ()), f"products of {a} are not summed in {c}")
    return c
    # [end]


def combine_types(sources: tuple[Type, ...], axis: int, regions: list[Region], terminator: str) -> None:
    """Check N sources, and the region that combines their elements. `terminator` is the name of its terminator.

    There must be at least one source; the sources must be tensors of one shape, which has a dimension `axis`. The
    region must have one block, whose arguments are N left and then N right elements. The terminator must return N
    combined elements.
    """
    # [task 2.5] For two sources with elements `f32` and `i32`, the block is
    # `^bb0(%l0: f32, %l1: i32, %r0: f32, %r1: i32)` and returns an `f32` and an `i32`. Raise TypeError for anything
    # else. Given: `argument_types`, `operand_types`, and `spell`, which formats types for a message.
    shapes = {tensor(source).shape for source in sources}
    require(len(shapes) == 1, "it needs sources of one shape")
    (shape,) = shapes
    require(0 <= axis < len(shape), f"axis {axis} is out of range for the shape {shape}")
    elements = tuple(element_type(source) for source in sources)
    require(len(regions) == 1, "it needs one region")
    returned = operand_types(end_of(regions[0], terminator))
    arguments = argument_types(regions[0].block)
    require(arguments == elements + elements, f"its region must take {spell(elements * 2)}, not {spell(arguments)}")
    require(returned == elements, f"its region must return {spell(elements)}, not {spell(returned)}")
    # [end]


@op("tt.reduce", effects=NOTHING)
def reduce(*sources: Type, axis: int, regions: list[Region]) -> tuple[Type, ...]:
    """Combine all elements along `axis` into one. Reducing the only dimension leaves a scalar."""
    # [task 2.5] The region ends in `tt.reduce.return`. Two sources of different element types give two results.
    combine_types(sources, axis, regions, "tt.reduce.return")
    shape = shape_of(sources[0])
    rest = shape[:axis] + shape[axis + 1 :]
    return tuple(TensorType(rest, element_type(s)) if rest else element_type(s) for s in sources)
    # [end]


@op("tt.scan", effects=NOTHING)
def scan(*sources: Type, axis: int, reverse: bool, regions: list[Region]) -> tuple[Type, ...]:
    """Running combinations along `axis`: element i combines elements 0 to i, or i to the last if `reverse`."""
    # [task 2.5] The region ends in `tt.scan.return`. How many elements does a running sum of eight elements have?
    combine_types(sources, axis, regions, "tt.scan.return")
    return sources
    # [end]


@op("tt.reduce.return", assembly="$values attr-dict : type($values)", terminator=True)
def reduce_return(*values: Type) -> None:
    """Ends the region of a `tt.reduce`."""


@op("tt.scan.return", assembly="$values attr-dict : type($values)", terminator=True)
def scan_return(*values: Type) -> None:
    """Ends the region of a `tt.scan`."""
