"""Compile what tuners will try, many configurations at a time: real Triton keeps the machine code on disk.

A tuner compiles one configuration after the other, on one core. Here its launches are only noted, and processes
compile them.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any
from unittest import mock

from mini_triton.errors import TritonError
from mini_triton.tuning.autotuner import Autotuner

from bench import ROOT


@dataclass(frozen=True)
class Job:
    """A kernel to compile: the tuner's place, its arguments, and one of its configurations."""

    module: str
    tuner: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]


def compile_all(calls: Iterable[Callable[[], Any]], target: str) -> str:
    """Compile for each launch of a tuner in these calls what it may choose from; says how long it took."""
    start = time.perf_counter()
    jobs = list({repr(job): job for job in noted(calls)}.values())
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), initializer=prepare) as pool:
        errors = [error for error in pool.map(compile_one, jobs, [target] * len(jobs)) if error]
    return f"{len(jobs)} kernels in {time.perf_counter() - start:.0f} s, {len(errors)} do not compile"


def noted(calls: Iterable[Callable[[], Any]]) -> list[Job]:
    """The launches of tuners in these calls, which are noted and do not happen."""
    jobs: list[Job] = []

    def note(tuner: Autotuner, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        candidates = tuner.prune_configs(kwargs)
        tuner.best_config = candidates[0]
        module, name = place_of(tuner)
        arguments = tuple(stand_in(value) for value in args)
        keywords = {key: value for key, value in kwargs.items() if key != "warmup"} | {"grid": (1,)}
        jobs.extend(Job(module, name, arguments, {**keywords, **each.all_kwargs()}) for each in candidates)

    with mock.patch.object(Autotuner, "launch", note):
        for call in calls:
            call()
    return jobs


def place_of(tuner: Autotuner) -> tuple[str, str]:
    """The module that has this tuner, and its name there."""
    for module in [module for name, module in sys.modules.items() if name.startswith("kernels.")]:
        for name, value in vars(module).items():
            if value is tuner:
                return module.__name__, name
    raise LookupError(f"no module of kernels has the tuner of {tuner.base_fn.__name__}")


def stand_in(value: Any) -> Any:
    """For memory its dtype's name, which can be sent to another process; other arguments are sent as they are."""
    return str(value.dtype).removeprefix("torch.") if hasattr(value, "dtype") else value


def prepare() -> None:
    """Make this process one that compiles."""
    sys.path.insert(0, str(ROOT / "solutions"))


def compile_one(job: Job, target: str) -> str:
    """Compile; the error, or nothing."""
    import ml_dtypes  # noqa: F401  NumPy knows bfloat16 by it
    import numpy as np

    arguments = [np.dtype(value) if isinstance(value, str) else value for value in job.arguments]
    tuner = getattr(importlib.import_module(job.module), job.tuner)
    try:
        tuner.fn.warmup(*arguments, **job.keywords).lower(target)
    except (TritonError, RuntimeError) as error:
        return f"{job}: {error}"
    return ""
