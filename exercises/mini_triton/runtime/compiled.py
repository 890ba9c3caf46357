"""A compiled kernel: what the stages made of it, and how it runs. (Given.)

Source: `CompiledKernel` in Triton's `python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from mini_triton.codegen import NumpyKernel
from mini_triton.codegen.library.memory import Buffer, OutOfBounds
from mini_triton.runtime.arguments import number
from mini_triton.runtime.checks import check_devices, check_writable, explained, lost
from mini_triton.runtime.options import Options
from mini_triton.runtime.reach import known

if TYPE_CHECKING:
    from mini_triton.backends.handoff import Lowered
    from mini_triton.backends.launch import Launcher


@dataclass(frozen=True, kw_only=True)
class Metadata(Options):
    """What a compiled kernel tells about itself: the options it was compiled with, and these."""

    name: str
    hash: str
    signature: Mapping[str, str]


class Stages(dict[str, Any]):
    """What each stage made, by its name. A cubin is taken apart when its "sass" is first asked for."""

    def __missing__(self, stage: str) -> str:
        if stage != "sass" or "cubin" not in self:
            raise KeyError(stage)
        from mini_triton.backends.triton_api import disassembled

        self[stage] = disassembled(self["cubin"])
        return self[stage]


class CompiledKernel:
    """A kernel for arguments of one specialization.

    `asm` has the text that each stage made: `asm["source"]`, `asm["ttir"]`, `asm["numpy"]`; once it was lowered for a
    GPU also `asm["ttgir"]`, `asm["llir"]`, `asm["ptx"]`, `asm["cubin"]`, which is bytes, and `asm["sass"]`.
    """

    def __init__(
        self, metadata: Metadata, asm: Mapping[str, Any], program: NumpyKernel, stored: list[str], located: str
    ) -> None:
        self.metadata = metadata
        self.name = metadata.name
        self.hash = metadata.hash
        self.asm = Stages(asm)
        self.program = program
        self.stored = stored  # the pointer parameters that it may store to
        self.parameters = [name for name, type in metadata.signature.items() if type != "constexpr"]
        self.located = located  # the TTIR, with a place in the kernel's source for each operation
        self.lowered: dict[int, Lowered] = {}  # by compute capabilities
        self.launchers: dict[int, Launcher] = {}  # by the numbers of GPUs
        self.pointers = [name for name in self.parameters if metadata.signature[name].startswith("*")]

    def __repr__(self) -> str:
        signature = ", ".join(f"{name}: {type}" for name, type in self.metadata.signature.items())
        return f"<compiled kernel {self.name}({signature})>"

    def launch(self, grid: tuple[int, int, int], values: Mapping[str, Any]) -> None:
        """Run it for every program of the grid, with the values of its parameters, where their memory is."""
        memory = {name: values[name] for name in self.pointers}
        if any(getattr(value, "is_cuda", False) for value in memory.values()):
            self.launch_on_gpu(grid, values, memory)
        else:
            self.launch_on_cpu(grid, values, memory)

    def launch_on_cpu(self, grid: tuple[int, int, int], values: Mapping[str, Any], memory: Mapping[str, Any]) -> None:
        """Run the generated NumPy code."""
        check_devices(self.name, memory)
        check_writable(self.name, memory, self.stored)
        arguments = [
            Buffer.of(name, memory[name]) if name in memory else number(values[name]) for name in self.parameters
        ]
        try:
            self.program(grid, arguments, known())
        except OutOfBounds as error:
            if error.buffer.name not in memory:
                raise lost(self.name, error) from None
            raise explained(self.name, error, tuple(memory[error.buffer.name].shape)) from None

    def launch_on_gpu(self, grid: tuple[int, int, int], values: Mapping[str, Any], memory: Mapping[str, Any]) -> None:
        """Run the machine code that real Triton makes of the TTIR."""
        from mini_triton.backends.launch import Launcher, capability_here, gpu_of

        gpu = gpu_of(self.name, memory)
        if gpu not in self.launchers:
            self.launchers[gpu] = Launcher(self.lower(f"sm_{capability_here(gpu)}"), gpu)
        self.launchers[gpu](grid, [number(values[name]) for name in self.parameters])

    def lower(self, target: str = "sm_90") -> Lowered:
        """What real Triton makes of the TTIR for a GPU, which need not be there. `asm` has it from now on."""
        from mini_triton.backends.handoff import capability_of, lower

        capability = capability_of(target)
        if capability not in self.lowered:
            types = [self.metadata.signature[name] for name in self.parameters]
            options = {field.name: getattr(self.metadata, field.name) for field in fields(Options)}
            self.lowered[capability] = lower(self.name, self.located, types, capability, options)
        self.asm.update(self.lowered[capability].asm)
        self.asm.pop("sass", None)
        return self.lowered[capability]
