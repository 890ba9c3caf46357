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
    if x.dtype == dtype:
        return x
    steps = cast_steps(x.dtype, dtype)
    handle = current().cast(x.handle, steps)
    return tensor(handle, dtype)


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
    x_dtype = dtype_of(x)
    y_dtype = dtype_of(y)
    if _check_pointers(x_dtype, y_dtype, pointers):
        x = to_tensor(x)
        y = to_tensor(y)
    else:
        if is_number(x) and is_number(y):
            x = to_tensor(x)
            y = to_tensor(y)
        if is_number(x):
            common = promote_literal(y_dtype, x, div_or_mod)
            x = constant(x, common)
            y = convert(y, common)
        elif is_number(y):
            common = promote_literal(x_dtype, y, div_or_mod)
            x = convert(x, common)
            y = constant(y, common)
        else:
            common = promote(x_dtype, y_dtype, div_or_mod)
            x = convert(x, common)
            y = convert(y, common)
    both = broadcast_together(x, y)
    return both[0], both[1]


def _check_pointers(x: dtype | pointer_type, y: dtype | pointer_type, allowed: bool) -> bool:
    """Whether one of the two is a pointer; raises `TypeError` if it may not be, or not beside the other. (Given.)"""
    if not x.is_ptr() and not y.is_ptr():
        return False
    other = y if x.is_ptr() else x
    if not allowed or (other != x and other.is_ptr()) or (isinstance(other, dtype) and other.is_floating()):
        raise TypeError(f"invalid operands of type {x} and {y}")
    return True


# --- operators


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
    x, y = operands(x, y, pointers=True)
    if x.dtype.is_ptr() and y.dtype.is_ptr():
        raise TypeError("cannot add pointers together")
    if x.dtype.is_ptr() or y.dtype.is_ptr():
        if x.dtype.is_ptr():
            pointer = x
            offset = y
        else:
            pointer = y
            offset = x
        if offset.dtype.is_int() and not offset.dtype.signed and offset.dtype.width != 64:
            offset = convert(offset, int64)
        return tensor(current().create("tt.addptr", pointer.handle, offset.handle), pointer.dtype)
    if x.dtype.is_floating():
        return build("arith.addf", x, y)
    return build("arith.addi", x, y)


@builtin
def sub(x: Any, y: Any) -> tensor:
    """`x - y`; integers are taken from a pointer by adding their negative."""
    x_is_pointer = dtype_of(x).is_ptr()
    y_is_pointer = dtype_of(y).is_ptr()
    if x_is_pointer and y_is_pointer:
        raise TypeError(f"invalid operands of type {x.dtype} and {y.dtype}")
    if x_is_pointer:
        pointer, offset = operands(x, y, pointers=True)
        return add(pointer, neg(offset))
    x, y = operands(x, y)
    if x.dtype.is_floating():
        return build("arith.subf", x, y)
    return build("arith.subi", x, y)


@builtin
def mul(x: Any, y: Any) -> tensor:
    """`x * y`"""
    x, y = operands(x, y)
    if x.dtype.is_floating():
        return build("arith.mulf", x, y)
    return build("arith.muli", x, y)


def truediv(x: Any, y: Any) -> tensor:
    """`x / y`, always a float. Two integers are divided as fp32, whatever their width."""
    x, y = operands(x, y, div_or_mod=True)
    if not x.dtype.is_floating():
        x = convert(x, float32)
        y = convert(y, float32)
    return build("arith.divf", x, y)


def floordiv(x: Any, y: Any) -> tensor:
    """`x // y` of integers. It truncates toward zero, as C does and Python does not: -7 // 2 is -3."""
    x, y = operands(x, y, div_or_mod=True)
    if x.dtype.is_floating():
        raise TypeError(f"unexpected type {x.dtype}")
    if x.dtype.signed:
        return build("arith.divsi", x, y)
    return build("arith.divui", x, y)


def mod(x: Any, y: Any) -> tensor:
    """`x % y`, with the sign of `x`, as in C: -7 % 3 is -1. Floats as well."""
    x, y = operands(x, y, div_or_mod=True)
    if x.dtype.is_floating():
        return build("arith.remf", x, y)
    if x.dtype.signed:
        return build("arith.remsi", x, y)
    return build("arith.remui", x, y)


def bitwise(name: str, x: Any, y: Any) -> tensor:
    """An operation on the bits of two integers: `arith.andi`, `arith.ori`, `arith.xori` and the shifts."""
    x, y = operands(x, y)
    if x.dtype.is_floating():
        raise TypeError(f"invalid operands of type {x.dtype} and {y.dtype}")
    return build(name, x, y)


def rshift(x: Any, y: Any, shifted: tensor) -> tensor:
    """`x >> y`. Whether the sign is shifted in depends on the operand that is a tensor, before promotion: `shifted`."""
    if shifted.dtype.is_ptr():
        raise TypeError(f"a pointer, {shifted.dtype}, cannot be shifted")
    if shifted.dtype.is_floating():
        raise TypeError(f"a float, {shifted.dtype}, cannot be shifted")
    if shifted.dtype.signed:
        return bitwise("arith.shrsi", x, y)
    return bitwise("arith.shrui", x, y)


def neg(x: tensor) -> tensor:
    """`-x`"""
    if x.dtype.is_ptr():
        raise TypeError(f"wrong type argument to unary minus: {x.dtype}")
    if x.dtype.is_floating():
        zero = constant(-0.0, x.dtype)
    else:
        zero = constant(0, x.dtype)
    return sub(zero, x)


def invert(x: tensor) -> tensor:
    """`~x` of integers: every bit turned over. For booleans that is "not"."""
    if x.dtype.is_ptr():
        raise TypeError(f"wrong type argument to unary invert: {x.dtype}")
    if x.dtype.is_floating():
        raise TypeError(f"wrong type argument to unary invert: {x.dtype}")
    if x.dtype.is_bool():
        ones = constant(True, x.dtype)
    elif x.dtype.signed:
        ones = constant(-1, x.dtype)
    else:
        ones = constant(2**x.dtype.width - 1, x.dtype)
    return bitwise("arith.xori", x, ones)


def compare(name: str, x: Any, y: Any) -> tensor:
    """A comparison, `int1` for each element; `name` is one of eq ne lt le gt ge.

    Unlike in arithmetic, a number is not weak here: it becomes a tensor of its own dtype first.
    """
    x, y = operands(to_tensor(x), to_tensor(y))
    if x.dtype.is_floating():
        if name == "ne":
            predicate = "une"
        else:
            predicate = "o" + name
        operation = "arith.cmpf"
    else:
        if name == "eq" or name == "ne":
            predicate = name
        elif x.dtype.signed:
            predicate = "s" + name
        else:
            predicate = "u" + name
        operation = "arith.cmpi"
    result = current().create(operation, x.handle, y.handle, predicate=predicate)
    return tensor(result, int1)


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
