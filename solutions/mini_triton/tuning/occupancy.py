"""Occupancy: how many warps of a kernel a multiprocessor holds at a time, and what limits them.

While a warp waits for memory, another one of the same multiprocessor works. How many there are to choose from is
decided before they start: a block is taken in only if all that its threads need is free, and keeps it until it ends.

Source: "Multiprocessor Level" and "Compute Capabilities" in NVIDIA's CUDA C++ Programming Guide.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mini_triton.errors import TritonError
from mini_triton.runtime.compiled_kernel import CompiledKernel

WARP = 32
"""Threads of a warp."""
REGISTERS = 65536
"""Registers of a multiprocessor."""
PARTITIONS = 4
"""Parts of a multiprocessor. Each has its share of the registers, and a warp's are all in one of them."""
REGISTER_UNIT = 256
"""The number of registers that are allocated to a warp at a time."""
SHARED_UNIT = 128
"""The bytes of shared memory that are allocated to a block at a time."""


@dataclass(frozen=True)
class Multiprocessor:
    """The resources of a GPU's multiprocessors."""

    warps: int
    blocks: int
    shared: int  # bytes
    reserved: int = 1024  # bytes of shared memory that each block costs, beside what it asks for


GPUS = {
    "sm_75": Multiprocessor(32, 16, 64 * 1024, reserved=0),
    "sm_80": Multiprocessor(64, 32, 164 * 1024),
    "sm_86": Multiprocessor(48, 16, 100 * 1024),
    "sm_89": Multiprocessor(48, 24, 100 * 1024),
    "sm_90": Multiprocessor(64, 32, 228 * 1024),
    "sm_100": Multiprocessor(64, 32, 228 * 1024),
}


@dataclass(frozen=True)
class Occupancy:
    """How many blocks and warps of a kernel a multiprocessor holds."""

    blocks: int
    warps: int
    share: float  # of all warps that it could hold
    limiters: tuple[str, ...]  # what there is too little of for one more block, in the order of `limits`


def round_up(number: int, unit: int) -> int:
    """The first multiple of `unit` that is not below `number`. (Given.)"""
    return -(-number // unit) * unit


def limits(gpu: Multiprocessor, warps: int, registers: int, shared: int) -> dict[str, int]:
    """How many blocks fit, if there were only the limit on "warps", on "blocks", on "registers", on "shared memory".

    A block has `warps` warps and asks for `shared` bytes of shared memory, a thread has `registers` registers. The
    hardware rounds up: the registers of a warp to a multiple of `REGISTER_UNIT`, the shared memory of a block, with
    what is reserved, to one of `SHARED_UNIT`. Each of the `PARTITIONS` has its share of the `REGISTERS` and holds whole
    warps; the warps of a block may be in different partitions. A block that takes no shared memory is not limited by
    it: then "shared memory" is not in the result.
    """
    # [task 11.6] `round_up` is given.
    fitting = REGISTERS // PARTITIONS // round_up(registers * WARP, REGISTER_UNIT)
    found = {"warps": gpu.warps // warps, "blocks": gpu.blocks, "registers": PARTITIONS * fitting // warps}
    if needed := round_up(shared + gpu.reserved, SHARED_UNIT):
        found["shared memory"] = gpu.shared // needed
    return found
    # [end]


def occupancy(gpu: Multiprocessor, warps: int, registers: int, shared: int) -> Occupancy:
    """How many blocks such as `limits` describes a multiprocessor holds, and what limits them.

    A block of 4 warps, with 64 registers a thread and no shared memory, on an H100: 8 blocks, 32 of 64 warps, 0.5,
    limited by ("registers",).
    """
    # [task 11.6] Several limits may be the lowest.
    found = limits(gpu, warps, registers, shared)
    blocks = min(found.values())
    limiters = tuple(name for name, limit in found.items() if limit == blocks)
    return Occupancy(blocks, blocks * warps, blocks * warps / gpu.warps, limiters)
    # [end]


def occupancy_of(kernel: CompiledKernel, target: str = "sm_90") -> Occupancy:
    """The occupancy of a compiled kernel on a GPU that need not be there. (Given.)"""
    resources = kernel.lower(target).kernel
    return occupancy(GPUS[target], resources.num_warps, resources.registers, resources.shared)


@dataclass(frozen=True)
class Cell:
    """One combination of a sweep: its resources and occupancy, or the error of compiling it."""

    choice: Mapping[str, Any]
    registers: int = 0
    spills: int = 0
    shared: int = 0
    occupancy: Occupancy | None = None
    error: str = ""


def combinations(space: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """All combinations of values by name; the last name's value changes first. (Given.)"""
    return (dict(zip(space, values, strict=True)) for values in itertools.product(*space.values()))


def sweep(kernel: Any, arguments: Sequence[Any], space: Mapping[str, Sequence[Any]], target: str) -> list[Cell]:
    """A kernel compiled for every combination of compile-time values and options, such as num_warps. (Given.)

    `arguments` are those of a warmup: dtypes stand for arrays. For `space` see `combinations`.
    """
    cells = []
    for choice in combinations(space):
        try:
            compiled = kernel.warmup(*arguments, grid=(1,), **choice)
            made = compiled.lower(target).kernel
            reached = occupancy(GPUS[target], made.num_warps, made.registers, made.shared)
            cells.append(Cell(choice, made.registers, made.spills, made.shared, reached))
        except (TritonError, RuntimeError) as error:
            cells.append(Cell(choice, error=f"{type(error).__name__}: {str(error).splitlines()[0]}"))
    return cells
