"""Operations that combine the elements along an axis."""

from __future__ import annotations

import functools

from mini_triton.codegen.axes import axis_of
from mini_triton.codegen.emission import Emission
from mini_triton.ir.core import Operation
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
"""Combinations of two elements that NumPy can reduce by and accumulate."""


class Combining(Emission):
    """Writes dot, reduce, scan, histogram."""

    def tt_dot(self, operation: Operation) -> None:
        *factors, c = operation.operands
        arguments = [*map(self.full, factors), self.text(c)]
        self.assign(operation.results[0], f"combine.dot({', '.join(arguments)})")

    def tt_histogram(self, operation: Operation) -> None:
        values = ", ".join(self.full(operand, self.varies(operation.result)) for operand in operation.operands)
        (bins,) = shape_of(operation.result.type)
        self.assign(operation.result, f"combine.histogram({bins}, {values})")

    def tt_reduce(self, operation: Operation) -> None:
        self.combined(operation, "reduce")

    def tt_scan(self, operation: Operation) -> None:
        self.combined(operation, "scan")

    def combined(self, operation: Operation, function: str) -> None:
        """`x, i = combine.reduce(combine_xi, (x_1, i_1), -1)`, or the same for a scan."""
        axis = axis_of(operation)
        axes = functools.reduce(frozenset.union, map(self.axes.get, operation.operands), frozenset({axis}))
        spread = functools.partial(self.spread, axes=axes)
        sources = ", ".join([*map(spread, operation.operands), ""])
        reverse = bool(operation.attributes.get("reverse"))
        options = ", reverse=True" * reverse
        rank = len(shape_of(operation.operands[0].type))
        call = f"combine.{function}({self.combination(operation)}, ({sources}), {axis - rank}{options})"
        results = [self.name(result) for result in operation.results]
        self.write(f"{', '.join(results)}{',' if len(results) == 1 else ''} = {call}")

    def combination(self, operation: Operation) -> str:
        """What combines two elements: the name of a ufunc, or of a function that is written from the region."""
        block = operation.regions[0].block
        first, end = block.operations[0], block.terminator
        assert end is not None
        if len(block.operations) == 2 and first.name in UFUNCS and set(first.operands) == set(block.arguments):
            return UFUNCS[first.name]
        name = self.fresh("combined")
        with self.indented(f"def {name}({', '.join(map(self.name, block.arguments))}):"):
            self.block(block)
            self.write(f"return ({', '.join(map(self.text, end.operands))},)")
        return name
