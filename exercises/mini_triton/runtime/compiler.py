"""All stages, from a kernel's source to a compiled kernel. (Given.)

Source: `compile` in Triton's `python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mini_triton.codegen import NumpyKernel, compile_module
from mini_triton.codegen.pointers import origins
from mini_triton.frontend.compiler import ast_to_ttir
from mini_triton.frontend.function import KernelSource
from mini_triton.ir.core import Module
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import Type
from mini_triton.language.constexpr import unwrap
from mini_triton.language.signature import parse_type
from mini_triton.runtime import cache, inspection
from mini_triton.runtime.arguments import number
from mini_triton.runtime.compiled import CompiledKernel, Metadata
from mini_triton.runtime.keys import key
from mini_triton.runtime.options import Options
from mini_triton.runtime.specialization import Specialized

STORES = ("tt.store", "tt.atomic_rmw", "tt.atomic_cas")


def compile(
    function: KernelSource, arguments: Mapping[str, Specialized], values: Mapping[str, Any], options: Options
) -> CompiledKernel:
    """The kernel for such arguments: from the disk, or through all stages.

    `values` has those of the compile-time arguments. Raises `CompilationError` for a kernel that is wrong.
    """
    hash = key(function, arguments, options)
    signature = {name: argument.type for name, argument in arguments.items()}
    fresh = inspection.is_wanted() or inspection.is_set(cache.ALWAYS_COMPILE)
    entry = None if fresh else cache.load(hash)
    if entry is None:
        entry = run_stages(function, hash, arguments, values)
        cache.store(hash, entry)
    metadata = Metadata(name=function.fn.__name__, hash=hash, signature=signature, **dataclasses.asdict(options))
    asm = {stage: entry[stage] for stage in inspection.FILES}
    return CompiledKernel(metadata, asm, program_of(entry, signature), entry["stored"], entry["located"])


def run_stages(
    function: KernelSource, hash: str, arguments: Mapping[str, Specialized], values: Mapping[str, Any]
) -> cache.Entry:
    """What the stages make, one after the other, and what a launch must know besides."""
    name = function.fn.__name__
    types = {parameter: argument.type for parameter, argument in arguments.items()}
    constants = {parameter: unwrap(number(values[parameter])) for parameter in types if types[parameter] == "constexpr"}
    divisible = [parameter for parameter, argument in arguments.items() if argument.divisible]

    inspection.finished(name, hash, "source", function.source)
    module = ast_to_ttir(function, types, constants, divisible)
    ttir = print_module(module)
    inspection.finished(name, hash, "ttir", ttir)
    program = compile_module(module)
    inspection.finished(name, hash, "numpy", program.source)
    texts = {"source": function.source, "ttir": ttir, "numpy": program.source}
    runs = {"name": name, "mode": program.mode, "largest": program.largest, "lines": list(program.lines.items())}
    return {**texts, **runs, "stored": stored_to(module), "located": print_module(module, locations=True)}


def program_of(entry: cache.Entry, signature: Mapping[str, str]) -> NumpyKernel:
    """The kernel that runs, from what is kept of it."""
    types: list[Type] = [parse_type(type).ir_type for type in signature.values() if type != "constexpr"]
    lines = {line: (place, rank) for line, (place, rank) in entry["lines"]}
    return NumpyKernel(entry["name"], entry["numpy"], entry["mode"], types, entry["largest"], lines)


def stored_to(module: Module) -> list[str]:
    """The pointer parameters of a kernel that it may store to."""
    (kernel,) = module.body.operations
    origin = origins(kernel)
    stores = [operation for operation in kernel.walk() if operation.name in STORES]
    arguments = {origin[operation.operands[0]] for operation in stores}
    return [argument.name for argument in kernel.regions[0].block.arguments if argument in arguments]
