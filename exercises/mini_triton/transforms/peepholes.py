"""Peepholes: rules that look at an operation and the few before it. One line a rule.

Integers wrap around, so the laws of arithmetic modulo 2 ** width hold for them. For floats a rule is here only if it
gives the same bits for NaN, infinities and -0.0: `x + 0.0` is not `x` for -0.0, but `x + -0.0` is `x`; `x - x` is not 0
for infinities; and `(x + a) + b` is rounded twice.

Source: MLIR's `ArithCanonicalization.td`; Triton's `Combine.td`, `ReorderBroadcast.cpp` and `Ops.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.elementwise import TABLE, width
from mini_triton.ir.types import TensorType, Type, element_type, shape_of
from mini_triton.transforms.folding import is_pointer
from mini_triton.transforms.rewriting import Rewriter, Rule, constant_of, is_number, rule

# --- conditions, of the values that a pattern names (given)


def is_variable(x: Value, **others: Value) -> bool:
    """Whether a value is not a constant."""
    return constant_of(x) is None


def is_least(C: Value, **others: Value) -> bool:
    """Whether a constant is the least signed integer of its type."""
    return is_number(C, -(2 ** (width(C.type) - 1)))


def is_greatest(C: Value, **others: Value) -> bool:
    """Whether a constant is the greatest signed integer of its type."""
    return is_number(C, 2 ** (width(C.type) - 1) - 1)


def have_one_type(x: Value, y: Value, **others: Value) -> bool:
    """Whether two values have the same type."""
    return x.type == y.type


def sum_fits(C: Value, D: Value, **others: Value) -> bool:
    """Whether two constant offsets of one type have a sum that needs no more bits. Offsets do not wrap around."""
    if C.type != D.type:
        return False
    first, second = constant_of(C), constant_of(D)
    assert first is not None and second is not None
    return -(2 ** (width(C.type) - 1)) <= first + second < 2 ** (width(C.type) - 1)


# --- replacements that a pattern cannot describe (given)


def drop_cast(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """The value itself, if it has the result's type."""
    return x if x.type == operation.result.type else None


def narrow_less(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """A value that is widened and then narrowed, by one cast or none. Other formats of the same width stay."""
    wide, type = operation.operands[0], operation.result.type
    assert isinstance(wide, OpResult)
    if x.type == type:
        return x
    if width(type) == width(x.type):
        return None
    name = operation.name if width(type) < width(x.type) else wide.owner.name
    return rewriter.create(name, x, result=type)


def negate(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """The opposite of a condition, which chooses between `false` and `true` element by element."""
    if x.type != operation.result.type:
        return None
    return rewriter.create("arith.xori", x, rewriter.constant(True, x.type))


def merge_shapes(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """A reshape of a reshape, as one. If one of them may change the order of the elements, so may both together."""
    inner = operation.operands[0]
    assert isinstance(inner, OpResult)
    attributes = {**inner.owner.attributes, **operation.attributes}
    return rewriter.create("tt.reshape", x, result=operation.result.type, **attributes)


def compose_orders(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """A transpose of a transpose, as one."""
    inner = operation.operands[0]
    assert isinstance(inner, OpResult)
    first, second = inner.owner.attributes["order"], operation.attributes["order"]
    assert isinstance(first, tuple) and isinstance(second, tuple)
    return rewriter.create("tt.trans", x, order=tuple(first[i] for i in second))


def drop_order(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """The value itself, if the transpose leaves its dimensions in order."""
    order = operation.attributes["order"]
    return x if order == tuple(range(len(shape_of(x.type)))) else None


def splat_again(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """A splat whose elements are moved around is a splat."""
    return rewriter.create("tt.splat", x, result=operation.result.type)


def expand_first(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """A broadcast of what is expanded before: the operand is smaller."""
    axis: Any = operation.attributes["axis"]
    return rewriter.create("tt.broadcast", rewriter.expand_dims(x, axis), result=operation.result.type)


def split_joined(rewriter: Rewriter, operation: Operation, x: Value, y: Value) -> Sequence[Value]:
    """Both halves of what was joined."""
    return x, y


def load_all(rewriter: Rewriter, operation: Operation, p: Value, **other: Value) -> Value:
    """A load without its mask, which is true everywhere."""
    return rewriter.like(operation, p)


def store_all(rewriter: Rewriter, operation: Operation, p: Value, v: Value) -> Sequence[Value]:
    """A store without its mask, which is true everywhere."""
    return rewriter.operation("tt.store", p, v).results


def load_nothing(rewriter: Rewriter, operation: Operation, p: Value, o: Value | None = None) -> Value | None:
    """The `other` of a load whose mask is false everywhere. A load without one may give anything: zeros."""
    if o is not None:
        return o
    type = operation.result.type
    return None if is_pointer(type) else rewriter.constant(0, type)


def store_nothing(rewriter: Rewriter, operation: Operation, p: Value, v: Value) -> Sequence[Value]:
    """Nothing, in place of a store whose mask is false everywhere."""
    return ()


def select_in_load(rewriter: Rewriter, operation: Operation, D: Value, p: Value, **others: Value) -> Value | None:
    """A load whose `other` is what the select puts into masked-off lanes.

    The load stays in its place, as memory may change after it. None if it has other users, or is volatile.
    """
    loaded, number = operation.operands[1], constant_of(D)
    assert isinstance(loaded, OpResult) and number is not None
    if len(loaded.uses) > 1 or loaded.owner.attributes.get("isVolatile"):
        return None
    with rewriter.before(loaded.owner):
        other = rewriter.constant(number, D.type)
        return rewriter.like(loaded.owner, p, loaded.owner.operands[1], other)


def accumulate(rewriter: Rewriter, operation: Operation, a: Value, b: Value, d: Value) -> Value | None:
    """A product and a sum as one `tt.dot`. None if the product has other users, or stands outside of the sum's loop."""
    product = next(o.owner for o in operation.operands if isinstance(o, OpResult) and o.owner.name == "tt.dot")
    elsewhere = len(product.result.uses) > 1 or product.parent is not operation.parent
    if elsewhere or product.attributes.get("maxNumImpreciseAcc"):
        return None
    return rewriter.like(product, a, b, d)


# --- splats and broadcasts sink


def sink(rewriter: Rewriter, operation: Operation) -> Value | None:
    """An elementwise operation on smaller tensors, or on scalars, whose result then is broadcast."""
    # Task 9.3: Each tensor operand must be a splat, a constant, or a broadcast; one of them is a splat or a broadcast.
    # All broadcasts must come from one shape, in which the operation is then done; without any it is done on scalars.
    raise NotImplementedError("Task 9.3: Peepholes")


def source_shape(value: Value) -> tuple[int, ...] | None:
    """The shape that a tensor is broadcast from: () of a splat and a constant; None if it is not broadcast. (Given.)"""
    if not isinstance(value, OpResult) or value.owner.name not in ("tt.splat", "tt.broadcast", "arith.constant"):
        return None
    return shape_of(value.owner.operands[0].type) if value.owner.operands else ()


def shrink(rewriter: Rewriter, value: Value, shape: tuple[int, ...]) -> Value:
    """A splat, a constant or a broadcast in the shape from which it is broadcast. (Given.)"""
    if not isinstance(value.type, TensorType):
        return value
    constant = constant_of(value)
    if constant is not None:
        return rewriter.constant(constant, with_shape(value.type, shape))
    assert isinstance(value, OpResult)
    return rewriter.broadcast_to(value.owner.operands[0], shape)


def with_shape(type: Type, shape: tuple[int, ...]) -> Type:
    """A type with the same elements in another shape. (Given.)"""
    return TensorType(shape, element_type(type)) if shape else element_type(type)


# --- the rules

COMMUTATIVE = tuple(f"arith.{name}" for name in "addi muli andi ori xori maxsi minsi maxui minui addf mulf".split())
MIRRORED = {"eq": "eq", "ne": "ne", "slt": "sgt", "sle": "sge", "sgt": "slt", "sge": "sle"} | {
    **{"ult": "ugt", "ule": "uge", "ugt": "ult", "uge": "ule"}
}
"""The predicate that compares the same operands the other way round."""
NEGATED = {"eq": "ne", "ne": "eq", "slt": "sge", "sle": "sgt", "sgt": "sle", "sge": "slt"} | {
    **{"ult": "uge", "ule": "ugt", "ugt": "ule", "uge": "ult"}
}
"""The predicate that is true where the other one is false."""


def orders(name: str, first: str, second: str) -> tuple[str, str]:
    """The patterns of an operation on two operands, in both orders. (Given.)"""
    return f"{name}({first}, {second})", f"{name}({second}, {first})"


def integers() -> list[Rule]:
    """Rules for integers. Integers wrap around, so the laws of arithmetic modulo 2 ** width hold.

    Find rules for these cases. The operations are those of `arith` on integers.

    - A constant changes nothing, or it decides the result. Look at 0, 1, and all bits.
    - Both operands are the same value.
    - An operation undoes what the one before did: `(x + y) - y`.
    - Two constants, in an operation and in the one before it: one operation is left.

    Given rows bring operations into one form, so that yours need not look for the other: constants stand on the right,
    and `x - 3` is `x + -3`.
    """
    rules = [
        *(rule(f"{name}(C, x)", f"{name}(x, C)", is_variable) for name in COMMUTATIVE),
        rule("arith.subi(x, C)", "arith.addi(x, arith.subi(0, C))", is_variable),
        *(rule(f"arith.{name}(x, 0)", "x") for name in ("addi", "maxui")),
        *(rule(f"arith.{name}(x, 0)", "0") for name in ("muli", "minui")),
        *(rule(f"arith.{name}(x, C)", "x", when) for name, when in (("maxsi", is_least), ("minsi", is_greatest))),
        *(rule(f"arith.{name}(x, C)", "C", when) for name, when in (("maxsi", is_greatest), ("minsi", is_least))),
        *(rule(both, "0") for both in orders("arith.andi", "x", "arith.xori(x, -1)")),
        *(rule(f"arith.subi({total}, y)", "x") for total in orders("arith.addi", "x", "y")),
        *(
            rule(twice, once)
            for name in ("arith.andi", "arith.ori")
            for once in orders(name, "x", "y")
            for twice in orders(name, once, "y")
        ),
        rule("arith.addi(arith.addi(x, C), D)", "arith.addi(x, arith.addi(C, D))"),
        rule("arith.addi(arith.subi(C, x), D)", "arith.subi(arith.addi(C, D), x)"),
    ]
    # Task 9.3: Add rules for the other operations.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def comparisons_and_selects() -> list[Rule]:
    """Rules for comparisons of integers, and for the choice between two values.

    Find rules for these cases:

    - A value is compared with itself. An unsigned integer is compared with 0.
    - A boolean is compared with a boolean constant. A boolean is widened, and asked whether it differs from 0.
    - A comparison is negated. (`arith.xori(x, true)` negates.)
    - A select has a constant condition, or a negated one.
    - A select has, as one of its values, a select by the same condition.
    """
    rules = [
        *(rule(f"arith.cmpi.{p}(C, x)", f"arith.cmpi.{q}(x, C)", is_variable) for p, q in MIRRORED.items()),
        rule("arith.cmpi.eq(x, x)", "true"),
        rule("arith.cmpi.ne(x, false)", "x"),
        rule("arith.cmpi.ne(arith.extui(x), 0)", "x"),
        rule("arith.select(x, y, y)", "y"),
        rule("arith.select(x, true, false)", "x"),
        rule("arith.select(x, false, true)", negate),
    ]
    # Task 9.3: Add rules for the other cases. In a pattern, `true` and `false` are constants of booleans only.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def floats() -> list[Rule]:
    """Rules for floats: those that hold for NaN, infinities and -0.0, too.

    Here are laws of the real numbers. Some hold for floats as they stand, some with a zero of the right sign only, some
    not at all. A rule may give another NaN, but no other number and no other zero.

        x + 0 = x      x * 1 = x    x - x = 0    -(-x) = x           (x + C) + D = x + (C + D)    max(x, x) = x
        x - 0 = x      x / 1 = x    x / x = 1    0 - (0 - x) = x     (x * C) * D = x * (C * D)    min(x, x) = x
        x * 0 = 0                                (-x) * (-y) = x * y                              (-x) / (-y) = x / y

    The negation is `arith.negf`. There are two maxima, `arith.maximumf` and `arith.maxnumf`, and two minima.
    """
    rules = [
        rule("arith.mulf(x, 1.0)", "x"),
        *(rule(total, accumulate) for total in orders("arith.addf", "tt.dot(a, b, 0.0)", "d")),
        *(rule(total, accumulate) for total in orders("arith.addi", "tt.dot(a, b, 0)", "d")),
    ]
    # Task 9.3: Add those that hold. In a pattern, 0.0 and -0.0 are different constants.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def casts() -> list[Rule]:
    """Rules for casts of casts: one cast is enough, or none.

    Find rules for these cases:

    - A cast from a type to itself, or to another type and back, that changes no bit.
    - Two casts of the same name. Which names?
    - Two casts of different names that widen integers. Which bits are new?
    - A value is widened, and then narrowed.
    """
    rules = [
        rule("arith.bitcast(x)", drop_cast),
        rule("tt.ptr_to_int(tt.int_to_ptr(x))", drop_cast),
        rule("arith.truncf(arith.extf(x))", narrow_less),
        *(
            rule(f"arith.{name}(arith.{cast}(x), arith.{cast}(y))", f"arith.{cast}(arith.{name}(x, y))", have_one_type)
            for name in ("andi", "ori", "xori")
            for cast in ("extsi", "extui")
        ),
    ]
    # Task 9.3: Add rules for the other cases. `drop_cast` and `narrow_less` are given.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def shapes() -> list[Rule]:
    """Rules for operations that move elements. `sink` is among them: it computes first, and repeats elements then.

    Find rules for these cases:

    - A transpose, a reshape or a broadcast changes nothing, or follows on another one.
    - The elements of a splat are moved.
    - An operation undoes the one before.
    """
    rules = [
        rule("tt.trans(x)", drop_order),
        rule("tt.trans(tt.trans(x))", compose_orders),
        rule("tt.broadcast(tt.splat(x))", splat_again),
        rule("tt.expand_dims(tt.broadcast(x))", expand_first),
        *(
            Rule(f"sink {name}", (*TABLE, "tt.addptr"), sink, frozenset([name]))
            for name in ("tt.splat", "tt.broadcast")
        ),
    ]
    # Task 9.3: Add rules for the other cases. `drop_cast`, `merge_shapes` and `split_joined` are given.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def memory() -> list[Rule]:
    """Rules for pointers, loads and stores.

    Find rules for these cases:

    - A pointer is moved by 0. It is moved twice by constants; unlike integers, pointers do not wrap around.
    - The mask of a load or a store is true everywhere, or false everywhere. A load has `other` or none.
    - A select by the mask of the load whose value it takes. The load can do that itself.
    """
    rules = [
        rule("tt.load(p, true, o)", load_all),
        rule("tt.store(p, v, false)", store_nothing),
        rule("arith.select(m, tt.load(p, tt.splat(m)), D)", select_in_load),
    ]
    # Task 9.3: Add the others. `sum_fits` and the functions with `load`, `store` in their names are given.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


GROUPS = (integers, comparisons_and_selects, floats, casts, shapes, memory)


def peepholes() -> list[Rule]:
    """The rules of all groups. A group that is not written yet is left out. (Given.)"""
    found: list[Rule] = []
    for group in GROUPS:
        with suppress(NotImplementedError):
            found += group()
    return found
