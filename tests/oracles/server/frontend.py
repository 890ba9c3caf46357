"""Real Triton's front end on a CPU: a `@triton.jit` function becomes raw TTIR. Imports Triton."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

DIVISIBLE_BY_16 = [["tt.divisibility", 16]]


def new_context(capability: int = 90) -> Any:
    """An MLIR context that knows the dialects of Triton and of a CUDA GPU."""
    context = ir.context()
    ir.load_dialects(context)
    make_backend(GPUTarget("cuda", capability, 32)).load_dialects(context)
    return context


def source(
    kernel: Any,
    signature: dict[str, str],
    constexprs: dict[str, Any] | None = None,
    divisible: Iterable[str] = (),
) -> ASTSource:
    """A kernel, specialised: `divisible` names the arguments that are multiples of 16."""
    attributes = {(kernel.arg_names.index(name),): DIVISIBLE_BY_16 for name in divisible}
    return ASTSource(kernel, signature=signature, constexprs=constexprs or {}, attrs=attributes)


def raw_module(
    source: ASTSource, capability: int = 90, context: Any = None, options: dict[str, Any] | None = None
) -> Any:
    """The module that the front end builds, before any pass."""
    target = GPUTarget("cuda", capability, 32)
    backend = make_backend(target)
    context = context or new_context(capability)
    parsed = backend.parse_options({"sanitize_overflow": False, **(options or {})})
    implementation = backend.get_codegen_implementation(parsed)
    module = source.make_ir(target, parsed, implementation, backend.get_module_map(), context)
    module.context = context
    return module
