"""Peepholes: rules for an operation and the few operations before it, one line per rule.

Integers wrap around, so the laws of arithmetic modulo 2 ** width hold for them. A rule for floats must also hold for
NaN, infinities and -0.0: `x + 0.0` is not `x` for -0.0, but `x + -0.0` is `x`; `x - x` is not 0 for infinities;
`(x + a) + b` is rounded twice.

The tests run each group alone, together with `FOLDING`, so a rule in `integers` does not help another group. For each
group, `tests/m09_passes/test_9_3_peepholes.py` lists small functions. A group is complete when it leaves no more
operations in these functions than real Triton does.

Source: MLIR's `ArithCanonicalization.td`; Triton's `Combine.td`, `ReorderBroadcast.cpp` and `Ops.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.elementwise import TABLE, width
from mini_triton.ir.types import TensorType, Type, element_type, is_pointer, shape_of
from mini_triton.transforms.rewriting import Rewriter, Rule, constant_of, is_number, rule

# --- conditions on the values that a pattern names (given)


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
    """Whether two constant offsets have the same type, and their sum fits in it. Offsets do not wrap around."""
    if C.type != D.type:
        return False
    first, second = constant_of(C), constant_of(D)
    assert first is not None and second is not None
    return -(2 ** (width(C.type) - 1)) <= first + second < 2 ** (width(C.type) - 1)


# --- replacements that a pattern cannot describe (given)


def drop_cast(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """The value itself if its type is the result's type; otherwise, None."""
    return x if x.type == operation.result.type else None


def narrow_less(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """Replace a widening and a narrowing by at most one cast. None for different formats of the same width."""
    wide, type = operation.operands[0], operation.result.type
    assert isinstance(wide, OpResult)
    if x.type == type:
        return x
    if width(type) == width(x.type):
        return None
    name = operation.name if width(type) < width(x.type) else wide.owner.name
    return rewriter.create(name, x, result=type)


def negate(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """The negated condition of a select between `false` and `true`. None if a scalar selects tensors."""
    if x.type != operation.result.type:
        return None
    return rewriter.create("arith.xori", x, rewriter.constant(True, x.type))


def merge_shapes(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """One reshape instead of two. It may reorder the elements if one of the two may reorder them."""
    inner = operation.operands[0]
    assert isinstance(inner, OpResult)
    attributes = {**inner.owner.attributes, **operation.attributes}
    return rewriter.create("tt.reshape", x, result=operation.result.type, **attributes)


def compose_orders(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """One transpose instead of two."""
    inner = operation.operands[0]
    assert isinstance(inner, OpResult)
    first, second = inner.owner.attributes["order"], operation.attributes["order"]
    assert isinstance(first, tuple) and isinstance(second, tuple)
    return rewriter.create("tt.trans", x, order=tuple(first[i] for i in second))


def drop_order(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """The value itself if the transpose keeps the order of its axes; otherwise, None."""
    order = operation.attributes["order"]
    return x if order == tuple(range(len(shape_of(x.type)))) else None


def splat_again(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """A splat in place of an operation that moves the elements of a splat."""
    return rewriter.create("tt.splat", x, result=operation.result.type)


def expand_first(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """Expand the smaller operand of a broadcast first, then broadcast."""
    axis: Any = operation.attributes["axis"]
    return rewriter.create("tt.broadcast", rewriter.expand_dims(x, axis), result=operation.result.type)


def split_joined(rewriter: Rewriter, operation: Operation, x: Value, y: Value) -> Sequence[Value]:
    """The two values that were joined."""
    return x, y


def load_all(rewriter: Rewriter, operation: Operation, p: Value, **other: Value) -> Value:
    """A load without its mask, because the mask is true everywhere."""
    return rewriter.like(operation, p)


def store_all(rewriter: Rewriter, operation: Operation, p: Value, v: Value) -> Sequence[Value]:
    """A store without its mask, because the mask is true everywhere."""
    attributes: dict[str, Any] = operation.attributes
    return rewriter.operation("tt.store", p, v, **attributes).results


def load_nothing(rewriter: Rewriter, operation: Operation, p: Value, o: Value | None = None) -> Value | None:
    """The `other` of a load whose mask is false everywhere; without `other`, zeros, as any value is allowed."""
    if o is not None:
        return o
    type = operation.result.type
    return None if is_pointer(type) else rewriter.constant(0, type)


def store_nothing(rewriter: Rewriter, operation: Operation, p: Value, v: Value) -> Sequence[Value]:
    """No values, so that a store whose mask is false everywhere is erased."""
    return ()


def select_in_load(rewriter: Rewriter, operation: Operation, D: Value, p: Value, **others: Value) -> Value | None:
    """A load whose `other` is the value that the select puts into masked-off elements.

    The new load takes the place of the old load, because memory may change after the old load. None if the old load has
    other users, or is volatile.
    """
    loaded, number = operation.operands[1], constant_of(D)
    assert isinstance(loaded, OpResult) and number is not None
    if len(loaded.uses) > 1 or loaded.owner.attributes.get("isVolatile"):
        return None
    with rewriter.before(loaded.owner):
        other = rewriter.constant(number, D.type)
        return rewriter.like(loaded.owner, p, loaded.owner.operands[1], other)


def accumulate(rewriter: Rewriter, operation: Operation, a: Value, b: Value, d: Value) -> Value | None:
    """One `tt.dot` for a product and a sum. None if the product has other users, or is in another block."""
    product = next(o.owner for o in operation.operands if isinstance(o, OpResult) and o.owner.name == "tt.dot")
    elsewhere = len(product.result.uses) > 1 or product.parent is not operation.parent
    if elsewhere or product.attributes.get("maxNumImpreciseAcc"):
        return None
    return rewriter.like(product, a, b, d)


# --- splats and broadcasts sink


def sink(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Apply an elementwise operation to smaller operands, then broadcast the result.

    Return None if that is impossible.
    """
    # Task 9.3: If both operands of a sum are broadcast from `tensor<2x1xf32>`, the new sum has this type; if both are
    # splats, the new sum is a scalar. Do not change the sum of a broadcast from `tensor<2x1xf32>` and a broadcast from
    # `tensor<1x4xf32>`. You may assume that at least one operand is a splat or a broadcast.
    raise NotImplementedError("Task 9.3: Peepholes")


def source_shape(value: Value) -> tuple[int, ...] | None:
    """The shape from which a tensor is broadcast: () for a splat or a constant; None for other tensors. (Given.)"""
    if not isinstance(value, OpResult) or value.owner.name not in ("tt.splat", "tt.broadcast", "arith.constant"):
        return None
    return shape_of(value.owner.operands[0].type) if value.owner.operands else ()


def shrink(rewriter: Rewriter, value: Value, shape: tuple[int, ...]) -> Value:
    """A splat, a constant or a broadcast, in its smaller source shape. (Given.)"""
    if not isinstance(value.type, TensorType):
        return value
    constant = constant_of(value)
    if constant is not None:
        return rewriter.constant(constant, with_shape(value.type, shape))
    assert isinstance(value, OpResult)
    return rewriter.broadcast_to(value.owner.operands[0], shape)


def with_shape(type: Type, shape: tuple[int, ...]) -> Type:
    """A type with the same element type and a new shape. (Given.)"""
    return TensorType(shape, element_type(type)) if shape else element_type(type)


# --- the rules

COMMUTATIVE = tuple(f"arith.{name}" for name in "addi muli andi ori xori maxsi minsi maxui minui addf mulf".split())
MIRRORED = {"eq": "eq", "ne": "ne", "slt": "sgt", "sle": "sge", "sgt": "slt", "sge": "sle"} | {
    **{"ult": "ugt", "ule": "uge", "ugt": "ult", "uge": "ule"}
}
"""For each predicate, the predicate for swapped operands."""
NEGATED = {"eq": "ne", "ne": "eq", "slt": "sge", "sle": "sgt", "sgt": "sle", "sge": "slt"} | {
    **{"ult": "uge", "ule": "ugt", "ugt": "ule", "uge": "ult"}
}
"""For each predicate, the predicate that is true where the first one is false."""


def orders(name: str, first: str, second: str) -> tuple[str, str]:
    """The patterns of an operation on two operands, in both orders. (Given.)"""
    return f"{name}({first}, {second})", f"{name}({second}, {first})"


def integers() -> list[Rule]:
    """Rules for integers. Integers wrap around, so the laws of arithmetic modulo 2 ** width hold.

    Find rules for these cases, which occur with the `arith` operations on integers:

    - A constant operand changes nothing, or decides the result. Look at 0, 1, and -1 (all bits set).
    - Both operands are the same value.
    - An operation undoes the previous operation: `(x + y) - y`.
    - Each of two consecutive operations has a constant operand, and one operation is enough.

    On a device, division by 0 is undefined. Nevertheless, rules must keep the result that `evaluate` computes.

    The given rules bring operations into one form, and your rules can rely on this form: constants are on the right,
    and `x - 3` becomes `x + -3`. A rule that undoes this form never ends: `x + (0 - y)` may become `x - y` only if `y`
    is not a constant.
    """
    rules = [
        *(rule(f"{name}(C, x)", f"{name}(x, C)", is_variable) for name in COMMUTATIVE),
        rule("arith.subi(x, C)", "arith.addi(x, arith.subi(0, C))", is_variable),
        *(rule(f"arith.{name}(x, 0)", "x") for name in ("addi", "maxui")),
        *(rule(f"arith.{name}(x, 0)", "0") for name in ("muli", "minui")),
        *(rule(f"arith.{name}(x, C)", "x", when) for name, when in (("maxsi", is_least), ("minsi", is_greatest))),
        *(rule(f"arith.{name}(x, C)", "C", when) for name, when in (("maxsi", is_greatest), ("minsi", is_least))),
        *(rule(both, "0") for both in orders("arith.andi", "x", "arith.xori(x, -1)")),
        *(rule(either, "-1") for either in orders("arith.ori", "x", "arith.xori(x, -1)")),
        *(rule(f"arith.subi({total}, y)", "x") for total in orders("arith.addi", "x", "y")),
        *(
            rule(twice, once)
            for name in ("arith.andi", "arith.ori")
            for once in orders(name, "x", "y")
            for twice in orders(name, once, "y")
        ),
        rule("arith.subi(arith.subi(x, y), x)", "arith.subi(0, y)"),
        *(rule(twice, "x") for once in orders("arith.xori", "x", "y") for twice in orders("arith.xori", once, "y")),
        rule("arith.addi(arith.addi(x, C), D)", "arith.addi(x, arith.addi(C, D))"),
        rule("arith.addi(arith.subi(C, x), D)", "arith.subi(arith.addi(C, D), x)"),
    ]
    # Task 9.3: Add rules for the cases and operations that the given rules do not cover.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def comparisons_and_selects() -> list[Rule]:
    """Rules for comparisons of integers, and for selects.

    Find rules for these cases:

    - A value is compared with itself. An unsigned comparison has 0 on the right.
    - A boolean is compared with a boolean constant. A boolean is widened and then compared with 0.
    - A select has a constant condition, or a negated one. (`arith.xori(x, true)` negates.)
    - One value of a select is a select with the same condition.
    """
    rules = [
        *(rule(f"arith.cmpi.{p}(C, x)", f"arith.cmpi.{q}(x, C)", is_variable) for p, q in MIRRORED.items()),
        *(rule(f"arith.xori(arith.cmpi.{p}(x, y), true)", f"arith.cmpi.{q}(x, y)") for p, q in NEGATED.items()),
        rule("arith.cmpi.eq(x, x)", "true"),
        rule("arith.cmpi.ne(x, false)", "x"),
        rule("arith.cmpi.ne(arith.extui(x), 0)", "x"),
        rule("arith.select(x, y, y)", "y"),
        rule("arith.select(x, true, false)", "x"),
        rule("arith.select(x, false, true)", negate),
        rule("arith.select(x, arith.select(x, y, z), w)", "arith.select(x, y, w)"),
    ]
    # Task 9.3: Add rules for the cases that the given rules do not cover. In a pattern, `true` and `false` match only
    # boolean constants.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def floats() -> list[Rule]:
    """Rules for floats: only those that also hold for NaN, infinities and -0.0.

    The following laws hold for real numbers. For floats, some also hold, some hold for only one sign of zero, and some
    do not hold. A rule may change one NaN into another, but must keep every other result, including the sign of zeros.

        x + 0 = x      x * 1 = x    x - x = 0    -(-x) = x           (x + C) + D = x + (C + D)    max(x, x) = x
        x - 0 = x      x / 1 = x    x / x = 1    0 - (0 - x) = x     (x * C) * D = x * (C * D)    min(x, x) = x
        x * 0 = 0                                (-x) * (-y) = x * y                              (-x) / (-y) = x / y

    Negation is `arith.negf`, and division is `arith.divf`. There are two maxima, `arith.maximumf` and `arith.maxnumf`,
    and two minima.
    """
    rules = [
        rule("arith.mulf(x, 1.0)", "x"),
        *(rule(total, accumulate) for total in orders("arith.addf", "tt.dot(a, b, 0.0)", "d")),
        *(rule(total, accumulate) for total in orders("arith.addi", "tt.dot(a, b, 0)", "d")),
    ]
    # Task 9.3: Add a rule for each law that holds. In a pattern, 0.0 and -0.0 are different constants.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def casts() -> list[Rule]:
    """Rules for casts of casts: one cast, or none, is enough.

    Find rules for these cases:

    - A bitcast goes from a type to itself, or a value is cast from a pointer to an integer and back, or from an integer
      to a pointer and back.
    - Two casts have the same name. For which names is one cast enough?
    - Two casts with different names widen an integer. Which bits does each cast add?
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
    # Task 9.3: Add rules for the cases that the given rules do not cover. Given: `drop_cast`, `narrow_less`.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def shapes() -> list[Rule]:
    """Rules for operations that move elements.

    One of them is `sink`, which moves splats and broadcasts to the results of arithmetic.

    Find rules for these cases:

    - A transpose, a reshape or a broadcast changes nothing, or its operand is an operation of the same kind.
    - An operation moves the elements of a splat.
    - An operation undoes the previous operation.
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
    # Task 9.3: Add rules for the cases that the given rules do not cover. Given: `drop_cast`, `merge_shapes`,
    # `splat_again`, `split_joined`.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def memory() -> list[Rule]:
    """Rules for pointers, loads and stores.

    Find rules for these cases:

    - A `tt.addptr` adds 0, or each of two consecutive `tt.addptr` adds a constant. Unlike integers, offsets do not wrap
      around.
    - The mask of a load or a store is true everywhere, or false everywhere. A load may have an `other`.
    - A select takes the value of a load where the load's mask is true. Without the select, the load's `other` can
      provide the remaining elements.
    """
    rules = [
        rule("tt.load(p, true, o)", load_all),
        rule("tt.store(p, v, false)", store_nothing),
        rule("arith.select(m, tt.load(p, tt.splat(m)), D)", select_in_load),
    ]
    # Task 9.3: Add rules for the cases that the given rules do not cover. Given: `sum_fits`, `load_all`,
    # `load_nothing`, `store_all`, `select_in_load`.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


GROUPS = (integers, comparisons_and_selects, floats, casts, shapes, memory)


def peepholes() -> list[Rule]:
    """The rules of all groups, except groups that are not written yet. (Given.)"""
    found: list[Rule] = []
    for group in GROUPS:
        with suppress(NotImplementedError):
            found += group()
    return found
