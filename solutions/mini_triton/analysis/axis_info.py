"""Axis analysis: facts about the integers and pointers in a tensor, along each of its axes.

    contiguity      length of the runs in which each element is the previous one plus one
    divisibility    a number that divides the first element of each such run (for a pointer: its address in bytes)
    constancy       length of the runs in which all elements are equal

Runs begin at positions that are multiples of their length: with contiguity 4, the runs are elements 0 to 3, 4 to 7, and
so on. All facts are powers of two, so the smaller of two facts divides the larger. No length exceeds the size of the
axis. A scalar counts as a tensor with one axis, of size 1. With contiguity 1, each element is a run, so divisibility
applies to every element.

    16 17 18 19   40 41 42 43       contiguity 4, divisibility 8, constancy 1
     6  6  6  6    8  8  8  8       contiguity 1, divisibility 2, constancy 4

As in real Triton, the analysis assumes that integers do not overflow and that dividends are not negative.

Source: Triton's `lib/Analysis/AxisInfo.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from mini_triton.ir.core import Attribute, Block, Module, Operation, Value
from mini_triton.ir.ops.elementwise import is_integer, width
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.types import Type, is_pointer, shape_of

MOST = 2**62
"""The divisibility of 0, which is a multiple of everything."""


class Facts(NamedTuple):
    """Facts along one axis. `value` is the constant that all elements equal, or None.

    Only rules for constant operands need `value`. `arith.constant` sets it, and the operations that only pass on
    elements keep it: `tt.splat`, `tt.expand_dims`, `tt.broadcast`, `tt.trans`, and `join` if both values are equal.
    Rules for arithmetic may set it to None, and need not treat `x // 1` or `x % 1` specially, because folding has
    already replaced these.
    """

    contiguity: int = 1
    divisibility: int = 1
    constancy: int = 1
    value: int | None = None

    def __repr__(self) -> str:
        divisibility = "MOST" if self.divisibility == MOST else self.divisibility
        lengths = f"contiguity={self.contiguity}, divisibility={divisibility}, constancy={self.constancy}"
        return f"Facts({lengths}, value={self.value})"


Info: TypeAlias = tuple[Facts, ...]
"""Facts along each axis."""


def power_of_two(number: int) -> int:
    """The largest power of two that divides a number; `MOST` for 0. (Given.)"""
    return number & -number if number else MOST


def starts(facts: Facts, run: int, unit: int = 1) -> int:
    """The largest power of two known to divide the first elements of all runs of length `run`.

    Inside a run that counts up, an element is the previous element plus `unit`. For integers, `unit` is 1; for
    pointers, it is the number of bytes per data element.

        starts(Facts(contiguity=8, divisibility=8), run=2)      2, as in 8 9, 10 11, 12 13, 14 15, 40 41, ...
        starts(Facts(contiguity=8, divisibility=8), run=16)     8
    """
    # [task 9.8] The run 8 9 10 11 12 13 14 15 begins with a multiple of 8, and consists of the runs 8 9, 10 11, 12 13,
    # 14 15. What divides the first numbers of these shorter runs?
    return facts.divisibility if facts.contiguity <= run else min(facts.divisibility, run * unit)
    # [end]


# --- rules: facts of a result along one axis of this size, from the operands' facts along the same axis


def add(size: int, x: Facts, y: Facts, unit: int = 1) -> Facts:
    """Facts of `x + y * unit`, for a sum (`unit` is 1) or an address (`unit` is the number of bytes per data element).

    Inside its runs, `x` counts up by `unit`.
    """
    # [task 9.8] 16 17 18 19 plus 6 6 6 6 counts up, and so does 6 6 6 6 plus 16 17 18 19; the elements of 6 6 6 6 plus
    # 8 8 9 9 are equal in runs of 2.
    contiguity = max(min(x.contiguity, y.constancy), min(x.constancy, y.contiguity))
    divisibility = min(starts(x, contiguity, unit), starts(y, contiguity) * unit)
    return Facts(contiguity, divisibility, min(x.constancy, y.constancy))
    # [end]


def subtract(size: int, x: Facts, y: Facts) -> Facts:
    """Facts of `x - y`: those of a sum, except that the difference does not count up where `y` does. (Given.)"""
    return add(size, x, Facts(1, starts(y, 1), y.constancy))


def multiply(size: int, x: Facts, y: Facts) -> Facts:
    """Facts of `x * y`. The divisibility of the result is at most `MOST`."""
    # [task 9.8] 16 17 18 19 times 4 4 4 4 does not count up, and is divisible by 4; 16 17 18 19 times 1 1 1 1, whose
    # `value` is 1, keeps all facts.
    if x.value == 1:
        return y
    if y.value == 1:
        return x
    return Facts(1, min(MOST, starts(x, 1) * starts(y, 1)), min(x.constancy, y.constancy))
    # [end]


def divide(size: int, x: Facts, y: Facts) -> Facts:
    """Facts of `x // y`, which rounds toward zero.

    If `x` counts up along the whole axis and `y` is constant along the whole axis, the quotient is constant in runs. If
    `x` counts up only in shorter runs, real Triton does not know any constancy, and you need not know any.
    """
    # [task 9.8] Divide 16 17 18 ... 31 by 4, by 8 and by 6, and 2 3 4 ... 17 by 4. How long are the runs of equal
    # quotients? Does 2 divide 80 // 4, 80 // 8, 80 // 6? A divisibility of the quotient is known only if the divisor is
    # a constant power of two.
    constancy = min(x.constancy, y.constancy)
    if x.contiguity == size == y.constancy:
        constancy = max(constancy, min(x.contiguity, x.divisibility, y.divisibility))
    exact = y.value is not None and y.value == power_of_two(y.value)
    return Facts(1, max(1, starts(x, 1) // y.divisibility) if exact else 1, constancy)
    # [end]


def remainder(size: int, x: Facts, y: Facts) -> Facts:
    """Facts of `x % y`.

    Under the same condition as in `divide`, the remainder counts up within each run of equal quotients.
    """
    # [task 9.8] Try the same numbers as in `divide`.
    contiguity = 1
    if x.contiguity == size == y.constancy:
        contiguity = min(x.contiguity, x.divisibility, y.divisibility)
    divisibility = min(starts(x, contiguity), starts(y, contiguity))
    return Facts(contiguity, divisibility, min(x.constancy, y.constancy))
    # [end]


def compare(size: int, x: Facts, y: Facts, predicate: str) -> Facts:
    """Facts of a comparison: nothing but its constancy is known. `predicate` is "eq", "slt", "uge", ..., as in MLIR.

    Masks are such comparisons. Suppose that one operand counts up along the whole axis and that the other is constant.
    Then the result of <, <=, > or >= changes at most once along the axis. For some predicates, the change is known to
    be at the beginning of a run, so the result is constant in each run.
    """
    # [task 9.8] Compare 0 1 2 ... 15 with 8 by each of <, <=, > and >=, then 8 with 0 1 2 ... 15. Where does the result
    # change?
    constancy = min(x.constancy, y.constancy)
    for one, other, ends in ((x, y, ("lt", "ge")), (y, x, ("gt", "le"))):
        if predicate[1:] in ends and one.contiguity == size == other.constancy:
            constancy = max(constancy, min(one.contiguity, one.divisibility, other.divisibility))
    return Facts(constancy=constancy)
    # [end]


def join(x: Facts, y: Facts, unit: int = 1) -> Facts:
    """Facts that hold for both `x` and `y`, and therefore for a value that may be either of them."""
    # [task 9.8] 16 17 18 19 and 10 11 20 21 share runs of 2 that begin at multiples of 2. `value` is a number only if
    # `x.value` and `y.value` are equal.
    contiguity = min(x.contiguity, y.contiguity)
    divisibility = min(starts(x, contiguity, unit), starts(y, contiguity, unit))
    return Facts(contiguity, divisibility, min(x.constancy, y.constancy), x.value if x.value == y.value else None)
    # [end]


def choose(size: int, condition: Facts, x: Facts, y: Facts, unit: int = 1) -> Facts:
    """Facts of `select(condition, x, y)`: no run is longer than a run of the condition. (Given.)"""
    both = join(x, y, unit)
    contiguity = min(both.contiguity, condition.constancy)
    return Facts(contiguity, starts(both, contiguity, unit), min(both.constancy, condition.constancy), both.value)


def extremum(size: int, x: Facts, y: Facts) -> Facts:
    """Facts of a maximum or minimum: in a run where both operands count up, one operand is the result. (Given.)"""
    return join(x, y)


def shift_left(size: int, x: Facts, y: Facts) -> Facts:
    """Facts of `x << y`, the product of `x` and a power of two. (Given.)"""
    if y.value is None or not 0 <= y.value < 62:
        return combine_bits(size, x, y)
    return multiply(size, x, Facts(1, 2**y.value, size, 2**y.value))


def shift_right(size: int, x: Facts, y: Facts) -> Facts:
    """Facts of `x >> y`. As in real Triton, a run of `x` that counts up gives no constancy. (Given.)"""
    divisibility = 1 if y.value is None or y.value < 0 else max(1, starts(x, 1) >> y.value)
    return Facts(1, divisibility, min(x.constancy, y.constancy))


def combine_bits(size: int, x: Facts, y: Facts) -> Facts:
    """Facts of an arbitrary function of `x` and `y`: equal operands give equal results. (Given.)"""
    return Facts(constancy=min(x.constancy, y.constancy))


def keep(size: int, x: Facts) -> Facts:
    """Facts of a number cast to a different width: they do not change. (Given.)"""
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
    **dict.fromkeys(("arith.extsi", "arith.extui", "arith.trunci"), keep),
}


# --- operations: facts along all axes of the result


def transfer(operation: Operation, infos: Sequence[Info]) -> Info:
    """Facts of an operation's only result, from the facts of its operands. (Given.)"""
    name, type = operation.name, operation.result.type
    if name in OTHERS:
        return OTHERS[name](operation, infos)
    wide = [along(info, operand.type, type) for info, operand in zip(infos, operation.operands, strict=True)]
    if name in ELEMENTWISE:
        return tuple(ELEMENTWISE[name](*facts) for facts in zip(sizes(type), *wide, strict=True))
    if name == "arith.cmpi":
        predicate: Any = operation.attributes["predicate"]
        return tuple(compare(size, x, y, predicate) for size, x, y in zip(sizes(type), *wide, strict=True))
    if name in WITH_UNIT:
        return tuple(WITH_UNIT[name](*facts, unit_of(type)) for facts in zip(sizes(type), *wide, strict=True))
    return unknown(type)


WITH_UNIT: dict[str, Callable[..., Facts]] = {"tt.addptr": add, "arith.select": choose}


def range_info(operation: Operation, infos: Sequence[Info]) -> Info:
    """Facts of `tt.make_range`: consecutive integers, beginning with the attribute `start`."""
    # [task 9.8] The range from 64 to 96 is one run of 32, which begins with a multiple of 64. Given: `sizes`,
    # `power_of_two`.
    start: Any = operation.attributes["start"]
    return tuple(Facts(size, power_of_two(start)) for size in sizes(operation.result.type))
    # [end]


def constant_info(operation: Operation, infos: Sequence[Info]) -> Info:
    """Facts of `arith.constant`: all elements are one number, the attribute `value`, which is a bool for `i1`.

    Nothing is known about floats.
    """
    # [task 9.8] Along axis 0, a tensor<8x4> of 6s has the facts `Facts(1, 2, 8, 6)`. Given: `sizes`, which returns the
    # size of each axis, and `(1,)` for a scalar; `power_of_two`, which returns the largest power of two that divides a
    # number; `unknown`.
    number: Any = operation.attributes["value"]
    if not is_integer(operation.result.type):
        return unknown(operation.result.type)
    return tuple(Facts(1, power_of_two(number), size, number) for size in sizes(operation.result.type))
    # [end]


def splat_info(operation: Operation, infos: Sequence[Info]) -> Info:
    """Facts of `tt.splat`: all elements are one scalar. (Given.)"""
    return along(infos[0], operation.operands[0].type, operation.result.type)


def expand_info(operation: Operation, infos: Sequence[Info]) -> Info:
    """Facts of `tt.expand_dims`: a new axis of size 1, at the position in the attribute `axis`.

    Along the new axis, each element is a run. If the elements are addresses, neighbors along an old axis differ by
    `unit_of(type)`.
    """
    # [task 9.8] What divides every element of the tensor<8> 8 9 10 11 40 41 42 43, and every element of 8 8 16 16 ...?
    axis: Any = operation.attributes["axis"]
    (old,) = infos
    every = max(starts(facts, 1, unit_of(operation.result.type)) for facts in old)
    return (*old[:axis], Facts(1, every, 1, old[0].value), *old[axis:])
    # [end]


def broadcast_info(operation: Operation, infos: Sequence[Info]) -> Info:
    """Facts of `tt.broadcast`: elements are repeated along axes of size 1."""
    # [task 9.8] From tensor<8x1> to tensor<8x4>, axis 1 is constant in runs of 4, and axis 0 keeps its facts.
    (operand,), (old,) = operation.operands, infos
    return tuple(
        facts if before == after else facts._replace(constancy=after)
        for facts, before, after in zip(old, sizes(operand.type), sizes(operation.result.type), strict=True)
    )
    # [end]


def trans_info(operation: Operation, infos: Sequence[Info]) -> Info:
    """Facts of `tt.trans`: axis `i` of the result is axis `order[i]` of the operand. (Given.)"""
    order: Any = operation.attributes["order"]
    (old,) = infos
    return tuple(old[axis] for axis in order)


def load_info(operation: Operation, infos: Sequence[Info]) -> Info:
    """Facts of `tt.load`: where address, mask and other are constant, the loaded value is constant. (Given.)"""
    return tuple(Facts(constancy=min(facts.constancy for facts in axis)) for axis in zip(*infos, strict=True))


def cast_info(operation: Operation, infos: Sequence[Info]) -> Info:
    """Facts of an address cast to a number, or to a pointer to elements of another size. (Given.)"""
    old, new = unit_of(operation.operands[0].type), unit_of(operation.result.type)
    if old == new:
        return infos[0]
    return tuple(Facts(1, starts(facts, 1, old), facts.constancy, facts.value) for facts in infos[0])


OTHERS: dict[str, Callable[[Operation, Sequence[Info]], Info]] = {
    "tt.make_range": range_info,
    "arith.constant": constant_info,
    "tt.splat": splat_info,
    "tt.expand_dims": expand_info,
    "tt.broadcast": broadcast_info,
    "tt.trans": trans_info,
    "tt.load": load_info,
    **dict.fromkeys(("tt.bitcast", "arith.bitcast", "tt.ptr_to_int", "tt.int_to_ptr"), cast_info),
}


def unknown(type: Type) -> Info:
    """Facts of a value about which nothing is known. (Given.)"""
    return (Facts(),) * len(sizes(type))


def sizes(type: Type) -> tuple[int, ...]:
    """The sizes of the axes; a scalar has one axis, of size 1. (Given.)"""
    return shape_of(type) or (1,)


def unit_of(type: Type) -> int:
    """Distance between neighbors: the bytes of an element for pointers, 1 for integers. (Given.)"""
    return max(1, width(pointee(type)) // 8) if is_pointer(type) else 1


def along(info: Info, type: Type, result: Type) -> Info:
    """Facts of an operand along the axes of a result: a scalar is constant along each axis. (Given.)"""
    return info if shape_of(type) else tuple(info[0]._replace(constancy=size) for size in sizes(result))


def promised(info: Info, attributes: dict[str, Attribute]) -> Info:
    """Facts of a value, including the promises of the kernel's author, such as `tl.multiple_of`. (Given.)"""
    for name in ("contiguity", "divisibility", "constancy"):
        if f"tt.{name}" in attributes:
            given: Any = attributes[f"tt.{name}"]
            numbers = map(power_of_two, given if isinstance(given, tuple) else (given,) * len(info))
            info = tuple(facts._replace(**{name: number}) for facts, number in zip(info, numbers, strict=True))
    return info


class AxisAnalysis:
    """Facts of each integer and pointer in a module: `analysis[value]` is an `Info`.

    Operations are visited in order. Each structured operation has its own method; `transfer` handles all others.
    """

    def __init__(self, module: Module) -> None:
        self.infos: dict[Value, Info] = {}
        for function in module.body.operations:
            for argument in function.regions[0].block.arguments:
                self.infos[argument] = promised(unknown(argument.type), argument.attributes)
            self.visit(function.regions[0].block)

    def __getitem__(self, value: Value) -> Info:
        return self.infos.get(value) or unknown(value.type)

    def visit(self, block: Block) -> list[Info]:
        """Visit a block whose arguments have facts. Return the facts of its terminator's operands. (Given.)"""
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

    def visit_if(self, operation: Operation, infos: Sequence[Info]) -> Sequence[Info]:
        """Facts of the results: those that hold after either branch.

        Values inside the branches also need facts, even if the operation has no results. If there are no results, the
        second block may be missing.
        """
        # [task 9.10] `16 if c else 24` is a multiple of 8. Given: `self.visit(block)`, which returns the infos of the
        # operands of the block's terminator; `merge(values, infos, others)`, which joins two lists of infos.
        ends = [self.visit(region.block) for region in operation.regions if region.blocks]
        return merge(operation.results, ends[0], ends[-1])
        # [end]

    def visit_for(self, operation: Operation, infos: Sequence[Info]) -> Sequence[Info]:
        """Facts of the results: those that hold for the carried values before every iteration, and after the last one.

        The operands are the lower bound, the upper bound, the step and the initial values. The block's arguments are
        the induction variable and the carried values.
        """
        # [task 9.10] A pointer that starts at a multiple of 64 and moves by 16 bytes in each iteration is a multiple of
        # 16 before each iteration. Which facts hold before the first iteration, and which of them still hold after it?
        # `self.infos` holds the facts of values. What divides all values of the induction variable? Given: `merge`,
        # `self.visit`.
        (lower,), _, (step,), *carried = infos
        block = operation.regions[0].block
        variable = (Facts(divisibility=min(lower.divisibility, step.divisibility)),)
        while True:
            self.infos.update(zip(block.arguments, [variable, *carried], strict=True))
            weaker = merge(operation.results, carried, self.visit(block))
            if weaker == carried:
                return carried
            carried = weaker
        # [end]

    def visit_while(self, operation: Operation, infos: Sequence[Info]) -> Sequence[Info]:
        """Facts of the results, which are the values that `scf.condition` forwards.

        The first region computes the condition from the carried values. The operands of its terminator are the
        condition and the forwarded values. The forwarded values become the arguments of the second region, which
        yields the next carried values.
        """
        # [task 9.10] This method is similar to `visit_for`, but an iteration runs two blocks.
        before, after = (region.block for region in operation.regions)
        carried = list(infos)
        while True:
            self.infos.update(zip(before.arguments, carried, strict=True))
            _, *forwarded = self.visit(before)
            self.infos.update(zip(after.arguments, forwarded, strict=True))
            weaker = merge(before.arguments, carried, self.visit(after))
            if weaker == carried:
                return forwarded
            carried = weaker
        # [end]


def merge(values: Sequence[Value], infos: Sequence[Info], others: Sequence[Info]) -> list[Info]:
    """Join two lists of infos, value by value. (Given.)"""
    return [
        tuple(join(x, y, unit_of(value.type)) for x, y in zip(one, other, strict=True))
        for value, one, other in zip(values, infos, others, strict=True)
    ]
