"""Ways to break a module, each by one change."""

from collections.abc import Callable

from mini_triton.ir.core import Module
from mini_triton.ir.types import FloatType


def change_a_type(module: Module) -> None:
    """Give the result of a comparison the type f32."""
    comparison = next(operation for operation in module.walk() if operation.name == "arith.cmpi")
    comparison.result.type = FloatType("f32")


def drop_the_terminator(module: Module) -> None:
    """Remove the `tt.return` at the end of the function."""
    next(operation for operation in module.walk() if operation.name == "tt.return").erase()


def define_too_late(module: Module) -> None:
    """Move a range behind the operations that use it."""
    block = next(operation for operation in module.walk() if operation.name == "tt.func").regions[0].block
    made = next(operation for operation in block.operations if operation.name == "tt.make_range")
    block.operations.remove(made)
    block.operations.insert(len(block.operations) - 1, made)


BREAKS: dict[str, Callable[[Module], None]] = {
    "a result has another type": change_a_type,
    "a terminator is missing": drop_the_terminator,
    "a value is used before it is defined": define_too_late,
}
"""The module must contain a comparison and a range."""
