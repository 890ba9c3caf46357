"""The hand-off: a module's text becomes machine code for a GPU, by real Triton. No GPU is needed for that.

    ttir ──► Triton's passes ──► ttgir ──► llir ──► ptx ──► cubin

Everything up to the text was ours. From here on real Triton lays tensors out over threads, LLVM makes PTX of it, and
NVIDIA's assembler makes machine code of that.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mini_triton.backends import triton_api


@dataclass(frozen=True)
class Lowered:
    """A module compiled by real Triton."""

    capability: int
    asm: Mapping[str, Any]  # by the stages' names: "ttgir", "llir", "ptx" are texts, "cubin" is bytes
    kernel: triton_api.Kernel  # which can be launched


def capability_of(name: str) -> int:
    """The compute capability of a target: 90 for "sm_90". Raises `ValueError`, with the name, for anything else."""
    # Task 10.1: "sm_" and two or three digits, nothing before or after: not "sm_90a", nor "90".
    raise NotImplementedError("Task 10.1: Hand-off")


def lower(
    kernel: str, ttir: str, types: Sequence[str], capability: int, options: Mapping[str, Any] | None = None
) -> Lowered:
    """Hand the text of a module to real Triton. `types` are those of the kernel's parameters, as a launch spells them.

    `options` are a launch's: num_warps, num_stages, ... Raises `RuntimeError` if Triton is not installed, or refuses.
    """
    # Task 10.1: `triton_api.insist()` comes first. Triton reads only files, and their names must end in ".ttir":
    # put the text into one that is named after the kernel, in a temporary folder. `triton_api.simplified` gives
    # the text that `triton_api.compile` then finds in it.
    raise NotImplementedError("Task 10.1: Hand-off")
