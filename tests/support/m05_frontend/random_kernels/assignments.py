"""Names that get another value, and what happens to values that nothing has read."""

from __future__ import annotations

from tests.support.m05_frontend.random_kernels.functions import another
from tests.support.m05_frontend.random_kernels.memory import is_pointer, load, read, store
from tests.support.m05_frontend.random_kernels.operators import comparison, fitting
from tests.support.m05_frontend.random_kernels.program import Value
from tests.support.m05_frontend.random_kernels.types import FLOATS, NUMBERS, STORED, broadcast, promoted
from tests.support.m05_frontend.random_kernels.writer import Function

LEFT_OVER = 4  # values that the end of a block still does something with


def assign(k: Function) -> bool:
    """`v = …`: a new name."""
    if value := k.expression() or load(k):
        k.define(value)
    return value is not None


def first(k: Function) -> None:
    """A value to begin with."""
    if value := load(k):
        k.define(value)


def replaced(k: Function) -> bool:
    """Where no block is open a name may get a value of another type."""
    old = None if k.depth else k.pick(lambda value: may_change(k, value))
    value = old and k.expression()
    if old and value:
        k.define(value, old.text)
    return bool(value)


def may_change(k: Function, value: Value) -> bool:
    """Whether the name may be assigned to. In a loop tame values stay tame: earlier lines rely on it."""
    return value.dtype in NUMBERS and not value.fixed and not (k.looping and value.tame)


def change(k: Function) -> bool:
    """`v += …` and its like."""
    target = k.pick(lambda value: may_change(k, value))
    if target:
        update(k, target)
    return target is not None


def update(k: Function, target: Value, source: Value | None = None) -> None:
    """The name gets another value of its type."""
    value = source or _addend(k, target)
    if target.dtype == "int1":
        k.assign(target, value.inner, k.of(("|=", "&=", "^=")))
    elif source is None and k.chance(25):
        k.assign(target, another(k, target).text)
    elif k.chance(20) and (chooser := comparison(k)) and broadcast(chooser.shape, target.shape) == target.shape:
        k.assign(target, f"tl.where({chooser.text}, {value.text}, {target.text})")
    elif k.chance(30):
        k.assign(target, f"{target.text} {k.of(('+', '*', '-'))} {value.inner}")
    else:
        operators = ("+=", "*=", "-=") if target.dtype in FLOATS else ("+=", "*=", "-=", "|=", "&=", "^=")
        k.assign(target, value.text, k.of(operators))


def _addend(k: Function, target: Value) -> Value:
    """A value that leaves the target's type as it is when added to it: of that type, or promoted to it."""

    def keeps(value: Value) -> bool:
        same_shape = broadcast(value.shape, target.shape) == target.shape
        return fitting(target)(value) and same_shape and promoted(value.dtype, target.dtype) == target.dtype

    found = k.pick(keeps) if target.dtype != "int1" else None
    return found or another(k, target)


def swap(k: Function) -> bool:
    """`a, b = b, a`."""
    a = k.pick(lambda value: may_change(k, value))
    b = a and k.pick(lambda value: may_change(k, value) and value.type == a.type)
    if not a or not b or a == b:
        return False
    k.emit(f"{a.text}, {b.text} = {b.text}, {a.text}")
    k.renew(a)
    k.renew(b)
    return True


def finish(k: Function) -> None:
    """At the end of a block, what nothing has read is added to a name outside, or written to memory."""
    for value in k.unread[:LEFT_OVER]:
        if is_pointer(value):
            value = k.define(read(value))
        target = _target(k, value)
        if target:
            update(k, target, value)
        elif value.dtype in STORED:
            store(k, value)


def _target(k: Function, value: Value) -> Value | None:
    """A name outside of the open block that the value can be added to."""
    inside = k.scopes[-1]
    return k.pick(lambda outer: outer.text not in inside and may_change(k, outer) and _takes(outer, value))


def _takes(outer: Value, value: Value) -> bool:
    """Whether the value can be added to the outer one without changing its type."""
    if broadcast(value.shape, outer.shape) != outer.shape:
        return False
    if "int1" in (value.dtype, outer.dtype):
        return value.dtype == outer.dtype
    return promoted(value.dtype, outer.dtype) == outer.dtype
