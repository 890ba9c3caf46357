"""Modules, functions, calls, and operations such as print and assert. (Given.)

Source: MLIR's builtin dialect; Triton's `TritonOps.td`.
"""

from __future__ import annotations

from mini_triton.ir.attributes import Symbol
from mini_triton.ir.core import Region
from mini_triton.ir.ops.control_flow import argument_types, end_of, operand_types
from mini_triton.ir.ops.definition import op, require, spell
from mini_triton.ir.types import FunctionType, Type, element_type, shape_of

Types = tuple[Type, ...]


@op("builtin.module", assembly="custom")
def module(*, regions: list[Region]) -> None:
    """The whole program: a region of functions."""
    require(len(regions) == 1 and len(regions[0].blocks) == 1, "it needs one region of one block")


@op("tt.func", assembly="custom")
def func(
    *,
    sym_name: str,
    function_type: FunctionType,
    sym_visibility: str = "",
    noinline: bool = False,
    regions: list[Region],
) -> None:
    """A function. The kernel is public and returns nothing; it may call `private` functions."""
    require(len(regions) == 1, "it needs one region")
    require(sym_name.isidentifier() or sym_visibility == "private", f"a kernel's name is an identifier, not {sym_name}")
    require(sym_visibility in ("", "public", "private"), f"there is no visibility {sym_visibility}")
    end = end_of(regions[0], "tt.return")
    inputs, results = function_type.inputs, function_type.results
    taken, returned = argument_types(regions[0].block), operand_types(end)
    require(taken == inputs, f"its block must take {spell(inputs)}, not {spell(taken)}")
    require(returned == results, f"it must return {spell(results)}, not {spell(returned)}")


@op("tt.return", assembly="($values : type($values))? attr-dict", terminator=True)
def return_(*values: Type) -> None:
    """Ends a function."""


@op("tt.call", assembly="#callee ( $args ) attr-dict : functional-type")
def call(*args: Type, callee: Symbol, result: Type | Types = ()) -> Type | Types:
    """Call a function of the same module. The verifier compares the types with the callee's."""
    return result


@op(
    "tt.elementwise_inline_asm",
    assembly="#asm_string attr-dict ($args : type($args))? -> type(results)",
    elementwise=True,
)
def inline_asm(
    *args: Type, asm_string: str, constraints: str, packed_element: int, pure: bool, result: Type | Types = ()
) -> Type | Types:
    """Inline assembly for `packed_element` elements at a time. The compiler does not analyze it."""
    results = result if isinstance(result, tuple) else (result,)
    require(bool(results), "it needs a result")
    require(len({shape_of(type) for type in (*args, *results)}) == 1, "operands and results must have one shape")
    return result


@op("ub.poison", assembly="attr-dict : type(result)", pure=True)
def poison(*, result: Type) -> Type:
    """An undefined value, on which no result may depend."""
    return result


@op("tt.assert", assembly="$condition , #message attr-dict : type($condition)")
def assert_(condition: Type, *, message: str) -> None:
    """Stop the program if the condition is false, in a kernel compiled for debugging."""
    require(str(element_type(condition)) == "i1", f"its condition must be i1, not {condition}")


@op("tt.print", assembly="#prefix attr-dict (: $args : type($args))?")
def print_(*args: Type, prefix: str, hex: bool, isSigned: tuple[int, ...]) -> None:
    """Print values from the running kernel."""


@op("llvm.intr.assume", assembly="$condition attr-dict : type($condition)")
def assume(condition: Type) -> None:
    """A promise to the optimizer that a condition is true."""


@op("gpu.barrier", assembly="attr-dict")
def barrier() -> None:
    """A barrier: all threads of the program wait for one another."""
