"""This machine's NVIDIA GPUs, and what real Triton and PyTorch need to run kernels on them.

Nothing here imports Triton or PyTorch, so that `doctor` stays fast.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CAPABILITY = 8.0
"""The lowest compute capability that Triton supports. Source: "Compatibility" in Triton's README."""
DRIVERS = {12: 525, 13: 580}
"""The oldest driver for each major version of CUDA. Source: NVIDIA, "CUDA Compatibility", table 1."""


class Gpu(NamedTuple):
    """A GPU, as `nvidia-smi` describes it."""

    name: str
    capability: float  # such as 9.0
    driver: str  # such as "580.95.05"


class Fact(NamedTuple):
    """A condition for running kernels on a GPU."""

    name: str
    value: str
    met: bool
    remedy: str


def facts() -> Iterator[Fact]:
    """Every condition for running kernels on a GPU; only the first one if there is no GPU."""
    gpus = find_gpus()
    if not gpus:
        yield Fact("GPU", "", False, "optional: your kernels run on the CPU")
        return
    for found in gpus:
        value, enough = f"{found.name}, compute capability {found.capability}", found.capability >= CAPABILITY
        yield Fact("GPU", value, enough, f"Triton needs compute capability {CAPABILITY} or higher")
    cuda, driver = cuda_of_torch(), gpus[0].driver
    oldest = DRIVERS.get(int(cuda.split(".")[0]), 0) if cuda else 0
    yield Fact("driver", driver, int(driver.split(".")[0]) >= oldest, f"CUDA {cuda} needs driver {oldest} or newer")
    yield Fact("torch's CUDA", cuda, bool(cuda), "PyTorch is missing or cannot use GPUs: see docs/setup.md")
    yield Fact("C compiler", c_compiler(), bool(c_compiler()), "Triton needs gcc or clang, and Python.h")


def find_gpus() -> list[Gpu]:
    """The GPUs that `nvidia-smi` lists; none if the command is missing or fails."""
    query = ["nvidia-smi", "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True)
        rows = [line.split(", ") for line in answer.stdout.splitlines()]
        return [Gpu(name, float(capability), driver) for name, capability, driver in rows]
    except (OSError, subprocess.SubprocessError, ValueError):
        return []


def cuda_of_torch() -> str:
    """The version of CUDA with which PyTorch was built, such as "13.0"; "" if PyTorch is missing or cannot use GPUs."""
    found = importlib.util.find_spec("torch")
    if not found or not found.origin:
        return ""
    for statement in ast.parse(Path(found.origin).with_name("version.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.AnnAssign) and ast.unparse(statement.target) == "cuda" and statement.value:
            return ast.literal_eval(statement.value) or ""
    return ""


def c_compiler() -> str:
    """The C compiler with which Triton builds its launcher; "" if the compiler or Python's header file is missing."""
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return ""
    return os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang") or ""
