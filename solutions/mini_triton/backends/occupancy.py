"""Occupancy: how many warps of a kernel a multiprocessor holds at a time, and which resource limits them.

While a warp waits for memory, another warp of the same multiprocessor works. A block starts only if all resources that
its threads need are free, and it keeps them until it ends.

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
"""Partitions of a multiprocessor. Each has an equal share of the registers."""
REGISTER_UNIT = 256
"""Registers are allocated to a warp in units of this many."""
SHARED_UNIT = 128
"""Shared memory is allocated to a block in units of this many bytes."""


@dataclass(frozen=True)
class Multiprocessor:
    """The resources of a GPU's multiprocessors."""

    warps: int
    blocks: int
    shared: int  # bytes
    reserved: int = 1024  # additional bytes of shared memory that each block takes


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
    share: float  # of the warps that a multiprocessor can hold
    limiters: tuple[str, ...]  # resources that do not suffice for one more block, in the order of `limits`


def round_up(number: int, unit: int) -> int:
    """The least multiple of `unit` that is at least `number`. (Given.)"""
    return -(-number // unit) * unit


def limits(gpu: Multiprocessor, warps: int, registers: int, shared: int) -> dict[str, int]:
    """How many blocks would fit under each limit alone, by its name: "warps", "blocks", "registers", "shared memory".

    A block has `warps` warps and requests `shared` bytes of shared memory; a thread has `registers` registers. "shared
    memory" is missing if a block takes none. These are answers of NVIDIA's calculator for an H100:

        warps           1      1      1      8      3
        registers      32     33     40     40    255        shared              0    100    45312    45600
        "registers"    64     48     48      6      2        "shared memory"   228    202        5        4
    """
    # [task 11.6] The constants above say in which units resources are allocated. Why are there 48 blocks, and not 51?
    fitting = REGISTERS // PARTITIONS // round_up(registers * WARP, REGISTER_UNIT)
    found = {"warps": gpu.warps // warps, "blocks": gpu.blocks, "registers": PARTITIONS * fitting // warps}
    if needed := round_up(shared + gpu.reserved, SHARED_UNIT):
        found["shared memory"] = gpu.shared // needed
    return found
    # [end]


def occupancy(gpu: Multiprocessor, warps: int, registers: int, shared: int) -> Occupancy:
    """How many blocks fit, and which resources limit their number. The parameters are those of `limits`."""
    # [task 11.6] `Occupancy` explains each part of the result.
    found = limits(gpu, warps, registers, shared)
    blocks = min(found.values())
    limiters = tuple(name for name, limit in found.items() if limit == blocks)
    return Occupancy(blocks, blocks * warps, blocks * warps / gpu.warps, limiters)
    # [end]


def occupancy_of(kernel: CompiledKernel, target: str = "sm_90") -> Occupancy:
    """The occupancy of a compiled kernel on a GPU, which this machine need not have. (Given.)"""
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
    """All combinations of values, by name. The last name varies fastest. (Given.)"""
    return (dict(zip(space, values, strict=True)) for values in itertools.product(*space.values()))


def sweep(kernel: Any, arguments: Sequence[Any], space: Mapping[str, Sequence[Any]], target: str) -> list[Cell]:
    """Compile a kernel for every combination of compile-time values and options, such as num_warps. (Given.)

    `arguments` are as for `warmup`, with dtypes in place of arrays. See `combinations` for `space`.
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
