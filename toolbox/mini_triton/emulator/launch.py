"""Launches: arguments become memory and numbers, the grid becomes batches, and what happened becomes a report."""

from __future__ import annotations

import contextlib
import functools
import gc
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mini_triton.emulator import arithmetic, conversions, moves, tensor_cores, warps  # noqa: F401  (their instructions)
from mini_triton.emulator.checker import Checker, Unchecked
from mini_triton.emulator.copy_engine import encode_map
from mini_triton.emulator.machine import Machine
from mini_triton.emulator.memory import Allocation
from mini_triton.emulator.parser import Kernel, Parameter, PtxError, parse
from mini_triton.emulator.report import Report

LANES, CHECKED_LANES = 1 << 15, 1 << 14
"""How many threads a batch has: enough to keep NumPy busy, few enough for a cache."""
SHARED_BYTES = 1 << 24
"""How much shared memory a batch has, at most."""

parse_once = functools.lru_cache(maxsize=64)(parse)


def emulate(
    ptx: str | Kernel,
    grid: Sequence[int],
    arguments: Sequence[Any],
    *,
    threads: int | None = None,
    shared: int = 0,
    check: bool = True,
    names: Sequence[str] = (),
    reachable: Sequence[Any] = (),
    scratch: int = 0,
) -> Report:
    """Run a kernel's PTX on arrays of this process, and report what happened.

    `arguments` are NumPy arrays, PyTorch tensors on the CPU, tensor descriptors and numbers, in the order of the
    kernel's parameters; `names` are their names, for messages. The kernel may also follow addresses into the arrays in
    `reachable`. `threads` of a CTA are needed only if the text does not say them, `shared` bytes only if the kernel
    takes them from the launch, `scratch` bytes of each CTA for parameters that are not given. Without `check`, nothing
    is looked for except accesses out of bounds, and the launch is faster. Raises `PtxError` for unknown instructions.
    """
    kernel = ptx if isinstance(ptx, Kernel) else parse_once(ptx)
    size = kernel.threads or threads
    if not size or size % 32:
        raise PtxError(f"{kernel.name} needs the number of threads of a CTA, a multiple of 32, not {size}")
    x, y, z = (*map(int, grid), 1, 1)[:3]
    count = x * y * z
    report = Report(kernel.name, size)
    bound = Arguments(kernel, arguments, names, reachable, scratch * count)
    per_batch = (CHECKED_LANES if check else LANES) // size
    owned = shared + kernel.sizes["shared"]
    per_batch = max(1, min(per_batch, SHARED_BYTES // max(owned, 1), count))
    checker = Checker(kernel, report) if check else Unchecked()
    with np.errstate(all="ignore"), collector_paused():
        for first in range(0, count, per_batch):
            ctas = np.arange(first, min(first + per_batch, count))
            machine = Machine(kernel, (x, y, z), size, ctas, bound, shared, report.find, checker)
            machine.run()
            for i, lanes in zip(kernel.instructions, machine.executed.tolist(), strict=False):
                if lanes:
                    tensor = -(-lanes // 32) if i.opcode in ("mma", "wgmma") else 0
                    barriers = -(-lanes // size) if i.opcode in ("bar", "barrier") and not i.has("warp") else 0
                    report.count(i, instructions=-(-lanes // 32), tensor_cores=tensor, barriers=barriers)
            vars(machine).clear()  # its steps refer to it: they and its registers are free now, not at some collection
    checker.finish()
    return report


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """No searches for cycles: preparing instructions makes so many objects that searches take up to half the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Arguments:
    """What a launch gives to a kernel: the bytes of parameters, addresses of variables and tensor maps, and memory."""

    def __init__(
        self, kernel: Kernel, arguments: Sequence[Any], names: Sequence[str], reachable: Sequence[Any], scratch: int
    ) -> None:
        self.bytes: dict[str, bytes] = {}
        self.addresses: dict[str, int] = {}
        self.allocations: list[Allocation] = []
        for name, symbol in kernel.symbols.items():
            if symbol.data:
                self.addresses[name] = self.allocate(name, np.frombuffer(symbol.data, np.uint8).copy())
        self.parameters = iter(kernel.parameters)
        labels = [*names, *(f"argument {number}" for number in range(len(names), len(arguments)))]
        for argument, label in zip(arguments, labels, strict=False):
            if hasattr(argument, "block_shape"):
                self.bind_descriptor(argument, label)
            elif parameter := next(self.parameters, None):
                self.bind(parameter, argument, label)
            else:
                raise PtxError(f"{kernel.name} has {len(kernel.parameters)} parameters, fewer than arguments")
        for parameter in self.parameters:  # that Triton adds: scratch memory
            room: Any = 0
            if scratch and parameter.type.width == 64:
                start = self.allocate("scratch memory", np.zeros(scratch + 256, np.uint8))
                room, scratch = -(-start // 256) * 256, 0
            self.bind(parameter, room, "")
        for number, array in enumerate(reachable):
            self.allocate(f"reachable {number}", array)

    def bind(self, parameter: Parameter, argument: Any, label: str) -> None:
        """Give a parameter its value."""
        kind = parameter.type
        if isinstance(argument, np.ndarray | Allocation) or hasattr(argument, "data_ptr"):
            argument = self.allocate(label, argument)
        if kind.is_float:
            value = np.asarray(argument, kind.value)
        elif isinstance(argument, float):  # as bits: Triton passes fp32 as .f32, and half numbers as .b16
            value = np.asarray(argument, f"f{kind.width // 8}")
        else:
            value = np.asarray(int(argument) % (1 << kind.width), kind.bits)
        self.bytes[parameter.name] = value.tobytes()

    def bind_descriptor(self, argument: Any, label: str) -> None:
        """A tensor descriptor: a tensor map, then the shape and the strides, twice as Triton passes them."""
        size = _element_size(argument.base)
        *outer, inner = argument.block_shape
        widths = {3: 128, 2: 64, 1: 32}  # of a row in bytes, by the mode of swizzling
        swizzle = next((mode for mode, width in widths.items() if inner * size >= width), 0)
        swizzle = getattr(argument, "swizzle", swizzle)
        box = [*outer, min(inner, widths.get(swizzle, inner * size) // size)]
        strides = [int(stride) * size for stride in argument.strides]
        data = encode_map(self.allocate(label, argument.base), argument.shape, strides, box, size, swizzle)
        name = next(self.parameters).name
        self.bytes[name], self.addresses[name] = data.tobytes(), self.allocate(f"tensor map of {label}", data)
        for value in (*argument.shape, *argument.strides):
            self.bind(next(self.parameters), int(value), label)

    def allocate(self, name: str, array: Any) -> int:
        """Let the kernel access an array. Returns its address."""
        if isinstance(array, Allocation):
            self.allocations.append(array)
            return array.address or array.start
        if isinstance(array, np.ndarray):
            low, high = np.lib.array_utils.byte_bounds(array)
            self.allocations.append(Allocation(name, low, high, array))
            return array.ctypes.data
        array = getattr(array, "base", array) if not hasattr(array, "data_ptr") else array
        address = array.data_ptr()
        extent = 0
        if hasattr(array, "stride") and 0 not in array.shape:
            extent = 1 + sum((n - 1) * abs(s) for n, s in zip(array.shape, array.stride(), strict=True))
        elif hasattr(array, "shape"):
            extent = math.prod(array.shape)
        self.allocations.append(Allocation(name, address, address + extent * _element_size(array), array))
        return address


def _element_size(array: Any) -> int:
    """The bytes of an element."""
    array = array.keep if isinstance(array, Allocation) else array
    return array.itemsize if isinstance(array, np.ndarray) else array.element_size()
