"""Reading and writing: every program reads anywhere in the buffers that are read, and writes to places of its own."""

from __future__ import annotations

from dataclasses import replace

from tests.support.m05_frontend.random_kernels.functions import converted, filled
from tests.support.m05_frontend.random_kernels.operators import comparison, is_integer, is_number
from tests.support.m05_frontend.random_kernels.program import Value
from tests.support.m05_frontend.random_kernels.types import (
    FLOATS,
    FP8,
    INTEGERS,
    STORED,
    Shape,
    broadcast,
    elements,
    promoted,
)
from tests.support.m05_frontend.random_kernels.writer import Function

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
