"""Workloads run by Triton's interpreter. In a process of its own: Triton reads TRITON_INTERPRET when imported."""

from __future__ import annotations

import functools
import importlib.util
import os
from typing import Any

import numpy as np

from bench import clock
from bench.workloads import WORKLOADS, Workload


def begin() -> None:
    """Before the process does anything else."""
    os.environ["TRITON_INTERPRET"] = "1"


def version() -> str:
    """Triton's."""
    import triton

    return triton.__version__


def once(name: str) -> float:
    """Seconds that a launch takes."""
    workload, kernel, arguments = prepared(name)
    start = clock()
    kernel[tuple(workload.grid)](**arguments, **workload.constants)
    return clock() - start


def results(name: str) -> list[np.ndarray]:
    """The outputs as they are."""
    workload, _, arguments = prepared(name)
    return [arguments[output].numpy() for output in workload.outputs]


@functools.lru_cache(maxsize=1)  # one workload after the other
def prepared(name: str) -> tuple[Workload, Any, dict[str, Any]]:
    """A workload, its kernel, and arguments for it."""
    import torch

    workload = next(workload for workload in WORKLOADS if workload.name == name)
    spec = importlib.util.spec_from_file_location(workload.path.stem, workload.path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arguments = {
        parameter: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for parameter, value in workload.arguments().items()
    }
    return workload, getattr(module, workload.kernel), arguments
