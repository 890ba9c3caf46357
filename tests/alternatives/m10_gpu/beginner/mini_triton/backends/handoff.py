"""The hand-off: a module's text becomes machine code for a GPU, by real Triton. No GPU is needed for that.

    ttir ──► Triton's passes ──► ttgir ──► llir ──► ptx ──► cubin

Everything up to the text was ours. From here on real Triton lays tensors out over threads, LLVM makes PTX of it, and
NVIDIA's assembler makes machine code of that.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    if not name.startswith("sm_"):
        raise ValueError(f"{name!r} does not begin with sm_")
    digits = name[3:]
    if len(digits) != 2 and len(digits) != 3:
        raise ValueError(f"{name!r} does not have two or three digits")
    for digit in digits:
        if digit not in "0123456789":
            raise ValueError(f"{name!r} has {digit!r}, which is no digit")
    return int(digits)


def lower(
    kernel: str, ttir: str, types: Sequence[str], capability: int, options: Mapping[str, Any] | None = None
) -> Lowered:
    """Hand the text of a module to real Triton. `types` are those of the kernel's parameters, as a launch spells them.

    `options` are a launch's: num_warps, num_stages, ... Raises `RuntimeError` if Triton is not installed, or refuses.
    """
    triton_api.insist()
    given: dict[str, Any] = {}
    if options is not None:
        given.update(options)
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, kernel + ".ttir")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(ttir)
        text = triton_api.simplified(path, capability, given)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        compiled = triton_api.compile(path, capability, given, types)
    finally:
        shutil.rmtree(folder)
    asm: dict[str, Any] = {}
    for stage in STAGES:
        asm[stage] = compiled.asm[stage]
    return Lowered(capability=capability, asm=asm, kernel=compiled)
