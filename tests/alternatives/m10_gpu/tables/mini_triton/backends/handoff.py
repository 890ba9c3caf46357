"""The hand-off: a module's text becomes machine code for a GPU, by real Triton. No GPU is needed for that.

    ttir ──► Triton's passes ──► ttgir ──► llir ──► ptx ──► cubin

Everything up to the text was ours. From here on real Triton lays tensors out over threads, LLVM makes PTX of it, and
NVIDIA's assembler makes machine code of that.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from mini_triton.backends import triton_api

STAGES = ("ttgir", "llir", "ptx", "cubin")
"""What real Triton makes of TTIR, in order. A cubin is bytes, the others are texts."""


TARGETS = {
    f"sm_{digits}": int(digits) for count in (2, 3) for digits in map("".join, product("0123456789", repeat=count))
}


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
    if name not in TARGETS:
        raise ValueError(f"unknown target {name!r}")
    return TARGETS[name]


def lower(
    kernel: str, ttir: str, types: Sequence[str], capability: int, options: Mapping[str, Any] | None = None
) -> Lowered:
    """Hand the text of a module to real Triton. `types` are those of the kernel's parameters, as a launch spells them.

    `options` are a launch's: num_warps, num_stages, ... Raises `RuntimeError` if Triton is not installed, or refuses.
    """
    triton_api.insist()
    settings = dict(options or ())
    with tempfile.TemporaryDirectory() as folder:
        # Two files, one for each step, in folders of their own: the name is the kernel's in both.
        ours, simple = (Path(folder, step, f"{kernel}.ttir") for step in ("ours", "simple"))
        for file in (ours, simple):
            file.parent.mkdir()
        ours.write_text(ttir)
        simple.write_text(triton_api.simplified(str(ours), capability, settings))
        compiled = triton_api.compile(str(simple), capability, settings, types)
    return Lowered(capability, dict(zip(STAGES, map(compiled.asm.__getitem__, STAGES), strict=True)), compiled)
