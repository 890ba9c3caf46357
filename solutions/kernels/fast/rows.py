"""How kernels that take whole rows are tuned: rows and warps of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernels.compiler import triton
from kernels.host import on_gpu
from kernels.tuned import configs, that_differ

FEWEST, MOST = 4, 32
"""Elements of a thread. With fewer it has too little to do, with more too many registers."""


def by_rows(kernel: Any, **space: Sequence[int]) -> Any:
    """A kernel for rows of `columns` elements in tiles of ROWS by BLOCK, tuned; `space` says what to choose from."""
    block = {"BLOCK": lambda named: triton.next_power_of_2(named["columns"])}
    candidates = configs(**{"ROWS": (1, 2, 4, 8), "num_warps": (1, 2, 4, 8, 16, 32), **space})
    pruning = {"early_config_prune": that_suit_rows}
    return triton.autotune(candidates, ["rows", "columns"], prune_configs_by=pruning)(triton.heuristics(block)(kernel))


def that_suit_rows(candidates: Sequence[Any], named: Mapping[str, Any], **_: Any) -> list[Any]:
    """The configurations whose threads have neither too few elements nor too many."""
    if not on_gpu(named["x"]):
        return that_differ(candidates)
    block = triton.next_power_of_2(named["columns"])
    elements = {config: config.kwargs["ROWS"] * block // (32 * config.num_warps) for config in candidates}
    fitting = [config for config in candidates if FEWEST <= elements[config] <= MOST]
    return fitting or [min(candidates, key=lambda config: abs(elements[config] - MOST))]


def multiprocessors() -> int:
    """How many the device has; of a CPU its cores."""
    driver = triton.runtime.driver.active
    return driver.utils.get_device_properties(driver.get_current_device())["multiprocessor_count"]
