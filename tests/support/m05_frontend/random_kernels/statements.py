"""Statements. Each function writes one kind, and says whether something visible fits.

Every program reads anywhere in the buffers that are read, and writes to places of its own. Loops end: they count down
what is known not to be much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from tests.support.m05_frontend.random_kernels.expressions import (
    STEPS,
    TWO_RESULTS,
    address,
    another,
    both,
    condition,
    expression,
    filled,
    integer,
    is_pointer,
    load,
    mask,
    merged,
    moved,
    number,
    read,
    stored,
    write,
)
from tests.support.m05_frontend.random_kernels.types import FLOATS, NUMBERS, Shape, broadcast, elements, promoted
from tests.support.m05_frontend.random_kernels.writing import Function, Value, fitting, kind

Statement = Callable[[Function], bool]

# --- memory


def pointer(k: Function) -> bool:
    """`p = x + offsets`; `p += 1`, at most once for each time that the line is run."""
    known = k.pick(is_pointer)
    if known and k.chance(60):
        text = moved(k, known, step := k.of(STEPS)).text
        k.assign(known, *((text,) if k.chance(30) else (str(step), "+=")))
    elif there := address(k):
        k.define(there, k.program.fresh("p"))
    return True


def own_part(k: Function, value: Value) -> str:
    """Where no other program writes, of a new buffer."""
    name = k.program.buffer(value.dtype, elements(value.shape) * k.program.programs, written=True)
    return f"{name} + {k.own_place(value.shape)}"


def store(k: Function, value: Value | None = None) -> bool:
    """`tl.store` to a place that no one else writes to."""
    value = value or k.pick(lambda value: stored(value) and not value.fixed)
    if value is None or k.helper:
        return False
    guard = f", mask={mask(k, value.shape).text}" if k.chance(25) else ""
    k.emit(f"tl.store({own_part(k, value)}, {value.text}{guard})")
    return True


def atomic(k: Function) -> bool:
    """`tl.atomic_add` and its like, to places that only this program writes to, and no two lanes of it."""
    wide = kind(("int32", "uint32", "int64", "uint64"))
    value = k.pick(lambda value: wide(value) or value.dtype == "fp32" and value.tame)
    if value is None or k.helper:
        return False
    operation = k.of(("add", *("max", "min", "and", "or", "xor", "xchg", "cas") * integer(value)))
    arguments = [own_part(k, value), value.text, *k.of(([], [], ["sem='relaxed'"], ["scope='cta'"]))]
    masked = operation != "cas" and k.chance(40)
    if masked:
        arguments.insert(2, f"mask={mask(k, value.shape, len(value.shape)).text}")
    if operation == "cas":
        arguments.insert(1, filled(k, value.dtype, value.shape).text)
    text = f"tl.atomic_{operation}({', '.join(arguments)})"
    if masked or k.chance(50):  # the old value of a lane that is masked off is undefined: nothing may read it
        k.emit(text)
    else:
        k.define(Value(text, value.dtype, value.shape))
    return True


# --- assignments


def assign(k: Function) -> bool:
    """`v = …`: a new name, or where no block is open an old one for a value of another type."""
    value = expression(k) or load(k)
    if value:
        old = k.pick(partial(may_change, k)) if not k.loops and k.chance(6) else None
        k.define(value, old.text if old else "")
    return value is not None


def may_change(k: Function, value: Value) -> bool:
    """Whether the name may be assigned to. In a loop tame values stay tame: earlier lines rely on it."""
    return number(value) and not value.fixed and not (k.trips > 1 and value.tame)


def keeps(target: Value, value: Value) -> bool:
    """Whether the value can be added to the target without changing its type."""
    fits = value.dtype != "int1" and promoted(value.dtype, target.dtype) == target.dtype
    return (fits or value.dtype == target.dtype) and broadcast(value.shape, target.shape) == target.shape


def takes(k: Function, value: Value, target: Value) -> bool:
    """Whether the value can be added to the target, a name outside of the open block."""
    return target.text not in k.scopes[-1] and may_change(k, target) and keeps(target, value)


def change(k: Function, target: Value | None = None, source: Value | None = None) -> bool:
    """`v += …` and its like: the name gets another value of its type."""
    target = target or k.pick(partial(may_change, k))
    if target is None:
        return False
    value = source or k.pick(both(fitting(target, number), partial(keeps, target))) or another(k, target)
    if target.dtype == "int1":
        k.assign(target, value.inner, k.of(("|=", "&=", "^=")))
    elif source is None and k.chance(25):
        k.assign(target, another(k, target).text)
    elif k.chance(20):
        k.assign(target, f"tl.where({mask(k, target.shape).text}, {value.text}, {target.text})")
    elif k.chance(30):
        k.assign(target, f"{target.text} {k.of(('+', '*', '-'))} {value.inner}")
    else:
        k.assign(target, value.text, k.of(("+=", "*=", "-=", *("|=", "&=", "^=") * (target.dtype not in FLOATS))))
    return True


def swap(k: Function) -> bool:
    """`a, b = b, a`."""
    a = k.pick(partial(may_change, k))
    b = a and k.pick(lambda value: may_change(k, value) and value.type == a.type)
    if not a or not b or a == b:
        return False
    k.emit(f"{a.text}, {b.text} = {b.text}, {a.text}")
    k.renew(a)
    k.renew(b)
    return True


def unpacking(k: Function) -> bool:
    """`v, w = tl.split(x)` and its like."""
    form = k.of([form for form in TWO_RESULTS for _ in range(form.weight)])
    results = write(k, form)
    if results:
        k.unpack(results[0].text, *results)
    return bool(results)


# --- blocks

DEEPEST = 3  # blocks in blocks
TRIPS = 4  # no loop runs more often
LEFT_OVER = 4  # values that the end of a block still does something with


def statements(k: Function, most: int) -> None:
    """Some statements, at most so many."""
    for _ in range(k.of(range(most)) + 1):
        if k.program.left > 0:
            k.program.left -= 1
            if not k.of(k.program.grammar.statements)(k):
                assign(k)


def finish(k: Function) -> None:
    """At the end of a block, what nothing has read is added to a name outside, or written to memory."""
    for value in k.unread[:LEFT_OVER]:
        if is_pointer(value):
            value = k.define(read(value))
        target = k.pick(partial(takes, k, value))
        if target:
            change(k, target, value)
        elif stored(value):
            store(k, value)


BOUNDS = (
    *("range(3)", "range(1, 4)", "range(0, 7, 2)", "range({k})", "range({k})", "range(1, {k})", "range(0, {k}, 2)"),
    *("tl.range({k})", "range({k}, 0, -1)", "range({k}, -1, -2)", "range(3, 0, -1)", "range({start} & 3)"),
    *("range({start} & 3, 4)", "tl.static_range(2)", "tl.static_range(3)", "range({pid} & 1, 6, 2)"),
)
"""What a loop runs over: `{k}` is known when the kernel runs, as `{start}` is, a scalar, and the program's number."""


def for_loop(k: Function) -> bool:
    """`for i in range(...)`, mostly with values that are carried around, maybe in a tuple."""
    if len(k.loops) >= DEEPEST:
        return False
    carried = accumulator(k)
    parts = [k.pick(lambda value: number(value) and value.dtype != "int1") or k.pid() for _ in range(2)]
    pair = k.program.fresh("t") if k.chance(15) else ""
    if pair:
        k.emit(f"{pair} = ({parts[0].text}, {parts[1].text})")
    bounds, start = k.of(BOUNDS), k.pick(kind(("int32", "int64"), 0)) or k.pid()
    dtype = "int" if "static" in bounds else start.dtype if "start" in bounds else "int32"
    variable = Value(k.program.fresh("i"), dtype, fixed=True)
    names = {"start": start.inner, "pid": k.pid().text, "k": count(k) if "{k}" in bounds else ""}
    with k.body(f"for {variable.text} in {bounds.format(**names)}:", TRIPS):
        k.scopes[-1][variable.text] = variable
        statements(k, 3)
        if carried:
            change(k, carried)
        if pair:
            k.emit(f"{pair} = ({pair}[0] + 1, {pair}[1] * 2)")
        finish(k)
    for i, part in enumerate(parts if pair else ()):
        k.define(Value(f"{pair}[{i}]", part.dtype, part.shape))
    return True


def while_loop(k: Function) -> bool:
    """`while` a counter that goes down is not 0, and mostly something else is true."""
    if len(k.loops) >= DEEPEST:
        return False
    counter, carried = k.program.fresh("w"), accumulator(k)
    k.emit(f"{counter} = {'3' if k.chance(50) else count(k)}")
    also = f" and {condition(k).inner}" if k.chance(30) else ""
    with k.body(f"while {counter} > 0{also}:", TRIPS):
        statements(k, 3)
        if carried:
            change(k, carried)
        finish(k)
        k.emit(f"{counter} {k.of(('-= 1', f'= {counter} - 1', '-= 2', '//= 2'))}")
    return True


def accumulator(k: Function) -> Value | None:
    """Mostly a name for a loop to carry."""
    if k.chance(25):
        return None
    shape: Shape = k.of(((k.program.columns,), (), (k.program.rows, k.program.columns)))
    return k.define(filled(k, k.of(("fp32", "int32", "fp32", "int32", *NUMBERS)), shape))


def count(k: Function) -> str:
    """How often a loop runs, known when the kernel does; helpers count to a constant."""
    return "3" if k.helper else k.argument("k", "int32", (3, 0, 2, 4)).text


def branch(k: Function) -> bool:
    """`if`, `elif`, `else`: with a name that all branches define, or names that some assign to."""
    if len(k.loops) >= DEEPEST:
        return False
    headers = [f"if {condition(k).text}:"]
    if k.chance(15) and not k.helper:
        headers = [f"if {k.program.constexpr('FLAG', k.chance(50))}:"]
    if k.chance(25):
        headers.append(f"elif {condition(k).text}:")
    joined = k.chance(50)
    if joined or k.chance(40):
        headers.append("else:")
    name, result = k.program.fresh("v"), None
    for header in headers:
        with k.body(header):
            statements(k, 2)
            if joined:
                value = another(k, result) if result else expression(k)
                if value is None or not merged(value):
                    value = k.pick(merged) or k.pid()
                named = k.define(value, name)
                k.read.add(name)
                result = replace(named, tame=False)
            finish(k)
    if result:
        k.declare(result, name)
    return True


def early_return(k: Function) -> bool:
    """`if …: return`, wherever no loop is around it."""
    if k.trips > 1 or k.helper or len(k.loops) >= DEEPEST:
        return False
    with k.body(f"if {condition(k).text}:"):
        statements(k, 1)
        finish(k)
        k.emit("return")
    return True


def call(k: Function) -> bool:
    """`v = helper(x, y, scale=3)`, `v, w = helper(x)`."""
    if k.helper:
        return False
    arguments = [k.pick(number) or k.pid() for _ in range(k.of((1, 2, 3)))]
    if (known := k.pick(is_pointer)) and k.chance(50):
        arguments[-1] = known
    parameters = [replace(value, text=letter) for letter, value in zip("abc", arguments, strict=False)]
    header, passed = [value.text for value in parameters], [value.text for value in arguments]
    if len(passed) > 1 and k.chance(30):
        passed[-1] = f"{header[-1]}={passed[-1]}"
    for name, default, value in (("scale", "=2", "=3"), ("SIZE", ": tl.constexpr = 4", "=2")):
        if k.chance(25):
            header.append(f"{name}{default}")
            passed += k.of(([], [f"{name}{value}"]))
            parameters.append(Value(name, "int", fixed=True))
    name, inner = k.program.fresh("f"), Function(k.program, parameters, helper=True)
    statements(inner, 2)
    results = [inner.pick(number) or inner.pid() for _ in range(k.of((1, 1, 2)))]
    if k.chance(15) and not k.loops:  # real Triton inlines no early return into a loop
        with inner.body(f"if {condition(inner).text}:"):
            inner.emit(f"return {', '.join(another(inner, value).text for value in results)}")
    inner.emit(f"return {', '.join(value.text for value in results)}")
    k.program.helpers[name] = "\n".join([f"def {name}({', '.join(header)}):", *inner.written()])
    for _ in range(k.of((1, 1, 1, 2))):
        k.unpack(f"{name}({', '.join(passed)})", *(replace(value, tame=False) for value in results))
    return True
