"""Statements. Each function writes one kind, and says whether something visible fits.

Every program reads anywhere in the buffers that are read, and writes to places of its own. Loops end: they count down
what is known not to be much.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tests.support.m05_frontend.random_kernels.expressions import (
    another,
    comparison,
    condition,
    converted,
    filled,
    fitting,
    is_integer,
    is_merged,
    is_number,
)
from tests.support.m05_frontend.random_kernels.recipe import (
    DEEPEST,
    FLOATS,
    FP8,
    INTEGERS,
    NUMBERS,
    STORED,
    Function,
    Helper,
    Shape,
    Value,
    broadcast,
    elements,
    promoted,
)

# --- memory

LOADED = ("fp32", "int32", "fp16", *("fp32",) * 6, *("int32",) * 3, *INTEGERS, *FLOATS, "int1", *FP8)
STEPS = (1, 2, 4)
ATOMIC = ("int32", "uint32", "int64", "uint64", "fp32")


def place(k: Function, shape: Shape) -> Value:
    """A block of this shape that holds the numbers from 0 on; nothing for a scalar."""
    if not shape:
        return Value("", "int32")
    if len(shape) == 1:
        return k.lanes(shape[0])
    if shape[1] == 1:
        return Value(f"{k.lanes(shape[0]).text}[:, None]", "int32", shape)
    if shape[0] == 1:
        return Value(f"{k.lanes(shape[1]).text}[None, :]", "int32", shape)
    rows, columns = map(k.lanes, shape)
    text = f"{rows.text}[:, None] * {k.size(shape[1])} + {columns.text}[None, :]"
    return k.at_start(f"{rows.text}x{shape[1]}", text, "int32", shape)


def mask(k: Function, shape: Shape, of_rank: int = 0) -> Value:
    """A condition for each element, or for all; atomics take none with fewer dimensions."""

    def fits(value: Value) -> bool:
        return value.dtype == "int1" and broadcast(value.shape, shape) == shape and len(value.shape) >= of_rank

    found = k.pick(fits)
    if found and k.chance(60):
        return found
    made = comparison(k) if k.chance(15) else None
    if made and fits(made):
        return made
    where = place(k, shape) if shape else k.pid()
    limit = "3" if k.helper else k.argument("n", "int32", (5, 16, 0, 3, 11)).text
    return Value(f"{where.inner} < {limit}", "int1", shape, loose=True)


def load(k: Function) -> Value | None:
    """`tl.load`, with and without a mask."""
    if not (address := _address(k)):
        return None
    if not k.chance(45):
        return read(address)
    dtype, shape = address.dtype.removeprefix("*"), address.shape
    tame = dtype in (*FLOATS, *FP8)
    guard = mask(k, shape)
    other = Value(k.of(("0.0", "1.0")), "float", tame=True) if tame else Value(k.of(("0", "1")), "int")
    if dtype not in FP8 and k.chance(60):
        same = k.pick(lambda value: is_number(value) and broadcast(value.shape, shape) == shape)
        other = same and converted(same, dtype) or other
    tame = tame and other.tame
    if k.chance(30) and promoted(dtype, other.dtype) == dtype:
        text = f"tl.where({guard.text}, tl.load({address.text}, mask={guard.text}), {other.text})"
        return Value(text, dtype, shape, tame=tame)
    return Value(f"tl.load({address.text}, mask={guard.text}, other={other.text})", dtype, shape, tame=tame)


def read(address: Value) -> Value:
    """What is in memory there. Floats in buffers are tame."""
    dtype = address.dtype.removeprefix("*")
    return Value(f"tl.load({address.text})", dtype, address.shape, tame=dtype in (*FLOATS, *FP8))


def is_pointer(value: Value) -> bool:
    """Whether it can be read from."""
    return value.dtype.startswith("*")


def _address(k: Function) -> Value | None:
    """What a load reads: where a pointer is now, a program's own part of a buffer, or any of its first elements."""
    known = k.pick(is_pointer)
    if known and (k.helper or k.chance(40)):
        return _moved(k, known, k.of((0, 0, *STEPS)))
    if k.helper:
        return None
    dtype = k.of(LOADED)
    shape = k.of(((k.program.columns,), (k.program.rows, k.program.columns), (), (k.program.rows,)))
    kind = k.number(6)
    if kind == 5 and (index := k.pick(lambda value: is_integer(value) and not value.text.startswith("r"))):
        return _into(k, dtype, 8, index.shape, f"({index.inner} & 7)")
    if kind > 2:
        return _into(k, dtype, elements(shape) * k.program.programs, shape, _own(k, shape))
    return _into(k, dtype, elements(shape), shape, place(k, shape).text)


def _into(k: Function, dtype: str, length: int, shape: Shape, offset: str) -> Value:
    """A pointer into a buffer that has at least so many elements."""
    name = k.program.buffer(dtype, length)
    text = f"{name} + {offset}" if offset else name
    return Value(text, f"*{dtype}", shape, loose=bool(offset), buffers=(name,))


def _own(k: Function, shape: Shape) -> str:
    """The program's own part of a buffer: as many elements as the shape has for each program."""
    k.pid()
    size = elements(shape)
    return f"pid{f' * {size}' * (size > 1)} + {place(k, shape).text}" if shape else "pid"


def _moved(k: Function, pointer: Value, step: int) -> Value:
    """The pointer some elements further on, once for each time that the next line runs."""
    for name in pointer.buffers:
        k.program.lengthen(name, step * k.trips(pointer.level))
    return replace(pointer, text=f"{pointer.text} + {step}", loose=True) if step else pointer


def pointer(k: Function) -> bool:
    """`p = x + offsets`; `p += 1`, at most once for each time that the line is run."""
    known = k.pick(is_pointer)
    if known and k.chance(60):
        moved = _moved(k, known, step := k.of(STEPS))
        k.assign(known, *((moved.text,) if k.chance(30) else (str(step), "+=")))
    elif address := _address(k):
        k.define(address, k.program.fresh("p"))
    return True


def store(k: Function, value: Value | None = None) -> bool:
    """`tl.store` to a place that no one else writes to."""
    value = value or k.pick(lambda value: value.dtype in STORED and not value.fixed)
    if value is None or k.helper:
        return False
    name = k.program.buffer(value.dtype, elements(value.shape) * k.program.programs, written=True)
    guard = ""
    if k.chance(25):
        guard = f", mask={mask(k, value.shape).text}"
    k.emit(f"tl.store({name} + {_own(k, value.shape)}, {value.text}{guard})")
    return True


def atomic(k: Function) -> bool:
    """`tl.atomic_add` and its like, to places that only this program writes to, and no two lanes of it."""
    value = k.pick(lambda value: value.dtype in ATOMIC and (value.dtype != "fp32" or value.tame))
    if value is None or k.helper:
        return False
    name = k.program.buffer(value.dtype, elements(value.shape) * k.program.programs, written=True)
    operation = k.of(("add", *("max", "min", "and", "or", "xor", "xchg", "cas") * is_integer(value)))
    arguments = [f"{name} + {_own(k, value.shape)}", value.text, *k.of(([], [], ["sem='relaxed'"], ["scope='cta'"]))]
    masked = operation != "cas" and k.chance(40)
    if masked:
        arguments.insert(2, f"mask={mask(k, value.shape, of_rank=len(value.shape)).text}")
    if operation == "cas":
        arguments.insert(1, filled(k, value.dtype, value.shape).text)
    call = Value(f"tl.atomic_{operation}({', '.join(arguments)})", value.dtype, value.shape)
    if masked or k.chance(50):  # the old value of a lane that is masked off is undefined: nothing may read it
        k.emit(call.text)
    else:
        k.define(call)
    return True


# --- assignments

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


# --- control flow

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
    """`if …: return`, wherever no loop is around it."""
    if k.looping or k.helper or k.depth >= DEEPEST or not k.chance(40):
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


# --- calls

LETTERS = ("a", "b", "c")


def call(k: Function) -> bool:
    """`v = helper(x, y, scale=3)`, `v, w = helper(x)`."""
    if k.helper:
        return False
    return (k.chance(30) and _again(k)) or _anew(k)


def _anew(k: Function) -> bool:
    """Call a new helper."""
    arguments = [k.pick(is_number) or k.pid() for _ in range(k.of((1, 2, 3)))]
    if (pointer := k.pick(is_pointer)) and k.chance(50):
        arguments[-1] = pointer
    parameters = [replace(value, text=letter, level=0) for letter, value in zip(LETTERS, arguments, strict=False)]
    header, passed = list(LETTERS[: len(arguments)]), [value.text for value in arguments]
    if len(passed) > 1 and k.chance(30):
        passed[-1] = f"{header[-1]}={passed[-1]}"
    numbers = []
    if k.chance(30):
        header.append("scale=2")
        passed += k.of(([], ["scale=3"]))
        numbers.append(Value("scale", "int", fixed=True))
    if k.chance(20):
        header.append("SIZE: tl.constexpr = 4")
        passed += k.of(([], ["SIZE=2"]))
        numbers.append(Value("SIZE", "int", fixed=True))
    early = k.chance(15) and not k.depth  # real Triton inlines no early return into a loop
    helper = _write(k, header, parameters, numbers, early)
    if not early and pointer not in arguments:  # pointers are known to be in bounds here only
        k.program.known.append(helper)
    _call(k, helper, passed)
    return True


def _again(k: Function) -> bool:
    """Call a helper that was called before, with values of the same types."""
    if not k.program.known:
        return False
    helper = k.of(k.program.known)
    passed = []
    for parameter in helper.parameters:
        if not (found := k.pick(partial(_may_replace, parameter))):
            return False
        passed.append(found.text)
    _call(k, helper, passed)
    return True


def _may_replace(parameter: Value, value: Value) -> bool:
    """Whether the value may be passed, too."""
    return value.type == parameter.type and value.tame >= parameter.tame


def _call(k: Function, helper: Helper, passed: list[str]) -> None:
    names = [k.program.fresh("v") for _ in helper.results]
    k.emit(f"{', '.join(names)} = {helper.name}({', '.join(passed)})")
    for name, value in zip(names, helper.results, strict=True):
        k.declare(Value(name, value.dtype, value.shape), name)


def _write(k: Function, header: list[str], parameters: list[Value], numbers: list[Value], early: bool) -> Helper:
    """Write the function, maybe with an early return."""
    name = k.program.fresh("f")
    inner = Function(k.program, k.grammar, [*parameters, *numbers], helper=True)
    inner.steps(2)
    results = [inner.pick(is_number) or inner.pid() for _ in range(k.of((1, 1, 2)))]
    if early:
        with inner.body(f"if {condition(inner).text}:"):
            inner.emit(f"return {', '.join(another(inner, value).text for value in results)}")
    inner.emit(f"return {', '.join(value.text for value in results)}")
    k.program.helpers[name] = "\n".join([f"def {name}({', '.join(header)}):", *inner.written()])
    return Helper(name, parameters, results)
