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
    return x if x.dtype == dtype else tensor(current().cast(x.handle, cast_steps(x.dtype, dtype)), dtype)


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
    if _check_pointers(dtype_of(x), dtype_of(y), pointers):
        x, y = broadcast_together(to_tensor(x), to_tensor(y))
        return x, y
    if is_number(x) and is_number(y):
        x = to_tensor(x)
        y = to_tensor(y)
    common = {
        (False, False): lambda: promote(x.dtype, y.dtype, div_or_mod),
        (False, True): lambda: promote_literal(x.dtype, y, div_or_mod),
        (True, False): lambda: promote_literal(y.dtype, x, div_or_mod),
    }[is_number(x), is_number(y)]()
    x, y = (constant(value, common) if is_number(value) else convert(value, common) for value in (x, y))
    x, y = broadcast_together(x, y)
    return x, y


def _check_pointers(x: dtype | pointer_type, y: dtype | pointer_type, allowed: bool) -> bool:
    """Whether one of the two is a pointer; raises `TypeError` if it may not be, or not beside the other. (Given.)"""
    if not x.is_ptr() and not y.is_ptr():
        return False
    other = y if x.is_ptr() else x
    if not allowed or (other != x and other.is_ptr()) or (isinstance(other, dtype) and other.is_floating()):
        raise TypeError(f"invalid operands of type {x} and {y}")
    return True


# --- operators


FLOAT, SIGNED, UNSIGNED = "float", "signed", "unsigned"
OPERATIONS = {
    "add": {FLOAT: "arith.addf", SIGNED: "arith.addi", UNSIGNED: "arith.addi"},
    "sub": {FLOAT: "arith.subf", SIGNED: "arith.subi", UNSIGNED: "arith.subi"},
    "mul": {FLOAT: "arith.mulf", SIGNED: "arith.muli", UNSIGNED: "arith.muli"},
    "div": {SIGNED: "arith.divsi", UNSIGNED: "arith.divui"},
    "mod": {FLOAT: "arith.remf", SIGNED: "arith.remsi", UNSIGNED: "arith.remui"},
    "shr": {SIGNED: "arith.shrsi", UNSIGNED: "arith.shrui"},
    "letter": {FLOAT: "o", SIGNED: "s", UNSIGNED: "u"},
}
PREDICATES = {("ne", FLOAT): "une", **{(name, sign): name for name in ("eq", "ne") for sign in (SIGNED, UNSIGNED)}}


def kind(dtype: Any) -> str:
    """The column of the tables."""
    return "pointer" if dtype.is_ptr() else FLOAT if dtype.is_floating() else SIGNED if dtype.signed else UNSIGNED


def looked_up(table: str, dtype: Any) -> str:
    """The operation for a dtype. Raises `TypeError` if there is none."""
    if kind(dtype) not in OPERATIONS[table]:
        raise TypeError(f"unexpected type {dtype}")
    return OPERATIONS[table][kind(dtype)]


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
    match kind(x.dtype), kind(y.dtype):
        case "pointer", "pointer":
            raise TypeError("cannot add pointers together")
        case "pointer", sign:
            wide = sign == SIGNED or y.dtype.width == 64
            return build("tt.addptr", x, y if wide else convert(y, int64))
        case _, "pointer":
            return add(y, x)
    return build(looked_up("add", x.dtype), x, y)


@builtin
def sub(x: Any, y: Any) -> tensor:
    """`x - y`; integers are taken from a pointer by adding their negative."""
    if kind(dtype_of(x)) == "pointer" != kind(dtype_of(y)):
        return add(x, neg(operands(x, y, pointers=True)[1]))
    x, y = operands(x, y)
    return build(looked_up("sub", x.dtype), x, y)


@builtin
def mul(x: Any, y: Any) -> tensor:
    """`x * y`"""
    x, y = operands(x, y)
    return build(looked_up("mul", x.dtype), x, y)


def truediv(x: Any, y: Any) -> tensor:
    """`x / y`, always a float. Two integers are divided as fp32, whatever their width."""
    operand, other = operands(x, y, div_or_mod=True)
    dtype = {FLOAT: operand.dtype}.get(kind(operand.dtype), float32)
    return build("arith.divf", convert(operand, dtype), convert(other, dtype))


def floordiv(x: Any, y: Any) -> tensor:
    """`x // y` of integers. It truncates toward zero, as C does and Python does not: -7 // 2 is -3."""
    x, y = operands(x, y, div_or_mod=True)
    return build(looked_up("div", x.dtype), x, y)


def mod(x: Any, y: Any) -> tensor:
    """`x % y`, with the sign of `x`, as in C: -7 % 3 is -1. Floats as well."""
    x, y = operands(x, y, div_or_mod=True)
    return build(looked_up("mod", x.dtype), x, y)


def bitwise(name: str, x: Any, y: Any) -> tensor:
    """An operation on the bits of two integers: `arith.andi`, `arith.ori`, `arith.xori` and the shifts."""
    x, y = operands(x, y)
    if kind(x.dtype) not in (SIGNED, UNSIGNED):
        raise TypeError(f"invalid operands of type {x.dtype} and {y.dtype}")
    return build(name, x, y)


def rshift(x: Any, y: Any, shifted: tensor) -> tensor:
    """`x >> y`. Whether the sign is shifted in depends on the operand that is a tensor, before promotion: `shifted`."""
    return bitwise(looked_up("shr", shifted.dtype), x, y)


def neg(x: tensor) -> tensor:
    """`-x`"""
    zeros = {FLOAT: -0.0, SIGNED: 0, UNSIGNED: 0}
    if kind(x.dtype) not in zeros:
        raise TypeError(f"wrong type argument to unary minus: {x.dtype}")
    zero = tensor(current().constant(zeros[kind(x.dtype)], x.handle.type), x.dtype)
    return build(looked_up("sub", x.dtype), zero, x)


def invert(x: tensor) -> tensor:
    """`~x` of integers: every bit turned over. For booleans that is "not"."""
    if kind(x.dtype) not in (SIGNED, UNSIGNED):
        raise TypeError(f"wrong type argument to unary invert: {x.dtype}")
    ones = tensor(current().constant({1: 1}.get(x.dtype.width, -1), x.handle.type), x.dtype)
    return build("arith.xori", x, ones)


def compare(name: str, x: Any, y: Any) -> tensor:
    """A comparison, `int1` for each element; `name` is one of eq ne lt le gt ge.

    Unlike in arithmetic, a number is not weak here: it becomes a tensor of its own dtype first.
    """
    x, y = operands(to_tensor(x), to_tensor(y))
    operation = {FLOAT: "arith.cmpf"}.get(kind(x.dtype), "arith.cmpi")
    predicate = PREDICATES.get((name, kind(x.dtype)), OPERATIONS["letter"][kind(x.dtype)] + name)
    return build(operation, x, y, predicate=predicate, dtype=int1)


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
