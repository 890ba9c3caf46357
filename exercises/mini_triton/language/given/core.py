"""Names of Triton's module `core` that are not functions: for annotations, for hosts, and for libraries. (Given.)

Kernels write `tl.core.where` for `tl.where`: every name of the language is found here as well.

Source: Triton's `python/triton/language/core.py`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from mini_triton import language
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.language.context import builtin
from mini_triton.language.dtypes import DTYPES, dtype, int32, pointer_type
from mini_triton.language.signature import parse_type
from mini_triton.language.tensor import broadcast_together, to_tensor

__all__ = ["TRITON_MAX_TENSOR_NUMEL", "condition", "const", "map_elementwise", "pi32_t", "str_to_ty", "tuple"]

TRITON_MAX_TENSOR_NUMEL = 2**20
"""The largest tensor."""

pi32_t = pointer_type(int32)
tuple = builtins.tuple

CONSTEXPR_0 = constexpr(0)

_unwrap_if_constexpr = unwrap


class const:
    """The annotation of a pointer that is not stored to: `x: tl.const`."""


@builtin
def str_to_ty(name: str, c: Any = None) -> dtype | pointer_type:
    """The type that a launch spells like this: "fp32", "*i32", "*kfp16"."""
    return parse_type(name)


@builtin
def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer dtype of this width in bits. Raises `ValueError` if there is none."""
    name = f"{'' if signed or bitwidth == 1 else 'u'}int{bitwidth}"
    if name not in DTYPES:
        raise ValueError(f"Unsupported bitwidth {bitwidth} and signedness {signed}")
    return DTYPES[name]


@builtin
def condition(arg1: Any, disable_licm: bool = False) -> Any:
    """The condition of a `while`; the hint is for GPUs."""
    return arg1


@builtin
def map_elementwise(scalar_fn: Callable[..., Any], *args: Any, pack: int = 1) -> Any:
    """`scalar_fn` of the elements of tensors. It is applied to all of them at once, so it cannot branch on them."""
    if pack != 1:
        raise ValueError(f"map_elementwise takes one element at a time here, not {pack}: leave out `pack`")
    return scalar_fn(*broadcast_together(*map(to_tensor, args)))


def __getattr__(name: str) -> Any:
    return getattr(language, name)
