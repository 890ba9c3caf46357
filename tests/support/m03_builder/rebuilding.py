"""Copies of programs, which the builder makes with its `with` blocks for loops and branches."""

from collections.abc import Sequence
from typing import Any

from mini_triton.errors import Loc
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Module, Operation, Region, Value
from mini_triton.ir.ops.definition import create
from mini_triton.ir.scopes import condition, for_, if_, while_, yield_

LINE = Loc("kernel.py", 3)


def rebuilt(module: Operation) -> Module:
    """A copy of a module, in which all operations of functions have the location `LINE`."""
    functions = []
    for function in module.regions[0].block.operations:
        rebuilder = Rebuilder()
        with rebuilder.builder.location(LINE):
            body = rebuilder.region(function.regions[0].block)
        attributes: dict[str, Any] = function.attributes
        functions.append(create("tt.func", regions=[body], **attributes))
    return Module(functions)


class Rebuilder:
    """Builds loops and branches with the functions of task 3.5, and other operations with `Builder.operation`."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.values: dict[Value, Value] = {}

    def fill(self, block: Block, arguments: Sequence[Value]) -> None:
        """Build a block's operations at the insertion point; `arguments` stand for its arguments."""
        got, wanted = [str(value.type) for value in arguments], [str(value.type) for value in block.arguments]
        assert got == wanted, f"the types of a region's arguments\n  expected  {wanted}\n  got       {got}"
        self.values |= zip(block.arguments, arguments, strict=True)
        for operation in block.operations:
            build = getattr(self, operation.name.replace(".", "_"), self.plain)
            results = build(operation, [self.values[operand] for operand in operation.operands]) or ()
            assert len(results) == len(operation.results), (
                f"{operation.name} has {len(results)} results, not {len(operation.results)}"
            )
            self.values |= zip(operation.results, results, strict=True)

    def scf_for(self, operation: Operation, operands: list[Value]) -> Sequence[Value]:
        lower, upper, step, *inits = operands
        with for_(self.builder, lower, upper, step, inits) as loop:
            self.fill(operation.regions[0].block, [loop.variable, *loop.carried])
        return loop.results

    def scf_if(self, operation: Operation, operands: list[Value]) -> Sequence[Value]:
        then, otherwise = operation.regions
        with if_(self.builder, *operands) as branch:
            with branch.then():
                self.fill(then.block, ())
            if otherwise.blocks:
                with branch.otherwise():
                    self.fill(otherwise.block, ())
        return branch.results

    def scf_while(self, operation: Operation, operands: list[Value]) -> Sequence[Value]:
        before, after = operation.regions
        with while_(self.builder, operands) as loop:
            with loop.before() as carried:
                self.fill(before.block, carried)
            with loop.after() as forwarded:
                self.fill(after.block, forwarded)
        return loop.results

    def scf_yield(self, operation: Operation, operands: list[Value]) -> None:
        if operands:  # a yield without values may be omitted
            yield_(self.builder, *operands)

    def scf_condition(self, operation: Operation, operands: list[Value]) -> None:
        condition(self.builder, *operands)

    def plain(self, operation: Operation, operands: list[Value]) -> Sequence[Value]:
        types = tuple(result.type for result in operation.results)
        regions = [self.region(region.block) for region in operation.regions]
        attributes: dict[str, Any] = operation.attributes
        return self.builder.operation(operation.name, *operands, result=types, regions=regions, **attributes).results

    def region(self, block: Block) -> Region:
        copy = Block([argument.type for argument in block.arguments])
        with self.builder.at_end(copy):
            self.fill(block, copy.arguments)
        return Region([copy])
