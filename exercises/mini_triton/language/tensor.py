"""Tensors: the values of a running kernel, with Python's operators.

A `tensor` is an IR value with its dtype, because the IR does not record which integers are signed. An operator converts
both operands to one dtype and one shape (`unify`), then builds one operation. Every function of two values gets its
promotion and broadcasting from `unify`.

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
from mini_triton.compat.missing import explain_missing
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
    """Whether a value is a compile-time number."""
    return isinstance(value, Number)


@dataclass(frozen=True, repr=False)
class block_type:
    """The type of a tensor with at least one dimension: `<[64, 32], fp32>`. The type of a scalar is its dtype."""

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
        """A type of the same shape, with a different element type."""
        return block_type(element_ty, self.shape)

    def __getattr__(self, name: str) -> Callable[[], bool]:
        """Predicates of dtypes, such as `is_floating`, are False for a block type. Query its `scalar` instead."""
        if name.startswith("is_") and hasattr(float32, name):
            return lambda: False
        raise AttributeError(explain_missing("block_type", name))

    def __repr__(self) -> str:
        return f"<{list(self.shape)}, {self.element_ty}>"


# --- numbers, dtypes, shapes


def dtype_of(value: Any) -> Any:
    """The dtype of a tensor, or of a number without a tensor beside it. Raises `TypeError` for anything else."""
    if isinstance(value, tensor):
        return value.dtype
    if is_number(value):
        return literal_dtype(value)
    raise TypeError(f"cannot convert {value} of type {type(value)} to tensor")


def make_scalar(value: Number, dtype: dtype) -> tensor:
    """A number as a scalar of the given dtype. Raises the errors of `Builder.constant`."""
    return tensor(current().constant(value, dtype.ir_type), dtype)


@builtin
def to_tensor(value: Any) -> tensor:
    """A tensor unchanged, or a number as a scalar of its own dtype. Raises `TypeError` for anything else."""
    return value if isinstance(value, tensor) else make_scalar(value, dtype_of(value))


def convert(x: tensor, dtype: dtype | pointer_type) -> tensor:
    """`x` converted to `dtype`; `x` itself if it already has this dtype. Raises the errors of `cast_steps`."""
    # Task 4.1: Convert an fp16[8] to an int32[8] with two operations, and an int32 to a uint32 without any operation.
    # Tasks 1.6 and 3.4 did most of the work.
    raise NotImplementedError("Task 4.1: Two operands, one dtype, one shape")


def broadcast_together(*xs: tensor) -> list[tensor]:
    """Broadcast all tensors `xs` to their common shape."""
    handles = current().broadcast(*(x.handle for x in xs))
    return [tensor(handle, x.dtype) for handle, x in zip(handles, xs, strict=True)]


def unify(x: Any, y: Any, *, div_or_mod: bool = False, pointers: bool = False) -> tuple[tensor, tensor]:
    """Convert and broadcast both operands of an operator to a common dtype and shape.

    Numbers are weak; tensors, including scalars, are not. Two numbers first become tensors of their own dtypes. If
    `pointers` is true, an operand may be a pointer. Beside a pointer, no operand is promoted, and a number has its own
    dtype.

    Raises a `TypeError` that names both dtypes in three cases: a pointer where none is allowed, a pointer beside a
    float, and two pointers with different element types. Also raises the errors of `promote`, `promote_literal` and
    `broadcast_shapes`.
    """
    x, y = unwrap(x), unwrap(y)
    # Task 4.1: fp16[4, 1] and int8[8] become two fp16[4, 8]; fp16[8] and 1.5 become two fp16[8]. Convert operands
    # before broadcasting them. Given: the functions above; `_check_pointers`, which also says whether either operand is
    # a pointer.
    raise NotImplementedError("Task 4.1: Two operands, one dtype, one shape")


def _check_pointers(x: dtype | pointer_type, y: dtype | pointer_type, allowed: bool) -> bool:
    """Whether `x` or `y` is a pointer type. Raises `TypeError` for a pointer that `unify` must reject. (Given.)"""
    if not x.is_ptr() and not y.is_ptr():
        return False
    other = y if x.is_ptr() else x
    if not allowed or (other != x and other.is_ptr()) or (isinstance(other, dtype) and other.is_floating()):
        raise TypeError(f"invalid operands of type {x} and {y}")
    return True


# --- one operation


def build(name: str, *xs: tensor, dtype: dtype | pointer_type | None = None, **attributes: Any) -> tensor:
    """Build one operation on `xs`. Its result has `dtype`; by default, this is the dtype of the first operand."""
    result = current().create(name, *(x.handle for x in xs), **attributes)
    return tensor(result, dtype or xs[0].dtype)


def choose(dtype: dtype | pointer_type, floating: str, signed: str, unsigned: str = "") -> str:
    """Select a name by dtype: `floating`, `signed` or `unsigned`. Without `unsigned`, all integers get `signed`.

    Raises `TypeError` for pointers.
    """
    if isinstance(dtype, pointer_type):
        raise TypeError(f"unexpected type {dtype}")
    return floating if dtype.is_floating() else signed if dtype.signed or not unsigned else unsigned


# --- checks for overflow (given)


def checks_overflow(operator: Callable[[Any, Any], tensor]) -> Callable[..., tensor]:
    """Make an operator assert that its integer results fit their dtype, if the kernel is compiled for debugging."""

    @functools.wraps(operator)
    def call(x: Any, y: Any, sanitize_overflow: bool = True) -> tensor:
        if sanitize_overflow and is_checking_overflow() and not dtype_of(x).is_ptr() and not dtype_of(y).is_ptr():
            assert_fits(operator, x, y)
        return operator(x, y)

    return call


def assert_fits(operator: Callable[[Any, Any], tensor], x: Any, y: Any) -> None:
    """Assert that an operator's exact result fits the promoted dtype, for integers of fewer than 64 bits."""
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


# --- arithmetic


@builtin
@checks_overflow
def mul(x: Any, y: Any) -> tensor:
    """`x * y`"""
    # Task 4.1: fp16[8] times 2 is `arith.mulf` of two fp16[8]; integers use `arith.muli`. Pointers raise the TypeError
    # of `unify`. Given: `choose`, which selects a name by dtype; `build`, which makes the operation.
    raise NotImplementedError("Task 4.1: Two operands, one dtype, one shape")


def truediv(x: Any, y: Any) -> tensor:
    """`x / y`, always a float. Two integers are divided as fp32, whatever their width."""
    # Task 4.1: Build `arith.divf`. fp16 / fp16 is fp32, int64 / int64 is fp32, fp64 / int8 is fp64.
    raise NotImplementedError("Task 4.1: Two operands, one dtype, one shape")


def floordiv(x: Any, y: Any) -> tensor:
    """`x // y` of integers, truncated toward zero, as in C but not in Python: -7 // 2 is -3."""
    # Task 4.1: Build `arith.divsi`, or `arith.divui` for unsigned integers. Raise TypeError for floats, for example
    # "unexpected type fp32" for two fp32.
    raise NotImplementedError("Task 4.1: Two operands, one dtype, one shape")


def mod(x: Any, y: Any) -> tensor:
    """`x % y`, with the sign of `x`, as in C: -7 % 3 is -1. The operands may be integers or floats."""
    # Task 4.1: Build `arith.remf`, or for integers `arith.remsi` or `arith.remui`. fp16 % fp16 is fp32.
    raise NotImplementedError("Task 4.1: Two operands, one dtype, one shape")


# --- pointers


@builtin
@checks_overflow
def add(x: Any, y: Any) -> tensor:
    """`x + y`. Adding an integer `n` to a pointer moves the pointer by `n` elements."""
    # Task 4.2: For a pointer `p`, `p + n` and `n + p` build the same `tt.addptr`. For two pointers that `unify`
    # accepts, raise TypeError "cannot add pointers together". `tt.addptr` reads its offset as signed, but the uint8 255
    # must move a pointer forward, and so must the int1 True; an offset that needs conversion becomes an int64. Without
    # a pointer, build `arith.addf` or `arith.addi`.
    raise NotImplementedError("Task 4.2: Pointers, bits, negation, comparisons")


@builtin
@checks_overflow
def sub(x: Any, y: Any) -> tensor:
    """`x - y`. Subtracting an integer from a pointer adds the negated integer."""
    # Task 4.2: For pointers `p` and `q` and an integer `n`, `p - n` is `p + (-n)`. Reject `n - p` and `p - q` with the
    # TypeError that `*` raises for pointers. Without a pointer, build `arith.subf` or `arith.subi`.
    raise NotImplementedError("Task 4.2: Pointers, bits, negation, comparisons")


# --- bits, signs, comparisons


def bitwise(name: str, x: Any, y: Any) -> tensor:
    """Build operation `name` on the bits of two integers: `arith.andi`, `arith.ori`, `arith.xori` or a shift."""
    # Task 4.2: `arith.andi` of int8 and int32 is an int32. If an operand is a float, as in `x & n` and `n & 1.5` with
    # an fp32 `x` and an int32 `n`, raise TypeError "invalid operands of type fp32 and fp32", which names the promoted
    # dtype twice.
    raise NotImplementedError("Task 4.2: Pointers, bits, negation, comparisons")


def rshift(x: Any, y: Any, shifted: tensor) -> tensor:
    """`x >> y`

    `shifted` is the tensor whose method Python calls. The dtype of `shifted` before promotion decides whether the sign
    bit is shifted in.
    """
    # Task 4.2: Build `arith.shrsi` if `shifted` is an int8, and `arith.shrui` if it is a uint8.
    raise NotImplementedError("Task 4.2: Pointers, bits, negation, comparisons")


def neg(x: tensor) -> tensor:
    """`-x`"""
    # Task 4.2: Triton subtracts `x` from zero. For floats, which of the two zeros also gives -0.0 for x = 0.0? For
    # pointers, raise TypeError "wrong type argument to unary minus".
    raise NotImplementedError("Task 4.2: Pointers, bits, negation, comparisons")


def invert(x: tensor) -> tensor:
    """`~x` of integers: flip every bit. For booleans, this is "not"."""
    # Task 4.2: Build `arith.xori`. ~0 is -1, and ~True is False. For pointers and floats, raise TypeError "wrong type
    # argument to unary invert".
    raise NotImplementedError("Task 4.2: Pointers, bits, negation, comparisons")


def compare(name: str, x: Any, y: Any) -> tensor:
    """The comparison of two operands, an `int1` for each element; `name` is eq, ne, lt, le, gt or ge.

    Unlike in arithmetic, a number is not weak: it first becomes a tensor of its own dtype.
    """
    # Task 4.2: The predicate of `x < y` is "slt" for int32, "ult" for uint32 and "olt" for fp32. The predicate of
    # `x == y` is "eq" for integers and "oeq" for floats. Every comparison with NaN is false, except `!=`, which is
    # true; its predicate for floats is "une".
    raise NotImplementedError("Task 4.2: Pointers, bits, negation, comparisons")


def make_methods(operator: Callable[[Any, Any], tensor]) -> tuple[Callable[..., tensor], Callable[..., tensor]]:
    """Two methods for an operator: with the tensor as left operand, and with the tensor as right operand. (Given.)"""
    return lambda self, other: operator(self, other), lambda self, other: operator(other, self)


def make_comparison(name: str) -> Callable[..., tensor]:
    """The method for a comparison. For `1 < x`, Python calls the method for `x > 1`. (Given.)"""
    return lambda self, other: compare(name, self, other)


class tensor(RunTimeValue):
    """A value of the running kernel: `handle` is the IR value, and `dtype` determines how to read its bits.

    Functions of the language marked by `member` are also methods: `x.to(tl.float16)`, `x.sum(axis=0)`.
    """

    def __init__(self, handle: Value, dtype: dtype | pointer_type) -> None:
        self.handle = handle
        self.dtype: Any = dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension; `()` for a scalar."""
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
        """Python calls this if it does not find an attribute, such as `sum` before `reduction.py` is loaded."""
        if not name.startswith("_"):
            dir(language)  # imports every module of the language
            if hasattr(tensor, name):
                return getattr(self, name)
        raise AttributeError(explain_missing("tensor", name, dir(tensor)))

    def __getitem__(self, slices: Any) -> tensor:
        from mini_triton.language.shape import index  # `shape` imports this module

        if not self.shape and isinstance(slices, tuple):  # a scalar does not have dimensions that `:` could keep
            slices = tuple(at for at in slices if not (isinstance(at, slice) and at == slice(None)))
        return index(self, slices)

    # If the left operand's method returns NotImplemented, Python calls the reflected method of the right operand.
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
    """Make a function of the language also a method of tensors."""
    setattr(tensor, function.__name__, function)
    return function
