"""From a kernel to a module: the front end's only door.

Source: `ast_to_ttir` in Triton's `code_generator.py`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mini_triton.errors import CompilationError
from mini_triton.frontend.ast_visitor import Visitor
from mini_triton.frontend.function import KernelSource
from mini_triton.frontend.values import to_compile_time
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import BlockArgument, Module
from mini_triton.ir.scopes import function
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.language.context import building
from mini_triton.language.signature import divisible_parts, inputs_of, parse_type, receive
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
    """Compile a kernel for arguments of the given types. (Given.)

    `signature` has the type of every parameter by its name: "*fp32", "i32", ..., or "constexpr"; what those are is in
    `constexprs`. `divisible` names the arguments that are multiples of 16 (pointers: their addresses).

    Raises `CompilationError`, with the line of the kernel that is wrong, and `ValueError` for a signature that does not
    fit the kernel's parameters.
    """
    constants = complete_constants(kernel, signature, constexprs or {})
    types = {name: parse_type(signature[name]) for name in kernel.signature.parameters if name not in constants}
    try:
        return build_module(kernel, types, constants, [*divisible, *divisible_parts(types)])
    except CompilationError as error:
        raise without_internals(error) from error.__cause__


def build_module(
    kernel: KernelSource,
    types: Mapping[str, Any],
    constants: Mapping[str, Any],
    divisible: Collection[str],
) -> Module:
    """A module with one public function of the kernel's name and parameters `types`, compiled from the kernel's source.

    An operation that belongs to no statement has the location of the `def`, `kernel.tree`. Raises `CompilationError`
    for an error in the kernel.
    """
    # Task 5.2: For `def store(x, N): tl.store(x, N)`, with a type for `x` and the constant N=1: a `tt.func` of one
    # input, and a scope of two names. Given: `inputs_of` (name to type), `receive` (name to tensor), `to_compile_time`
    # (of a `constexpr`), `building` (makes a builder the current one), `function` (3.6), `finish`.
    raise NotImplementedError("Task 5.2: From source to module")


def finish(kernel: KernelSource, result: Any, arguments: Sequence[BlockArgument], divisible: Collection[str]) -> None:
    """Check that a kernel returns nothing. Note which arguments are divisible, but nothing else that its body promised
    about them. (Given.)"""
    if isinstance(result, tensor | tuple) or unwrap(result) is not None:
        message = "a kernel returns nothing: store its results in memory"
        raise CompilationError(message, kernel.loc(kernel.tree))
    for argument in arguments:
        argument.attributes = {"tt.divisibility": ALIGNMENT} if argument.name in divisible else {}


def complete_constants(kernel: KernelSource, signature: Mapping[str, str], known: Mapping[str, Any]) -> dict[str, Any]:
    """The compile-time arguments, defaults included. Raises `ValueError` for values that do not fit. (Given.)"""
    constants, parameters = dict(known), kernel.signature.parameters
    for name in (*signature, *constants):
        if name not in parameters:
            raise ValueError(f"{kernel.fn.__name__} has no parameter {name}, only {', '.join(parameters)}")
    for name, parameter in parameters.items():
        is_known = name in constants or signature.get(name) == "constexpr" or name not in signature
        if is_known and name not in constants:
            if parameter.default is parameter.empty:
                raise ValueError(f"{kernel.fn.__name__} needs a value or a type for its parameter {name}")
            constants[name] = parameter.default
        if not is_known and name in kernel.constexprs:
            raise ValueError(f"the parameter {name} of {kernel.fn.__name__} is constexpr: it needs a value, not a type")
    return constants


def without_internals(error: CompilationError) -> CompilationError:
    """The error without a traceback through the compiler; with it if the environment variable `DEBUGGING` is set.

    A launch raises it from its `reason`, the error of the language or of Python, as in Triton.
    """
    if os.environ.get(DEBUGGING):
        return error
    if error.__cause__:
        error.reason = error.__cause__.with_traceback(None)
    # Task 5.9: Python prints an error's traceback, and the error that caused it.
    raise NotImplementedError("Task 5.9: Errors that point at the line")
