"""The stages of a compilation, for whoever wants to look: printed, and dumped as files.

    MINI_TRITON_PRINT=stages        print what each stage makes, as soon as it has
    MINI_TRITON_KERNEL_DUMP=1       write it to files
    MINI_TRITON_DUMP_DIR=folder     where to

Source: `TRITON_KERNEL_DUMP` in Triton's `python/triton/knobs.py` and `compiler.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

from mini_triton.runtime import cache

PRINT = "MINI_TRITON_PRINT"
DUMP = "MINI_TRITON_KERNEL_DUMP"
DUMP_DIRECTORY = "MINI_TRITON_DUMP_DIR"

FILES = {"source": "source.py", "ttir": "ttir", "numpy": "numpy.py"}
"""The stages in their order, and how the names of their files end."""

WIDTH = 100


def is_wanted() -> bool:
    """Whether someone wants to look: then kernels are compiled anew, so that there is something to see. (Given.)"""
    return os.environ.get(PRINT) == "stages" or is_set(DUMP)


def is_set(variable: str) -> bool:
    """Whether an environment variable says yes. (Given.)"""
    return os.environ.get(variable, "0").lower() not in ("", "0", "false", "no", "off")


def finished(kernel: str, key: str, stage: str, text: str) -> None:
    """Called when a stage has made its text. (Given.)"""
    if os.environ.get(PRINT) == "stages":
        print(titled(kernel, stage, text))
    if is_set(DUMP):
        dump(kernel, key, stage, text)


def titled(kernel: str, stage: str, text: str) -> str:
    """The text below a line of `WIDTH` characters that says what it is: `──── add: 2 ttir, 14 lines ─────...`."""
    # Task 7.6: Four "─", a space, the kernel, the number of the stage (`FILES` has them in order, from 1), its name,
    # the number of the text's lines, a space, and "─" up to the end. No empty line at the end of the text.
    raise NotImplementedError("Task 7.6: Looking inside")


def dump(kernel: str, key: str, stage: str, text: str) -> None:
    """Write the text to its file: a folder for each key, in it `add.source.py`, `add.ttir` and `add.numpy.py`."""
    # Task 7.6: `dump_directory()`, the key, the file. Folders may have to be made, all of them.
    raise NotImplementedError("Task 7.6: Looking inside")


def dump_directory() -> Path:
    """Where dumps go: `MINI_TRITON_DUMP_DIR`, or a folder beside the compiled kernels. (Given.)"""
    if chosen := os.environ.get(DUMP_DIRECTORY):
        return Path(chosen)
    return cache.directory() / "dump"
