"""How a GPU does a kernel's loads and stores: along which axis threads should lie, how much one instruction moves.

A GPU moves up to 16 bytes for a thread by one instruction. Its elements must be neighbours in memory, at an address
that is a multiple of their size. One mask decides about all of them. And all threads of a program should have work.

    for access in accesses(module):
        print(access.operation.name, access.axis, access.bytes, access.limits)

Source: `lib/Dialect/TritonGPU/Transforms/Coalesce.cpp` and `getVectorSize` of `LoadStoreOpToLLVM.cpp` in Triton.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from mini_triton.ir.core import Module, Operation, Value
from mini_triton.ir.types import TensorType
from mini_triton.transforms.axis_info import AxisAnalysis, Info, unit_of

WIDEST = 16
"""The bytes of the widest instruction."""
WARP = 32
"""The threads of a warp."""


class Limits(NamedTuple):
    """How many elements an instruction may move for a thread, by each of four reasons. All are at least 1."""

    neighbours: int  # known to be side by side in memory
    alignment: int  # whose size in bytes is known to divide the address of the first
    threads: int  # that a program has for each of its threads
    mask: int  # known to have the same mask; without a mask as many as the axis has


@dataclass(frozen=True)
class Access:
    """A load or a store of a tensor."""

    operation: Operation
    axis: int  # along which threads should lie
    limits: Limits

    def __str__(self) -> str:
        return f"{self.operation.name[3:]:5} {self.bytes:2} bytes an instruction; threads along axis {self.axis}"

    @property
    def element(self) -> int:
        """The bytes of an element."""
        return unit_of(self.operation.operands[0].type)

    @property
    def bytes(self) -> int:
        """The bytes that an instruction moves for a thread."""
        # Task 9.10: At least one element, at most `WIDEST`, and never more elements than a limit allows.
        raise NotImplementedError("Task 9.10: Facts through loops, and wide accesses")


def accesses(module: Module, warps: int = 4) -> Iterator[Access]:
    """The loads and stores of tensors in a module, whose programs have so many warps."""
    analysis = AxisAnalysis(module)
    for operation in module.walk():
        if operation.name in ("tt.load", "tt.store") and isinstance(operation.operands[0].type, TensorType):
            axis = fastest_axis(analysis[operation.operands[0]])
            yield Access(operation, axis, limits(operation, analysis, axis, warps * WARP))


def mask_of(operation: Operation) -> Value | None:
    """The mask of a load or a store. (Given.)"""
    operands = operation.operands[1 if operation.name == "tt.load" else 2 :]
    return operands[0] if operands else None


def fastest_axis(info: Info) -> int:
    """The axis along which most addresses are known to be neighbours; the last one of several."""
    # Task 9.10: `info` is of the pointers.
    raise NotImplementedError("Task 9.10: Facts through loops, and wide accesses")


def limits(operation: Operation, analysis: AxisAnalysis, axis: int, threads: int) -> Limits:
    """What limits a load or a store, if the threads of a program lie along this axis."""
    # Task 9.10: The pointers are operand 0, and `analysis[value]` is what is known of them along all axes.
    raise NotImplementedError("Task 9.10: Facts through loops, and wide accesses")
