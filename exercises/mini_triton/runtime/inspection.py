"""Printing the stages of a compilation, and dumping them to files.

    MINI_TRITON_PRINT=stages        print the result of each stage as soon as it has run
    MINI_TRITON_PRINT=passes        print the module before and after each pass that changes it
    MINI_TRITON_PRINT=backend       print which launches NumPy runs instead of Numba, and why
    MINI_TRITON_KERNEL_DUMP=1       write the result of each stage to a file
    MINI_TRITON_DUMP_DIR=folder     the folder for these files

Source: `TRITON_KERNEL_DUMP` in Triton's `python/triton/knobs.py` and `compiler.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

from mini_triton.environment import is_printed, is_set
from mini_triton.runtime import cache

DUMP = "MINI_TRITON_KERNEL_DUMP"
DUMP_DIRECTORY = "MINI_TRITON_DUMP_DIR"

WIDTH = 100


def is_wanted() -> bool:
    """Whether printing or dumping is on. If so, kernels are always recompiled. (Given.)"""
    return is_printed("stages") or is_printed("passes") or is_set(DUMP)


def show(title: str, key: str, file: str, text: str | bytes) -> None:
    """Print and dump the text of a stage, if requested. (Given.)"""
    if is_printed("stages"):
        print(add_title(title, text))
    if is_set(DUMP):
        dump(key, file, text)


def tell_back_end(kernel: str, reason: str) -> None:
    """Print why NumPy runs a kernel instead of Numba, if requested. (Given.)"""
    if is_printed("backend"):
        print(f"{kernel}: NumPy runs this kernel instead of Numba: {reason}")


def add_title(title: str, text: str | bytes) -> str:
    """The text below a line of `WIDTH` characters: `──── add: ttir, 14 lines ─────...`. (Given.)"""
    if isinstance(text, bytes):
        return f"──── {title}, {len(text)} bytes ".ljust(WIDTH, "─")
    text = text.rstrip("\n")
    return f"──── {title}, {len(text.splitlines())} lines ".ljust(WIDTH, "─") + f"\n{text}"


def dump(key: str, file: str, text: str | bytes) -> None:
    """Write the text to `file`, such as `add.ttir`, in a folder whose name is `key`."""
    # Task 7.5: `dump("abc", "add.ttir", text)` writes `abc/add.ttir` below `dump_directory()`. Folders may be missing.
    # Bytes are written unchanged, strings as UTF-8.
    raise NotImplementedError("Task 7.5: The stages")


def dump_directory() -> Path:
    """The folder for dumps: `MINI_TRITON_DUMP_DIR`, or a folder beside the compiled kernels. (Given.)"""
    if chosen := os.environ.get(DUMP_DIRECTORY):
        return Path(chosen)
    return cache.directory() / "dump"
