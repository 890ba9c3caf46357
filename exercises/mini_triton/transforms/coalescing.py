"""How a GPU executes a kernel's loads and stores: the axis of the threads, and the bytes per instruction.

One instruction moves up to 16 bytes for a thread. The elements that it moves must be neighbors in memory, at an
address that is a multiple of their total size, and must share one mask value. Also, every thread should get some
elements.

    for access in accesses(module):
        print(access.operation.name, access.axis, access.bytes, access.limits)

Source: `lib/Dialect/TritonGPU/Transforms/Coalesce.cpp` and `getVectorSize` of `LoadStoreOpToLLVM.cpp` in Triton.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from mini_triton.analysis.axis_info import AxisAnalysis, Info, unit_of
from mini_triton.ir.core import Module, Operation, Value
from mini_triton.ir.ops.definition import operand_of
from mini_triton.ir.types import TensorType

WIDEST = 16
"""Bytes that the widest instruction moves."""
WARP = 32
"""Threads in a warp."""

ACCESSES = ("tt.load", "tt.store", "ttg.async_copy_global_to_local")


class Limits(NamedTuple):
    """Four limits on the number of elements that one instruction moves for a thread. Each is at least 1."""

    neighbors: int  # elements known to be neighbors in memory
    alignment: int  # elements whose total size is known to divide the address of the first element
    share: int  # elements of the tensor per thread of the program
    mask: int  # elements known to share a mask value; without a mask, the size of the axis


@dataclass(frozen=True)
class Access:
    """A load or a store of a tensor."""

    operation: Operation
    axis: int  # the axis along which neighboring threads should lie
    limits: Limits

    def __str__(self) -> str:
        return f"{self.operation.name[3:]:5} {self.bytes:2} bytes per instruction; threads along axis {self.axis}"

    @property
    def element(self) -> int:
        """Bytes of an element."""
        return unit_of(self.operation.operands[0].type)

    @property
    def bytes(self) -> int:
        """Bytes that one instruction moves for a thread."""
        # Task 9.10: For fp16 and the limits (8, 4, 16, 8), which count elements, the result is 8 bytes. The result is
        # at most `WIDEST`, but at least the size of one element.
        raise NotImplementedError("Task 9.10: Facts through loops, and wide accesses")


def accesses(module: Module, warps: int = 4) -> Iterator[Access]:
    """The loads and stores of tensors in a module whose programs have `warps` warps each."""
    analysis = AxisAnalysis(module)
    for operation in module.walk():
        if operation.name in ACCESSES and isinstance(operation.operands[0].type, TensorType):
            axis = fastest_axis(analysis[operation.operands[0]])
            yield Access(operation, axis, limits(operation, analysis, axis, warps * WARP))


def mask_of(operation: Operation) -> Value | None:
    """The mask of a load or a store; None if there is no mask. (Given.)"""
    return operand_of(operation, "mask")


def fastest_axis(info: Info) -> int:
    """The axis along which the most addresses are known to be neighbors; among equal axes, the last one. (Given.)"""
    return max(range(len(info)), key=lambda axis: (info[axis].contiguity, axis))


def limits(operation: Operation, analysis: AxisAnalysis, axis: int, threads: int) -> Limits:
    """Limits on a load or a store. Neighboring threads lie along `axis`. The program has `threads` threads.

    Operand 0 holds the pointers. `analysis[value]` holds the facts of a value along each axis.
    """
    # Task 9.10: Pointers to fp32 that count up in runs of 8 from multiples of 16 bytes have the limits `neighbors=8`
    # and `alignment=4`. Without a mask, the limit `mask` is the size of the axis. Every limit is at least 1. Given:
    # `Limits`, `mask_of`, `unit_of`.
    raise NotImplementedError("Task 9.10: Facts through loops, and wide accesses")
