"""Loops and branches.

If all programs go the same way, Python's own `for`, `while` and `if` will do. If not, every way is gone by those programs
that take it: `active` says which do, and memory is touched for them only. A value that a way results in is that of the
programs that went it, and the others keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.codegen.axes import PROGRAM
from mini_triton.codegen.numpy_gen import NumpyGenerator
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import PointerType, element_type, shape_of


class Structured(NumpyGenerator):
    """Writes operations with regions."""

    def varies(self, value: Value) -> bool:
        return PROGRAM in self.axes[value]

    def passed(self, source: Value, target: Value) -> str:
        """`source` in the form that the variable of `target` has."""
        if isinstance(element_type(source.type), PointerType):
            if self.origins[target] is None:
                text = self.address(source)
            else:
                text = self.pointer(source)
            if self.axes[source] == self.axes[target]:
                return text
            return f"np.broadcast_to({text}, {self.shape(target.type, self.axes[target])})"
        return self.spread(source, self.axes[target])

    def pass_on(self, targets: Sequence[Value], sources: Sequence[Value], only: str = "") -> None:
        """Assign values all at once; with `only`, to the programs of that mask."""
        if not targets:
            return
        texts = []
        for target, source in zip(targets, sources, strict=True):
            text = self.passed(source, target)
            if only:
                rank = len(shape_of(target.type))
                text = f"np.where({self.lifted(only, frozenset({PROGRAM}), rank)}, {text}, {self.name(target)})"
            texts.append(text)
        self.write(f"{', '.join(map(self.name, targets))} = {', '.join(texts)}")

    def alias(self, results: Sequence[Value], values: Sequence[Value]) -> None:
        """Results that are in the variables of other values."""
        for result, value in zip(results, values, strict=True):
            self.names[result] = self.name(value)

    # --- for

    def scf_for(self, operation: Operation) -> None:
        lower, upper, step, *inits = operation.operands
        block = operation.regions[0].block
        variable, *carried = block.arguments
        self.pass_on(carried, inits)
        self.alias(operation.results, carried)
        assert block.terminator is not None
        following = block.terminator.operands
        bounds = [self.name(bound) for bound in (lower, upper, step)]
        if not any(self.varies(bound) for bound in (lower, upper, step)):
            counter = self.fresh(f"{self.name(variable)}_")
            with self.indented(f"for {counter} in range({', '.join(bounds)}):"):
                self.write(f"{self.name(variable)} = {bounds[0]}.dtype.type({counter})")
                self.block(block)
                self.pass_on(carried, following)
            return
        self.pass_on([variable], [lower])
        outer, running = self.active, self.fresh("running")
        self.write(f"{running} = {self.both(outer, f'({self.name(variable)} < {bounds[1]})')}")
        with self.indented(f"while {running}.any():"):
            self.active = running
            self.block(block)
            self.pass_on(carried, following, only=running)
            self.write(f"{self.name(variable)} = {self.name(variable)} + {bounds[2]}")
            self.write(f"{running} = {running} & ({self.name(variable)} < {bounds[1]})")
        self.active = outer

    def both(self, outer: str, condition: str) -> str:
        return f"{outer} & {condition}" if outer else condition

    # --- while

    def scf_while(self, operation: Operation) -> None:
        before, after = (region.block for region in operation.regions)
        assert before.terminator is not None and after.terminator is not None
        test, *forwarded = before.terminator.operands
        following = after.terminator.operands
        self.pass_on(before.arguments, operation.operands)
        self.alias(operation.results, after.arguments)
        if not self.varies(test):
            with self.indented("while True:"):
                self.block(before)
                self.pass_on(after.arguments, forwarded)
                with self.indented(f"if not {self.name(test)}:"):
                    self.write("break")
                self.block(after)
                self.pass_on(before.arguments, following)
            return
        outer, running = self.active, self.fresh("running")
        self.write(f"{running} = {outer}.copy()" if outer else f"{running} = np.ones(programs, bool)")
        for argument in after.arguments:
            shape = self.shape(argument.type, self.axes[argument])
            self.write(f"{self.name(argument)} = np.zeros({shape}, {self.dtype(argument)})")
        self.active = running
        with self.indented("while True:"):
            self.block(before)
            self.pass_on(after.arguments, forwarded, only=running)
            self.write(f"{running} = {running} & {self.name(test)}")
            with self.indented(f"if not {running}.any():"):
                self.write("break")
            self.block(after)
            self.pass_on(before.arguments, following, only=running)
        self.active = outer

    def dtype(self, value: Value) -> str:
        from mini_triton.codegen.expressions import dtype_of

        return dtype_of(value.type)

    # --- if

    def scf_if(self, operation: Operation) -> None:
        (condition,) = operation.operands
        regions = [region for region in operation.regions if region.blocks]
        if not self.varies(condition):
            for header, region in zip((f"if {self.name(condition)}:", "else:"), regions, strict=False):
                with self.indented(header):
                    self.block(region.block)
                    assert region.block.terminator is not None
                    self.pass_on(operation.results, region.block.terminator.operands)
            return
        outer = self.active
        for i, region in enumerate(regions):
            self.active = self.fresh("then" if i == 0 else "otherwise")
            negation = "~" if i else ""
            self.write(f"{self.active} = {self.both(outer, negation + self.name(condition))}")
            assert region.block.terminator is not None
            values = region.block.terminator.operands
            with self.indented(f"if {self.active}.any():"):
                self.block(region.block)
                if values:
                    self.pass_on(operation.results, values, only=self.active if i else "")
            if values and not i:
                with self.indented("else:"):
                    for result in operation.results:
                        shape = self.shape(result.type, self.axes[result])
                        self.write(f"{self.name(result)} = np.zeros({shape}, {self.dtype(result)})")
        self.active = outer
