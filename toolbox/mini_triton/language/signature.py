"""Types as a launch spells them: `"*fp32"` (a pointer), `"*kfp32"` (a `const` pointer), `"i32"`, `"fp16"`. (Given.)

A tensor descriptor made by the host is passed as several arguments. `"tensordesc<fp32[16, 32], zero, base shape.1>"`
states its dtype, its block shape, its padding, and which of its parts are multiples of 16.

Source: Triton's `python/triton/compiler/code_generator.py` (`str_to_ty`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from mini_triton.formats import FORMATS
from mini_triton.ir.core import Value
from mini_triton.language.dtypes import DTYPES, dtype, int1, pointer_type
from mini_triton.language.tensor import tensor
from mini_triton.language.tensor_descriptor import describe_blocks, tensor_descriptor_type

SPELLINGS = {row.signature: DTYPES[row.name] for row in FORMATS} | {"i1": int1}

DESCRIPTOR = re.compile(r"tensordesc<(\w+)\[([\d, ]+)\], (\w+), ([\w. ]*)>")


def parse_type(spelling: str) -> Any:
    """The type of an argument: a dtype, a pointer or a descriptor. Raises `ValueError` for an unknown spelling."""
    if spelling.startswith("*"):
        const = spelling.startswith("*k")
        element = parse_type(spelling.removeprefix("*k" if const else "*"))
        assert isinstance(element, dtype)
        return pointer_type(element, const)
    if match := DESCRIPTOR.fullmatch(spelling):
        element, block_shape, padding, divisible = match.groups()
        type = describe_blocks(parse_type(element), [int(size) for size in block_shape.split(",")], padding)
        return replace(type, divisible=tuple(divisible.split()))
    if spelling not in SPELLINGS:
        raise ValueError(f"there is no type {spelling!r}, only {', '.join(SPELLINGS)} and pointers to these (*fp32)")
    return SPELLINGS[spelling]


def spell(type: Any) -> str:
    """The spelling of a type in a launch; for a descriptor, that of a pointer to its array."""
    if isinstance(type, tensor_descriptor_type):
        return f"*{spell(type.block_type.element_ty)}"
    if isinstance(type, pointer_type):
        return f"*{'k' * type.const}{spell(type.element_ty)}"
    return next(spelling for spelling, known in SPELLINGS.items() if known == type)


def inputs_of(types: Mapping[str, Any]) -> dict[str, Any]:
    """The types of compiled code's arguments, by name: `d.base`, `d.shape.0`, ... for a descriptor `d`."""
    inputs: dict[str, Any] = {}
    for name, type in types.items():
        parts = type.inputs if isinstance(type, tensor_descriptor_type) else {"": type}
        inputs |= {".".join(filter(None, (name, part))): part_type for part, part_type in parts.items()}
    return inputs


def divisible_parts(types: Mapping[str, Any]) -> list[str]:
    """The names, as in `inputs_of`, of descriptors' parts that are known to be multiples of 16."""
    descriptors = {name: type for name, type in types.items() if isinstance(type, tensor_descriptor_type)}
    return [f"{name}.{part}" for name, type in descriptors.items() for part in type.divisible]


def receive(types: Mapping[str, Any], arguments: Iterable[Value]) -> dict[str, Any]:
    """The values of a kernel's parameters by name, made from the arguments of compiled code."""
    tensors = map(tensor, arguments, inputs_of(types).values())
    return {
        name: type.receive(*islice(tensors, len(type.inputs)))
        if isinstance(type, tensor_descriptor_type)
        else next(tensors)
        for name, type in types.items()
    }
