"""The hand-off: real Triton compiles a module's text to machine code. This does not need a GPU.

    ttir ──► Triton's passes ──► ttgir ──► llir ──► ptx ──► cubin

Our compiler produces the text. Real Triton distributes tensors over threads, LLVM generates PTX, and NVIDIA's
assembler translates PTX to machine code.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mini_triton.backends import triton_api


@dataclass(frozen=True)
class Lowered:
    """A module compiled by real Triton."""

    capability: int
    asm: Mapping[str, Any] = field(repr=False)  # by stage: "ttgir", "llir" and "ptx" are strings, "cubin" is bytes
    kernel: triton_api.Kernel  # can be launched


def capability_of(name: str) -> int:
    """The compute capability of a target: 90 for "sm_90". Raises `ValueError`, with the name, for any other name."""
    # [task 10.1] Accept targets like sm_90 and sm_120; reject "sm_9", "sm_9000", "sm_90a", "SM_90" and "sm_90\n".
    match = re.fullmatch(r"sm_(\d{2,3})", name, re.ASCII)
    if match is None:
        raise ValueError(f"a target is spelled like sm_90, not {name!r}")
    return int(match[1])
    # [end]


def lower(
    kernel: str, ttir: str, types: Sequence[str], capability: int, options: Mapping[str, Any] | None = None
) -> Lowered:
    """Compile a module's text with real Triton. `types` are the kernel's parameter types, such as "*fp16" and "i32".

    `options` are launch options, such as num_warps and num_stages. Raises `RuntimeError` if Triton is not installed, or
    rejects the module. `triton_api.compile` may also raise `OutOfResources` and `PTXASError`, which callers expect.
    """
    # [task 10.1] Other processes may compile kernels of the same name at the same time. No file may remain. Given:
    # `triton_api`.
    triton_api.insist()
    options = options or {}
    with tempfile.TemporaryDirectory(prefix="mini-triton-") as folder:
        file = Path(folder, f"{kernel}.ttir")
        file.write_text(ttir, encoding="utf-8")
        file.write_text(triton_api.simplified(str(file), capability, options), encoding="utf-8")
        compiled = triton_api.compile(str(file), capability, options, types)
    return Lowered(capability, compiled.asm, compiled)
    # [end]
