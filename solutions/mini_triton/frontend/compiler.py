"""From a kernel to a module: the front end's entry point.

Source: `ast_to_ttir` in Triton's `code_generator.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mini_triton.environment import is_set
from mini_triton.errors import CompilationError
from mini_triton.frontend.ast_visitor import Visitor
from mini_triton.frontend.function import KernelSource
from mini_triton.frontend.values import to_compile_time
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import BlockArgument, Module
from mini_triton.ir.ops.descriptors import PADDING
from mini_triton.ir.scopes import function
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.language.context import building
from mini_triton.language.signature import divisible_parts, inputs_of, parse_type, receive
from mini_triton.language.tensor import tensor

ALIGNMENT = 16  # divisor of addresses and integers that lets real Triton load 16 bytes at a time
DEBUGGING = "MINI_TRITON_FRONT_END_DEBUGGING"
"""An environment variable. If it is 1, errors show where in the compiler they were raised."""


def ast_to_ttir(
    kernel: KernelSource,
    signature: Mapping[str, str],
    constexprs: Mapping[str, Any] | None = None,
    divisible: Collection[str] = (),
) -> Module:
    """Compile a kernel for these argument types. (Given.)

    `signature` maps every parameter to its type: "*fp32", "i32", ..., or "constexpr"; `constexprs` holds the values of
    the "constexpr" parameters. `divisible` names the arguments that are multiples of 16; for a pointer, this means its
    address.

    Raises `CompilationError` for an error in the kernel, with its line, and `ValueError` for a signature that does not
    match the kernel's parameters.
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
    """Compile the kernel's source to a module with one public function that has the kernel's name.

    `types` maps the run-time parameters to their types, and `constants` the other parameters to their values;
    `divisible` is as in `ast_to_ttir`. Operations that do not belong to a statement have the location of the `def`,
    which is the node `kernel.tree`. Raises `CompilationError` for an error in the kernel.
    """
    # [task 5.2] For `def store(x, N): tl.store(x, N)`, with a type for `x` and the constant N=1, make a `tt.func` with
    # one input, and a scope with two names. Given: the functions below; `building`, which sets the current builder;
    # `function` (3.6).
    module, builder = Module(), Builder()
    visitor, place = Visitor(kernel, builder), kernel.loc(kernel.tree)
    inputs = {name: type.ir_type for name, type in inputs_of(types).items()}
    with (
        building(builder),
        builder.location(place),
        function(builder, module, kernel.fn.__name__, inputs) as built,
    ):
        for name, value in constants.items():
            visitor.scope.bind(name, to_compile_time(constexpr(value)), place)
        for name, value in receive(types, built.arguments).items():
            visitor.scope.bind(name, value, place)
        finish(kernel, visitor.run(kernel.tree.body), built.arguments, divisible)
    return module
    # [end]


def finish(kernel: KernelSource, result: Any, arguments: Sequence[BlockArgument], divisible: Collection[str]) -> None:
    """Check that a kernel returns nothing, and record which arguments are divisible by 16. (Given.)

    Of the other attributes, keep the padding of descriptors; drop what the kernel's body itself promises.
    """
    if isinstance(result, tensor | tuple) or unwrap(result) is not None:
        message = "a kernel returns nothing: store its results in memory"
        raise CompilationError(message, kernel.loc(kernel.tree))
    for argument in arguments:
        argument.attributes = {name: value for name, value in argument.attributes.items() if name == PADDING}
        if argument.name in divisible:
            argument.attributes["tt.divisibility"] = ALIGNMENT


def complete_constants(kernel: KernelSource, signature: Mapping[str, str], known: Mapping[str, Any]) -> dict[str, Any]:
    """The compile-time arguments, including defaults. Raises `ValueError` if names or types do not match. (Given.)"""
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
    """Remove the compiler's traceback from an error, unless the environment variable named by `DEBUGGING` is set.

    As in Triton, a launch raises the error with its `reason` as the cause. The reason is the error of the language or
    of Python.
    """
    if is_set(DEBUGGING):
        return error
    if error.__cause__:
        error.reason = error.__cause__.with_traceback(None)
    # [task 5.9] Return `error` in such a state that Python prints only its message and the frame that raises it again.
    error.__cause__ = None
    return error.with_traceback(None)
    # [end]
