"""Results of an autotuner: stored on disk for other processes, and printed on request. (Given.)

    MINI_TRITON_CACHE_AUTOTUNING=1    keep all results, as with `cache_results=True`
    MINI_TRITON_PRINT_AUTOTUNING=1    print the time of each configuration, or why it cannot run

Source: `Autotuner.check_disk_cache` in Triton's `python/triton/runtime/autotuner.py`.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mini_triton.compat import driver
from mini_triton.environment import CACHE_AUTOTUNING, PRINT_AUTOTUNING, is_set
from mini_triton.runtime import cache
from mini_triton.runtime.jit import JITFunction
from mini_triton.runtime.keys import digest

if TYPE_CHECKING:
    from mini_triton.tuning.autotuner import Autotuner, Config


def decisive_time(times: float | Sequence[float]) -> float:
    """The time by which configurations are compared: the first quantile, or the only time that a benchmark returns."""
    return times[0] if isinstance(times, Sequence) else times


def fastest(timings: Mapping[Config, Any]) -> Config:
    """The configuration with the least decisive time; of equally fast ones, the first."""
    return min(timings, key=lambda config: decisive_time(timings[config]))


def are_kept() -> bool:
    """Whether the results of every tuner are kept on disk."""
    return is_set(CACHE_AUTOTUNING)


def jit_function(kernel: Any) -> JITFunction | None:
    """The kernel inside decorators; None for anything that is not our kernel."""
    while not isinstance(kernel, JITFunction) and hasattr(kernel, "fn"):
        kernel = kernel.fn
    return kernel if isinstance(kernel, JITFunction) else None


def entry_for(tuner: Autotuner, key: tuple[Any, ...], configs: Sequence[Config]) -> str:
    """The name of a choice's entry on disk; "" if a configuration has a hook, because its effects are unknown."""
    function = jit_function(tuner.fn)
    if function is None or any(config.pre_hook for config in configs):
        return ""
    tried = [str(config.all_kwargs()) for config in configs]
    return digest(["autotune", function.cache_key, machine(key[-1]), str(key), *tried])


def machine(device: str) -> str:
    """A description of the machine on which times depend: this GPU or this CPU. `device` comes from the key."""
    if not device.startswith("cuda"):
        return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
    import torch

    return f"{torch.cuda.get_device_name()}, {driver.active.get_current_target()}"


def store(entry: str, timings: Mapping[Config, Any], failures: Mapping[Config, Exception]) -> None:
    """Store the times of all configurations that can run."""
    cache.store(entry, {"timings": [None if config in failures else times for config, times in timings.items()]})


def load(entry: str, configs: Sequence[Config]) -> dict[Config, Any]:
    """The times of the configurations that can run; empty if they are not on disk."""
    known = cache.load(entry)
    timings = zip(dict.fromkeys(configs), known["timings"], strict=True) if known else ()
    return {config: times for config, times in timings if times is not None}


def report(tuner: Autotuner, key: tuple[Any, ...], choice: Config) -> None:
    """Print the result of each configuration, if requested."""
    if not is_set(PRINT_AUTOTUNING):
        return
    print(f"autotuning {tuner.base_fn.__name__} for {key} took {tuner.bench_time:.2f} s")
    for config, times in tuner.configs_timings.items():
        error = tuner.failures.get(config)
        result = f"{'cannot run':>11}" if error else f"{decisive_time(times):8.4f} ms"
        remark = f": {str(error).splitlines()[0]}" if error else "  <- the fastest" if config is choice else ""
        print(f"{result}  {config}{remark}")
