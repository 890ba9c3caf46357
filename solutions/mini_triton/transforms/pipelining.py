"""Software pipelining: copies to shared memory run some iterations ahead of the products that need them.

    for k in range(0, K, 32):                 ring = 3 slots of shared memory
        a = load(pa)                          copy(pa, ring[0]), copy(pa + 32, ring[1])
        acc = dot(a, b, acc)                  for k in range(0, K, 32):
        pa += 32                                  wait until the oldest copy has landed
                                                  copy(pa + 64, ring[(i + 2) % 3])       if k + 64 < K
                                                  acc = dot(ring[i % 3], b, acc)

Memory answers after hundreds of cycles, and the loop does not wait for it, because `stages` - 1 copies are on their way.

Source: Triton's `lib/Dialect/TritonGPU/Transforms/Pipeliner`; "Software Pipelining" (Lam, 1988).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from mini_triton.analysis.flow import reached, sources_of
from mini_triton.ir.core import BlockArgument, Operation, OpResult, Region, Value
from mini_triton.ir.ops.asynchronous import RingType
from mini_triton.ir.ops.definition import create, operand_of, traits
from mini_triton.ir.types import I1, I32, TensorType, Type, with_element
from mini_triton.transforms.inlining import copy
from mini_triton.transforms.structure import insert, is_inside, replace_by, terminator


Selects = Callable[[Operation], bool]


def pipeline(module: Operation, stages: int, may_copy: Selects, may_wait: Selects) -> None:
    """Pipeline the loads of all loops that `may_copy` selects. `may_wait` selects products that compute by themselves
    until another operation waits for them.
    """
    for loop in [operation for operation in module.walk() if operation.name == "scf.for"]:
        loads = [load for load in loop.regions[0].block.operations if load.name == "tt.load" and may_copy(load)]
        loads = [load for load in loads if ahead_of(load, loop) is not None]
        if loads:
            Pipeline(loop, loads, stages, may_wait).run()


def ahead_of(load: Operation, loop: Operation) -> set[Value] | None:
    """The values inside a loop that a load needs, from this iteration and earlier ones.

    None if one of them depends on memory, or on control flow inside the loop.
    """
    values = {value for value in reached(load.operands) if is_inside(value, loop)}
    results = [value for value in values if isinstance(value, OpResult)]
    if all(traits(value.owner).pure and value.owner.parent is load.parent for value in results):
        return values
    return None


class Pipeline:
    """The pipelining of some loads of a loop."""

    def __init__(self, loop: Operation, loads: list[Operation], stages: int, may_wait: Selects) -> None:
        self.loop, self.loads, self.stages = loop, loads, stages
        self.body = loop.regions[0].block
        self.counter, *carried = self.body.arguments
        needed = set().union(*(ahead_of(load, loop) or () for load in loads))
        self.carried = [argument for argument in carried if argument in needed]
        self.slice = [
            operation for operation in self.body.operations if any(result in needed for result in operation.results)
        ]
        self.rings: dict[Operation, Value] = {}
        products = [product for product in self.body.operations if product.name == "tt.dot"]
        self.is_late = len(products) == 1 and may_wait(products[0]) and self.only_sums(products[0])
        self.products = products

    def only_sums(self, product: Operation) -> bool:
        """Whether both factors of a product are copied, and nothing in the loop needs its result but the next one."""
        copied = {load.result for load in self.loads}
        left, right, accumulator = product.operands
        (result,) = product.results
        place = self.body.arguments.index(accumulator) - 1 if accumulator in self.body.arguments else -1
        uses = [*accumulator.uses, *result.uses]
        return {left, right} <= copied and [(u.user, u.number) for u in uses] == [
            (product, 2),
            (terminator(self.body), place),
        ]

    def emit(self, place: Operation, name: str, *operands: Value, **attributes: Any) -> Value:
        """Insert an operation before `place`; return its result."""
        operation = create(name, *operands, loc=place.loc, **attributes)
        insert(operation, place)
        return operation.results[0] if operation.results else operands[0]

    def constant(self, value: int, type: Type = I32) -> Value:
        """A number, defined before the loop."""
        return self.emit(self.loop, "arith.constant", value=value, result=type)

    def run(self) -> None:
        loop, body, stages = self.loop, self.body, self.stages
        lower, *_ = loop.operands
        for load in self.loads:
            ring = create("ttg.local_alloc", result=RingType(stages, load.result.type), loc=load.loc)  # type: ignore
            insert(ring, loop)
            self.rings[load] = ring.result
        initial = dict(zip(body.arguments[1:], loop.operands[3:], strict=True))
        state: dict[Value, Value] = {self.counter: lower, **{value: initial[value] for value in self.carried}}
        for slot in range(stages - 1):
            state = self.copies(loop, state, self.constant(slot))
        first, last, one, count = (self.constant(n) for n in (0, stages - 1, 1, stages))
        begin = [*state.values(), first, last]
        ahead = [body.add_argument(value.type) for value in begin]
        *now, read, write = ahead
        start = body.operations[0]
        end = terminator(body)
        insert(create("ttg.async_wait", num=stages - 2, loc=start.loc), start)
        if self.is_late:
            self.products[0].attributes["ttng.isAsync"] = True
            insert(create("ttng.warp_group_dot_wait", pendings=1, loc=end.loc), end)
            insert(create("gpu.barrier", loc=end.loc), end)
        state = self.copies(end if self.is_late else start, dict(zip(state, now, strict=True)), write)
        after = [self.next_slot(end, slot, one, count, first) for slot in (read, write)]
        for load in self.loads:
            replace_by(load, [self.emit(load, "ttg.local_load", self.rings[load], read)])
        self.replace_loop(begin, [*state.values(), *after])

    def copies(self, place: Operation, state: dict[Value, Value], slot: Value) -> dict[Value, Value]:
        """Insert the copies of one iteration before `place`. `state` maps the counter and the carried values to those
        of the iteration; returns those of the next one. Copies of iterations after the last one read no memory.
        """
        values = dict(state)
        for operation in self.slice:
            insert(copy(operation, values), place)
        _, upper, step, *_ = self.loop.operands
        runs = self.emit(place, "arith.cmpi", state[self.counter], upper, predicate="slt")
        for load in self.loads:
            pointers, mask = load.operands[0], operand_of(load, "mask")
            pointers = values.get(pointers, pointers)
            all_run = self.emit(place, "tt.splat", runs, result=with_element(pointers.type, I1))
            if mask:
                all_run = self.emit(place, "arith.andi", all_run, values.get(mask, mask))
            self.emit(place, "ttg.async_copy_global_to_local", pointers, self.rings[load], slot, all_run)
        insert(create("ttg.async_commit_group", loc=place.loc), place)
        yielded = dict(zip(self.body.arguments[1:], terminator(self.body).operands, strict=False))
        following = {value: values.get(yielded[value], yielded[value]) for value in self.carried}
        return {self.counter: self.emit(place, "arith.addi", state[self.counter], step), **following}

    def next_slot(self, place: Operation, slot: Value, one: Value, count: Value, first: Value) -> Value:
        """The slot after a slot."""
        following = self.emit(place, "arith.addi", slot, one)
        is_last = self.emit(place, "arith.cmpi", following, count, predicate="sge")
        return self.emit(place, "arith.select", is_last, first, following)

    def replace_loop(self, initial: list[Value], following: list[Value]) -> None:
        """Replace the loop by one that carries more values."""
        loop, end = self.loop, terminator(self.body)
        insert(create("scf.yield", *end.operands, *following, loc=end.loc), end)
        end.erase()
        loop.regions.clear()
        types = [value.type for value in (*loop.operands[3:], *initial)]
        operands = (*loop.operands, *initial)
        new = Operation("scf.for", operands, types, loop.attributes, [Region([self.body])], loop.loc)
        insert(new, loop)
        if self.is_late:
            insert(create("ttng.warp_group_dot_wait", pendings=0, loc=loop.loc), loop)
        insert(create("ttg.async_wait", num=0, loc=loop.loc), loop)
        for ring in self.rings.values():
            insert(create("ttg.local_dealloc", ring, loc=loop.loc), loop)
        replace_by(loop, new.results[: len(loop.results)])
