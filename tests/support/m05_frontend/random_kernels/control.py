"""Statements with a body. Loops end: they count down what is known not to be much."""

from __future__ import annotations

from tests.support.m05_frontend.random_kernels.assignments import finish, update
from tests.support.m05_frontend.random_kernels.functions import another, filled
from tests.support.m05_frontend.random_kernels.operators import condition, is_merged, is_number
from tests.support.m05_frontend.random_kernels.program import Value
from tests.support.m05_frontend.random_kernels.types import NUMBERS
from tests.support.m05_frontend.random_kernels.writer import DEEPEST, Function

TRIPS = 4  # no loop runs more often


def for_loop(k: Function) -> bool:
    """`for i in range(...)`, mostly with values that are carried around."""
    if k.depth >= DEEPEST:
        return False
    carried = _accumulator(k) if not k.chance(25) else None
    pair = _pair(k) if k.chance(15) else None
    bounds, variable = _bounds(k)
    with k.body(f"for {variable.text} in {bounds}:", TRIPS):
        k.scopes[-1][variable.text] = variable
        k.steps(3)
        if carried:
            update(k, carried)
        if pair:
            first, second = (part.text for part in pair)
            k.emit(f"{first.partition('[')[0]} = ({first} + 1, {second} * 2)")
        finish(k)
    for part in pair or ():
        k.define(part)
    return True


def _accumulator(k: Function) -> Value:
    """A name for a loop to carry."""
    shape = k.of(((k.program.columns,), (), (k.program.rows, k.program.columns)))
    return k.define(filled(k, k.of(("fp32", "int32", "fp32", "int32", *NUMBERS)), shape))


def _pair(k: Function) -> list[Value]:
    """The parts of a new tuple, for a loop to carry."""
    parts = [k.pick(lambda value: is_number(value) and value.dtype != "int1") or k.pid() for _ in range(2)]
    name = k.program.fresh("t")
    k.emit(f"{name} = ({parts[0].text}, {parts[1].text})")
    return [Value(f"{name}[{i}]", part.dtype, part.shape) for i, part in enumerate(parts)]


def _bounds(k: Function) -> tuple[str, Value]:
    """What a loop runs over, and its variable; a static one's is a Python number."""
    name, dtype = k.program.fresh("i"), "int32"
    match k.number(10):
        case 0 | 1:
            text = k.of(("range(3)", "range(1, 4)", "range(0, 7, 2)"))
        case 2 | 3 | 4:
            text = k.of(("range({})", "range(1, {})", "range(0, {}, 2)", "tl.range({})")).format(_count(k))
        case 5 | 6:
            text = k.of(("range({}, 0, -1)", "range({}, -1, -2)")).format("3" if k.chance(30) else _count(k))
        case 7 if start := k.pick(lambda value: value.dtype in ("int32", "int64") and not value.shape):
            text, dtype = k.of((f"range({start.inner} & 3)", f"range({start.inner} & 3, 4)")), start.dtype
        case 8 | 9:
            text, dtype = f"tl.static_range({k.of((2, 3))})", "int"
        case _:
            text = f"range({k.pid().text} & 1, 6, 2)"
    return text, Value(name, dtype, fixed=True)


def _count(k: Function) -> str:
    """How often a loop runs, known when the kernel does; helpers count to a constant."""
    return "3" if k.helper else k.argument("k", "int32", (3, 0, 2, 4)).text


def while_loop(k: Function) -> bool:
    """`while` a counter that goes down is not 0, and mostly something else is true."""
    if k.depth >= DEEPEST:
        return False
    start = "3" if k.chance(50) else _count(k)
    counter = k.define(Value(start, "int32", fixed=True), k.program.fresh("w"))
    carried = _accumulator(k) if not k.chance(25) else None
    also = f" and {condition(k).inner}" if k.chance(30) else ""
    with k.body(f"while {counter.text} > 0{also}:", TRIPS):
        k.steps(3)
        if carried:
            update(k, carried)
        finish(k)
        k.emit(f"{counter.text} {k.of(('-= 1', '= ' + counter.text + ' - 1', '-= 2', '//= 2'))}")
    return True


def branch(k: Function) -> bool:
    """`if`, `elif`, `else`: with a name that all branches define, or names that some assign to."""
    if k.depth >= DEEPEST:
        return False
    headers = [f"if {condition(k).text}:"]
    if k.chance(15) and not k.helper:
        headers = [f"if {k.program.constexpr('FLAG', k.chance(50))}:"]
    if k.chance(25):
        headers.append(f"elif {condition(k).text}:")
    merged = k.chance(50)
    if merged or k.chance(40):
        headers.append("else:")
    name, result = k.program.fresh("v"), None
    for header in headers:
        with k.body(header):
            k.steps(2)
            if merged:
                result = _result(k, name, result)
            finish(k)
    if result:
        k.declare(result, name)
    return True


def _result(k: Function, name: str, earlier: Value | None) -> Value:
    """A branch defines the name; in all branches it has the type that it has in the first."""
    value = another(k, earlier) if earlier else k.expression()
    if value is None or not is_merged(value):
        value = k.pick(is_merged) or k.pid()
    k.define(value, name)
    k.read.add(name)
    named = k.scopes[-1][name]
    return Value(name, named.dtype, named.shape)


def early_return(k: Function) -> bool:
    """`if …: return`, where the kernel has no other block open."""
    if k.depth or k.helper or not k.chance(40):
        return False
    with k.body(f"if {condition(k).text}:"):
        k.steps(1)
        k.emit("return")
    return True


def ternary(k: Function) -> Value | None:
    """`x if condition else y`."""
    if not (a := k.pick(is_merged)):
        return None
    b = another(k, a)
    if k.chance(30):
        a, b = b, a
    return Value(f"{a.inner} if {condition(k).text} else {b.inner}", b.dtype, b.shape, loose=True)
