"""The hand-off: a module's text becomes machine code for a GPU, by real Triton. No GPU is needed for that.

    ttir ──► Triton's passes ──► ttgir ──► llir ──► ptx ──► cubin

Everything up to the text was ours. From here on real Triton lays tensors out over threads, LLVM makes PTX of it, and
NVIDIA's assembler makes machine code of that.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mini_triton.backends import triton_api

STAGES = ("ttgir", "llir", "ptx", "cubin")
"""What real Triton makes of TTIR, in order. A cubin is bytes, the others are texts."""


@dataclass(frozen=True)
class Lowered:
    """What real Triton made of a module."""

    capability: int
    asm: Mapping[str, Any]  # by the names in `STAGES`
    kernel: triton_api.Kernel  # which can be launched

    @property
    def sass(self) -> str:
        """The machine code in words, an instruction a line; "" where there is no disassembler. (Given.)"""
        return triton_api.disassembled(self.asm["cubin"])


def capability_of(name: str) -> int:
    """The compute capability of a target: 90 for "sm_90". Raises `ValueError`, with the name, for anything else."""
    match name.split("_"):
        case ["sm", digits] if digits.isascii() and digits.isdecimal() and 2 <= len(digits) <= 3:
            return int(digits)
    raise ValueError(f"{name!r} is not like sm_90")


def in_file(folder: Path, kernel: str, text: str) -> str:
    """The path of a file with this text."""
    path = (folder / kernel).with_suffix(".ttir")
    path.write_bytes(text.encode())
    return str(path)


def lower(
    kernel: str, ttir: str, types: Sequence[str], capability: int, options: Mapping[str, Any] | None = None
) -> Lowered:
    """Hand the text of a module to real Triton. `types` are those of the kernel's parameters, as a launch spells them.

    `options` are a launch's: num_warps, num_stages, ... Raises `RuntimeError` if Triton is not installed, or refuses.
    """
    triton_api.insist()
    with contextlib.ExitStack() as stack:
        written = functools.partial(in_file, Path(stack.enter_context(tempfile.TemporaryDirectory())), kernel)
        simple = triton_api.simplified(written(ttir), capability=capability, options=options or {})
        compiled = triton_api.compile(written(simple), capability=capability, options=options or {}, types=types)
    return Lowered(capability, {stage: text for stage, text in compiled.asm.items() if stage in STAGES}, compiled)
