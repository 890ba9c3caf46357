"""Launches that cannot work, and accesses out of bounds, said in the words of who wrote the launch.

A GPU says "illegal memory access", some time later, about some kernel. Here memory is never touched outside of the
arguments, and what goes wrong has a name, a number and a line.
"""

from __future__ import annotations

import linecache
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from mini_triton.runtime.arguments import device_of

if TYPE_CHECKING:
    from mini_triton.codegen.library.memory import OutOfBounds

BACK_ENDS = {"cuda": "the GPU back end comes with milestone 10"}
"""Kinds of devices, and why kernels cannot use their memory."""


class AccessError(IndexError):
    """A running kernel accessed memory outside of its arguments."""


def check_devices(kernel: str, memory: Mapping[str, Any]) -> None:
    """Raise `ValueError`, which names the kernel and arguments at fault, unless all memory is the CPU's."""
    first = None
    for name in memory:
        if first is None:
            first = name
        here = device_of(memory[first])
        there = device_of(memory[name])
        if here != there:
            raise ValueError(f"{kernel}: {first} is on {here}, {name} is on {there}")
    if first is not None:
        device = device_of(memory[first])
        if device != "cpu":
            reason = ""
            for kind in BACK_ENDS:
                if device.startswith(kind):
                    reason = ": " + BACK_ENDS[kind]
            raise ValueError(f"{kernel}: {first} is on {device}{reason}")


def check_writable(kernel: str, memory: Mapping[str, Any], stored: Collection[str]) -> None:
    """Raise `ValueError`, with its name and the kernel's, for a read-only array among those that are stored to."""
    for name in memory:
        if name in stored:
            if isinstance(memory[name], np.ndarray):
                if not memory[name].flags.writeable:
                    raise ValueError(f"{kernel}: {name} is read-only, and cannot be stored to")


def explained(kernel: str, error: OutOfBounds, shape: tuple[int, ...]) -> AccessError:
    """The error for whoever launched the kernel: what was accessed, by which program, and the kernel's source line.

        add: x[1024] is out of bounds, x has 1000 elements, shape (1000,)
        accessed by program (7, 0, 0) at add.py:7
            values = tl.load(x + offsets)

    `shape` is that of the argument.
    """
    count = 1
    for size in shape:
        count = count * size
    message = "In " + kernel + " the element " + error.buffer.name + "[" + str(error.element) + "] is accessed, "
    message += "but " + error.buffer.name + " has " + str(count) + " elements and the shape " + str(shape) + ".\n"
    message += "The program is " + str(error.program) + ", and the line is " + error.place + ":\n"
    message += source_line(error.place)
    return AccessError(message)


def source_line(place: str) -> str:
    """The source line at a place, "file:line", without its indentation; "" if there is none. (Given.)"""
    file, _, line = place.rpartition(":")
    return linecache.getline(file, int(line or 0)).strip()


def lost(kernel: str, error: OutOfBounds) -> AccessError:
    """The error for an address that leads nowhere. (Given.)"""
    return AccessError(
        f"{kernel}: the address {error.element:#x} is in no argument\n"
        f"asked for by program {error.program} at {error.place}\n"
        "what a kernel reaches by addresses only is made known by `with mini_triton.reachable(array):`"
    )
