"""Tensors: the values of a running kernel, and Python's operators on them.

A `tensor` is an IR value together with its dtype, because the IR does not know which integers are signed. An operator
brings both operands to one dtype and one shape (`unify`) and then builds one operation. Everything in the language
that takes two values goes through `unify`: so promotion and broadcasting are decided here and nowhere else.

Source: Triton's `python/triton/language/semantic.py` and the class `tensor` in `core.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from mini_triton import language
from mini_triton.given.missing import explain_missing
from mini_triton.ir import types as ir
from mini_triton.ir.core import Value
from mini_triton.language.constexpr import RunTimeValue, unwrap
from mini_triton.language.context import builtin, current, is_checking_overflow
from mini_triton.language.dtypes import (
    cast_steps,
    dtype,
    float32,
    int1,
    int64,
    literal_dtype,
    pointer_type,
    promote,
    promote_literal,
)

__all__ = ["tensor", "block_type", "to_tensor", "add", "sub", "mul"]

Number = bool | int | float
F = TypeVar("F", bound=Callable[..., Any])


def is_number(value: Any) -> bool:
    """Whether it is a number that the compiler knows."""
    return isinstance(value, Number)


@dataclass(frozen=True, repr=False)
class block_type:
    """The type of a tensor with a shape: `<[64, 32], fp32>`. That of a scalar is its dtype."""

    element_ty: dtype | pointer_type
    shape: tuple[int, ...]

    @property
    def scalar(self) -> dtype | pointer_type:
        return self.element_ty

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def primitive_bitwidth(self) -> int:
        return self.element_ty.primitive_bitwidth

    def is_block(self) -> bool:
        return True

    @property
    def nbytes(self) -> int:
        return self.numel * self.primitive_bitwidth // 8

    def get_block_shapes(self) -> tuple[int, ...]:
        return self.shape

    def with_element_ty(self, element_ty: dtype | pointer_type) -> block_type:
        """A type of the same shape, with other elements."""
        return block_type(element_ty, self.shape)

    def __getattr__(self, name: str) -> Callable[[], bool]:
        """A block is not a float, an integer or a pointer itself: its elements are, `scalar`."""
        if name.startswith("is_") and hasattr(float32, name):
            return lambda: False
        raise AttributeError(explain_missing("block_type", name))

    def __repr__(self) -> str:
        return f"<{list(self.shape)}, {self.element_ty}>"


# --- numbers, dtypes, shapes


def dtype_of(value: Any) -> Any:
    """The dtype of a tensor, or of a number on its own. Raises `TypeError` for anything else."""
    if isinstance(value, tensor):
        return value.dtype
    if is_number(value):
        return literal_dtype(value)
    raise TypeError(f"cannot convert {value} of type {type(value)} to tensor")


def make_scalar(value: Number, dtype: dtype) -> tensor:
    """A number as a scalar of the given dtype. Raises `ValueError` or `TypeError` where `Builder.constant` does."""
    return tensor(current().constant(value, dtype.ir_type), dtype)


@builtin
def to_tensor(value: Any) -> tensor:
    """A tensor as it is; a number as a scalar of its own dtype. Raises `TypeError` for anything else."""
    return value if isinstance(value, tensor) else make_scalar(value, dtype_of(value))


def convert(x: tensor, dtype: dtype | pointer_type) -> tensor:
    """`x` with its values converted to another dtype; `x` itself if it has that one. Raises as `cast_steps` does."""
    # [task 4.1] An fp16[8] to int32 is an int32[8], by two operations of the current builder; an int32 to uint32 is a
    # uint32, by none. Given: `cast_steps` (1.6), and the builder's `cast` (3.4).
    if x.dtype == dtype:
        return x
    return tensor(current().cast(x.handle, cast_steps(x.dtype, dtype)), dtype)
    # [end]


def broadcast_together(*xs: tensor) -> list[tensor]:
    """All of them in the one shape that their shapes broadcast to."""
    handles = current().broadcast(*(x.handle for x in xs))
    return [tensor(handle, x.dtype) for handle, x in zip(handles, xs, strict=True)]


def unify(x: Any, y: Any, *, div_or_mod: bool = False, pointers: bool = False) -> tuple[tensor, tensor]:
    """Both operands of an operator in the dtype and in the shape in which it is computed.

    Numbers are weak; tensors are not, not even those without a shape. Two numbers become tensors first. With `pointers`
    an operand may be a pointer; beside a pointer nothing is promoted, and a number has its own dtype.

    Raises `TypeError`, naming both dtypes, for a pointer where none may be, for a pointer and a float, and for pointers
    to different elements; and what `promote`, `promote_literal` and `broadcast_shapes` raise.
    """
    x, y = unwrap(x), unwrap(y)
    # [task 4.1] fp16[4, 1] and int8[8] become two fp16[4, 8]; fp16[8] and 1.5 two fp16[8]; an operand is converted
    # before it is repeated. Given: `_check_pointers` takes both dtypes and says whether there is a pointer; `dtype_of`,
    # `is_number`, `make_scalar`, `to_tensor`, `broadcast_together`; `promote` and `promote_literal` of milestone 1.
    if _check_pointers(dtype_of(x), dtype_of(y), pointers):
        x, y = to_tensor(x), to_tensor(y)
    elif is_number(x) and not is_number(y):
        dtype = promote_literal(y.dtype, x, div_or_mod)
        x, y = make_scalar(x, dtype), convert(y, dtype)
    elif is_number(y) and not is_number(x):
        dtype = promote_literal(x.dtype, y, div_or_mod)
        x, y = convert(x, dtype), make_scalar(y, dtype)
    else:
        x, y = to_tensor(x), to_tensor(y)
        dtype = promote(x.dtype, y.dtype, div_or_mod)
        x, y = convert(x, dtype), convert(y, dtype)
    x, y = broadcast_together(x, y)
    return x, y
    # [end]


def _check_pointers(x: dtype | pointer_type, y: dtype | pointer_type, allowed: bool) -> bool:
    """Whether one of the two is a pointer; raises `TypeError` if it may not be, or not beside the other. (Given.)"""
    if not x.is_ptr() and not y.is_ptr():
        return False
    other = y if x.is_ptr() else x
    if not allowed or (other != x and other.is_ptr()) or (isinstance(other, dtype) and other.is_floating()):
        raise TypeError(f"invalid operands of type {x} and {y}")
    return True


# --- one operation


def build(name: str, *xs: tensor, dtype: dtype | pointer_type | None = None, **attributes: Any) -> tensor:
    """One operation on operands that fit. Its result has the dtype of the first of them unless another is given."""
    result = current().create(name, *(x.handle for x in xs), **attributes)
    return tensor(result, dtype or xs[0].dtype)


def choose(dtype: dtype | pointer_type, floating: str, signed: str, unsigned: str = "") -> str:
    """The name for this dtype: that for floats, for signed integers or, if it differs, for unsigned ones.

    Raises `TypeError` for pointers.
    """
    if isinstance(dtype, pointer_type):
        raise TypeError(f"unexpected type {dtype}")
    return floating if dtype.is_floating() else signed if dtype.signed or not unsigned else unsigned


# --- checks for overflow (given)


def checks_overflow(operator: Callable[[Any, Any], tensor]) -> Callable[..., tensor]:
    """Have an operator assert, in kernels that are compiled for debugging, that its integer results fit their dtype."""

    @functools.wraps(operator)
    def call(x: Any, y: Any, sanitize_overflow: bool = True) -> tensor:
        if sanitize_overflow and is_checking_overflow() and not dtype_of(x).is_ptr() and not dtype_of(y).is_ptr():
            assert_fits(operator, x, y)
        return operator(x, y)

    return call


def assert_fits(operator: Callable[[Any, Any], tensor], x: Any, y: Any) -> None:
    """Assert, if the operator computes integers of less than 64 bits, that 64 bits give the same."""
    x, y = unify(x, y)
    if not x.dtype.is_int() or x.dtype.width >= 64:
        return
    exact = operator(convert(x, int64), convert(y, int64))
    bits = x.dtype.width - x.dtype.signed
    fits = compare("le", exact, make_scalar(2**bits - 1, int64)) & compare(
        "ge", exact, make_scalar(-(2**bits) if x.dtype.signed else 0, int64)
    )
    message = f"int{x.dtype.width} overflow detected for operation {operator.__name__}"
    current().operation("tt.assert", fits.handle, message=message)


# --- arithmetic: promote, broadcast, one operation


@builtin
@checks_overflow
def mul(x: Any, y: Any) -> tensor:
    """`x * y`"""
    # [task 4.1] fp16[8] times 2 is `arith.mulf` of two fp16[8], integers are `arith.muli`. Pointers are refused.
    # Given: `choose` picks by dtype, `build` makes the operation.
    x, y = unify(x, y)
    return build(choose(x.dtype, "arith.mulf", "arith.muli"), x, y)
    # [end]


def truediv(x: Any, y: Any) -> tensor:
    """`x / y`, always a float. Two integers are divided as fp32, whatever their width."""
    # [task 4.1] `arith.divf`: fp16 / fp16 is fp32, int64 / int64 is fp32, fp64 / int8 is fp64.
    x, y = unify(x, y, div_or_mod=True)
    if x.dtype.is_int():
        x, y = convert(x, float32), convert(y, float32)
    return build("arith.divf", x, y)
    # [end]


def floordiv(x: Any, y: Any) -> tensor:
    """`x // y` of integers. It truncates toward zero, as C does and Python does not: -7 // 2 is -3."""
    # [task 4.1] `arith.divsi`, or `arith.divui` of unsigned integers. Floats: TypeError "unexpected type fp32".
    x, y = unify(x, y, div_or_mod=True)
    if x.dtype.is_floating():
        raise TypeError(f"unexpected type {x.dtype}: // divides integers")
    return build(choose(x.dtype, "", "arith.divsi", "arith.divui"), x, y)
    # [end]


def mod(x: Any, y: Any) -> tensor:
    """`x % y`, with the sign of `x`, as in C: -7 % 3 is -1. Floats as well."""
    # [task 4.1] `arith.remf`; of integers `arith.remsi` or `arith.remui`. It is promoted as `/` is.
    x, y = unify(x, y, div_or_mod=True)
    return build(choose(x.dtype, "arith.remf", "arith.remsi", "arith.remui"), x, y)
    # [end]


# --- pointers


@builtin
@checks_overflow
def add(x: Any, y: Any) -> tensor:
    """`x + y`; a pointer and integers give a pointer that many elements further on."""
    # [task 4.2] `p + n` and `n + p` are the same `tt.addptr`; of two pointers: TypeError "cannot add pointers
    # together". `tt.addptr` reads its offset as signed: an unsigned integer of less than 64 bits (int1 is one) goes in
    # as int64. Without a pointer: `arith.addf`, `arith.addi`.
    x, y = unify(x, y, pointers=True)
    if x.dtype.is_ptr() and y.dtype.is_ptr():
        raise TypeError("cannot add pointers together")
    if y.dtype.is_ptr():
        x, y = y, x
    if x.dtype.is_ptr():
        if not y.dtype.signed and y.dtype.width < 64:
            y = convert(y, int64)
        return build("tt.addptr", x, y)
    return build(choose(x.dtype, "arith.addf", "arith.addi"), x, y)
    # [end]


@builtin
@checks_overflow
def sub(x: Any, y: Any) -> tensor:
    """`x - y`; integers are taken from a pointer by adding their negative."""
    # [task 4.2] `p - n` is `p + (-n)`. `n - p` and `p - q` are a TypeError, as for `*`. Without a pointer:
    # `arith.subf`, `arith.subi`.
    if isinstance(x, tensor) and x.dtype.is_ptr() and not (isinstance(y, tensor) and y.dtype.is_ptr()):
        _, y = unify(x, y, pointers=True)
        return add(x, neg(y))
    x, y = unify(x, y)
    return build(choose(x.dtype, "arith.subf", "arith.subi"), x, y)
    # [end]


# --- bits, signs, comparisons


def bitwise(name: str, x: Any, y: Any) -> tensor:
    """An operation on the bits of two integers: `arith.andi`, `arith.ori`, `arith.xori` and the shifts."""
    # [task 4.2] Of int8 and int32, `arith.andi` is an int32. Floats: TypeError "invalid operands of type fp32 and
    # fp32", with the dtype after promotion, for `x & n` as well as for `n & 1.5`.
    x, y = unify(x, y)
    if x.dtype.is_floating():
        raise TypeError(f"invalid operands of type {x.dtype} and {y.dtype}")
    return build(name, x, y)
    # [end]


def rshift(x: Any, y: Any, shifted: tensor) -> tensor:
    """`x >> y`. Whether the sign is shifted in depends on the operand that is a tensor, before promotion: `shifted`."""
    # [task 4.2] Of an int8 `shifted` it is `arith.shrsi`, of a uint8 `arith.shrui`.
    return bitwise(choose(shifted.dtype, "arith.shrsi", "arith.shrsi", "arith.shrui"), x, y)
    # [end]


def neg(x: tensor) -> tensor:
    """`-x`"""
    # [task 4.2] Triton subtracts `x` from a zero. Which float zero makes -x exact for x = 0.0, too?
    # Pointers: TypeError "wrong type argument to unary minus".
    if x.dtype.is_ptr():
        raise TypeError(f"wrong type argument to unary minus: {x.dtype}")
    return sub(make_scalar(-0.0 if x.dtype.is_floating() else 0, x.dtype), x)
    # [end]


def invert(x: tensor) -> tensor:
    """`~x` of integers: every bit flipped. For booleans that is "not"."""
    # [task 4.2] `arith.xori`: ~0 is -1, ~True is False. Pointers, floats: TypeError "wrong type argument to unary
    # invert".
    if x.dtype.is_ptr() or x.dtype.is_floating():
        raise TypeError(f"wrong type argument to unary invert: {x.dtype}")
    return bitwise("arith.xori", x, make_scalar(True if x.dtype.is_bool() else -1, x.dtype))
    # [end]


def compare(name: str, x: Any, y: Any) -> tensor:
    """A comparison, `int1` for each element; `name` is one of eq ne lt le gt ge.

    Unlike in arithmetic, a number is not weak here: it becomes a tensor of its own dtype first.
    """
    # [task 4.2] `x < y` has the predicate "slt" for int32, "ult" for uint32, "olt" for fp32; `x == y` has "eq" and
    # "oeq". Every comparison with NaN is false, but `!=`, which is true: "une".
    x, y = unify(to_tensor(x), to_tensor(y))
    if x.dtype.is_floating():
        return build("arith.cmpf", x, y, predicate=("u" if name == "ne" else "o") + name, dtype=int1)
    sign = "" if name in ("eq", "ne") else choose(x.dtype, "", "s", "u")
    return build("arith.cmpi", x, y, predicate=sign + name, dtype=int1)
    # [end]


def make_methods(operator: Callable[[Any, Any], tensor]) -> tuple[Callable[..., tensor], Callable[..., tensor]]:
    """The methods for an operator with the tensor on its left side, and on its right. (Given.)"""
    return lambda self, other: operator(self, other), lambda self, other: operator(other, self)


def make_comparison(name: str) -> Callable[..., tensor]:
    """The method for a comparison. With the tensor on its right side Python asks for the mirrored one. (Given.)"""
    return lambda self, other: compare(name, self, other)


class tensor(RunTimeValue):
    """A value of the running kernel: `handle` is the IR value, `dtype` says how its bits are read.

    Functions of the language that `member` marks are its methods too: `x.to(tl.float16)`, `x.sum(axis=0)`.
    """

    def __init__(self, handle: Value, dtype: dtype | pointer_type) -> None:
        self.handle = handle
        self.dtype: Any = dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """`()` for a scalar."""
        return ir.shape_of(self.handle.type)

    @property
    def type(self) -> dtype | pointer_type | block_type:
        return block_type(self.dtype, self.shape) if self.shape else self.dtype

    @property
    def numel(self) -> int:
        return self.handle.type.numel if isinstance(self.handle.type, ir.TensorType) else 1

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} has no value yet: Python cannot branch on it while the kernel is being compiled")

    def __getattr__(self, name: str) -> Any:
        """Python calls this for a name that it does not find: `x.sum(0)`, while `reduction.py` is not loaded yet."""
        if not name.startswith("_"):
            dir(language)  # imports them all
            if hasattr(tensor, name):
                return getattr(self, name)
        raise AttributeError(explain_missing("tensor", name))

    def __getitem__(self, slices: Any) -> tensor:
        from mini_triton.language.shape import index  # which needs this module first

        return index(self, slices)

    # Python calls the method of the left operand; if that does not know what to do, the reflected one of the right.
    __add__, __radd__ = make_methods(add)
    __sub__, __rsub__ = make_methods(sub)
    __mul__, __rmul__ = make_methods(mul)
    __truediv__, __rtruediv__ = make_methods(truediv)
    __floordiv__, __rfloordiv__ = make_methods(floordiv)
    __mod__, __rmod__ = make_methods(mod)
    __and__, __rand__ = make_methods(partial(bitwise, "arith.andi"))
    __or__, __ror__ = make_methods(partial(bitwise, "arith.ori"))
    __xor__, __rxor__ = make_methods(partial(bitwise, "arith.xori"))
    __lshift__, __rlshift__ = make_methods(partial(bitwise, "arith.shli"))

    def __rshift__(self, other: Any) -> tensor:
        return rshift(self, other, shifted=self)

    def __rrshift__(self, other: Any) -> tensor:
        return rshift(other, self, shifted=self)

    __neg__ = neg
    __invert__ = invert

    __eq__, __ne__ = make_comparison("eq"), make_comparison("ne")  # type: ignore[assignment]
    __lt__, __le__, __gt__, __ge__ = (
        make_comparison("lt"),
        make_comparison("le"),
        make_comparison("gt"),
        make_comparison("ge"),
    )
    __hash__ = object.__hash__


def member(function: F) -> F:
    """Make a function of the language a method of tensors as well."""
    setattr(tensor, function.__name__, function)
    return function
