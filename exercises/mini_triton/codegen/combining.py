"""Operations that combine elements along an axis: dot, reduce, scan, histogram."""

from __future__ import annotations

from mini_triton.analysis.flow import reached
from mini_triton.codegen.emitter import Emitter
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.scaled import sides
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import shape_of

UFUNCS = {
    "arith.addi": "np.add",
    "arith.addf": "np.add",
    "arith.muli": "np.multiply",
    "arith.mulf": "np.multiply",
    "arith.maxsi": "np.maximum",
    "arith.minsi": "np.minimum",
    "arith.maximumf": "np.maximum",
    "arith.minimumf": "np.minimum",
    "arith.maxnumf": "np.fmax",
    "arith.minnumf": "np.fmin",
    "arith.andi": "np.bitwise_and",
    "arith.ori": "np.bitwise_or",
    "arith.xori": "np.bitwise_xor",
}
"""Combinations of two elements for which NumPy has a ufunc."""


def dot(emit: Emitter, operation: Operation) -> None:
    """Write `combine.dot(a, b, c)`, with all the elements of `a` and `b`. (Given.)"""
    a, b, c = operation.operands
    emit.assign(operation.result, f"combine.dot({emit.full(a)}, {emit.full(b)}, {emit.text(c)})")


def dot_scaled(emit: Emitter, operation: Operation) -> None:
    """Write a dot product of matrices whose elements are first decoded and scaled."""
    matrices = []
    for matrix, scales, *how in sides(operation, operation.operands):
        matrices.append(f"exact.scaled({emit.full(matrix)}, {scales and emit.full(scales)}, {str(how)[1:-1]})")
    emit.assign(operation.result, f"combine.dot({', '.join(matrices)}, {emit.text(operation.operands[2])})")


def histogram(emit: Emitter, operation: Operation) -> None:
    values = ", ".join(emit.full(operand, emit.varies(operation.result)) for operand in operation.operands)
    (bins,) = shape_of(operation.result.type)
    emit.assign(operation.result, f"combine.histogram({bins}, {values})")


def reduce(emit: Emitter, operation: Operation) -> None:
    along_axis(emit, operation, "combine.reduce")


def scan(emit: Emitter, operation: Operation) -> None:
    along_axis(emit, operation, "combine.scan")


def along_axis(emit: Emitter, operation: Operation, function: str) -> None:
    """Write the operation as one call of `function`: `combine.reduce` or `combine.scan`."""
    axis = axis_of(operation)
    # Task 6.6: Compute `call`, the source of the call: it must combine the same elements as the IR, although the array
    # of an operand may lack axes (6.4), and not every operand varies along the same axes. A scan may be reversed.
    # Given: `combination`, the methods of `emit`.
    raise NotImplementedError("Task 6.6: Reductions, scans, dot")
    if not emit.axes[operation.results[0]]:  # arrays of one element, which others take as numbers
        call = f"(array.reshape(())[()] for array in {call})"
    results = [emit.name(result) for result in operation.results]
    emit.write(f"{', '.join(results)}{',' if len(results) == 1 else ''} = {call}")


def combination(emit: Emitter, operation: Operation) -> str:
    """The name of the ufunc that combines two elements, or of a function written from the region."""
    block = operation.regions[0].block
    first, end = block.operations[0], block.terminator
    assert end is not None
    if len(block.operations) == 2 and first.name in UFUNCS and set(first.operands) == set(block.arguments):
        return UFUNCS[first.name]
    name = emit.fresh("combined")
    with emit.indented(f"def {name}({', '.join(map(emit.name, block.arguments))}):"):
        emit.block(block)
        results = [
            f"np.full_like({emit.name(argument)}, {text})" if reached([value]).isdisjoint(block.arguments) else text
            for argument, value, text in zip(block.arguments, end.operands, map(emit.text, end.operands), strict=False)
        ]
        emit.write(f"return ({', '.join(results)},)")
    return name
