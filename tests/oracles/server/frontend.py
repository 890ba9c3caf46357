"""Modules that real Triton parses, prints, counts and compiles, or that its front end builds. Imports Triton."""

import functools
import itertools
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

import triton
from triton._C.libtriton import ir
from triton._C.libtriton import passes as known
from triton.backends.compiler import GPUTarget, Language
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.tools.disasm import get_sass

Answer = dict[str, Any]
DIVISIBLE_BY_16 = [["tt.divisibility", 16]]
RENEW_CONTEXT_AFTER = 2000  # modules, because types and attributes live as long as their context

_modules = itertools.count()


def version() -> Answer:
    """Triton's version."""
    return {"version": triton.__version__}


def parse(text: str, locations: bool = False) -> Answer:
    """Parse and verify a module. Return the module as Triton prints it."""
    module = after(text, ())
    return {"text": str(module) if locations else module.str_nodebug()}


def canonical(text: str, passes: Iterable[str]) -> Answer:
    """The text of the module after passes of these names."""
    return {"text": after(text, passes).str_nodebug()}


def ops(text: str, passes: Iterable[str]) -> Answer:
    """The number of each operation, after passes of these names."""
    return {"ops": counted(after(text, passes))}


def compile(text: str, capability: int, options: dict[str, Any]) -> Answer:
    """Compile TTIR down to a cubin, for a GPU that need not exist."""
    return lowered(file_of(text), capability, options)


def coalesced(text: str, capability: int, warps: int) -> Answer:
    """TTGIR, with the layouts that Triton chooses for loads and stores."""
    module = after(text, ())
    manager = ir.pass_manager(module.context)
    known.ttir.add_convert_to_ttgpuir(manager, f"cuda:{capability}", warps, 32, 1)
    known.ttgpuir.add_coalesce(manager)
    manager.run(module, "oracle")
    return {"text": module.str_nodebug()}


def assemble(text: str, capability: int, options: dict[str, Any]) -> Answer:
    """Compile TTIR down to PTX, which is quicker than compilation to machine code."""
    target = GPUTarget("cuda", capability, 32)
    backend = make_backend(target)
    parsed = backend.parse_options(options)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, parsed, Language.TRITON)
    module: Any = after(text, ())
    for stage in ("ttgir", "llir", "ptx"):
        module = stages[stage](module, {"target": target, **parsed.__dict__})
    return {"ptx": module}


def disassemble(cubin: str) -> Answer:
    """Disassemble a cubin, given as hexadecimal digits, by NVIDIA's tool."""
    return {"sass": get_sass(bytes.fromhex(cubin))}


def file_of(text: str) -> str:
    """The path of a file with this text. The next call overwrites the file."""
    file = os.path.join(os.environ["TRITON_CACHE_DIR"], "module.ttir")
    with open(file, "w") as opened:
        opened.write(text)
    return file


def after(text: str, passes: Iterable[str]) -> Any:
    """The module after passes of these names."""
    within = context()
    module = ir.parse_mlir_module(file_of(text), within)
    module.context = within
    run(module, passes)
    return module


def run(module: Any, passes: Iterable[str]) -> None:
    """Run passes of these names on a module."""
    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    for name in passes:
        group = known.common if hasattr(known.common, f"add_{name}") else known.ttir
        getattr(group, f"add_{name}")(manager)
    manager.run(module, "oracle")


def counted(module: Any) -> dict[str, int]:
    """The number of each operation."""
    counts: Counter[str] = Counter()
    module.walk(lambda op: counts.update([op.get_name()]))
    return dict(sorted(counts.items()))


def lowered(source: Any, capability: int, options: dict[str, Any]) -> Answer:
    """Compile a kernel, in a file or as the front end's source, down to its machine code."""
    kernel = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    cubin = kernel.asm["cubin"]
    stages = {stage: kernel.asm[stage] for stage in ("ttgir", "ptx")}
    return stages | {"cubin_size": len(cubin), "cubin": cubin.hex(), "shared": kernel.metadata.shared}


def context() -> Any:
    """An MLIR context for one more module. A new context takes as long as the compilation of a tiny kernel."""
    return _context(next(_modules) // RENEW_CONTEXT_AFTER)


@functools.lru_cache(maxsize=1)
def _context(generation: int) -> Any:
    return new_context()


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
    """A specialized kernel. `divisible` names the arguments that are multiples of 16."""
    attributes = {(kernel.arg_names.index(name),): DIVISIBLE_BY_16 for name in divisible}
    return ASTSource(kernel, signature=signature, constexprs=constexprs or {}, attrs=attributes)


def raw_module(source: ASTSource, capability: int = 90, options: dict[str, Any] | None = None) -> Any:
    """The module that the front end builds, before any pass."""
    target = GPUTarget("cuda", capability, 32)
    backend = make_backend(target)
    within = context()
    parsed = backend.parse_options({"sanitize_overflow": False, **(options or {})})
    implementation = backend.get_codegen_implementation(parsed)
    module = source.make_ir(target, parsed, implementation, backend.get_module_map(), within)
    module.context = within
    return module
