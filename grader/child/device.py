"""The device on which kernels run: a GPU if the machine has one, unless the user chooses."""

from __future__ import annotations

import os
from pathlib import Path


def resolve(asked: str) -> str:
    """`cpu` or `cuda` for the user's choice `auto`, `cpu` or `cuda`. The search for a GPU imports no large library."""
    if asked != "auto":
        return asked
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") == ""
    return "cuda" if Path("/dev/nvidiactl").exists() and not hidden else "cpu"
