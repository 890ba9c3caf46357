"""Expressions that change a block's shape, or make a block."""

from __future__ import annotations

from dataclasses import replace

from tests.support.m05_frontend.random_kernels.functions import converted
from tests.support.m05_frontend.random_kernels.program import Value
from tests.support.m05_frontend.random_kernels.types import MOST, NUMBERS, STORED, Shape, elements, in_language
from tests.support.m05_frontend.random_kernels.writer import Function


def reshape(k: Function) -> Value | None:
    """`tl.reshape(x, shape)`, `x.reshape(shape)`."""
    if not (a := k.operand(lambda value: bool(value.shape) and value.dtype in STORED and elements(value.shape) > 1)):
        return None
    count = elements(a.shape)
    shape = k.of([shape for shape in ((count,), (count // 2, 2), (2, count // 2)) if shape != a.shape])
    target = k.shape(shape)
    if count == k.program.rows * k.program.columns and len(shape) == 1 and k.program.named and not k.helper:
        target = f"({k.size(k.program.rows)} * {k.size(k.program.columns)},)"
    text = k.of((f"tl.reshape({a.text}, {target})", f"{a.inner}.reshape{target}"))
    return _changed(a, text, shape)


def transpose(k: Function) -> Value | None:
    """`tl.trans(x)`, `x.T`, `tl.permute(x, (1, 0))`.

    None in a loop: real Triton 3.7 never ends compiling a block that is carried and transposed.
    """
    if k.looping or k.helper or not (a := k.operand(lambda value: len(value.shape) == 2)) or a.dtype not in STORED:
        return None
    text = k.of((f"tl.trans({a.text})", f"{a.inner}.T", f"tl.permute({a.text}, (1, 0))"))
    return _changed(a, text, (a.shape[1], a.shape[0]))


def join(k: Function) -> Value | None:
    """`tl.join(x, y)` and `tl.interleave(x, y)` of blocks with one dimension."""
    if not (a := k.operand(lambda value: len(value.shape) == 1 and value.dtype in STORED)):
        return None
    b = k.pick(lambda value: value.type == a.type) or a
    if elements(a.shape) * 2 > MOST:
        return None
    size = a.shape[0]
    name, shape = k.of((("join", (size, 2)), ("interleave", (size * 2,))))
    return _changed(a, f"tl.{name}({a.text}, {b.text})", shape, tame=a.tame and b.tame)


def expand(k: Function) -> Value | None:
    """`tl.expand_dims(x, axis)`, `tl.broadcast_to(x, shape)`."""
    if not (a := k.operand(lambda value: 0 < len(value.shape) < 3 and value.dtype in STORED)):
        return None
    if 1 in a.shape and elements(a.shape) * 4 <= MOST:
        shape = tuple(4 if size == 1 else size for size in a.shape)
        return _changed(a, f"tl.broadcast_to({a.text}, {k.shape(shape)})", shape)
    if len(a.shape) == 1:
        axis = k.number(2)
        return _changed(a, f"tl.expand_dims({a.text}, {axis})", (*a.shape[:axis], 1, *a.shape[axis:]))
    return None


def new_block(k: Function) -> Value | None:
    """`tl.arange`, and `tl.full` of something that the compiler does not know."""
    size = k.of((k.program.columns, k.program.rows))
    if k.chance(50):
        bounds = k.of((f"0, {k.size(size)}", f"{size}, {2 * size}"))
        return Value(f"tl.arange({bounds})", "int32", (size,))
    dtype, shape = k.of(("fp32", "int32", *NUMBERS)), k.of(((size,), (k.program.rows, k.program.columns)))
    scalar = k.pick(lambda value: value.dtype in NUMBERS and not value.shape) or k.pid()
    if not (value := converted(scalar, dtype)):
        return None
    return Value(f"tl.full({k.shape(shape)}, {value.text}, {in_language(dtype)})", dtype, shape)


def split(k: Function) -> bool:
    """`x, y = tl.split(z)`."""
    if not (a := k.pick(lambda value: len(value.shape) == 2 and value.shape[1] == 2 and value.dtype in STORED)):
        return False
    names = [k.program.fresh("v") for _ in range(2)]
    k.emit(f"{', '.join(names)} = tl.split({a.text})")
    for name in names:
        k.declare(replace(a, shape=a.shape[:1], fixed=False), name)
    return True


def _changed(a: Value, text: str, shape: Shape, tame: bool | None = None) -> Value:
    return replace(a, text=text, shape=shape, loose=False, fixed=False, tame=a.tame if tame is None else tame)
