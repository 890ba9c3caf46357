"""From PTX to machine code, by NVIDIA's assembler `ptxas`, which comes with Triton's package.

PTX has any number of registers. The assembler decides how many a thread really gets, and which values are in memory
because registers do not suffice (*spills*). The number of registers limits how many programs run on a multiprocessor
at the same time, so it is the first number to look at when a kernel is slow.

Source: `make_cubin` in Triton's `third_party/nvidia/backend/compiler.py`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mini_triton.backends.occupancy import GPUS, Occupancy, occupancy
from mini_triton.compat.substitution import real_triton
from mini_triton.runtime import cache

if TYPE_CHECKING:
    from mini_triton.backends.threads.back_end import Code


@real_triton()
def assembler() -> Path:
    """NVIDIA's assembler. Raises `RuntimeError` if Triton is not installed."""
    triton = importlib.util.find_spec("triton")
    if triton is None or not triton.origin:
        raise RuntimeError("NVIDIA's assembler, ptxas, comes with Triton, which is not installed")
    return Path(triton.origin).parent / "backends" / "nvidia" / "bin" / "ptxas"


@functools.cache
def version() -> str:
    """What the assembler says about its version. (Given.)"""
    return subprocess.run([str(assembler()), "--version"], capture_output=True, text=True, check=True).stdout


def run(ptx: str, made: Path, *options: str) -> str:
    """Write the machine code of a text to the file `made`. Returns what the assembler says. (Given.)

    Raises `RuntimeError`, with the assembler's message, for text that is not PTX.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        command = [str(assembler()), *options, str(source), "-o", str(made)]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"ptxas refuses the kernel: {result.stderr}")
    return result.stderr


def options_for(target: str, fused: bool) -> list[str]:
    """The assembler's options for a GPU such as "sm_90". Without `fused`, it fuses no product with a sum. (Given.)"""
    return [f"--gpu-name={target}", f"--fmad={str(fused).lower()}", "-lineinfo"]


def assemble(ptx: str, target: str, fused: bool = True) -> bytes:
    """Machine code for a GPU, from the disk if an earlier call, perhaps in another process, has made it.

    The files are in the folder "ptx" of the cache's `directory()`, which may not exist yet. A file's name depends on
    everything that the machine code depends on, and on nothing else.

    Several processes may assemble the same text at the same time, and each may be killed at any time; still, a file
    under its name is always complete. `run` makes machine code; while it writes, its file is somewhere inside the
    folder "ptx". Errors of `run` pass through, and so do errors of the file system, such as a folder that cannot be
    written. After an error, the folder contains no new file, and the next call tries again.
    """
    # Task 13.13: Return the machine code.
    raise NotImplementedError("Task 13.13: Machine code")


@dataclass(frozen=True)
class Usage:
    """What a kernel needs on a GPU."""

    registers: int  # of a thread
    spilled: int  # bytes that a thread stores to memory because registers do not suffice
    shared: int  # bytes of shared memory of a program, without those that the launch provides


def usage(ptx: str, target: str) -> Usage:
    """What the only kernel of a text needs, as the assembler says with the further option "--verbose".

    The other options are those of `assemble(ptx, target)`. The text may also contain functions, which the assembler
    reports before or after the kernel. Its report on the kernel ends with a line with the number of used registers;
    this line lacks the bytes of shared memory ("smem") if the kernel has none:

        ptxas info    : 0 bytes gmem
        ptxas info    : Compiling entry function 'add' for 'sm_90'
        ptxas info    : Function properties for add
            48 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads
        ptxas info    : Used 24 registers, used 1 barriers, 48 bytes cumulative stack size, 2048 bytes smem
        ptxas info    : Function properties for helper
            16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

    The result is `Usage(registers=24, spilled=40, shared=2048)`. The machine code is not needed, so no file remains on
    the disk.
    """
    # Task 13.13: Return what the kernel needs.
    raise NotImplementedError("Task 13.13: Machine code")


def occupancy_of(code: Code) -> Occupancy:
    """How many programs of a kernel a multiprocessor of its target holds, and what limits their number.

    The shared memory of a program is what the launch provides (`code.shared`) and what the text itself declares.
    `occupancy` and `GPUS` are those of task 11.6.
    """
    # Task 13.13: Return the occupancy.
    raise NotImplementedError("Task 13.13: Machine code")
