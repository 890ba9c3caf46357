"""Which products tensor cores compute, and how warps share them.

Source: `warpsPerTileV2` and `warpsPerTileV3` of Triton's `AccelerateMatmul.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mini_triton.analysis.flow import reached
from mini_triton.backends.threads.fragments import COLUMNS, DEPTH, GROUP, ROWS, Arrangement
from mini_triton.backends.threads.instructions import is_float, size_of, width_of
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.definition import traits
from mini_triton.ir.types import element_type, shape_of
from mini_triton.transforms.coalescing import Access

FIRST = {"f16": 80, "bf16": 80, "i8": 80, "f32": 80, "f8E4M3FN": 89, "f8E5M2": 89}
"""The first compute capability whose tensor cores multiply these elements."""
HOPPER = 90


def arrange(
    operation: Operation, warps: int, capability: int, accesses: Mapping[Operation, Access]
) -> Arrangement | None:
    """How warps share a product; None if tensor cores do not compute it: for a stack of matrices, for 64-bit floats,
    for 32-bit floats unless TF32 suffices, and for small matrices. `accesses` are those of the module.
    """
    left, right, _ = operation.operands
    shape, element = shape_of(operation.result.type), str(element_type(left.type))
    if capability < FIRST.get(element, 1000) or len(shape) != 2 or width_of(operation.result.type) == 64:
        return None
    if element == "f32" and operation.attributes.get("inputPrecision", "ieee") != "tf32":
        return None
    if shape[0] < ROWS or shape[1] < COLUMNS or shape_of(left.type)[1] * size_of(left.type) < DEPTH:
        return None
    most = shape[0] // ROWS, shape[1] // COLUMNS
    if capability == HOPPER and can_group(operation, warps, accesses):
        rows = min(warps, most[0])
        columns = 1 if is_chained(operation) else min(warps // rows, most[1])
        return Arrangement(rows, columns, warps // (rows * columns), groups=True)
    rows = columns = 1
    while rows * columns < warps and (rows < most[0] or columns < most[1]):
        per_warp = shape[0] // rows, shape[1] // columns
        if rows < most[0] and (is_chained(operation) or columns == most[1] or per_warp[0] >= per_warp[1]):
            rows *= 2
        else:
            columns *= 2
    return Arrangement(rows, columns, warps // (rows * columns))


def can_group(operation: Operation, warps: int, accesses: Mapping[Operation, Access]) -> bool:
    """Whether groups of four warps should compute a product.

    Groups take 32-bit floats only if these lie in memory along the axis of the sums; to turn them around takes longer
    than the product. With 8-bit floats, the sums are less exact, which the operation has to allow.
    """
    left, right, _ = operation.operands
    (rows, columns), depth = shape_of(operation.result.type), shape_of(left.type)[1]
    if rows < ROWS * GROUP or columns < 2 * COLUMNS or warps % GROUP:
        return False
    if size_of(left.type) == 4:
        return fast_axis(left, accesses) != 0 and fast_axis(right, accesses) != 1
    exact = size_of(left.type) > 1 or not is_float(left.type)
    return exact or operation.attributes.get("maxNumImpreciseAcc", 0) >= depth  # type: ignore[operator]


def fast_axis(value: Value, accesses: Mapping[Operation, Access]) -> int | None:
    """The axis along which a factor's neighbors are in memory; None if it is not loaded."""
    if not isinstance(value, OpResult):
        return None
    owner = value.owner
    if owner.name == "tt.trans":
        axis = fast_axis(owner.operands[0], accesses)
        return None if axis is None else 1 - axis
    users = [user for user, _ in owner.operands[0].uses] if owner.name == "ttg.local_load" else [owner]
    return next((accesses[user].axis for user in users if user in accesses), None)


def is_chained(operation: Operation) -> bool:
    """Whether the first factor of a product is computed from another product, or the other way around."""

    def sources(value: Value) -> Iterator[Value]:
        if isinstance(value, OpResult) and traits(value.owner).elementwise:
            yield from value.owner.operands

    def is_product(value: Value) -> bool:
        return isinstance(value, OpResult) and value.owner.name == "tt.dot"

    if any(map(is_product, reached(operation.operands[:1], sources))):
        return True
    results = list(operation.results)
    for value in results:
        for user, number in value.uses:
            if user.name == "tt.dot" and number == 0:
                return True
            if traits(user).elementwise:
                results.extend(result for result in user.results if result not in results)
    return False
