"""Statements. Each function writes one kind, and says whether something visible fits.

Every program reads anywhere in the buffers that are read, and writes to places of its own. Loops end: they count down
what is known not to be much.
"""

import functools
import math
from dataclasses import replace

from tests.support.m05_frontend.random_kernels import expressions as e
from tests.support.m05_frontend.random_kernels.writing import INTEGERS, NUMBERS, Function, Shape, Value, broadcast, kind

# --- memory


def pointer(k: Function) -> bool:
    """`p = x + offsets`; `p += 1`."""
    known = k.pick(e.is_pointer)
    if known and k.chance(60):
        step = k.of(e.STEPS)
        k.assign(known, *((f"{known.text} + {step}",) if k.chance(30) else (str(step), "+=")))
    elif there := e.address(k):
        k.define(there, k.program.fresh("p"))
    return True


def own_part(k: Function, value: Value) -> str:
    """A place in a new buffer to which no other program writes."""
    return f"{k.program.buffer(value.dtype, math.prod(value.shape))} + {k.own_place(value.shape)}"


def store(k: Function, value: Value | None = None) -> bool:
    """`tl.store` to a place that no other statement writes."""
    value = value or k.pick(lambda value: value.dtype in k.program.grammar.dtypes and not value.fixed)
    if value is None or k.helper:
        return False
    guard = f", mask={e.mask(k, value.shape).text}" if k.chance(25) else ""
    k.emit(f"tl.store({own_part(k, value)}, {value.text}{guard})")
    return True


def atomic(k: Function) -> bool:
    """`tl.atomic_add` and its like, to places that only this program writes to, and no two lanes of it."""
    value = k.pick(kind(e.WIDE_INTEGERS))
    if value is None or k.helper:
        return False
    operation = k.of(("add", "max", "min", "and", "or", "xor", "xchg"))
    k.define(replace(value, text=f"tl.atomic_{operation}({own_part(k, value)}, {value.text})"))
    return True


# --- assignments


def assign(k: Function) -> bool:
    """`v = …`: a new name, or where no block is open an old one for a value of another type."""
    value = e.expression(k) or e.load(k)
    if value:
        old = k.pick(may_change) if not k.loops and k.chance(6) else None
        k.define(value, old.text if old else "")
    return value is not None


def may_change(value: Value) -> bool:
    """Whether the name may be assigned to."""
    return e.merged(value) and not value.fixed


def change(k: Function, target: Value | None = None, source: Value | None = None) -> bool:
    """`v += …` and its like: the name gets another value of its type."""
    target = target or k.pick(may_change)
    if target is None:
        return False
    value = source or e.another(k, target)
    if target.dtype == "int1":
        k.assign(target, value.inner, k.of(("|=", "&=", "^=")))
    elif source is None and k.chance(25):
        k.assign(target, value.text)
    elif k.chance(20):
        k.assign(target, f"tl.where({e.mask(k, target.shape).text}, {value.text}, {target.text})")
    elif k.chance(30):
        k.assign(target, f"{target.text} {k.of(('+', '*', '-'))} {value.inner}")
    else:
        k.assign(target, value.text, k.of(("+=", "*=", "-=", *("|=", "&=", "^=") * (target.dtype in INTEGERS))))
    return True


def swap(k: Function) -> bool:
    """`a, b = b, a`."""
    a = k.pick(may_change)
    b = a and k.pick(lambda value: may_change(value) and value.type == a.type and value != a)
    if a and b:
        k.emit(f"{a.text}, {b.text} = {b.text}, {a.text}")
        k.read -= {a.text, b.text}
    return b is not None


# --- blocks

DEEPEST = 3  # the most levels of nested blocks
TRIPS = 4  # the most iterations of a loop
LEFT_OVER = 4  # the most unread values that the end of a block uses


def statements(k: Function, most: int) -> None:
    """Some statements, at most this many."""
    for _ in range(k.of(range(most)) + 1):
        if k.program.left > 0:
            k.program.left -= 1
            if not k.of(k.program.grammar.statements)(k):
                assign(k)


def finish(k: Function) -> None:
    """At the end of a block, add values that nothing has read to a name outside, or write them to memory."""
    for value in k.unread[:LEFT_OVER]:
        if e.is_pointer(value):
            value = k.define(e.read(value))
        target = k.pick(functools.partial(takes, k, value))
        if target:
            change(k, target, value)
        elif value.dtype in k.program.grammar.dtypes:
            store(k, value)


def takes(k: Function, value: Value, target: Value) -> bool:
    """Whether the value can be added to the target, a name outside the open block."""
    fits = value.dtype == target.dtype and broadcast(value.shape, target.shape) == target.shape
    return fits and may_change(target) and target.text not in k.scopes[-1]


BOUNDS = (
    *("range(3)", "range(1, 4)", "range(0, 7, 2)", "range({k})", "range({k})", "range(1, {k})", "range(0, {k}, 2)"),
    *("tl.range({k})", "range({k}, 0, -1)", "range({k}, -1, -2)", "range(3, 0, -1)", "range({start} & 3)"),
    *("range({start} & 3, 4)", "tl.static_range(2)", "tl.static_range(3)", "range(pid & 1, 6, 2)"),
)
"""The range of a loop: `{k}` is known when the kernel runs, as `{start}` is, a scalar, and the program's number."""


def for_loop(k: Function) -> bool:
    """`for i in range(...)`, mostly with a carried value."""
    if len(k.loops) >= DEEPEST:
        return False
    bounds, start = k.of(BOUNDS), k.pick(kind(("int32", "int64"), 0)) or k.pid
    dtype = "int" if "static" in bounds else start.dtype if "start" in bounds else "int32"
    variable = Value(k.program.fresh("i"), dtype, fixed=True)
    carry(k, f"for {variable.text} in {bounds.format(start=start.inner, k='3' if k.helper else 'k')}:", variable)
    return True


def while_loop(k: Function) -> bool:
    """`while` a counter that goes down is not 0, and sometimes something else is true."""
    if len(k.loops) >= DEEPEST:
        return False
    counter = k.program.fresh("w")
    k.emit(f"{counter} = {'3' if k.helper or k.chance(50) else 'k'}")
    also = f" and {e.condition(k).inner}" if k.chance(30) else ""
    last = f"{counter} {k.of(('-= 1', f'= {counter} - 1', '-= 2', '//= 2'))}"
    carry(k, f"while {counter} > 0{also}:", Value(counter, "int32", fixed=True), last)
    return True


def carry(k: Function, header: str, variable: Value, last: str = "") -> None:
    """A loop, mostly with an accumulator before it and what is added to that in it."""
    dtype = k.program.dtype(("float32", "int32", "float32", "int32", *NUMBERS))
    shape: Shape = k.of(((k.program.columns,), (), (k.program.rows, k.program.columns)))
    carried = None if k.chance(25) else k.define(e.filled(k, dtype, shape))
    with k.body(header, TRIPS):
        k.scopes[-1][variable.text] = variable
        statements(k, 3)
        if carried:
            change(k, carried)
        finish(k)
        if last:
            k.emit(last)


def branch(k: Function) -> bool:
    """`if`, `elif`, `else`: with a name that all branches define, or names that some assign to."""
    if len(k.loops) >= DEEPEST:
        return False
    known = k.chance(15) and not k.helper
    headers = [f"if {'FLAG' if known else e.condition(k).text}:"]
    if k.chance(25):
        headers.append(f"elif {e.condition(k).text}:")
    joined = k.chance(50)
    if joined or k.chance(40):
        headers.append("else:")
    name, result = k.program.fresh("v"), None
    for header in headers:
        with k.body(header):
            statements(k, 2)
            if joined:
                value = e.another(k, result) if result else e.expression(k)
                if value is None or not e.merged(value):
                    value = k.pick(e.merged) or k.pid
                result = k.define(value, name)
                k.read.add(name)
            finish(k)
    if result:
        k.declare(result, name)
    return True


def early_return(k: Function) -> bool:
    """`if …: return`, wherever no loop is around it."""
    if k.trips > 1 or k.helper or len(k.loops) >= DEEPEST:
        return False
    with k.body(f"if {e.condition(k).text}:"):
        statements(k, 1)
        finish(k)
        k.emit("return")
    return True


def call(k: Function) -> bool:
    """`v = helper(x, b=y, SIZE=2)`, `v, w = helper(x)`."""
    if k.helper:
        return False
    arguments = [k.pick(e.number) or k.pid, k.pick(e.is_pointer) or k.pick(e.number) or k.pid]
    parameters = [replace(value, text=letter, fixed=False) for letter, value in zip("ab", arguments, strict=True)]
    inner = Function(k.program, [*parameters, Value("SIZE", "int", fixed=True)], helper=True)
    statements(inner, 2)
    results = [inner.pick(e.number) or inner.pid for _ in range(k.of((1, 1, 2)))]
    if k.chance(15) and not k.loops:  # real Triton inlines no early return into a loop
        with inner.body(f"if {e.condition(inner).text}:"):
            inner.emit(f"return {', '.join(e.another(inner, value).text for value in results)}")
    inner.emit(f"return {', '.join(value.text for value in results)}")
    name, header = k.program.fresh("f"), f"(a, b, SIZE{k.of((': tl.constexpr = 4', '=2'))})"
    k.program.helpers[name] = "\n".join([f"def {name}{header}:", *inner.lines])
    first, second = (value.text for value in arguments)
    for _ in range(k.of((1, 1, 1, 2))):
        passed = k.of((f"{first}, {second}", f"{first}, b={second}", f"{first}, {second}, SIZE=2"))
        names = [k.program.fresh("v") for _ in results]
        k.emit(f"{', '.join(names)} = {name}({passed})")
        for new, value in zip(names, results, strict=True):
            k.declare(value, new)
    return True
