"""A compiled kernel: what the stages made of it, and how it runs. (Given.)

Source: `CompiledKernel` in Triton's `python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mini_triton.codegen import NumpyKernel
from mini_triton.codegen.library.memory import Buffer, OutOfBounds
from mini_triton.runtime.arguments import number
from mini_triton.runtime.checks import check_devices, check_writable, explained, lost
from mini_triton.runtime.options import Options
from mini_triton.runtime.reach import known


@dataclass(frozen=True, kw_only=True)
class Metadata(Options):
    """What a compiled kernel tells about itself: the options it was compiled with, and these."""

    name: str
    hash: str
    signature: Mapping[str, str]


class CompiledKernel:
    """A kernel for arguments of one specialization.

    `asm` has the text that each stage made: `asm["source"]`, `asm["ttir"]`, `asm["numpy"]`.
    """

    def __init__(self, metadata: Metadata, asm: Mapping[str, str], program: NumpyKernel, stored: list[str]) -> None:
        self.metadata = metadata
        self.name = metadata.name
        self.hash = metadata.hash
        self.asm = asm
        self.program = program
        self.stored = stored  # the pointer parameters that it may store to
        self.parameters = [name for name, type in metadata.signature.items() if type != "constexpr"]
        self.pointers = [name for name in self.parameters if metadata.signature[name].startswith("*")]

    def __repr__(self) -> str:
        signature = ", ".join(f"{name}: {type}" for name, type in self.metadata.signature.items())
        return f"<compiled kernel {self.name}({signature})>"

    def launch(self, grid: tuple[int, int, int], values: Mapping[str, Any]) -> None:
        """Run it for every program of the grid, with the values of its parameters."""
        memory = {name: values[name] for name in self.pointers}
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
