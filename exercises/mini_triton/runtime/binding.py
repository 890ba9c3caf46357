"""Binding the arguments of a launch to parameters.

`inspect.Signature.bind` also does this, but it takes longer than a small kernel runs, and it does not handle launch
options.

Source: `KernelParam` and `create_function_from_signature` in Triton's `python/triton/runtime/jit.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mini_triton.formats import FORMATS
from mini_triton.language.core import const
from mini_triton.language.dtypes import pointer_type
from mini_triton.runtime.options import OPTIONS

REQUIRED = inspect.Parameter.empty
"""Marks a parameter without a default."""

TYPE_NAMES = {
    **{name: row.signature for row in FORMATS for name in (row.tl, row.name, row.signature)},
    **{"int": "i32", "float": "fp32", "bool": "u1", "i1": "u1"},
}
"""Annotations that name a type, with its spelling in a launch."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel, with the properties from its definition."""

    name: str
    default: Any = REQUIRED
    constexpr: bool = False  # annotated `tl.constexpr`
    type: str = ""  # the annotation, if it is a type: "fp32", "i64", "*fp16"
    specialize: bool = True  # whether a 1 becomes a constant, and multiples of 16 are recorded
    specialize_alignment: bool = True  # whether multiples of 16 are recorded
    num: int = 0  # the position, counted from 0
    const: bool = False  # annotated `tl.const`: a pointer to which the kernel does not store

    @property
    def is_constexpr(self) -> bool:
        return self.constexpr

    @property
    def has_default(self) -> bool:
        return self.default is not REQUIRED


def parameters_of(
    signature: inspect.Signature, unspecialized: Collection[int | str] = (), unaligned: Collection[int | str] = ()
) -> tuple[Parameter, ...]:
    """The parameters of a kernel. Parameters in the collections, by name or number, are not specialized. (Given.)"""
    return tuple(
        Parameter(
            name=name,
            default=parameter.default,
            constexpr="constexpr" in str(parameter.annotation),
            type=type_of(parameter.annotation),
            specialize=name not in unspecialized and number not in unspecialized,
            specialize_alignment=name not in unaligned and number not in unaligned,
            num=number,
            const=parameter.annotation is const or str(parameter.annotation) in ("tl.const", "const"),
        )
        for number, (name, parameter) in enumerate(signature.parameters.items())
    )


def type_of(annotation: Any) -> str:
    """How a launch spells the type that an annotation names: `tl.float32`, "fp32", `int`; otherwise, "". (Given.)"""
    if isinstance(annotation, pointer_type):
        return f"*{type_of(annotation.element_ty)}"
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation).removeprefix("tl.")
    star, name = ("*", name[1:]) if name.startswith("*") else ("", name)
    return star + TYPE_NAMES[name] if name in TYPE_NAMES else ""


def bind(
    kernel: str, parameters: Sequence[Parameter], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of all parameters, by name and in order, and the launch options among the keywords.

    Raises `TypeError`, with the name of the kernel and the name at fault, for too many arguments, for an argument that
    is missing or given twice, and for a keyword that is neither a parameter nor one of `OPTIONS`.
    """
    # Task 7.1: For the parameters `x, n, BLOCK=64`, the call `(a, n=5, num_warps=8)` returns ({"x": a, "n": 5,
    # "BLOCK": 64}, {"num_warps": 8}). If a parameter has the name of an option, a keyword of this name belongs to the
    # parameter.
    raise NotImplementedError("Task 7.1: Arguments and parameters")
