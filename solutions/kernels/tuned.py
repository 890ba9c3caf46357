"""Kernels that choose their tiles: the kernels of milestone 8, autotuned for the device that holds their memory.

    matmul(a, b, kernel=tuned.matmul)        # only the first launch for a shape runs trials

Each kernel has configurations for GPUs and CPUs. `worth_trying` rules out most configurations before compilation.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from kernels import conv2d as convolution
from kernels import dropout as dropping
from kernels import flash_attention, softmax
from kernels import matmul as product
from kernels.compiler import triton
from kernels.host import on_gpu
from kernels.vector_add import add_kernel

OPTIONS = ("num_warps", "num_stages")
HOPPER = 90
"""The first compute capability whose tensor cores can read operands directly from shared memory."""


def configs(**space: Sequence[Any]) -> list[Any]:
    """A configuration for every combination: `configs(BLOCK=(256, 1024), num_warps=(4, 8))` returns four. (Given.)"""
    choices = [dict(zip(space, values, strict=True)) for values in itertools.product(*space.values())]
    options = [{name: choice.pop(name) for name in OPTIONS if name in choice} for choice in choices]
    return [triton.Config(choice, **option) for choice, option in zip(choices, options, strict=True)]


def reads_from_shared(config: Any, itemsize: int, capability: int) -> bool:
    """Whether the tensor cores of a GPU read the tiles of a product from shared memory. (Given.)

    Hopper's tensor cores do, for operands of at most 16 bits, if four warps share at least 64 rows.
    """
    return capability >= HOPPER and itemsize <= 2 and config.kwargs["BLOCK_M"] >= 64 and config.num_warps >= 4


def shared_memory(config: Any, itemsize: int, capability: int) -> int:
    """The bytes of shared memory for the product of a (BLOCK_M, BLOCK_K) and a (BLOCK_K, BLOCK_N) tile of floats.

    An element has `itemsize` bytes. With fp16 tiles of 128 by 64 and 64 by 256:

        num_stages                                 2         3
        an H100, which `reads_from_shared`       98304    147456
        an A100                                  49152     98304
    """
    # [task 11.7] What if there is only one stage?
    tiles = config.kwargs
    pair = (tiles["BLOCK_M"] + tiles["BLOCK_N"]) * tiles["BLOCK_K"] * itemsize
    in_registers = 0 if reads_from_shared(config, itemsize, capability) else 1
    return pair * max(1, config.num_stages - in_registers)
    # [end]


def that_fit(candidates: Sequence[Any], itemsize: int, capability: int, limit: int) -> list[Any]:
    """The configurations that need at most `limit` bytes of shared memory for a product, in their original order.

    If none fits, the list contains only the configuration that needs the least shared memory, because a tuner needs
    something to try.
    """
    # [task 11.7] `shared_memory` returns the number of bytes that a configuration needs.
    needed = [shared_memory(config, itemsize, capability) for config in candidates]
    fitting = [config for config, bytes_ in zip(candidates, needed, strict=True) if bytes_ <= limit]
    return fitting or [candidates[needed.index(min(needed))]]
    # [end]


def that_differ(candidates: Sequence[Any]) -> list[Any]:
    """The configurations that give different programs on a CPU: the first of each group with equal `kwargs`.

    Warps and stages matter only on a GPU.
    """
    # [task 11.7] Keep the order of the configurations. As for `Config`, the order of the names does not matter.
    found: dict[Any, Any] = {}
    for config in candidates:
        found.setdefault(frozenset(config.kwargs.items()), config)
    return list(found.values())
    # [end]


def worth_trying(candidates: Sequence[Any], named: Mapping[str, Any], **kwargs: Any) -> list[Any]:
    """The configurations to try for a launch; `early_config_prune` of all kernels in this file. (Given.)

    `named` holds the positional arguments by name, and `kwargs` holds the keywords.
    """
    arguments = {**named, **kwargs}.values()
    memory = [value for value in arguments if hasattr(value, "data_ptr") or hasattr(value, "ctypes")]
    if not on_gpu(memory[0]):
        return that_differ(candidates)
    if "BLOCK_K" not in candidates[0].kwargs:
        return list(candidates)
    driver = triton.runtime.driver.active
    capability = driver.get_current_target().arch
    limit = driver.utils.get_device_properties(driver.get_current_device())["max_shared_mem"]
    return that_fit(candidates, memory[0].itemsize, capability, limit)


def attainable(intensity: float, peak: float, bandwidth: float) -> float:
    """The most operations per second that a kernel of this intensity can reach: its roof.

    The units are operations per byte moved for `intensity`, operations per second for `peak`, and bytes per second for
    `bandwidth`.
    """
    # [task 11.7] The chapter's paragraph "The roof" defines it.
    return min(peak, intensity * bandwidth)
    # [end]


def tuned(kernel: Any, key: Sequence[str], candidates: Sequence[Any]) -> Any:
    """A kernel that chooses among configurations whenever the value of an argument in `key` is new. (Given.)"""
    return triton.autotune(candidates, list(key), prune_configs_by={"early_config_prune": worth_trying})(kernel)


VECTORS = configs(BLOCK=(1024, 256, 4096, 16384, 65536), num_warps=(4, 8))
"""The first configuration is the kernel's default without tuning."""
PRODUCTS = [
    *configs(BLOCK_M=(64,), BLOCK_N=(64,), BLOCK_K=(32,), GROUP=(8,)),
    *configs(BLOCK_M=(64, 128), BLOCK_N=(128, 256), BLOCK_K=(32, 64, 128), GROUP=(8,), num_warps=(4, 8)),
    *configs(BLOCK_M=(128,), BLOCK_N=(256,), BLOCK_K=(64,), GROUP=(8,), num_warps=(8,), num_stages=(4,)),
    *configs(BLOCK_M=(128,), BLOCK_N=(128,), BLOCK_K=(512,), GROUP=(8,)),  # for CPUs: too large for any GPU
]
WINDOWS = [
    *configs(BLOCK_M=(64,), BLOCK_N=(32,), BLOCK_K=(32,)),
    *configs(BLOCK_M=(64, 128), BLOCK_N=(64, 128), BLOCK_K=(32, 64), num_warps=(4, 8)),
]

add = tuned(add_kernel, ["n"], VECTORS)
dropout = tuned(dropping.dropout_kernel, ["n"], VECTORS)
online_softmax = tuned(
    softmax.online_softmax_kernel,
    ["columns"],
    configs(BLOCK=(4096, 512, 1024, 2048, 8192, 32768), num_warps=(4, 8, 16)),
)
matmul = tuned(product.matmul_kernel, ["M", "N", "K"], PRODUCTS)
attention = tuned(
    flash_attention.forward_kernel,
    ["length", "CAUSAL", "D"],
    configs(BLOCK_M=(64, 128), BLOCK_N=(64, 32, 128), num_warps=(4, 8), num_stages=(3, 2)),
)
conv2d = tuned(convolution.implicit_gemm_kernel, ["channels", "height", "width", "filters", "stride"], WINDOWS)
