"""Errors for invalid launches and out-of-bounds accesses, in terms of the launch.

A GPU reports an "illegal memory access" some time after the access, and does not name the argument. Our kernels never
access memory outside the arguments, and an error names the argument, the index and the line.
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

REASONS = {"meta": "tensors there have no data", "mps": "there is no back end for Apple's GPUs"}
"""Why kernels cannot use memory, by kind of device."""


class AccessError(IndexError):
    """A running kernel accessed memory outside its arguments."""


def check_devices(kernel: str, memory: Mapping[str, Any]) -> None:
    """Raise `ValueError` unless all memory is on the CPU. The message names the kernel and the arguments at fault."""
    # Task 7.8: For memory on two devices, the message names both devices, and an argument on each device. For memory
    # on one device other than "cpu", it names an argument, and gives the reason from `REASONS` if there is one for this
    # kind of device ("mps" for "mps:0"). Given: `device_of`.
    raise NotImplementedError("Task 7.8: Checks")


def check_writable(kernel: str, memory: Mapping[str, Any], stored: Collection[str]) -> None:
    """Raise a `ValueError` that names the kernel and the argument if the kernel stores to a read-only array."""
    # Task 7.8: `stored` contains the names of the arguments to which the kernel stores. PyTorch tensors are always
    # writable; a NumPy array has `flags.writeable`.
    raise NotImplementedError("Task 7.8: Checks")


def explain_access(kernel: str, error: OutOfBounds, shape: tuple[int, ...]) -> AccessError:
    """The error that a launch raises for `error`. Its message shows the access, the program, and the source line.

        add: x[1024] is out of bounds; x has 1000 elements, shape (1000,)
        accessed by program (7, 0, 0) at add.py:7
            values = tl.load(x + offsets)

    `shape` is the shape of the accessed argument.
    """
    # Task 7.8: `error` has the attributes `buffer.name`, `element`, `program` and `place` ("add.py:7"). Given:
    # `source_line(place)`.
    raise NotImplementedError("Task 7.8: Checks")


def source_line(place: str) -> str:
    """The source line at a location, "file:line", without indentation; "" if there is none. (Given.)"""
    file, _, line = place.rpartition(":")
    return linecache.getline(file, int(line or 0)).strip()


def explain_address(kernel: str, error: OutOfBounds) -> AccessError:
    """The error for an address outside all arguments. (Given.)"""
    return AccessError(
        f"{kernel}: the address {error.element:#x} is not in any argument\n"
        f"accessed by program {error.program} at {error.place}\n"
        "if the kernel reaches an array only by addresses, launch it inside `with mini_triton.reachable(array):`"
    )
