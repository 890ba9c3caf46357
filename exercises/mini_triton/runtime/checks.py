"""Launches that cannot work, and accesses out of bounds, said in the words of who wrote the launch.

A GPU says "illegal memory access", some time later, about some kernel. Here memory is never touched outside of the
arguments, and an error has a name, a number and a line.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.runtime.arguments import device_of

if TYPE_CHECKING:
    from mini_triton.ir.storage import OutOfBounds

BACK_ENDS = {"cuda": "the GPU back end comes with milestone 10"}
"""Kinds of devices, and why kernels cannot use their memory."""


class AccessError(IndexError):
    """A running kernel accessed memory outside of its arguments."""


def check_devices(kernel: str, memory: Mapping[str, Any]) -> None:
    """Raise `ValueError`, which names the kernel and arguments at fault, unless all memory is the CPU's."""
    # Task 7.8: For memory on two devices the message names both, and an argument on each; for memory on one device
    # that is not "cpu", an argument and the reason that `BACK_ENDS` may have for that kind of device ("cuda" of
    # "cuda:0"). Given: `device_of`.
    raise NotImplementedError("Task 7.8: Checks")


def check_writable(kernel: str, memory: Mapping[str, Any], stored: Collection[str]) -> None:
    """Raise `ValueError`, with the names of kernel and argument, for a read-only array that the kernel stores to."""
    # Task 7.8: `stored` are the names of arguments that the kernel stores to. PyTorch's tensors can always be written
    # to; a NumPy array has `flags.writeable`.
    raise NotImplementedError("Task 7.8: Checks")


def explain_access(kernel: str, error: OutOfBounds, shape: tuple[int, ...]) -> AccessError:
    """The error of a launch: the access, the program, and the kernel's source line.

        add: x[1024] is out of bounds, x has 1000 elements, shape (1000,)
        accessed by program (7, 0, 0) at add.py:7
            values = tl.load(x + offsets)

    `shape` is that of the argument.
    """
    # Task 7.8: `error` has `buffer.name`, `element`, `program` and `place`, a `Loc`. Given: `source_line(place)`.
    raise NotImplementedError("Task 7.8: Checks")


def source_line(place: str) -> str:
    """The source line at a place, "file:line", without its indentation; "" if there is none. (Given.)"""
    file, _, line = place.rpartition(":")
    return linecache.getline(file, int(line or 0)).strip()


def explain_address(kernel: str, error: OutOfBounds) -> AccessError:
    """The error for an address that leads nowhere. (Given.)"""
    return AccessError(
        f"{kernel}: the address {error.element:#x} is in no argument\n"
        f"asked for by program {error.program} at {error.place}\n"
        "what a kernel reaches by addresses only is made known by `with mini_triton.reachable(array):`"
    )
