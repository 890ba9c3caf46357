"""Every use of real Triton, versions 3.6 to 3.9: public functions, and private ones where no public ones exist.

(Given.) `triton.compile` and its results are public. The private interfaces run passes on a module that was read from a
file, set the argument types of a kernel that was compiled from a file, and locate NVIDIA's tools. Functions import them
within `real_triton`, because in some programs `triton` is the name of mini_triton.

Source: `compile`, `IRSource` and `CompiledKernel` in Triton's `python/triton/compiler/compiler.py`; `make_ttir` in
Triton's `third_party/nvidia/backend/compiler.py`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mini_triton.compat.substitution import real_triton
from mini_triton.errors import OutOfResources, PTXASError
from mini_triton.formats import FLOATS

WARP = 32
PASSED_AS = {"i8": "i16"}
"""Types to pass as different types: Triton 3.6 rejects a negative i8, but accepts an i16 with the same lower byte."""
EXTRAS = ("always_compile", "dump_ir", "listener", "override", "use_ir_loc")
"""Triton's settings of a compilation that asks for more than machine code."""
FILES, SUFFIXES = "mini_triton", {".ttgir", ".llir", ".ptx", ".cubin", ".json"}
"""The name of a group of files in Triton's cache, and what it must contain."""


@real_triton()
def insist() -> None:
    """Raise RuntimeError, with the command that installs real Triton, if real Triton is missing."""
    if importlib.util.find_spec("triton") is None:
        raise RuntimeError("machine code for GPUs is made by real Triton, which is not installed: pip install triton")


def target(capability: int) -> Any:
    """Triton's target object for a compute capability: 90 for sm_90."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget("cuda", capability, WARP)


def refuse_formats(ttir: str, capability: int) -> None:
    """Raise RuntimeError, with the type's name, for a float type that this GPU lacks."""
    for name, row in FLOATS.items():
        if (row.capability is None or capability < row.capability) and re.search(rf"{name}\b", ttir):
            where = f"from sm_{row.capability} on" if row.capability else "on no NVIDIA GPU"
            raise RuntimeError(f"{row.name} (tl.{row.tl}) is supported {where}, and this is sm_{capability}")


def respelled(ttir: str, version: str) -> str:
    """A module's text as this version of Triton spells it: the types of descriptors, and the hints for caches."""
    known = tuple(map(int, version.split(".")[:2]))
    if known >= (3, 8):  # `!tt.tensordesc<16x32xf16>`
        ttir = re.sub(r"<tensor<(\w+)>>", r"<\1>", ttir)
    if known >= (3, 9):  # `{cachePolicy = #tt.cache_policy<...>}`
        hints = r"(?: cacheModifier = (\w+))?(?: evictionPolicy = (\w+))?(?: \{([^}]*)\})? :"
        ttir = re.sub(hints, in_one_attribute, ttir)
    return ttir


def in_one_attribute(found: re.Match[str]) -> str:
    """The hints of an access as an attribute of Triton 3.9, in front of the operation's other attributes."""
    cache, evict, others = found.groups()
    if not (cache or evict):
        return found[0]
    policy = f"cache_modifier = {cache or 'none'}, eviction_policy = {evict or 'evict_normal'}"
    return f" {{cachePolicy = #tt.cache_policy<{policy}>{f', {others}' * bool(others)}}} :"


@real_triton()
def simplified(file: str, capability: int, options: Mapping[str, Any]) -> str:
    """The text of the module in a .ttir file, after Triton's TTIR passes.

    `triton.compile` runs these passes on a module from Triton's own front end, but not on a module from a file.
    """
    from triton import __version__
    from triton._C.libtriton import ir
    from triton.compiler.compiler import make_backend

    text = Path(file).read_text(encoding="utf-8")
    refuse_formats(text, capability)
    Path(file).write_text(respelled(text, __version__), encoding="utf-8")
    backend = make_backend(target(capability))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = ir.parse_mlir_module(file, context)
    module.context = context
    text = str(backend.make_ttir(module, {}, backend.parse_options(dict(options)), capability))
    return text.replace(file, os.path.basename(file))  # Triton's cache key depends on the text


@real_triton()
def compile(file: str, capability: int, options: Mapping[str, Any], types: Sequence[str]) -> Kernel:
    """Compile the module in a .ttir file. `types` lists the parameters' types: "*fp16", "i32", "fp32".

    MLIR's types do not distinguish u32 from i32, and Triton's launcher calls f16 "fp16" and f64 "fp64".
    """
    import triton

    with own_errors():
        kernel = triton.compile(file, target=target(capability), options=dict(options))
    return Kernel(kernel, types)


@contextmanager
def own_errors() -> Iterator[None]:
    """A context that turns Triton's `OutOfResources` and `PTXASError` into our errors of the same names."""
    from triton.runtime import errors as theirs

    try:
        yield
    except theirs.OutOfResources as error:
        raise OutOfResources(error.required, error.limit, error.name) from None
    except theirs.PTXASError as error:
        raise PTXASError(str(error)) from None


@real_triton()
def compile_once(
    key: str, capability: int, options: Mapping[str, Any], types: Sequence[str], compile: Callable[[], Kernel]
) -> Kernel:
    """The kernel that `compile` returns, or that it returned under this key in an earlier process.

    Triton's own cache parses and simplifies a module before it finds the machine code. The key of the files also
    contains Triton's key: its version, its tools and its settings. If these ask for more than machine code, such as a
    dump, `compile` runs.
    """
    insist()
    from triton import knobs
    from triton.compiler import compiler

    backend = compiler.make_backend(target(capability))
    source = SimpleNamespace(hash=lambda: key)
    settings = compiler.get_cache_invalidating_env_vars()
    whole = compiler.get_cache_key(source, backend, backend.parse_options(dict(options)), settings)
    files = compiler.get_cache_manager(hashlib.sha256(whole.encode()).hexdigest())
    wants_more = any(getattr(knobs.compilation, name) for name in EXTRAS) or knobs.runtime.add_stages_inspection_hook
    group = {} if wants_more else files.get_group(FILES) or {}
    if {Path(name).suffix for name in group} >= SUFFIXES:
        found = compiler.CompiledKernel(source, group, "")
        found.hash = found.metadata.hash
        return Kernel(found, types)
    kernel = compile()
    files.put_group(FILES, kernel.kernel.metadata_group)
    return kernel


def disassemble(cubin: bytes) -> str:
    """The machine code disassembled by NVIDIA's tool, one instruction per line; "" if Triton came without the tool."""
    return "\n".join(re.findall(r"/\*[0-9a-f]{4,}\*/ +(.*?) *;", inspect(cubin, "-sass")))


@real_triton()
def inspect(cubin: bytes, question: str) -> str:
    """The output of NVIDIA's cuobjdump for machine code; "" if Triton came without the tool."""
    from triton import knobs

    with tempfile.TemporaryDirectory(prefix="mini-triton-") as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        try:
            command = [knobs.nvidia.cuobjdump.path, question, str(file)]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except (OSError, RuntimeError, subprocess.CalledProcessError):
            return ""


def provide_scratch() -> None:
    """Give real Triton the memory in which its kernels make descriptors: by PyTorch, unless a program has chosen."""
    from triton.runtime import _allocation

    if isinstance(_allocation._allocator.get(), _allocation.NullAllocator):
        _allocation.set_allocator(allocate)


def allocate(size: int, alignment: int, stream: int | None) -> Any:
    """Memory on the current GPU. PyTorch aligns it to 512 bytes."""
    import torch

    return torch.empty(size, dtype=torch.int8, device="cuda")


def join_parts(types: Iterable[str], arguments: Iterable[Any]) -> list[Any]:
    """Arguments of these types, in which each descriptor is one object again, not its parts."""
    rest, joined = iter(arguments), []
    for type in types:
        value = next(rest)
        if type.startswith("tensordesc"):
            blocks = [int(size) for size in type[type.index("[") + 1 : type.index("]")].split(",")]
            shape, strides = list(islice(rest, len(blocks))), list(islice(rest, len(blocks)))
            value = SimpleNamespace(base=value, shape=shape, strides=strides, block_shape=blocks)
            value.padding, value.round_f32_to_tf32 = "nan" if ", nan, " in type else "zero", False
        joined.append(value)
    return joined


class Kernel:
    """A kernel that Triton compiled."""

    def __init__(self, kernel: Any, types: Sequence[str]) -> None:
        self.kernel = kernel
        self.types = [PASSED_AS.get(type, type) for type in types]
        kernel.src.signature = dict(enumerate(self.types))
        self.joins = any(type.startswith("tensordesc") for type in types)
        self.asm = kernel.asm  # by stage: "ttgir", "llir", "ptx", "cubin"
        known = kernel.metadata
        self.name: str = known.name  # of the function in the cubin
        self.num_warps: int = known.num_warps  # of each program; more than the option if some warps are specialized
        self.shared: int = known.shared  # bytes of shared memory that each program needs
        self.scratch: int = (known.global_scratch_size or 0) + (known.profile_scratch_size or 0)  # of each program
        self.ready: Any = None

    def launch(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Start the kernel on the current GPU and PyTorch's current stream, with an argument for each parameter.

        This does the same as `kernel[grid](*arguments)`, but skips the preparation for profilers if no profiler is
        attached.
        """
        if self.ready is None:
            self.ready = self.loaded()
        if self.joins:
            arguments = join_parts(self.types, arguments)
        if self.scratch:
            provide_scratch()
        run, function, metadata, hooks, device, stream_of = self.ready
        if hooks.launch_enter_hook.calls or hooks.launch_exit_hook.calls:
            with real_triton():
                self.kernel[grid](*arguments)
        else:
            run(*grid, stream_of(device()), function, metadata, None, None, None, *arguments)

    @functools.cached_property
    def usage(self) -> dict[str, int]:
        """The resources of a thread, by NVIDIA's names: "REG" in registers, "STACK" and "LOCAL" in bytes."""
        said = inspect(self.asm["cubin"], "-res-usage")
        return {name: int(size) for name, size in re.findall(r"\b([A-Z]+):(\d+)", said)}

    @property
    def registers(self) -> int:
        """The number of registers of each thread."""
        return self.usage.get("REG", 0)

    @property
    def spills(self) -> int:
        """The number of 4-byte values of a thread that did not fit in registers."""
        return (self.usage.get("STACK", 0) + self.usage.get("LOCAL", 0)) // 4

    @real_triton()
    def loaded(self) -> tuple[Any, ...]:
        """The functions and handles that `launch` uses. Loads the machine code onto the current GPU.

        Raises `OutOfResources` if the GPU cannot run the kernel. After the first failure, Triton's `run` is a partial
        function that raises the error.
        """
        from triton import knobs
        from triton.runtime import driver

        active = driver.active
        with own_errors():
            run = self.kernel.run  # loads the machine code
            if isinstance(run, functools.partial):
                run()
        devices = (active.get_current_device, active.get_current_stream)
        return (run, self.kernel.function, self.kernel.packed_metadata, knobs.runtime, *devices)
