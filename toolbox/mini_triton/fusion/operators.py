"""Elementwise operators: the source of each in a kernel, and the dtype in which it computes. (Given.)

Each row describes an ATen operator. `{0}` and `{1}` are its operands, cast to the dtype in which PyTorch computes.

Source: `TritonOverrides` in PyTorch's `torch/_inductor/codegen/triton.py`; `elementwise_dtypes` in PyTorch's
`torch/_prims_common/__init__.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch


class Kind(Enum):
    """The dtype in which an operator computes, and the dtype of its result."""

    SAME = "the operands' common dtype"
    FLOAT = "the operands' common dtype; integers become floats"
    COMPARE = "the operands' common dtype; the result is a bool"
    BOOL = "bools"


@dataclass(frozen=True)
class Operator:
    """How an elementwise operator is written."""

    text: str  # for floats
    kind: Kind = Kind.SAME
    integers: str | None = None  # for integers, if it differs
    bools: str | None = None


def _same(text: str, integers: str | None = None, bools: str | None = None) -> Operator:
    return Operator(text, Kind.SAME, integers, bools)


def _float(text: str) -> Operator:
    return Operator(text, Kind.FLOAT)


def _compare(text: str, integers: str | None = None) -> Operator:
    return Operator(text, Kind.COMPARE, integers)


def _bool(text: str) -> Operator:
    return Operator(text, Kind.BOOL)


_FLOATS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erfc", "erfinv", "expm1", "lgamma", "log10", "log1p"),
    *("sinh", "tan", "tanh"),
)

OPERATORS: dict[str, Operator] = {
    "add": _same("{0} + {1}", bools="{0} | {1}"),
    "sub": _same("{0} - {1}"),
    "mul": _same("{0} * {1}", bools="{0} & {1}"),
    "neg": _same("-{0}"),
    "abs": _same("tl.abs({0})", bools="{0}"),
    "sign": _same("helpers.sign({0})", bools="{0}"),
    "relu": _same("helpers.maximum({0}, 0)"),
    "maximum": _same("helpers.maximum({0}, {1})", bools="{0} | {1}"),
    "minimum": _same("helpers.minimum({0}, {1})", bools="{0} & {1}"),
    "fmax": _same("tl.maximum({0}, {1})"),
    "fmin": _same("tl.minimum({0}, {1})"),
    "fma": _same("{0} * {1} + {2}"),
    "where": _same("tl.where({0}, {1}, {2})"),
    "floor": _same("tl.floor({0})", integers="{0}"),
    "ceil": _same("tl.ceil({0})", integers="{0}"),
    "round": _same("libdevice.nearbyint({0})", integers="{0}"),
    "trunc": _same("libdevice.trunc({0})", integers="{0}"),
    "fmod": _same("libdevice.fmod({0}, {1})", integers="{0} % {1}"),
    "remainder": _same("helpers.remainder({0}, {1})", integers="helpers.remainder_of_integers({0}, {1})"),
    "floor_divide": _same("helpers.floor_divide({0}, {1})", integers="helpers.floor_divide_integers({0}, {1})"),
    "trunc_divide": _same("libdevice.trunc({0} / {1})", integers="{0} // {1}"),
    "pow": _same("libdevice.pow({0}, {1})", integers="helpers.power_of_integers({0}, {1})"),
    "div": _float("{0} / {1}"),
    "true_divide": _float("{0} / {1}"),
    "reciprocal": _float("1.0 / {0}"),
    "exp": _float("tl.exp({0})"),
    "exp2": _float("tl.exp2({0})"),
    "log": _float("tl.log({0})"),
    "log2": _float("tl.log2({0})"),
    "sqrt": _float("libdevice.sqrt({0})"),
    "erf": _float("tl.erf({0})"),
    "rsqrt": _float("tl.rsqrt({0})"),
    "sin": _float("tl.sin({0})"),
    "cos": _float("tl.cos({0})"),
    "sigmoid": _float("1.0 / (1.0 + tl.exp(-{0}))"),
    "atan2": _float("libdevice.atan2({0}, {1})"),
    **{name: _float(f"libdevice.{name}({{0}})") for name in _FLOATS},
    "eq": _compare("{0} == {1}"),
    "ne": _compare("{0} != {1}"),
    "lt": _compare("{0} < {1}"),
    "le": _compare("{0} <= {1}"),
    "gt": _compare("{0} > {1}"),
    "ge": _compare("{0} >= {1}"),
    "isnan": _compare("{0} != {0}"),
    "isinf": _compare('tl.abs({0}) == float("inf")', integers="{0} != {0}"),
    "bitwise_and": _same("{0} & {1}"),
    "bitwise_or": _same("{0} | {1}"),
    "bitwise_xor": _same("{0} ^ {1}"),
    "bitwise_not": _same("~{0}"),
    "__lshift__": _same("{0} << {1}"),
    "__rshift__": _same("{0} >> {1}"),
    "bitwise_left_shift": _same("{0} << {1}"),
    "bitwise_right_shift": _same("{0} >> {1}"),
    "logical_and": _bool("{0} & {1}"),
    "logical_or": _bool("{0} | {1}"),
    "logical_xor": _bool("{0} ^ {1}"),
    "logical_not": _bool("~{0}"),
}


def computed_in(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which a kernel computes with values of `dtype`: 16-bit floats are widened, as in PyTorch."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def promote(kind: Kind, operands: list[Any]) -> torch.dtype:
    """The dtype to which operands are cast. Operands are tensors, numbers or SymPy expressions. (Given.)"""
    if kind is Kind.BOOL:
        return torch.bool
    common = common_dtype(operands)
    if kind is Kind.FLOAT and not common.is_floating_point:
        common = torch.get_default_dtype()
    return computed_in(common)


def common_dtype(operands: list[Any]) -> torch.dtype:
    """PyTorch's promotion of tensors and numbers. (Given.)"""
    stand_ins = [
        torch.empty((1,) * min(len(x.shape), 1), dtype=x.dtype, device="meta") if hasattr(x, "dtype") else x
        for x in operands
    ]
    result = torch._prims_common.elementwise_dtypes(
        *stand_ins, type_promotion_kind=torch._prims_common.ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
    )
    return result[1]


def apply(name: str, dtype: torch.dtype, operands: list[str]) -> str:
    """The source of an operator, for operands of this dtype."""
    operator = OPERATORS[name]
    text = operator.text
    if dtype == torch.bool and operator.bools is not None:
        text = operator.bools
    elif not dtype.is_floating_point and operator.integers is not None:
        text = operator.integers
    return text.format(*operands)


IDENTITIES = {
    "sum": 0,
    "prod": 1,
    "any": 0,
    "all": 1,
    "max": "least",
    "min": "most",
    "argmax": "least",
    "argmin": "most",
}


def identity(kind: str, dtype: torch.dtype) -> float:
    """The identity of a reduction: 0 for a sum, the least value of the dtype for a maximum."""
    value = IDENTITIES[kind]
    if isinstance(value, int):
        return bool(value) if dtype == torch.bool else float(value) if dtype.is_floating_point else value
    if dtype.is_floating_point:
        return float("-inf") if value == "least" else float("inf")
    if dtype == torch.bool:
        return value == "most"
    return torch.iinfo(dtype).min if value == "least" else torch.iinfo(dtype).max
