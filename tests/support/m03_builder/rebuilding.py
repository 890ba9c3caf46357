"""Described programs, built a second time: by the builder, with its `with` blocks for loops and branches."""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.errors import Loc
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Module, Region, Value
from mini_triton.ir.ops.definition import create
from mini_triton.ir.scopes import condition, for_, if_, while_, yield_

from tests.support.m02_ops import descriptions as ir
from tests.support.m02_ops.descriptions import Op, type_of

LINE = Loc("kernel.py", 3)


def rebuilt(module: Op) -> Module:
    """The module that is described; all operations in its functions come from `LINE`."""
    functions = []
    for function in module.regions[0][0].operations:
        (body,) = function.regions[0]
        block = Block([type_of(type) for _, type in body.arguments], [name for name, _ in body.arguments])
        rebuilder = Rebuilder()
        with rebuilder.builder.at_end(block), rebuilder.builder.location(LINE):
            rebuilder.fill(body, block.arguments)
        functions.append(create("tt.func", regions=[Region([block])], **ir.attribute_values(function)))
    return Module(functions)


class Rebuilder:
    """Uses what task 3.5 is about, and `Builder.operation` for all else."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.values: dict[str, Value] = {}

    def fill(self, block: ir.Block, arguments: Sequence[Value]) -> None:
        """Build a block's operations at the insertion point; `arguments` stand for its arguments."""
        got, wanted = [str(value.type) for value in arguments], [type for _, type in block.arguments]
        assert got == wanted, f"the arguments of a region should have the types {wanted}, got {got}"
        self.define(block.arguments, arguments)
        for op in block.operations:
            build = getattr(self, op.name.replace(".", "_"), self.plain)
            self.define(op.results, build(op, [self.values[name] for name in op.operands]) or ())

    def define(self, named: Sequence[ir.Typed], values: Sequence[Value]) -> None:
        assert len(named) == len(values), f"there should be {len(named)} values, got {len(values)}"
        for (name, _), value in zip(named, values, strict=True):
            self.values[name], value.name = value, name

    def scf_for(self, op: Op, operands: list[Value]) -> Sequence[Value]:
        lower, upper, step, *inits = operands
        with for_(self.builder, lower, upper, step, inits) as loop:
            self.fill(op.regions[0][0], [loop.variable, *loop.carried])
        return loop.results

    def scf_if(self, op: Op, operands: list[Value]) -> Sequence[Value]:
        then, otherwise = op.regions
        with if_(self.builder, *operands) as branch:
            with branch.then():
                self.fill(then[0], ())
            if otherwise:
                with branch.otherwise():
                    self.fill(otherwise[0], ())
        return branch.results

    def scf_while(self, op: Op, operands: list[Value]) -> Sequence[Value]:
        (before,), (after,) = op.regions
        with while_(self.builder, operands) as loop:
            with loop.before() as carried:
                self.fill(before, carried)
            with loop.after() as forwarded:
                self.fill(after, forwarded)
        return loop.results

    def scf_yield(self, op: Op, operands: list[Value]) -> None:
        if operands:  # where no values are carried, it may be left out
            yield_(self.builder, *operands)

    def scf_condition(self, op: Op, operands: list[Value]) -> None:
        condition(self.builder, *operands)

    def plain(self, op: Op, operands: list[Value]) -> Sequence[Value]:
        results = tuple(type_of(type) for _, type in op.results)
        regions = [self.region(block) for (block,) in op.regions]
        attributes = ir.attribute_values(op)
        return self.builder.operation(op.name, *operands, result=results, regions=regions, **attributes).results

    def region(self, described: ir.Block) -> Region:
        block = Block([type_of(type) for _, type in described.arguments])
        with self.builder.at_end(block):
            self.fill(described, block.arguments)
        return Region([block])
