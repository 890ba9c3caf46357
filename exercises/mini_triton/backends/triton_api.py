"""Every use of real Triton, versions 3.6 to 3.9: its public functions, and private ones where no public ones exist.

(Given.) Public are `triton.compile` and what it returns. Private: running passes on a module that was read from a
file, telling a kernel made from a file what types its arguments have, and where NVIDIA's tools are.

Source: `compile`, `IRSource` and `CompiledKernel` in Triton's `python/triton/compiler/compiler.py`; `make_ttir` in its
`third_party/nvidia/backend/compiler.py`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mini_triton.errors import OutOfResources, PTXASError
from mini_triton.formats import FLOATS

WARP = 32
PASSED_AS = {"i8": "i16"}
"""Types of numbers that are passed as others: 3.6 refuses an i8 below 0. The lower byte of an i16 is the same."""


def insist() -> None:
    """Raise RuntimeError, which says what to install, if real Triton is not here."""
    if importlib.util.find_spec("triton") is None:
        raise RuntimeError("machine code for GPUs is made by real Triton, which is not installed: pip install triton")


def target(capability: int) -> Any:
    """Triton's object for a GPU of a compute capability: 90 for sm_90."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget("cuda", capability, WARP)


def refuse_formats(ttir: str, capability: int) -> None:
    """Raise RuntimeError, which names it, for a float that this GPU lacks. Triton fails without saying why."""
    for name, row in FLOATS.items():
        if (row.capability is None or capability < row.capability) and re.search(rf"{name}\b", ttir):
            where = f"from sm_{row.capability} on" if row.capability else "on no NVIDIA GPU"
            raise RuntimeError(f"{row.name} (tl.{row.tl}) is supported {where}, and this is sm_{capability}")


def simplified(file: str, capability: int, options: Mapping[str, Any]) -> str:
    """The module in a .ttir file after Triton's passes on TTIR: what its own front end makes goes through them.

    `triton.compile` takes a file to be beyond them.
    """
    from triton._C.libtriton import ir
    from triton.compiler.compiler import make_backend

    refuse_formats(Path(file).read_text(encoding="utf-8"), capability)
    backend = make_backend(target(capability))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = ir.parse_mlir_module(file, context)
    module.context = context
    text = str(backend.make_ttir(module, {}, backend.parse_options(dict(options)), capability))
    return text.replace(file, os.path.basename(file))  # where Python knows no location: Triton's cache reads it, too


def compile(file: str, capability: int, options: Mapping[str, Any], types: Sequence[str]) -> Kernel:
    """Compile the module in a .ttir file, whose parameters have these types: "*fp16", "i32", "fp32".

    MLIR's types of numbers do not tell u32 from i32, and Triton's launcher has other names for f16 and f64.
    """
    import triton

    with own_errors():
        kernel = triton.compile(file, target=target(capability), options=dict(options))
    kernel.src.signature = {i: PASSED_AS.get(type, type) for i, type in enumerate(types)}
    return Kernel(kernel)


@contextmanager
def own_errors() -> Iterator[None]:
    """A context in which Triton's errors of a kernel that does not fit a GPU become ours of the same names."""
    from triton.runtime import errors as theirs

    try:
        yield
    except theirs.OutOfResources as error:
        raise OutOfResources(error.required, error.limit, error.name) from None
    except theirs.PTXASError as error:
        raise PTXASError(str(error)) from None


def disassemble(cubin: bytes) -> str:
    """The machine code in words, an instruction a line, by NVIDIA's disassembler; "" where Triton came without it."""
    return "\n".join(re.findall(r"/\*[0-9a-f]{4,}\*/ +(.*?) *;", inspect(cubin, "-sass")))


def inspect(cubin: bytes, question: str) -> str:
    """The output of NVIDIA's cuobjdump for machine code; "" where Triton was installed without it."""
    from triton import knobs

    with tempfile.TemporaryDirectory(prefix="mini-triton-") as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        try:
            command = [knobs.nvidia.cuobjdump.path, question, str(file)]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except (OSError, RuntimeError, subprocess.CalledProcessError):
            return ""


class Kernel:
    """A kernel that Triton compiled."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.asm = kernel.asm  # the stages by their names: "ttgir", "llir", "ptx", "cubin"
        known = kernel.metadata
        self.name: str = known.name  # of the function in the cubin
        self.num_warps: int = known.num_warps  # of each program: more than the option says, if warps have other jobs
        self.shared: int = known.shared  # bytes of shared memory that each program needs
        self.scratch: int = (known.global_scratch_size or 0) + (known.profile_scratch_size or 0)  # bytes for all
        self.ready: Any = None

    def launch(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Start it on the current GPU and PyTorch's current stream, with the arguments of the module's parameters.

        This is `kernel[grid](*arguments)`, without what that prepares for profilers, if there are none.
        """
        if self.ready is None:
            self.ready = self.loaded()
        run, function, metadata, hooks, device, stream_of = self.ready
        if hooks.launch_enter_hook.calls or hooks.launch_exit_hook.calls:
            self.kernel[grid](*arguments)
        else:
            run(*grid, stream_of(device()), function, metadata, None, None, None, *arguments)

    @functools.cached_property
    def usage(self) -> dict[str, int]:
        """The resources of a thread, by NVIDIA's names: "REG" for registers, "STACK" and "LOCAL" for bytes."""
        said = inspect(self.asm["cubin"], "-res-usage")
        return {name: int(size) for name, size in re.findall(r"\b([A-Z]+):(\d+)", said)}

    @property
    def registers(self) -> int:
        """How many registers each thread needs."""
        return self.usage.get("REG", 0)

    @property
    def spills(self) -> int:
        """How many values of 4 bytes did not fit the registers of a thread."""
        return (self.usage.get("STACK", 0) + self.usage.get("LOCAL", 0)) // 4

    def loaded(self) -> tuple[Any, ...]:
        """The resources of a launch; loads the machine code onto the current GPU."""
        from triton import knobs
        from triton.runtime import driver

        active = driver.active
        with own_errors():
            run = self.kernel.run  # loads
        devices = (active.get_current_device, active.get_current_stream)
        return (run, self.kernel.function, self.kernel.packed_metadata, knobs.runtime, *devices)
