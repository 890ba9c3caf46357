"""Compiling without a launch: `triton.compile(ASTSource(kernel, signature, constexprs))`.

Source: `ASTSource` and `compile` in Triton's `python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mini_triton import errors as errors  # `triton.compiler.errors.CompilationError`
from mini_triton.compat.driver import GPUTarget as GPUTarget  # users look for it here
from mini_triton.frontend.compiler import without_internals
from mini_triton.frontend.function import KernelSource
from mini_triton.runtime.cache import triton_key
from mini_triton.runtime.compiled_kernel import CompiledKernel, compile_kernel
from mini_triton.runtime.keys import references
from mini_triton.runtime.options import OPTIONS, Options
from mini_triton.runtime.specialization import Specialized, specialize_constant

__all__ = [
    *("ASTSource", "CompiledKernel", "GPUTarget", "compile", "make_backend", "triton_key"),
    *("CompilationError", "CompileTimeAssertionFailure", "OutOfResources", "UnsupportedLanguageConstruct"),
]

__path__: list[str] = []  # a package: `triton.compiler.errors` is found by `aliases`

Place = str | int | tuple[int, ...]
"""A parameter: its name, its number, or, in newer versions of Triton, a tuple that contains its number."""


class ASTSource:
    """A kernel, with its parameters' types, the values of constant parameters, and facts about other parameters.

    `attrs` holds `[["tt.divisibility", 16]]` for parameters that are multiples of 16.
    """

    def __init__(
        self,
        fn: KernelSource,
        signature: Mapping[str, str],
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Any] | None = None,
    ) -> None:
        self.fn = fn
        self.name = fn.fn.__name__
        self.signature = dict(signature)
        self.names = list(fn.signature.parameters)
        self.constants = {self.name_of(place): value for place, value in (constexprs or {}).items()}
        self.attrs = {self.name_of(place): attributes for place, attributes in (attrs or {}).items()}
        for name in self.signature:
            if not isinstance(name, str):
                raise TypeError("Signature keys must be string")

    def name_of(self, place: Place) -> str:
        """The name of a parameter."""
        if isinstance(place, str):
            return place
        return self.names[place[0] if isinstance(place, tuple) else place]

    def specialized(self) -> dict[str, Specialized]:
        """What the compiler knows about each argument."""
        result = {}
        for name in self.names:
            type = "constexpr" if name in self.constants else self.signature[name]
            divisible = ["tt.divisibility", 16] in [list(attribute) for attribute in self.attrs.get(name, ())]
            is_constant = type == "constexpr"
            result[name] = specialize_constant(self.constants[name]) if is_constant else Specialized(type, divisible)
        return result


class Backend:
    """What PyTorch asks of a back end: its default options, and a text that changes with it."""

    def parse_options(self, options: Mapping[str, Any]) -> Options:
        return Options(**{name: value for name, value in options.items() if name in OPTIONS})

    def hash(self) -> str:
        return triton_key()


def make_backend(target: GPUTarget) -> Backend:
    """The back end for a target. They all have the same options."""
    return Backend()


def compile(src: ASTSource, target: Any = None, options: Mapping[str, Any] | None = None) -> CompiledKernel:
    """Compile for arguments of these types; with a target such as `GPUTarget("cuda", 90, 32)`, also to machine code.

    The result's `asm` holds the texts of the stages: "ttir", "numpy", and for a GPU "ttgir", "llir", "ptx", "cubin".
    """
    chosen = make_backend(target).parse_options(options or {})
    try:
        kernel = compile_kernel(src.fn, src.specialized(), src.constants, chosen, references(src.fn))
    except errors.CompilationError as error:
        raise without_internals(error) from error.__cause__ or error.reason
    if target is not None and target.backend == "cuda":
        kernel.lower(f"sm_{target.arch}")
    return kernel
