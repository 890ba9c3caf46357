"""Persistent programs: while a tile is stored, the copies for the next tile are on their way. (Given.)

    for tile in range(first, tiles, programs, flatten=True):      start the copies for tile `first`
        start the copies for this tile                            for tile in range(first, tiles, programs):
        for k in ...:                                                 for k in ...:
            the pipelined loop                                            the pipelined loop
        store the tile                                                start the copies for the next tile
                                                                      store the tile

The rings then belong to the outer loop, which carries the slots at which the inner loop goes on. With `flatten=True`,
the kernel's author allows that a tile's loads run before the previous tile's stores.

Source: Triton's `FuseNestedLoops.cpp`, which merges both loops into one.
"""

from __future__ import annotations

from typing import Any

from mini_triton.ir.core import Block, Module, Operation, Region, Value
from mini_triton.ir.ops.definition import create, traits
from mini_triton.ir.types import I32
from mini_triton.transforms.inlining import copy
from mini_triton.transforms.structure import insert, move, terminator

COPYING = ("ttg.async_copy_global_to_local", "ttg.async_commit_group")


def overlap_tiles(module: Module, stages: int) -> None:
    """Let the loops over tiles of a module, whose inner loops are pipelined, start the copies for the next tile."""
    for loop in [operation for operation in module.walk() if operation.name == "scf.for"]:
        operations = loop.regions[0].block.operations
        rings = [operation for operation in operations if operation.name == "ttg.local_alloc"]
        inner = [number for number, operation in enumerate(operations) if operation.name == "scf.for"]
        if "tt.flatten" in loop.attributes and rings and len(inner) == 1 and len(loop.operands) == 3:
            before = [operation for operation in operations[: inner[0]] if operation not in rings]
            if all(traits(operation).pure or operation.name in COPYING for operation in before):
                Tiles(loop, operations[inner[0]], rings, before, stages).run()


class Tiles:
    """A loop over tiles, its inner loop, the rings, and what is before the inner loop in the block."""

    def __init__(
        self, loop: Operation, inner: Operation, rings: list[Operation], before: list[Operation], stages: int
    ) -> None:
        self.loop, self.inner, self.rings, self.before, self.stages = loop, inner, rings, before, stages
        self.body = loop.regions[0].block
        (self.tile,) = self.body.arguments

    def run(self) -> None:
        """Change the loop."""
        loop, inner = self.loop, self.inner
        for ring in self.rings:
            move(ring, loop)
        copies = [operation for operation in self.before if operation.name in COPYING]
        slots = dict.fromkeys(operation.operands[2] for operation in copies if operation.operands)
        lower, upper, step = loop.operands
        first = [self.emit(loop, "arith.constant", value=n, result=I32).result for n in (0, self.stages - 1)]
        self.start(loop, {self.tile: lower}, upper)
        carried = [self.body.add_argument(I32) for _ in first]
        for number, slot in enumerate(carried, len(inner.operands) - 2):
            inner.set_operand(number, slot)
        read: Value = inner.results[-2]
        after = self.body.operations[self.body.operations.index(inner) + 1 :]
        place = next(operation for operation in after if operation.name == "ttg.local_dealloc")
        values: dict[Value, Value] = {self.tile: self.emit(place, "arith.addi", self.tile, step).result}
        for copied in slots:
            values[copied] = read
            read = self.following(place, read)
        self.start(place, values, upper)
        for operation in copies:
            operation.erase()
        end = terminator(self.body)
        self.emit(end, "scf.yield", *inner.results[-2:])
        end.erase()
        loop.regions.clear()
        new = Operation(
            "scf.for", (*loop.operands, *first), [I32, I32], loop.attributes, [Region([self.body])], loop.loc
        )
        insert(new, loop)
        for operation in after:
            if operation.name == "ttg.local_dealloc":
                move(operation, loop)
        loop.erase()

    def start(self, place: Operation, values: dict[Value, Value], upper: Value) -> None:
        """Insert the first copies for a tile, if there is such a tile, before `place`."""
        runs = self.emit(place, "arith.cmpi", values[self.tile], upper, predicate="slt").result
        block = Block()
        for operation in self.before:
            if values.keys().isdisjoint(operation.results):
                block.append(copy(operation, values))
        block.append(create("scf.yield", loc=place.loc))
        insert(create("scf.if", runs, regions=[Region([block]), Region()], loc=place.loc), place)

    def following(self, place: Operation, slot: Value) -> Value:
        """The slot after a slot."""
        zero, one, count = (
            self.emit(place, "arith.constant", value=value, result=I32).result for value in (0, 1, self.stages)
        )
        next = self.emit(place, "arith.addi", slot, one).result
        is_over = self.emit(place, "arith.cmpi", next, count, predicate="sge").result
        return self.emit(place, "arith.select", is_over, zero, next).result

    def emit(self, place: Operation, name: str, *operands: Value, **attributes: Any) -> Operation:
        """Insert an operation before `place`, and return it."""
        operation = create(name, *operands, loc=place.loc, **attributes)
        insert(operation, place)
        return operation
