"""Loops and branches.

If all programs go the same way, Python's own `for`, `while` and `if` will do. If not, every way is gone by those
programs that take it: `active` says which do, and memory is touched for them only. A value that a way results in is
that of the programs that went it, and the others keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.codegen.accesses import Accesses
from mini_triton.codegen.axes import ALL_PROGRAMS
from mini_triton.codegen.values import is_pointer
from mini_triton.ir.core import Block, Operation, Value
from mini_triton.ir.types import shape_of


def end_of(block: Block) -> Sequence[Value]:
    """The operands of a block's terminator."""
    assert block.terminator is not None
    return block.terminator.operands


class ControlFlow(Accesses):
    """Writes scf.for, scf.while, scf.if."""

    def passed(self, source: Value, target: Value) -> str:
        """`source` as the variable of `target` has it: with its axes, and as an address if that is what it has."""
        if not is_pointer(source):
            return self.spread(source, self.axes[target])
        text = self.address(source) if self.origins[target] is None else self.text(source)
        if self.axes[source] == self.axes[target]:
            return text
        return f"{self.arrays}.broadcast_to({text}, {self.shape(target.type, self.axes[target])})"

    def pass_on(self, targets: Sequence[Value], sources: Sequence[Value], only: str = "") -> None:
        """`a, b = c, d`: assign values all at once; with `only`, to the programs of that mask."""
        if not targets:
            return
        texts = []
        for target, source in zip(targets, sources, strict=True):
            text = self.passed(source, target)
            if only:
                mask = self.lifted(only, ALL_PROGRAMS, len(shape_of(target.type)))
                text = f"{self.arrays}.where({mask}, {text}, {self.name(target)})"
            texts.append(text)
        self.write(f"{', '.join(map(self.name, targets))} = {', '.join(texts)}")

    def share(self, results: Sequence[Value], values: Sequence[Value]) -> None:
        """Results that are in the variables of other values."""
        for result, value in zip(results, values, strict=True):
            self.names[result] = self.name(value)

    def zeros(self, values: Sequence[Value]) -> None:
        """Give variables their shapes, for programs that are still to come."""
        for value in values:
            self.write(
                f"{self.name(value)} = np.zeros({self.shape(value.type, self.axes[value])}, {self.dtype(value)})"
            )

    def both(self, *masks: str) -> str:
        """Masks joined by `&`; one that is empty is true for all."""
        return " & ".join(mask for mask in masks if mask)

    # --- for

    def scf_for(self, operation: Operation) -> None:
        lower, upper, step, *inits = operation.operands
        variable, *carried = operation.regions[0].block.arguments
        self.pass_on(carried, inits)
        self.share(operation.results, carried)
        if any(self.varies(bound) for bound in (lower, upper, step)):
            self.divergent_for(operation)
        else:
            self.uniform_for(operation)

    def uniform_for(self, operation: Operation) -> None:
        """A loop that all programs run equally often."""
        block = operation.regions[0].block
        variable, *carried = block.arguments
        bounds = [self.text(bound) for bound in operation.operands[:3]]
        # [task 6.5] `for i in range(lower, upper, step):`, the block, then pass on what it yields to what is carried.
        # In Python `i` is an `int`: the variable must have a NumPy dtype, so that it wraps around as the IR's does.
        counter = self.fresh(f"{self.name(variable)}_")
        with self.indented(f"for {counter} in range({', '.join(bounds)}):"):
            self.write(f"{self.name(variable)} = {self.dtype(variable)}({counter})")
            self.block(block)
            self.pass_on(carried, end_of(block))
        # [end]

    def divergent_for(self, operation: Operation) -> None:
        """A loop that programs leave at different times."""
        block = operation.regions[0].block
        variable, *carried = block.arguments
        lower, upper, step = operation.operands[:3]
        # [task 6.5] `trips` says how often each program goes round; `running` are those, out of the active ones, that
        # have rounds left. Leave when there is none. In the block they are `self.active`, and only they get new values.
        # The variable is `lower + rounds * step`: it may wrap around in programs that have left, so do not ask for it.
        trips, rounds = self.fresh("trips"), self.fresh("rounds")
        outer, self.active = self.active, self.fresh("running")
        self.write(f"{trips} = loops.trips({self.text(lower)}, {self.text(upper)}, {self.text(step)})")
        with self.indented(f"for {rounds} in itertools.count():"):
            self.write(f"{self.active} = {self.both(outer, f'({rounds} < {trips})')}")
            with self.indented(f"if not {self.active}.any():"):
                self.write("break")
            distance = f"{self.dtype(variable)}({rounds}) * {self.text(step)}"
            self.write(f"{self.name(variable)} = {self.text(lower)} + {distance}")
            self.block(block)
            self.pass_on(carried, end_of(block), only=self.active)
        self.active = outer
        # [end]

    # --- while

    def scf_while(self, operation: Operation) -> None:
        before, after = (region.block for region in operation.regions)
        self.pass_on(before.arguments, operation.operands)
        self.share(operation.results, after.arguments)
        if self.varies(end_of(before)[0]):
            self.divergent_while(before, after)
        else:
            self.uniform_while(before, after)

    def uniform_while(self, before: Block, after: Block) -> None:
        """A loop whose condition, which is computed in the block `before`, is the same for all programs."""
        condition, *forwarded = end_of(before)
        with self.indented("while True:"):
            self.block(before)
            self.pass_on(after.arguments, forwarded)
            with self.indented(f"if not {self.text(condition)}:"):
                self.write("break")
            self.block(after)
            self.pass_on(before.arguments, end_of(after))

    def divergent_while(self, before: Block, after: Block) -> None:
        """A loop that programs leave at different times."""
        condition, *forwarded = end_of(before)
        outer, self.active = self.active, self.fresh("running")
        self.zeros(after.arguments)
        self.write(f"{self.active} = {outer or 'np.ones(P, bool)'}")
        # [task 6.5] As `uniform_while`, for the programs that are running: what `before` forwards is theirs, then
        # those whose condition is false stop running, and the loop ends when none is left.
        with self.indented("while True:"):
            self.block(before)
            self.pass_on(after.arguments, forwarded, only=self.active)
            self.write(f"{self.active} = {self.active} & {self.text(condition)}")
            with self.indented(f"if not {self.active}.any():"):
                self.write("break")
            self.block(after)
            self.pass_on(before.arguments, end_of(after), only=self.active)
        # [end]
        self.active = outer

    # --- if

    def scf_if(self, operation: Operation) -> None:
        (condition,) = operation.operands
        blocks = [region.block for region in operation.regions if region.blocks]
        if self.varies(condition):
            self.divergent_if(self.text(condition), blocks, operation.results)
            return
        for header, block in zip((f"if {self.text(condition)}:", "else:"), blocks, strict=False):
            with self.indented(header):
                self.block(block)
                self.pass_on(operation.results, end_of(block))

    def divergent_if(self, condition: str, blocks: Sequence[Block], results: Sequence[Value]) -> None:
        """Both ways, one after the other, each for its programs, if there are any."""
        outer = self.active
        # [task 6.5] `results` begin as zeros. For each block: a mask of the programs that go there, out of those that
        # are active; under `if mask.any():` the block, with the mask as `self.active`, and what it yields for its
        # programs.
        self.zeros(results)
        for block, taken in zip(blocks, (condition, f"~{condition}"), strict=False):
            self.active = self.fresh("then" if block is blocks[0] else "otherwise")
            self.write(f"{self.active} = {self.both(outer, taken)}")
            with self.indented(f"if {self.active}.any():"):
                self.block(block)
                self.pass_on(results, end_of(block), only=self.active)
        # [end]
        self.active = outer
