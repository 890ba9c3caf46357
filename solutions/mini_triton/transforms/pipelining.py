"""Software pipelining: copies to shared memory run some iterations ahead of the products that need them.

Memory answers after hundreds of cycles. A loop does not wait for it if the copies of the next iterations are on their
way. Shared memory has a ring of buffers for each load, here with three slots:

    for k in range(0, K, 32):             copy(pa, ring[0]);  copy(pa + 32, ring[1])
        a = load(pa)                      for k in range(0, K, 32):
        acc = dot(a, b, acc)                  wait until the oldest copy has landed
        pa += 32                              copy(pa + 64, ring[(i + 2) % 3]), if there is such an iteration
                                              acc = dot(ring[i % 3], b, acc)
                                              pa += 32

Source: Triton's `lib/Dialect/TritonGPU/Transforms/Pipeliner`; "Software Pipelining" (Lam, 1988).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mini_triton.analysis.effects import may_change_memory
from mini_triton.analysis.flow import reached, sources_of
from mini_triton.ir.core import Operation, OpResult, Region, Value
from mini_triton.ir.ops.asynchronous import RingType
from mini_triton.ir.ops.definition import create, operand_of, traits
from mini_triton.ir.types import I1, I32, with_element
from mini_triton.transforms.inlining import copy
from mini_triton.transforms.structure import insert, is_inside, replace_by, terminator

Selects = Callable[[Operation], bool]


def pipeline(module: Operation, stages: int, may_copy: Selects, may_wait: Selects) -> None:
    """Pipeline the loads of all loops that `may_copy` selects, with `stages` slots each.

    `may_wait` selects products that may run beside other instructions, until an operation waits for them.
    """
    for loop in [operation for operation in module.walk() if operation.name == "scf.for"]:
        loads = [operation for operation in loop.regions[0].block.operations if operation.name == "tt.load"]
        loads = [load for load in loads if may_copy(load) and runs_ahead(load, loop)]
        if loads:
            Pipeline(loop, loads, stages, may_wait).run()


def needed_inside(load: Operation, loop: Operation) -> set[Value]:
    """The values inside a loop on which a load's operands depend, in this iteration or by way of earlier ones.

        for i in range(0, n):
            acc += load(p)
            p, q = q, q + s

    This load needs p, q and q + s, but neither i nor acc. A value outside the loop does not change while the loop runs:
    the values behind it do not count, even if an outer loop computes it from this loop's results.
    """

    # [task 14.4] Find the values.
    def inside(values: Iterable[Value]) -> list[Value]:
        return [value for value in values if is_inside(value, loop)]

    return reached(inside(load.operands), lambda value: inside(sources_of(value)))
    # [end]


def runs_ahead(load: Operation, loop: Operation) -> bool:
    """Whether a load, which is directly in a loop's block, may run some iterations before its own.

    As far as the compiler can tell, it must still read the same. And `Pipeline` must be able to compute its operands so
    early: it repeats operations of the loop's block before the loop, and ahead of their iteration. Even a division may
    be repeated, although beyond the last iteration, its divisor may be 0: nobody uses this quotient.
    """
    # [task 14.4] Decide whether it may.
    needed = [value.owner for value in needed_inside(load, loop) if isinstance(value, OpResult)]
    early = all(traits(operation).pure and operation.parent is load.parent for operation in needed)
    return early and not may_change_memory(loop)
    # [end]


class Pipeline:
    """The pipelining of some loads of a loop.

    Two kinds of values change from iteration to iteration: the loop's induction variable, `body.arguments[0]`, and
    arguments that the loop carries. A *state* maps the induction variable, and those arguments on which the loads
    depend (`carried`), to their values in one iteration. From a state, the operations in `slice`, in this order,
    compute the loads' operands and the next state.
    """

    def __init__(self, loop: Operation, loads: list[Operation], stages: int, may_wait: Selects) -> None:
        self.loop, self.loads, self.stages = loop, loads, stages
        self.body = loop.regions[0].block
        needed = set().union(*(needed_inside(load, loop) for load in loads))
        self.carried = [argument for argument in self.body.arguments[1:] if argument in needed]
        self.slice = [operation for operation in self.body.operations if needed.intersection(operation.results)]
        self.rings: dict[Operation, Value] = {}
        self.late: list[Operation] = []
        products = [operation for operation in self.body.operations if operation.name == "tt.dot"]
        for number, product in enumerate(products if all(map(may_wait, products)) else []):
            # The loop waits for a product that is not late, and so for all that were started before it.
            if self.only_sums(product, after_wait=number > len(self.late)):
                self.late.append(product)

    def only_sums(self, product: Operation, after_wait: bool) -> bool:
        """Whether a product, directly in the loop's block, may still run while the next iteration begins.

        Until the same product of the next iteration, nobody may need its result or overwrite its second factor in
        shared memory, where only the copied `loads` last so long. If `after_wait`, the loop waits for all running
        products before it comes to this one; then one elementwise operation may change the sums in between, as in
        attention.
        """
        # [task 14.6] Decide whether it may.
        if product.operands[1] not in [load.result for load in self.loads] or len(product.result.uses) != 1:
            return False
        ((end, place),) = product.result.uses
        uses = self.body.arguments[place + 1].uses
        if end is not terminator(self.body) or len(uses) != 1:
            return False
        user = uses[0][0]
        if after_wait and traits(user).elementwise:
            uses = user.result.uses
        return uses == [(product, 2)]
        # [end]

    def emit(self, place: Operation, name: str, *operands: Value, **attributes: Any) -> Operation:
        """Insert an operation before `place`, and return it."""
        operation = create(name, *operands, loc=place.loc, **attributes)
        insert(operation, place)
        return operation

    def number(self, value: int) -> Value:
        """A number, defined before the loop."""
        return self.emit(self.loop, "arith.constant", value=value, result=I32).result

    def run(self) -> None:
        """Let copies to the rings run `stages` - 1 iterations ahead of the loop, and replace the loads.

        Each iteration waits once, before `begin`, for its own copies only; it starts copies before `place`. Both places
        are the same, unless late products still read slots at `begin` (task 14.6). A wait is also a barrier. The loop
        carries what this needs, after its own values: `carry` replaces the loop by one that carries more.
        """
        loop, body = self.loop, self.body
        for load in self.loads:
            self.rings[load] = self.emit(loop, "ttg.local_alloc", result=RingType(self.stages, load.result.type)).result  # type: ignore[arg-type]
        begin = self.loads[0]
        place = self.wait_for_products() if self.late else begin
        # [task 14.4] Change the loop.
        initial = dict(zip(body.arguments, (loop.operands[0], *loop.operands[3:]), strict=True))
        state: dict[Value, Value] = {value: initial[value] for value in (body.arguments[0], *self.carried)}
        for slot in range(self.stages - 1):
            state = self.copies(loop, state, self.number(slot))
        before = [*state.values(), self.number(0), self.number(self.stages - 1)]
        *ahead, read, write = (body.add_argument(value.type) for value in before)
        self.emit(begin, "ttg.async_wait", num=self.stages - 2)
        state = self.copies(place, dict(zip(state, ahead, strict=True)), write)
        for load in self.loads:
            replace_by(load, self.emit(load, "ttg.local_load", self.rings[load], read).results)
        self.carry(before, [*state.values(), self.following(read), self.following(write)])
        # [end]

    def copies(self, place: Operation, state: dict[Value, Value], slot: Value) -> dict[Value, Value]:
        """Insert the copies of one iteration, which `state` describes, before `place`. Return the next state.

        The copies of all loads go to the same slot, and are one group, even if there is no such iteration. In this
        case, they must not read memory. After the last iteration, one step of the induction variable does not overflow,
        but further steps may.

        What the loop yields for an argument in `carried` may be a result of the slice, a value from outside the loop,
        another argument, or the induction variable.
        """
        # [task 14.4] Insert them.
        _, upper, step, *_ = self.loop.operands
        counter, values = self.body.arguments[0], dict(state)
        for operation in self.slice:
            insert(copy(operation, values), place)
        runs = self.emit(place, "arith.cmpi", state[counter], upper, predicate="slt").result
        for load in self.loads:
            pointers, mask = load.operands[0], operand_of(load, "mask")
            pointers = values.get(pointers, pointers)
            wanted: Value = self.emit(place, "tt.splat", runs, result=with_element(pointers.type, I1)).result
            if mask:
                wanted = self.emit(place, "arith.andi", wanted, values.get(mask, mask)).result
            self.emit(place, "ttg.async_copy_global_to_local", pointers, self.rings[load], slot, wanted)
        self.emit(place, "ttg.async_commit_group")
        yielded = dict(zip(self.body.arguments[1:], terminator(self.body).operands, strict=False))
        next = self.emit(place, "arith.addi", state[counter], step).result
        following: dict[Value, Value] = {counter: self.emit(place, "arith.select", runs, next, state[counter]).result}
        return following | {value: values.get(yielded[value], yielded[value]) for value in self.carried}
        # [end]

    def wait_for_products(self) -> Operation:
        """Mark the products in `late`, and return the operation before which the loop may start an iteration's copies.

        A marked product, whose attribute `ttng.isAsync` is True, runs on until a `ttng.warp_group_dot_wait`, after
        which at most `pendings` products of a warp group are still running. The copies start at the end of the
        iteration, even if its last product is not late. Then, nobody in the program may still read what they overwrite,
        and as many products as possible are still running.
        """
        # [task 14.6] Let the products run, and wait for the previous ones.
        end = terminator(self.body)
        for product in self.late:
            product.attributes["ttng.isAsync"] = True
        self.emit(end, "ttng.warp_group_dot_wait", pendings=len(self.late))
        self.emit(end, "gpu.barrier")
        return end
        # [end]

    def following(self, slot: Value) -> Value:
        """The slot after a slot, computed at the end of the loop's block. (Given.)"""
        end = terminator(self.body)
        first, one, count = map(self.number, (0, 1, self.stages))
        next = self.emit(end, "arith.addi", slot, one).result
        is_over = self.emit(end, "arith.cmpi", next, count, predicate="sge").result
        return self.emit(end, "arith.select", is_over, first, next).result

    def carry(self, initial: list[Value], following: list[Value]) -> None:
        """Replace the loop by one that carries more values, and end all copies after it. (Given.)

        `initial` are the values before the first iteration, `following` those after an iteration. The block must
        already have an argument for each of them.
        """
        loop, end = self.loop, terminator(self.body)
        self.emit(end, "scf.yield", *end.operands, *following)
        end.erase()
        loop.regions.clear()
        operands = (*loop.operands, *initial)
        types = [value.type for value in operands[3:]]
        new = Operation("scf.for", operands, types, loop.attributes, [Region([self.body])], loop.loc)
        insert(new, loop)
        if self.late:
            self.emit(loop, "ttng.warp_group_dot_wait", pendings=0)
        self.emit(loop, "ttg.async_wait", num=0)
        for ring in self.rings.values():
            self.emit(loop, "ttg.local_dealloc", ring)
        replace_by(loop, new.results[: len(loop.results)])
