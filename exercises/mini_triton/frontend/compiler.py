"""From a kernel to a module: the front end's only door.

Source: `ast_to_ttir` in Triton's `code_generator.py`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from mini_triton.errors import CompilationError
from mini_triton.frontend.calls import NOTHING
from mini_triton.frontend.function import KernelSource
from mini_triton.frontend.statements import Statements
from mini_triton.frontend.values import compile_time
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Module
from mini_triton.ir.scopes import function
from mini_triton.language.constexpr import constexpr
from mini_triton.language.context import building
from mini_triton.language.signature import parse_type
from mini_triton.language.tensor import tensor

ALIGNMENT = 16  # bytes for pointers, elements for integers: what lets real Triton load 16 bytes at a time
DEBUGGING = "MINI_TRITON_FRONT_END_DEBUGGING"
"""The environment variable that, set to anything, shows where in the compiler an error came from."""


def ast_to_ttir(
    kernel: KernelSource,
    signature: Mapping[str, str],
    constexprs: Mapping[str, Any] | None = None,
    divisible: Collection[str] = (),
) -> Module:
    """Compile a kernel for arguments of the given types.

    `signature` has the type of every parameter by its name: "*fp32", "i32", ..., or "constexpr"; what those are is in
    `constexprs`. `divisible` names the arguments that are multiples of 16 (pointers: their addresses).

    Raises `CompilationError`, with the line of the kernel that is wrong, and `ValueError` for a signature that does not
    fit the kernel's parameters.
    """
    constants = arguments_by_name(kernel, signature, dict(constexprs or {}))
    module, builder = Module(), Builder()
    dtypes = {name: parse_type(signature[name]) for name in kernel.signature.parameters if name not in constants}
    inputs = {name: dtype.ir_type for name, dtype in dtypes.items()}
    divisibility = dict.fromkeys(divisible, ALIGNMENT)
    visitor, place = Statements(kernel, builder), kernel.loc(kernel.tree)
    try:
        with (
            building(builder),
            builder.location(place),
            function(builder, module, kernel.fn.__name__, inputs, divisibility=divisibility) as built,
        ):
            for name, value in constants.items():
                visitor.scope.bind(name, compile_time(constexpr(value)), place)
            for (name, dtype), argument in zip(dtypes.items(), built.arguments, strict=True):
                visitor.scope.bind(name, tensor(argument, dtype), place)
            result = visitor.run(kernel.tree.body)
            for name, argument in zip(inputs, built.arguments, strict=True):  # promises about arguments are forgotten
                argument.attributes = {"tt.divisibility": ALIGNMENT} if name in divisibility else {}
            if result is not NOTHING and not is_none(result):
                raise CompilationError("a kernel returns nothing: store its results in memory", place)
    except CompilationError as error:
        raise without_internals(error) from error.__cause__
    return module


def arguments_by_name(kernel: KernelSource, signature: Mapping[str, str], constants: dict[str, Any]) -> dict[str, Any]:
    """The compile-time arguments, defaults included. Raises `ValueError` for what does not fit. (Given.)"""
    parameters = kernel.signature.parameters
    for name in (*signature, *constants):
        if name not in parameters:
            raise ValueError(f"{kernel.fn.__name__} has no parameter {name}, only {', '.join(parameters)}")
    for name, parameter in parameters.items():
        known = name in constants or signature.get(name) == "constexpr" or name not in signature
        if known and name not in constants:
            if parameter.default is parameter.empty:
                raise ValueError(f"{kernel.fn.__name__} needs a value or a type for its parameter {name}")
            constants[name] = parameter.default
        if not known and name in kernel.constexprs:
            raise ValueError(f"the parameter {name} of {kernel.fn.__name__} is constexpr: it needs a value, not a type")
    return constants


def is_none(value: Any) -> bool:
    """Whether it is the compile-time None. (Given.)"""
    return isinstance(value, constexpr) and value.value is None


def without_internals(error: CompilationError) -> CompilationError:
    """The error without the way it took through the compiler; unless the variable `DEBUGGING` is set."""
    if os.environ.get(DEBUGGING):
        return error
    # Task 5.8: `with_traceback(None)` forgets the way. What led to the error (`__cause__`, which Python prints as
    # well) is forgotten by setting it to None; then Python does not print the `__context__` either.
    raise NotImplementedError("Task 5.8: Errors that point at the line")
