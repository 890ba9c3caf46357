"""Axis analysis: what is known of the integers and pointers in a tensor, along each of its axes.

    contiguity      runs of so many elements each count up by one: 8 of [8 9 ... 15, 40 41 ... 47]
    divisibility    the first element of each such run is a multiple of this (of a pointer: its address in bytes)
    constancy       runs of so many elements are all the same

Runs are aligned: they begin at multiples of their length. A GPU can read such a run with one wide instruction. A scalar
counts as one axis of size 1. What values are carried around a loop is found by going through it again and again, until
nothing changes: facts only ever get weaker.

As in real Triton, integers do not overflow, and dividends are not negative.

Source: Triton's `lib/Analysis/AxisInfo.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any, NamedTuple, TypeAlias

from mini_triton.ir.core import Attribute, Block, Module, Operation, Value
from mini_triton.ir.ops.elementwise import is_integer, width
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.types import Type, shape_of
from mini_triton.transforms.folding import is_pointer

MOST = 2**62
"""What 0 is a multiple of."""


class Facts(NamedTuple):
    """What is known along one axis. `value` is the number that all elements are, if that is known."""

    contiguity: int = 1
    divisibility: int = 1
    constancy: int = 1
    value: int | None = None


Info: TypeAlias = tuple[Facts, ...]
"""Facts along each axis."""


def power_of_two(number: int) -> int:
    """The highest power of two that divides a number."""
    # [task 9.8] Of 0, take `MOST`.
    return number & -number if number else MOST
    # [end]


def starts(facts: Facts, run: int, unit: int = 1) -> int:
    """What the first elements of runs of this length are multiples of; a `unit` is from one element to the next.

    Facts speak of the runs that count up. The middle of such a run may be odd: if it is 8 long, and begins at multiples
    of 8, runs of 2 begin at multiples of 2.
    """
    # [task 9.8] Longer runs begin where shorter ones do.
    return facts.divisibility if facts.contiguity <= run else gcd(facts.divisibility, run * unit)
    # [end]


# --- rules: facts along one axis, of this size, from those of the operands


def add(size: int, x: Facts, y: Facts, unit: int = 1) -> Facts:
    """A sum: if one counts up while the other stays the same, the sum counts up. `unit` scales the second."""
    # [task 9.8] Both may count up somewhere; take the longer runs.
    contiguity = max(gcd(x.contiguity, y.constancy), gcd(x.constancy, y.contiguity))
    divisibility = gcd(starts(x, contiguity, unit), min(MOST, starts(y, contiguity) * unit))
    value = None if x.value is None or y.value is None else x.value + y.value * unit
    return Facts(contiguity, divisibility, gcd(x.constancy, y.constancy), value)
    # [end]


def subtract(size: int, x: Facts, y: Facts) -> Facts:
    """A difference: it counts up only if the first does."""
    # [task 9.8] As a sum.
    contiguity = gcd(x.contiguity, y.constancy)
    value = None if x.value is None or y.value is None else x.value - y.value
    return Facts(contiguity, gcd(starts(x, contiguity), starts(y, contiguity)), gcd(x.constancy, y.constancy), value)
    # [end]


def multiply(size: int, x: Facts, y: Facts) -> Facts:
    """A product: it counts up only if one factor is 1."""
    # [task 9.8] Every element is the first of a run, then.
    if x.value == 1 or y.value == 1:
        return y if x.value == 1 else x
    value = None if x.value is None or y.value is None else x.value * y.value
    return Facts(1, min(MOST, starts(x, 1) * starts(y, 1)), gcd(x.constancy, y.constancy), value)
    # [end]


def divide(size: int, x: Facts, y: Facts) -> Facts:
    """A quotient: while what is divided counts up, the quotient stays the same for a while."""
    # [task 9.8] That is known only if `x` counts up along the whole axis, and `y` is the same there.
    if y.value == 1:
        return x
    constancy = gcd(x.constancy, y.constancy)
    if x.contiguity == size == y.constancy:
        constancy = max(constancy, gcd(x.contiguity, gcd(x.divisibility, y.divisibility)))
    divisor = y.value if y.value and y.value == power_of_two(y.value) else starts(x, 1)
    value = x.value // y.value if x.value and y.value and x.value > 0 < y.value else None
    return Facts(1, max(1, starts(x, 1) // divisor), constancy, value)
    # [end]


def remainder(size: int, x: Facts, y: Facts) -> Facts:
    """A remainder counts up while what is divided does, up to the divisor."""
    # [task 9.8] As for the quotient.
    if y.value == 1:
        return Facts(1, MOST, size, 0)
    contiguity = 1
    if x.contiguity == size == y.constancy:
        contiguity = gcd(x.contiguity, gcd(x.divisibility, y.divisibility))
    return Facts(contiguity, gcd(starts(x, contiguity), y.divisibility), gcd(x.constancy, y.constancy))
    # [end]


def shift_left(size: int, x: Facts, y: Facts) -> Facts:
    """A shift to the left multiplies by a power of two."""
    # [task 9.8] If one knows by which.
    if y.value is None or not 0 <= y.value < 62:
        return Facts(constancy=gcd(x.constancy, y.constancy))
    return multiply(size, x, Facts(1, 2**y.value, size, 2**y.value))
    # [end]


def shift_right(size: int, x: Facts, y: Facts) -> Facts:
    """A shift to the right divides by a power of two."""
    if y.value is None or not 0 <= y.value < 62:
        return Facts(constancy=gcd(x.constancy, y.constancy))
    return divide(size, x, Facts(1, 2**y.value, size, 2**y.value))


def extremum(size: int, x: Facts, y: Facts) -> Facts:
    """The larger or the smaller of two: within a run in which both count up, it is one of them throughout."""
    return join(x, y)._replace(value=None)


def combine_bits(size: int, x: Facts, y: Facts) -> Facts:
    """Something of two values of which one only knows that it is the same where both are."""
    return Facts(constancy=gcd(x.constancy, y.constancy))


def compare(size: int, x: Facts, y: Facts, predicate: str) -> Facts:
    """A comparison of what counts up with what stays the same: the answer changes once, and not inside of a run.

    So is `at < n`, for `n` a multiple of 16, the same for 16 elements each.
    """
    # [task 9.8] `<` and `>=` change in front of an element that equals the other side, `<=` and `>` behind it.
    constancy = gcd(x.constancy, y.constancy)
    for one, other, ends in ((x, y, ("lt", "ge")), (y, x, ("gt", "le"))):
        if predicate[1:] in ends and one.contiguity == size == other.constancy:
            constancy = max(constancy, gcd(one.contiguity, gcd(one.divisibility, other.divisibility)))
    return Facts(constancy=constancy)
    # [end]


def choose(size: int, condition: Facts, x: Facts, y: Facts) -> Facts:
    """A select: what holds for both, as long as the condition stays the same."""
    # [task 9.8] A run of the result may be no longer than one of the condition.
    both = join(x, y)
    contiguity = gcd(both.contiguity, condition.constancy)
    divisibility = gcd(starts(x, contiguity), starts(y, contiguity))
    return Facts(contiguity, divisibility, gcd(both.constancy, condition.constancy), both.value)
    # [end]


def join(x: Facts, y: Facts, unit: int = 1) -> Facts:
    """What holds for either of two values."""
    # [task 9.8] Runs that both have.
    contiguity = gcd(x.contiguity, y.contiguity)
    divisibility = gcd(starts(x, contiguity, unit), starts(y, contiguity, unit))
    return Facts(contiguity, divisibility, gcd(x.constancy, y.constancy), x.value if x.value == y.value else None)
    # [end]


def keep(size: int, x: Facts) -> Facts:
    """A cast keeps what is known."""
    return x


ELEMENTWISE: dict[str, Callable[..., Facts]] = {
    "arith.addi": add,
    "arith.subi": subtract,
    "arith.muli": multiply,
    **dict.fromkeys(("arith.divsi", "arith.divui"), divide),
    **dict.fromkeys(("arith.remsi", "arith.remui"), remainder),
    "arith.shli": shift_left,
    **dict.fromkeys(("arith.shrsi", "arith.shrui"), shift_right),
    **dict.fromkeys(("arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"), extremum),
    **dict.fromkeys(("arith.andi", "arith.ori", "arith.xori"), combine_bits),
    **dict.fromkeys(("arith.extsi", "arith.extui", "arith.trunci", "arith.bitcast", "tt.bitcast"), keep),
    **dict.fromkeys(("tt.ptr_to_int", "tt.int_to_ptr"), keep),
    "arith.select": choose,
}


# --- operations


def unknown(type: Type) -> Info:
    """Nothing is known."""
    return (Facts(),) * max(1, len(shape_of(type)))


def sizes(type: Type) -> tuple[int, ...]:
    """The sizes of the axes; a scalar has one."""
    return shape_of(type) or (1,)


def unit_of(type: Type) -> int:
    """How far it is from an element to the next: bytes, for pointers."""
    return max(1, width(pointee(type)) // 8) if is_pointer(type) else 1


def along(info: Info, type: Type, shape: Sequence[int]) -> Info:
    """Facts of an operand along the axes of a result: a scalar is the same along each. (Given.)"""
    return info if shape_of(type) else tuple(info[0]._replace(constancy=size) for size in shape)


def transfer(operation: Operation, infos: Sequence[Info]) -> Info:
    """What is known of the one result of an operation, from what is known of its operands."""
    # [task 9.8] A row in `ELEMENTWISE` is asked for each axis. Scalars among tensors are the same along all axes.
    name, type = operation.name, operation.result.type
    attributes: dict[str, Any] = operation.attributes
    shape = sizes(type)
    if name == "arith.constant" and is_integer(type):
        number = int(attributes["value"])
        return tuple(Facts(1, power_of_two(number), size, number) for size in shape)
    if name == "tt.make_range":
        return (Facts(shape[0], power_of_two(attributes["start"])),)
    if name == "tt.splat":
        return along(infos[0], operation.operands[0].type, shape)
    if name == "tt.expand_dims":
        axis = attributes["axis"]
        every = gcd(*(starts(facts, 1) for facts in infos[0]))
        return (*infos[0][:axis], Facts(1, every, 1, infos[0][0].value), *infos[0][axis:])
    if name == "tt.broadcast":
        old = sizes(operation.operands[0].type)
        return tuple(
            facts._replace(constancy=size) if before != size else facts
            for facts, before, size in zip(infos[0], old, shape, strict=True)
        )
    if name == "tt.trans":
        return tuple(infos[0][axis] for axis in attributes["order"])
    if name == "tt.load":
        known = zip(*infos[:2], strict=True)
        return tuple(Facts(constancy=gcd(*(facts.constancy for facts in axis))) for axis in known)
    wide = [along(info, operand.type, shape) for info, operand in zip(infos, operation.operands, strict=True)]
    if name == "arith.cmpi":
        return tuple(compare(size, x, y, attributes["predicate"]) for size, x, y in zip(shape, *wide, strict=True))
    if name == "tt.addptr":
        return tuple(add(size, x, y, unit_of(type)) for size, x, y in zip(shape, *wide, strict=True))
    if name in ELEMENTWISE:
        return tuple(ELEMENTWISE[name](*axis) for axis in zip(shape, *wide, strict=True))
    return unknown(type)
    # [end]


def promised(info: Info, attributes: dict[str, Attribute]) -> Info:
    """What is known of a value about which the kernel's author has promised something: `tl.multiple_of`. (Given.)"""
    for name in Facts._fields[:3]:
        if f"tt.{name}" in attributes:
            given: Any = attributes[f"tt.{name}"]
            numbers = given if isinstance(given, tuple) else (given,) * len(info)
            info = tuple(facts._replace(**{name: number}) for facts, number in zip(info, numbers, strict=True))
    return info


class AxisAnalysis:
    """What is known of each integer and pointer in a module: `analysis[value]`."""

    def __init__(self, module: Module) -> None:
        self.infos: dict[Value, Info] = {}
        for function in module.body.operations:
            for argument in function.regions[0].block.arguments:
                self.infos[argument] = promised(unknown(argument.type), argument.attributes)
            self.visit(function.regions[0].block)

    def __getitem__(self, value: Value) -> Info:
        return self.infos.get(value) or unknown(value.type)

    def visit(self, block: Block) -> Sequence[Info]:
        """Go through a block whose arguments are known; what is known of the operands of its terminator."""
        # [task 9.8] Structured control flow has a method each; other operations have `transfer`.
        for operation in block.operations:
            infos = [self[operand] for operand in operation.operands]
            if operation.name in ("scf.for", "scf.while", "scf.if"):
                results = getattr(self, f"visit_{operation.name[4:]}")(operation, infos)
            elif len(operation.results) == 1:
                results = [promised(transfer(operation, infos), operation.attributes)]
            else:
                results = [unknown(result.type) for result in operation.results]
            self.infos.update(zip(operation.results, results, strict=True))
        return [self[operand] for operand in block.operations[-1].operands]
        # [end]

    def visit_if(self, operation: Operation, infos: Sequence[Info]) -> Sequence[Info]:
        """What holds after either branch."""
        # [task 9.8] The second region may have no block.
        ends = [self.visit(region.block) for region in operation.regions if region.blocks]
        return merge(operation.results, ends[0], ends[-1])
        # [end]

    def visit_for(self, operation: Operation, infos: Sequence[Info]) -> Sequence[Info]:
        """What holds of carried values before every round, and so after the last one."""
        # [task 9.8] The induction variable begins with the lower bound, and grows by the step.
        (lower,), _, (step,), *carried = infos
        block = operation.regions[0].block
        variable = (Facts(divisibility=gcd(lower.divisibility, step.divisibility)),)
        while True:
            self.infos.update(zip(block.arguments, [variable, *carried], strict=True))
            after = merge(block.arguments[1:], carried, self.visit(block))
            if after == carried:
                return after
            carried = after
        # [end]

    def visit_while(self, operation: Operation, infos: Sequence[Info]) -> Sequence[Info]:
        """What holds whenever the condition is asked."""
        # [task 9.8] The results are what the first region forwards.
        before, after = (region.block for region in operation.regions)
        carried = list(infos)
        while True:
            self.infos.update(zip(before.arguments, carried, strict=True))
            _, *forwarded = self.visit(before)
            self.infos.update(zip(after.arguments, forwarded, strict=True))
            joined = merge(before.arguments, carried, self.visit(after))
            if joined == carried:
                return forwarded
            carried = joined
        # [end]


def merge(values: Sequence[Value], infos: Sequence[Info], others: Sequence[Info]) -> list[Info]:
    """What holds of each value, be it what one list says or the other. (Given.)"""
    return [
        tuple(join(x, y, unit_of(value.type)) for x, y in zip(one, other, strict=True))
        for value, one, other in zip(values, infos, others, strict=True)
    ]
