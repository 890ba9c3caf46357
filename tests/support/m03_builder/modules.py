"""A module around a block that a test has filled."""

from __future__ import annotations

from mini_triton.ir.core import Block, Module, Region, Value
from mini_triton.ir.ops.definition import create
from mini_triton.ir.types import FunctionType


def module_around(block: Block, *returned: Value, name: str = "helper") -> Module:
    """A module with one private function, whose body is `block` and a return of these values."""
    block.append(create("tt.return", *returned))
    type = FunctionType(tuple(a.type for a in block.arguments), tuple(value.type for value in returned))
    function = create("tt.func", sym_name=name, sym_visibility="private", function_type=type, regions=[Region([block])])
    return Module([function])
