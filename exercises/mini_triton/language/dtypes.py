"""The language's dtypes, their promotion, and the casts between them.

A dtype is an IR type plus signedness, which the IR's integer types do not have. Dtypes have Triton's names.

Source: `python/triton/language/core.py` (dtype) and `semantic.py` (`computation_type_impl`, `cast`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from mini_triton.compat.missing import MISSING, explain_missing
from mini_triton.formats import FORMATS, Format, Kind
from mini_triton.ir import types as ir

__all__ = ["dtype", "pointer_type", *(row.tl for row in FORMATS)]


BY_NAME = {row.name: row for row in FORMATS}


class _Type:
    """The properties of dtypes and pointer types that kernels may query, under Triton's names."""

    kind: Kind | None  # None for a pointer
    width: int
    signed: bool

    @property
    def primitive_bitwidth(self) -> int:
        """The width, under Triton's name."""
        return self.width

    def is_ptr(self) -> bool:
        return self.kind is None

    def is_bool(self) -> bool:
        return self.kind is Kind.BOOL

    def is_int(self) -> bool:
        """Whether the type is an integer type; `int1` is an integer type."""
        return self.kind in (Kind.BOOL, Kind.INT)

    def is_int_signed(self) -> bool:
        return self.signed

    def is_int_unsigned(self) -> bool:
        return self.is_int() and not self.signed

    def is_floating(self) -> bool:
        return self.kind is Kind.FLOAT

    def is_fp8(self) -> bool:
        return self.is_floating() and self.width == 8

    def is_standard_floating(self) -> bool:
        return self.is_floating() and self.width > 8

    def is_block(self) -> bool:
        return False

    def is_const(self) -> bool:
        return False

    @property
    def value(self) -> Any:
        """The type itself. In Triton, kernels see a `constexpr` that contains the type."""
        return self

    @property
    def scalar(self) -> Any:
        """The element type of a block type; any other type itself."""
        return self

    def __getattr__(self, name: str) -> Any:
        """Python calls this method for an attribute that it does not find."""
        if name in MISSING["dtype"]:
            raise AttributeError(explain_missing("dtype", name))
        return object.__getattribute__(self, name)  # raises the error that Python would raise

    def with_element_ty(self, element_ty: Any) -> Any:
        """The type with the same shape and the element type `element_ty`."""
        return element_ty


@dataclass(frozen=True, repr=False)
class dtype(_Type):
    """The type of a scalar, such as `fp32` or `uint8`: `dtype("fp32")` is `float32`."""

    name: str
    kind: Kind = field(init=False, compare=False)
    ir_type: ir.IntegerType | ir.FloatType = field(init=False, compare=False)
    signed: bool = field(init=False, compare=False)  # for integers; int1 counts as the narrowest unsigned integer

    class SIGNEDNESS(Enum):
        """Triton's names for the signedness of integers."""

        SIGNED = 0
        UNSIGNED = 1

    def __post_init__(self) -> None:
        row = BY_NAME.get(self.name)
        if row is None:
            raise ValueError(f"there is no dtype {self.name!r}, only {', '.join(BY_NAME)}")
        ir_type = ir.FloatType(row.mlir) if row.kind is Kind.FLOAT else ir.IntegerType(row.width)
        vars(self).update(kind=row.kind, ir_type=ir_type, signed=row.signed)

    @property
    def width(self) -> int:  # type: ignore[override]
        """Size in bits."""
        return self.ir_type.width

    @property
    def itemsize(self) -> int:
        """Size in memory in bytes."""
        return max(self.width // 8, 1)

    @property
    def int_bitwidth(self) -> int:
        """Size of an integer in bits."""
        if not self.is_int():
            raise AttributeError(f"{self} is not an integer: it does not have int_bitwidth")
        return self.width

    @property
    def int_signedness(self) -> SIGNEDNESS:
        """The signedness of an integer."""
        if not self.is_int():
            raise AttributeError(f"{self} is not an integer: it does not have int_signedness")
        return dtype.SIGNEDNESS.SIGNED if self.signed else dtype.SIGNEDNESS.UNSIGNED

    @property
    def fp_mantissa_width(self) -> int:
        """The number of bits in a float's mantissa, without the implicit leading one."""
        return self._format.mantissa

    @property
    def exponent_bias(self) -> int:
        """The amount added to a float's exponent before it is stored."""
        return self._format.bias

    @property
    def _format(self) -> Format:
        if not self.is_floating():
            raise AttributeError(f"{self} is not a float: it does not have a mantissa or an exponent")
        return BY_NAME[self.name]

    def codegen_name(self) -> str:
        """The dtype's name in `triton.language`: `float32` for fp32, `float8e5` for fp8e5."""
        return self.name.replace("fp", "float").replace("bf", "bfloat")

    def get_int_max_value(self) -> int:
        return self.int_range()[1]

    def get_int_min_value(self) -> int:
        return self.int_range()[0]

    def int_range(self) -> tuple[int, int]:
        """The smallest and largest values of an integer dtype."""
        if self.signed:
            return -(2 ** (self.width - 1)), 2 ** (self.width - 1) - 1
        return 0, 2**self.width - 1

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"triton.language.{self.codegen_name()}"


@dataclass(frozen=True, repr=False)
class pointer_type(_Type):
    """The type of a pointer to `element_ty`. Kernels cannot store through a `const` pointer."""

    element_ty: dtype
    const: bool = False
    kind: None = field(default=None, init=False)
    width: int = field(default=64, init=False)  # of an address
    signed: bool = field(default=False, init=False)

    @property
    def ir_type(self) -> ir.PointerType:
        return ir.PointerType(self.element_ty.ir_type)

    def is_const(self) -> bool:
        return self.const

    def __repr__(self) -> str:
        return f"{'const_' * self.const}pointer<{self.element_ty}>"


DTYPES = {name: dtype(name) for name in BY_NAME}
"""Every dtype, by its printed name."""


def check_dtype(value: Any) -> None:
    """Raise `TypeError` for a dtype of PyTorch or NumPy, and for anything else that is not a type. (Given.)"""
    try:
        value.scalar  # noqa: B018
    except AttributeError as error:
        name = getattr(value, "__name__", str(value)).rpartition(".")[2]
        advice = f"tl.{name}" if any(row.tl == name for row in FORMATS) else "a dtype such as tl.float32"
        raise TypeError(f"{error}: {value!r} is not a dtype of the language, write {advice}") from None


def _is_named(name: str) -> Callable[[_Type], bool]:
    return lambda self: getattr(self, "name", "") == name


for _name in (*DTYPES, "fp8e4b15"):
    setattr(_Type, f"is_{_name}", _is_named(_name))  # `is_fp16()`, `is_int8()`, for kernels

globals().update((row.tl, DTYPES[row.name]) for row in FORMATS)
# The dtypes that rules mention:
int1, int8, int16, int32, int64 = (DTYPES[name] for name in ("int1", "int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (DTYPES[name] for name in ("uint8", "uint16", "uint32", "uint64"))
float16, bfloat16, float32, float64 = (DTYPES[name] for name in ("fp16", "bf16", "fp32", "fp64"))

SMALLEST_NORMAL_FP32 = 2.0**-126
LARGEST_FP32 = (2 - 2.0**-23) * 2.0**127


def promote(lhs: dtype, rhs: dtype, div_or_mod: bool = False) -> dtype:
    """The dtype in which `lhs op rhs` is computed for two tensors of these dtypes, as in the table of chapter 1.4.

    `int1` counts as an unsigned integer. `div_or_mod` is true for `/`, `//` and `%`. For these operators, a result of
    fp16 or bf16 becomes fp32, because GPUs have no 16-bit float instructions for them; two different fp8 dtypes still
    give fp16 (before Triton 3.9; not tested). Raises `TypeError` for an fp8 dtype and an integer and, if `div_or_mod`
    is true, for integers of different signedness. Each `TypeError` names both dtypes.
    """
    # Task 1.4: fp16 and bf16 give fp16; bf16 and int8 give fp32; int8 and uint8 give uint8; int16 and uint8 give
    # int16. fp16 and int32 give fp16, or fp32 if `div_or_mod` is true. Which dtype decides, whatever the other is?
    raise NotImplementedError("Task 1.4: Promotion of two tensors")


def literal_dtype(value: bool | int | float) -> dtype:
    """The dtype of a Python number that is not combined with a tensor.

    These are some of them:

        True          int1          2**31         uint32        0.0, 0.1, -1.5      fp32
        7             int32         2**32         int64         1.2e-38, 3.4e38     fp32
        -2**31        int32         2**63 - 1     int64         inf, nan            fp32
        -2**31 - 1    int64         2**63         uint64        1e-38, 3.5e38       fp64

    Raises `ValueError` for an int that no dtype can hold; the message contains the int.
    """
    # Task 1.5: Given: `SMALLEST_NORMAL_FP32`, `LARGEST_FP32`; a dtype's `int_range`.
    raise NotImplementedError("Task 1.5: Promotion with Python literals")


def promote_literal(tensor: dtype, value: bool | int | float, div_or_mod: bool = False) -> dtype:
    """The dtype in which to compute an operation on a tensor and a Python number, in either order.

    The number is *weak*, as in the chapter's table. Raises `ValueError` if the result is an integer dtype that cannot
    hold `value`. Also raises the errors of `literal_dtype` and `promote`.
    """
    # Task 1.5: `promote` decides, but on which two dtypes? For int8 with 300, raise ValueError "Scalar 300 is out of
    # range for type int8". If the result is unsigned and the number is negative, raise ValueError "Cannot perform a
    # binary operation between an unsigned tensor and a negative scalar". Given: a dtype's `kind`.
    raise NotImplementedError("Task 1.5: Promotion with Python literals")


CastStep = tuple[str, dtype | pointer_type]


def cast_steps(src: dtype | pointer_type, dst: dtype | pointer_type) -> list[CastStep]:
    """The operations that convert a value from `src` to `dst`, each with the dtype of its result.

    Some of the pairs:

        fp32 to fp64      `arith.extf`               int8 to fp32      `arith.sitofp`
        fp64 to bf16      `arith.truncf`             int1 to fp32      `arith.uitofp`
        fp32 to uint8     `arith.fptoui`             int8 to uint32    `arith.extsi`
        fp64 to int1      `arith.cmpf`               uint8 to int32    `arith.extui`
        bf16 to int1      `arith.extf` to fp32,      int64 to uint8    `arith.trunci`
                          then `arith.cmpf`          int32 to int1     `arith.cmpi`
        fp64 to fp8e5     `tt.fp_to_fp`              int32 to uint32   no step
        fp8e5 to bf16     `tt.fp_to_fp`              int1 to fp8e5     a `TypeError` that names both dtypes
        bf16 to fp8e5     `tt.fp_to_fp`              fp8e5 to int1     a `TypeError`, too
    """
    if src == dst:
        return []
    if src.is_ptr() or dst.is_ptr():
        return _pointer_cast_steps(src, dst)
    assert isinstance(src, dtype) and isinstance(dst, dtype)
    # Task 1.6: Return [("arith.extf", float32), ("arith.fptosi", int32)] for fp16 to int32, [("arith.extui", int32)]
    # for uint8 to int32, [("arith.extsi", uint32)] for int8 to uint32, and [] for int32 to uint32.
    raise NotImplementedError("Task 1.6: Which cast takes A to B")


def _pointer_cast_steps(src: dtype | pointer_type, dst: dtype | pointer_type) -> list[CastStep]:
    """The steps from or to a pointer. The other type is a 64-bit integer, a pointer, or `int1` (a test for null)."""
    if src.is_ptr() and dst.is_ptr():
        return [("tt.bitcast", dst)]
    if src.is_ptr() and dst == int1:
        return [("tt.ptr_to_int", int64), ("arith.cmpi", int1)]
    if src.is_ptr() and dst in (int64, uint64):
        return [("tt.ptr_to_int", dst)]
    if src in (int64, uint64):
        return [("tt.int_to_ptr", dst)]
    raise TypeError(f"cannot cast {src} to {dst}")
