"""Tensors: the values of a running kernel, and what Python's operators do with them.

A `tensor` is an IR value together with its dtype, because the IR does not know which integers are signed. An operator
brings both operands to one dtype and one shape (`operands`) and then builds one operation. Everything in the language
that takes two values goes through `operands`: so promotion and broadcasting are decided here and nowhere else.

Source: Triton's `python/triton/language/semantic.py` and the class `tensor` in `core.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from mini_triton import language
from mini_triton.ir import types as ir
from mini_triton.ir.core import Value
from mini_triton.language.constexpr import RunTimeValue, unwrap
from mini_triton.language.context import builtin, current
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

    def is_block(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{list(self.shape)}, {self.element_ty}>"


# --- numbers, dtypes, shapes


def dtype_of(value: Any) -> Any:
    """The dtype of a tensor, or of a number on its own. Raises `TypeError` for anything else."""
    if isinstance(value, tensor):
        return value.dtype
    if is_number(value):
        return literal_dtype(value)
    raise TypeError(f"cannot convert {value!r} of type {type(value).__name__} to a tensor")


def constant(value: Number, dtype: dtype) -> tensor:
    """A number as a scalar of the given dtype. Raises `ValueError` or `TypeError` where `Builder.constant` does."""
    return tensor(current().constant(value, dtype.ir_type), dtype)


@builtin
def to_tensor(value: Any) -> tensor:
    """A tensor as it is; a number as a scalar of its own dtype. Raises `TypeError` for anything else."""
    return value if isinstance(value, tensor) else constant(value, dtype_of(value))


def convert(x: tensor, dtype: dtype | pointer_type) -> tensor:
    """`x` with its values converted to another dtype; `x` itself if it has that one. Raises as `cast_steps` does."""
    if x.dtype != dtype:
        return tensor(current().cast(x.handle, iter(cast_steps(x.dtype, dtype))), dtype)
    return x


def broadcast_together(*xs: tensor) -> list[tensor]:
    """All of them in the one shape that their shapes broadcast to."""
    handles = current().broadcast(*(x.handle for x in xs))
    return [tensor(handle, x.dtype) for handle, x in zip(handles, xs, strict=True)]


def operands(x: Any, y: Any, *, div_or_mod: bool = False, pointers: bool = False) -> tuple[tensor, tensor]:
    """Both operands of an operator in the dtype and in the shape in which it is computed.

    Numbers are weak, tensors are not, not even those without a shape. With `pointers` an operand may be a pointer;
    then nothing is promoted, and a number has its own dtype.

    Raises `TypeError`, naming both dtypes, for a pointer where none may be, for a pointer and a float, and for pointers
    to different elements; and what `promote`, `promote_literal` and `broadcast_shapes` raise.
    """
    x, y = unwrap(x), unwrap(y)

    def common() -> Any:
        match [value for value in (x, y) if isinstance(value, tensor)]:
            case [one]:
                return promote_literal(one.dtype, y if one is x else x, div_or_mod)
        return promote(*map(dtype_of, (x, y)), div_or_mod)

    def fitted(value: Any, dtype: Any) -> tensor:
        return convert(value, dtype) if isinstance(value, tensor) else constant(value, dtype)

    if _check_pointers(dtype_of(x), dtype_of(y), pointers):
        pair = map(to_tensor, (x, y))
    else:
        dtype = common()
        pair = (fitted(value, dtype) for value in (x, y))
    left, right = broadcast_together(*pair)
    return left, right


def _check_pointers(x: dtype | pointer_type, y: dtype | pointer_type, allowed: bool) -> bool:
    """Whether one of the two is a pointer; raises `TypeError` if it may not be, or not beside the other. (Given.)"""
    if not x.is_ptr() and not y.is_ptr():
        return False
    other = y if x.is_ptr() else x
    if not allowed or (other != x and other.is_ptr()) or (isinstance(other, dtype) and other.is_floating()):
        raise TypeError(f"invalid operands of type {x} and {y}")
    return True


# --- operators


def made(name: Callable[[Any], str], **options: Any) -> Callable[[Any, Any], tensor]:
    """An operator: its operands as `operands` gives them, then the operation whose name depends on the dtype."""

    def apply(x: Any, y: Any) -> tensor:
        pair = operands(x, y, **options)
        return build(name(pair[0].dtype), *pair)

    return apply


def refuse(words: str) -> Any:
    """A `TypeError`, as an expression."""
    raise TypeError(words)


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


@builtin
def add(x: Any, y: Any) -> tensor:
    """`x + y`; a pointer and integers give a pointer that many elements further on."""
    pair = sorted(operands(x, y, pointers=True), key=lambda operand: not operand.dtype.is_ptr())
    first, second = pair if pair[0].dtype.is_ptr() else operands(x, y)
    if second.dtype.is_ptr():
        refuse("cannot add pointers together")
    if not first.dtype.is_ptr():
        return build(choose(first.dtype, "arith.addf", "arith.addi"), first, second)
    low, _ = second.dtype.int_range()
    return build("tt.addptr", first, convert(second, int64) if low == 0 and second.dtype.width < 64 else second)


@builtin
def sub(x: Any, y: Any) -> tensor:
    """`x - y`; integers are taken from a pointer by adding their negative."""
    match [dtype_of(value).is_ptr() for value in (x, y)]:
        case [True, False]:
            pointer, offset = operands(x, y, pointers=True)
            return add(pointer, neg(offset))
    return made(lambda dtype: choose(dtype, "arith.subf", "arith.subi"))(x, y)


@builtin
def mul(x: Any, y: Any) -> tensor:
    """`x * y`"""
    return made(lambda dtype: choose(dtype, "arith.mulf", "arith.muli"))(x, y)


def truediv(x: Any, y: Any) -> tensor:
    """`x / y`, always a float. Two integers are divided as fp32, whatever their width."""
    pair = operands(x, y, div_or_mod=True)
    return build("arith.divf", *(convert(operand, float32) if operand.dtype.is_int() else operand for operand in pair))


def floordiv(x: Any, y: Any) -> tensor:
    """`x // y` of integers. It truncates toward zero, as C does and Python does not: -7 // 2 is -3."""

    def name(dtype: Any) -> str:
        if dtype.is_floating():
            refuse(f"unexpected type {dtype}")
        return choose(dtype, "", "arith.divsi", "arith.divui")

    return made(name, div_or_mod=True)(x, y)


def mod(x: Any, y: Any) -> tensor:
    """`x % y`, with the sign of `x`, as in C: -7 % 3 is -1. Floats as well."""
    return made(lambda dtype: choose(dtype, "arith.remf", "arith.remsi", "arith.remui"), div_or_mod=True)(x, y)


def bitwise(name: str, x: Any, y: Any) -> tensor:
    """An operation on the bits of two integers: `arith.andi`, `arith.ori`, `arith.xori` and the shifts."""

    def checked(dtype: Any) -> str:
        return name if dtype.is_int() else refuse(f"invalid operands of type {dtype} and {dtype}")

    return made(checked)(x, y)


def rshift(x: Any, y: Any, shifted: tensor) -> tensor:
    """`x >> y`. Whether the sign is shifted in depends on the operand that is a tensor, before promotion: `shifted`."""
    signed = isinstance(shifted.dtype, pointer_type) or shifted.dtype.signed
    return bitwise("arith.shrsi" if signed else "arith.shrui", x, y)


def neg(x: tensor) -> tensor:
    """`-x`"""
    zero = refuse(f"wrong type argument to unary minus: {x.dtype}") if x.dtype.is_ptr() else -0.0
    return sub(constant(zero if x.dtype.is_floating() else int(zero), x.dtype), x)


def invert(x: tensor) -> tensor:
    """`~x` of integers: every bit turned over. For booleans that is "not"."""
    flips = not x.dtype.is_ptr() and x.dtype.is_int()
    high = x.dtype.int_range()[1] if flips else refuse(f"wrong type argument to unary invert: {x.dtype}")
    return bitwise("arith.xori", constant(-1 if x.dtype.signed else high, x.dtype), x)


def compare(name: str, x: Any, y: Any) -> tensor:
    """A comparison, `int1` for each element; `name` is one of eq ne lt le gt ge.

    Unlike in arithmetic, a number is not weak here: it becomes a tensor of its own dtype first.
    """
    pair = operands(*map(to_tensor, (x, y)))
    integer = pair[0].dtype.is_int()
    letter = "" if integer and name in ("eq", "ne") else choose(pair[0].dtype, "u" if name == "ne" else "o", "s", "u")
    return build("arith.cmpi" if integer else "arith.cmpf", *pair, predicate=f"{letter}{name}", dtype=int1)


def reflected(operator: Callable[[Any, Any], tensor]) -> Callable[[Any, Any], tensor]:
    """The method for an operator with the tensor on its right side."""
    return lambda self, other: operator(other, self)


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
        """Python asks here for what it does not find: `x.sum(0)`, but `reduction.py` is not loaded yet."""
        if not name.startswith("_"):
            dir(language)  # imports them all
            if hasattr(tensor, name):
                return getattr(self, name)
        raise AttributeError(f"a tensor has no {name}")

    def __getitem__(self, slices: Any) -> tensor:
        from mini_triton.language.shape import index  # which needs this module first

        return index(self, slices)

    # Python calls the method of the left operand; if that does not know what to do, the reflected one of the right.
    __add__ = add
    __sub__ = sub
    __mul__ = mul
    __truediv__ = truediv
    __floordiv__ = floordiv
    __mod__ = mod
    __radd__ = reflected(add)
    __rsub__ = reflected(sub)
    __rmul__ = reflected(mul)
    __rtruediv__ = reflected(truediv)
    __rfloordiv__ = reflected(floordiv)
    __rmod__ = reflected(mod)

    def __and__(self, other: Any) -> tensor:
        return bitwise("arith.andi", self, other)

    def __rand__(self, other: Any) -> tensor:
        return bitwise("arith.andi", other, self)

    def __or__(self, other: Any) -> tensor:
        return bitwise("arith.ori", self, other)

    def __ror__(self, other: Any) -> tensor:
        return bitwise("arith.ori", other, self)

    def __xor__(self, other: Any) -> tensor:
        return bitwise("arith.xori", self, other)

    def __rxor__(self, other: Any) -> tensor:
        return bitwise("arith.xori", other, self)

    def __lshift__(self, other: Any) -> tensor:
        return bitwise("arith.shli", self, other)

    def __rlshift__(self, other: Any) -> tensor:
        return bitwise("arith.shli", other, self)

    def __rshift__(self, other: Any) -> tensor:
        return rshift(self, other, shifted=self)

    def __rrshift__(self, other: Any) -> tensor:
        return rshift(other, self, shifted=self)

    __neg__ = neg
    __invert__ = invert

    def __eq__(self, other: Any) -> tensor:  # type: ignore[override]
        return compare("eq", self, other)

    def __ne__(self, other: Any) -> tensor:  # type: ignore[override]
        return compare("ne", self, other)

    def __lt__(self, other: Any) -> tensor:
        return compare("lt", self, other)

    def __le__(self, other: Any) -> tensor:
        return compare("le", self, other)

    def __gt__(self, other: Any) -> tensor:
        return compare("gt", self, other)

    def __ge__(self, other: Any) -> tensor:
        return compare("ge", self, other)

    __hash__ = object.__hash__


def member(function: F) -> F:
    """Make a function of the language a method of tensors as well."""
    setattr(tensor, function.__name__, function)
    return function
