"""Out-of-bounds accesses: an error, a list of the accesses, or the behavior of a GPU.

    MINI_TRITON_BOUNDS=error    the first such access stops the kernel; this is the default
    MINI_TRITON_BOUNDS=warn     the kernel continues, and a `BoundsWarning` lists all such accesses, line by line
    MINI_TRITON_BOUNDS=report   the kernel continues, and the program ends with one table of all places of such accesses
    MINI_TRITON_BOUNDS=off      the kernel may access the whole allocation behind an argument, but nothing beyond

An access that does not stop the kernel reads 0 (or `other`), or writes nothing.
"""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.codegen import NumpyKernel
from mini_triton.codegen.library import addresses, atomics, memory
from mini_triton.codegen.library.lenient import Lenient
from mini_triton.codegen.library.programs import Grid
from mini_triton.compat.reinterpret import TensorWrapper
from mini_triton.environment import BOUNDS, choice
from mini_triton.ir.storage import Buffer, OutOfBounds
from mini_triton.runtime import table
from mini_triton.runtime.arguments import to_python
from mini_triton.runtime.checks import AccessError, check_devices, check_writable, source_line
from mini_triton.runtime.reach import known
from mini_triton.sanitizer.reports import wanted

if TYPE_CHECKING:
    from mini_triton.runtime.compiled_kernel import CompiledKernel

MODES = ("error", "warn", "report", "off")


class BoundsWarning(UserWarning):
    """A running kernel accessed memory outside its arguments."""


def chosen() -> str:
    """The value of `MINI_TRITON_BOUNDS`. Raises `ValueError` for a value that is not in `MODES`."""
    return choice(BOUNDS, MODES, "error")


# --- messages


def complete(error: AccessError, kernel: CompiledKernel, grid: Grid, values: Mapping[str, Any]) -> AccessError:
    """The error, with a line about the argument's storage unless the storage is contiguous, and an explanation.

    The error was raised while the `OutOfBounds` was handled, which is therefore its context.
    """
    cause = error.__context__
    if isinstance(cause, OutOfBounds) and cause.buffer.name in kernel.pointers:
        first, *others = str(error).split("\n")
        remarks = describe_place(cause, values[cause.buffer.name])
        error.args = ("\n".join([first, *remarks, *others, *explain(cause, kernel, grid, values)]),)
    return error


def explain(error: OutOfBounds, kernel: CompiledKernel, grid: Grid, values: Mapping[str, Any]) -> list[str]:
    """Sentences about the mask that allows an access, and about the use of its value; the list may be empty."""
    from mini_triton.sanitizer import outside  # imported late: kernels run without it
    from mini_triton.sanitizer.facts import facts_of

    given = [
        Buffer.of(name, values[name]) if name in kernel.pointers else to_python(values[name])
        for name in kernel.parameters
    ]
    try:
        return outside.explain(facts_of(str(kernel.texts["ttir"])), grid, given, error)
    except Exception:  # what cannot be explained is still reported
        return []


def describe_place(error: OutOfBounds, value: Any) -> list[str]:
    """Remarks about the element that was accessed, and about the argument's storage; the list may be empty."""
    buffer, name, lines = error.buffer, error.buffer.name, []
    if buffer.gaps is not None and 0 <= error.element + buffer.origin < buffer.data.size:
        lines.append(
            f"{name}[{error.element}] is in a gap of the slice {name}: not one of its elements, but between them"
        )
    if storage := describe_storage(name, value):
        lines.append(storage)
    return lines


def describe_storage(name: str, value: Any) -> str:
    """The size of an argument's storage, and the argument's shape and strides; "" if there is nothing to say."""
    shape, strides = tuple(value.shape), strides_of(value)
    if not shape or strides == tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape))):
        return ""
    count = Buffer.of(name, value).data.size
    shared = ". Elements share memory: pass a contiguous copy" if count < math.prod(shape) else ""
    elements = "1 element" if count == 1 else f"{count} elements"
    return f"the storage of {name} has {elements}: its shape is {shape}, its strides are {strides}{shared}"


def strides_of(value: Any) -> tuple[int, ...]:
    """The strides of an array or a tensor, in elements."""
    if isinstance(value, TensorWrapper):
        return strides_of(value.base)
    if isinstance(value, np.ndarray):
        return tuple(stride // value.itemsize for stride in value.strides)
    return tuple(value.stride())


# --- launches that continue


@dataclass
class Outside:
    """The accesses of one line to one argument that were out of bounds."""

    first: OutOfBounds
    writes: bool
    count: int = 0

    def describe(self, arguments: Mapping[str, Any], more: str = "") -> str:
        """The access, and the first program that made it."""
        name, what = self.first.buffer.name, f"the address {self.first.element:#x}{more}, in no argument"
        if name in arguments:
            shape = tuple(arguments[name].shape)
            what = f"{name}[{self.first.element}]{more}; {name} has {math.prod(shape)} elements, shape {shape}"
        how = "writes" if self.writes else "reads"
        return f"{self.first.place}: {how} {what}, first by program {self.first.program}"


Found = dict[tuple[str, str, bool], Outside]
"""Out-of-bounds accesses by place, argument, and whether they write."""


def launch(kernel: CompiledKernel, grid: Grid, values: Mapping[str, Any], way: str) -> None:
    """Run a kernel on the CPU, and continue after out-of-bounds accesses: `way` is one of `MODES`, but not "error".

    With "off", which lets a kernel access more than its arguments, the sanitizer does not run.
    """
    found: Found = {}
    arguments = {name: values[name] for name in kernel.pointers}
    try:
        if way != "off" and (kinds := wanted()):
            from mini_triton.runtime.sanitized import sanitize  # imported late: kernels run without it

            sanitize(
                kernel, grid, values, arguments, kinds, lambda _, step, *of: add(found, step.name != "tt.load", *of)
            )
        else:
            check_devices(kernel.name, arguments)
            check_writable(kernel.name, arguments, kernel.program.stored)
            buffer_of = whole if way == "off" else Buffer.of
            given = [
                buffer_of(name, arguments[name]) if name in arguments else to_python(values[name])
                for name in kernel.parameters
            ]
            lenient(kernel.program, found)(grid, given, known())
    finally:
        if way == "warn" and found:
            listed = [f"{kernel.name} goes outside its arguments:"]
            for outside in found.values():
                more = f" and {outside.count - 1} more" if outside.count > 1 else ""
                lines = outside.describe(arguments, more), *remarks_on(outside, kernel, grid, values)
                listed.append("  " + "\n      ".join(lines))
            warnings.warn("\n".join(listed), BoundsWarning, stacklevel=4)
        for key, outside in found.items() if way == "report" else ():
            if (kernel.name, *key) not in table.rows:
                lines = outside.describe(arguments), *remarks_on(outside, kernel, grid, values)
                table.rows[kernel.name, *key] = table.Row(lines)
            table.rows[kernel.name, *key].add(outside.count)


def remarks_on(outside: Outside, kernel: CompiledKernel, grid: Grid, values: Mapping[str, Any]) -> list[str]:
    """The source line of an access, and remarks."""
    error, name = outside.first, outside.first.buffer.name
    about = describe_place(error, values[name]) if name in kernel.pointers else []
    return [*about, source_line(error.place), *explain(error, kernel, grid, values)]


def add(found: Found, writes: bool, error: OutOfBounds, count: int) -> bool:
    """Count an access that was out of bounds in so many lanes. Its values need not be followed."""
    key = error.place, error.buffer.name, writes
    found.setdefault(key, Outside(error.with_traceback(None), writes)).count += count
    return False


def lenient(program: NumpyKernel, found: Found) -> NumpyKernel:
    """The same program, which records out-of-bounds accesses and continues."""

    def note(error: OutOfBounds, writes: bool, count: int, frame: types.FrameType) -> None:
        place, rank = program.lines.get(frame.f_lineno, ("", 0))
        error.place = place
        error.program = frame.f_locals["programs"].place(error.lane[0] if len(error.lane) > rank else 0)
        add(found, writes, error, count)

    names = {"memory": Lenient(memory, note), "atomics": Lenient(atomics, note), "addresses": Lenient(addresses, note)}
    return program.with_library(names)


def whole(name: str, value: Any) -> Buffer:
    """The whole allocation that an array or a tensor is part of, as a buffer with the argument's origin."""
    own, memory = Buffer.of(name, value), allocation(value)
    start = int(memory.__array_interface__["data"][0])
    if own.start < start or own.end > start + memory.nbytes:
        return own
    size = own.data.itemsize
    skipped = (own.start - start) % size
    count = (memory.nbytes - skipped) // size
    data = memory[skipped : skipped + count * size].view(own.data.dtype)
    return Buffer(name, data, (own.start - start) // size + own.origin, shape=own.shape)


def allocation(value: Any) -> np.ndarray:
    """The bytes of the memory that an array is a view of, or of a tensor's storage."""
    owner = value
    while (base := getattr(owner, "base", None)) is not None:  # the base of a view, or of the array behind the view
        owner = base
        if isinstance(base, np.ndarray) or hasattr(base, "untyped_storage"):
            value = base
    if not hasattr(value, "untyped_storage"):
        return Buffer.of("", value).data.view(np.uint8)
    import torch

    return torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage()).numpy()
