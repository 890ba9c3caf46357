"""Names that are in Triton's module `core`, but not in other modules of our language. (Given.)

Some kernels use `tl.core.where` for `tl.where`. Therefore, this module also has every name of the language.

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
"""The largest number of elements in a tensor."""

pi32_t = pointer_type(int32)
tuple = builtins.tuple

CONSTEXPR_0 = constexpr(0)

_unwrap_if_constexpr = unwrap


class const:
    """The annotation of a pointer through which a kernel never stores: `x: tl.const`."""


@builtin
def str_to_ty(name: str, c: Any = None) -> dtype | pointer_type:
    """The type with this spelling in a launch: "fp32", "*i32", "*kfp16"."""
    return parse_type(name)


@builtin
def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer dtype of this width in bits. Raises `ValueError` if it does not exist."""
    name = f"{'' if signed or bitwidth == 1 else 'u'}int{bitwidth}"
    if name not in DTYPES:
        raise ValueError(f"Unsupported bitwidth {bitwidth} and signedness {signed}")
    return DTYPES[name]


@builtin
def condition(arg1: Any, disable_licm: bool = False) -> Any:
    """The condition of a `while`. The hint `disable_licm` has no effect."""
    return arg1


@builtin
def map_elementwise(scalar_fn: Callable[..., Any], *args: Any, pack: int = 1) -> Any:
    """Apply `scalar_fn` to tensors element by element. It receives whole tensors, so it cannot branch on elements."""
    if pack != 1:
        raise ValueError(f"map_elementwise supports only pack=1, not {pack}")
    return scalar_fn(*broadcast_together(*map(to_tensor, args)))


def __getattr__(name: str) -> Any:
    return getattr(language, name)
