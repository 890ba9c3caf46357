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
from mini_triton.transforms.rewriting import Rewriter, Rule, constant_of, rule

# --- conditions, of the values that a pattern names


def is_variable(x: Value, **others: Value) -> bool:
    """Whether a value is not a constant."""
    return constant_of(x) is None


def sum_fits(C: Value, D: Value, **others: Value) -> bool:
    """Whether two constant offsets of one type have a sum that needs no more bits. Offsets do not wrap around."""
    if C.type != D.type:
        return False
    first, second = constant_of(C), constant_of(D)
    assert first is not None and second is not None
    return -(2 ** (width(C.type) - 1)) <= first + second < 2 ** (width(C.type) - 1)


# --- replacements that a pattern cannot describe


def drop_cast(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """What was cast there and back again, or not at all."""
    return x if x.type == operation.result.type else None


def narrow_less(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """A value that is widened and then narrowed, by one cast or none: `trunci(extsi(x))`."""
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


def merge_shapes(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """A reshape of a reshape, as one. Elements in any order have none to keep."""
    inner = operation.operands[0]
    assert isinstance(inner, OpResult)
    if operation.attributes.get("allow_reorder") or inner.owner.attributes.get("allow_reorder"):
        return None
    return rewriter.create("tt.reshape", x, result=operation.result.type)


def compose_orders(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """A transpose of a transpose, as one."""
    inner = operation.operands[0]
    assert isinstance(inner, OpResult)
    first, second = inner.owner.attributes["order"], operation.attributes["order"]
    assert isinstance(first, tuple) and isinstance(second, tuple)
    return rewriter.create("tt.trans", x, order=tuple(first[i] for i in second))


def drop_order(rewriter: Rewriter, operation: Operation, x: Value) -> Value | None:
    """What a transpose leaves in order."""
    order = operation.attributes["order"]
    return x if order == tuple(range(len(shape_of(x.type)))) else None


def splat_again(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """A splat whose elements are moved around is a splat."""
    return rewriter.create("tt.splat", x, result=operation.result.type)


def expand_first(rewriter: Rewriter, operation: Operation, x: Value) -> Value:
    """Expand what is broadcast before it is: it is smaller."""
    axis: Any = operation.attributes["axis"]
    return rewriter.create("tt.broadcast", rewriter.expand_dims(x, axis), result=operation.result.type)


def split_joined(rewriter: Rewriter, operation: Operation, x: Value, y: Value) -> Sequence[Value]:
    """Both halves of what was joined."""
    return x, y


def load_all(rewriter: Rewriter, operation: Operation, p: Value, **other: Value) -> Value:
    """A load whose mask is true everywhere, without it."""
    return rewriter.like(operation, p)


def store_all(rewriter: Rewriter, operation: Operation, p: Value, v: Value) -> Sequence[Value]:
    """A store whose mask is true everywhere, without it."""
    return rewriter.operation("tt.store", p, v).results


def load_nothing(rewriter: Rewriter, operation: Operation, p: Value, o: Value | None = None) -> Value | None:
    """What a load gives whose mask is false everywhere: `other`. Without one it may be anything: then zeros."""
    if o is not None:
        return o
    type = operation.result.type
    return None if is_pointer(type) else rewriter.constant(0, type)


def store_nothing(rewriter: Rewriter, operation: Operation, p: Value, v: Value) -> Sequence[Value]:
    """A store whose mask is false everywhere goes."""
    return ()


def select_in_load(
    rewriter: Rewriter, operation: Operation, m: Value, D: Value, p: Value, **old: Value
) -> Value | None:
    """A load that gives what a select puts in masked-off lanes. It stays in place: memory may change after it."""
    loaded, number = operation.operands[1], constant_of(D)
    assert isinstance(loaded, OpResult) and number is not None
    if len(loaded.uses) > 1:
        return None
    with rewriter.before(loaded.owner):
        other = rewriter.constant(number, D.type)
        return rewriter.like(loaded.owner, p, m, other)


def accumulate(rewriter: Rewriter, operation: Operation, a: Value, b: Value, d: Value) -> Value | None:
    """A product that is added to something, as one `tt.dot`."""
    product = next(o.owner for o in operation.operands if isinstance(o, OpResult) and o.owner.name == "tt.dot")
    if len(product.result.uses) > 1 or product.attributes.get("maxNumImpreciseAcc"):
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


def integers() -> list[Rule]:
    """Rules for integers, which wrap around: the laws of arithmetic modulo 2 ** width hold.

    Some stand here: constants go to the right, so that no rule has to look for them on the left, and `x - 3` is
    written `x + -3`. What is to be found:

    - Constants that change nothing, and constants that decide the result: 0, 1, all bits. Which operations have them?
    - An operation on a value and itself.
    - An operation that undoes the one before, such as `(x + y) - y`.
    - Two constants, in an operation and the one before: they meet, and one operation is left.
    """
    rules = [
        *(rule(f"{name}(C, x)", f"{name}(x, C)", is_variable) for name in COMMUTATIVE),
        rule("arith.subi(x, C)", "arith.addi(x, arith.subi(0, C))", is_variable),
        *(rule(f"arith.{name}(x, 0)", "x") for name in ("addi", "shli")),
        rule("arith.muli(x, 0)", "0"),
        rule("arith.addi(arith.addi(x, C), D)", "arith.addi(x, arith.addi(C, D))"),
        rule("arith.addi(arith.subi(C, x), D)", "arith.subi(arith.addi(C, D), x)"),
    ]
    # Task 9.3: Add rules until each question of the docstring is answered for every integer operation of `arith`.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def comparisons_and_selects() -> list[Rule]:
    """Rules for comparisons of integers, and for the choice between two values.

    What is to be found:

    - Comparisons of a value with itself, and of unsigned integers with 0.
    - Comparisons of booleans with booleans, and of what a boolean was widened to: no comparison is left.
    - A comparison that is negated: one comparison.
    - Selects whose condition is constant, whose values are equal, whose values are booleans.
    - A select by a negated condition, and a select in a select by the same condition.
    """
    rules = [
        *(rule(f"arith.cmpi.{p}(C, x)", f"arith.cmpi.{q}(x, C)", is_variable) for p, q in MIRRORED.items()),
        *(rule(f"arith.cmpi.{predicate}(x, x)", "true") for predicate in ("eq", "sle", "sge", "ule", "uge")),
        rule("arith.cmpi.ne(x, false)", "x"),
        rule("arith.select(x, y, y)", "y"),
    ]
    # Task 9.3: Add rules for all that the docstring names. `true` and `false` in a pattern are constants of booleans.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def floats() -> list[Rule]:
    """Rules for floats: only those that hold for NaN, infinities and -0.0, to the last bit.

    Most laws of school do not. What is to be found: what remains of

    - x + 0, x - 0, x * 0, x * 1, x / 1, x - x, x / x, -(-x), 0 - (0 - x), (x + C) + D;
    - the sum of a product of matrices and something: `tt.dot` has an accumulator. (Its terms are added in an order of
      the back end's choosing, so here the last bit is not promised.) That rule holds for integers, too.
    """
    # Task 9.3: In a pattern 0.0 and -0.0 are two numbers. `accumulate` is given. One `tt.dot` is on the left or right.
    raise NotImplementedError("Task 9.3: Peepholes")


def casts() -> list[Rule]:
    """Rules for casts that follow one another: one of them is enough, or none.

    What is to be found:

    - Casts that change nothing: `arith.bitcast` and `tt.bitcast` from a type to itself, and pointers that become
      integers and pointers again.
    - Two casts of a kind: `tt.bitcast`, `arith.trunci`, and those that widen. Two of two kinds: what are the new bits?
    - A value that is widened and then narrowed. Why must floats not be narrowed and then widened?
    """
    rules = [
        rule("tt.bitcast(x)", drop_cast),
        rule("arith.extsi(arith.extui(x))", "arith.extui(x)"),
        rule("arith.truncf(arith.extf(x))", narrow_less),
    ]
    # Task 9.3: `drop_cast` and `narrow_less` are given.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def shapes() -> list[Rule]:
    """Rules for operations that move elements, and `sink`, which computes before elements are repeated.

    What is to be found:

    - Operations that change nothing: `tt.trans`, `tt.reshape` and `tt.broadcast`.
    - Two of a kind, which are one: the same three.
    - A splat whose elements are moved is a splat.
    - Operations that undo one another: `tt.splat` and `tt.unsplat`, `tt.join` and `tt.split`.
    """
    rules = [
        rule("tt.trans(x)", drop_order),
        rule("tt.trans(tt.trans(x))", compose_orders),
        rule("tt.expand_dims(tt.broadcast(x))", expand_first),
        *(
            Rule(f"sink tt.{name}", (*TABLE, "tt.addptr"), sink, frozenset([f"tt.{name}"]))
            for name in ("splat", "broadcast")
        ),
    ]
    # Task 9.3: `drop_cast`, `merge_shapes`, `splat_again` and `split_joined` are given.
    raise NotImplementedError("Task 9.3: Peepholes")
    return rules


def memory() -> list[Rule]:
    """Rules for pointers, loads and stores.

    What is to be found:

    - Offsets that are 0, and two constant offsets, one after the other. They do not wrap around: `sum_fits`.
    - Loads and stores whose mask is true everywhere, or false everywhere.
    - A select after a load, by the load's own mask: the load can do that.
    """
    rules = [
        rule("tt.load(p, true, o)", load_all),
        rule("tt.store(p, v, false)", store_nothing),
        rule("arith.select(m, tt.load(p, m), D)", select_in_load),
    ]
    # Task 9.3: `load_all`, `load_nothing`, `store_all`, `store_nothing` and `select_in_load` are given.
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
