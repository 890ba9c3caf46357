"""Launches: arguments become memory and numbers, the grid becomes batches, and what happened becomes a report."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mini_triton.emulator import arithmetic, conversions, moves, tensor_cores, warps  # noqa: F401  (their instructions)
from mini_triton.emulator.asynchronous import encode_map
from mini_triton.emulator.checker import Checker, Unchecked
from mini_triton.emulator.machine import Machine
from mini_triton.emulator.memory import Allocation, Global
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
    report = Report(kernel.name)
    bound = Arguments(kernel, arguments, names, reachable, scratch * count)
    per_batch = (CHECKED_LANES if check else LANES) // size
    owned = shared + kernel.sizes["shared"]
    per_batch = max(1, min(per_batch, SHARED_BYTES // max(owned, 1), count))
    memory = Global(bound.allocations)
    checker = Checker(kernel, report) if check else Unchecked()
    find = functools.partial(report.find, threads=size)
    with np.errstate(all="ignore"):
        for first in range(0, count, per_batch):
            ctas = np.arange(first, min(first + per_batch, count))
            machine = Machine(kernel, (x, y, z), size, ctas, memory, bound.values, shared, find, checker, bound.blocks)
            machine.run()
            for i, lanes in zip(kernel.instructions, machine.executed.tolist(), strict=True):
                if lanes:
                    tensor = -(-lanes // 32) if i.opcode in ("mma", "wgmma") else 0
                    barriers = -(-lanes // size) if i.opcode in ("bar", "barrier") and not i.has("warp") else 0
                    report.count(i, instructions=-(-lanes // 32), tensor_cores=tensor, barriers=barriers)
    checker.finish()
    return report


class Arguments:
    """The parameters of a kernel: `values` of numbers and addresses, `blocks` of bytes, and the memory behind them."""

    def __init__(
        self, kernel: Kernel, arguments: Sequence[Any], names: Sequence[str], reachable: Sequence[Any], scratch: int
    ) -> None:
        self.values: dict[str, Any] = {}
        self.blocks: dict[str, bytes] = {}
        self.allocations: list[Allocation] = []
        for name, symbol in kernel.symbols.items():
            if symbol.data:
                self.values[name] = self.allocate(name, np.frombuffer(symbol.data, np.uint8).copy())
        parameters = iter(kernel.parameters)
        for number, argument in enumerate(arguments):
            label = names[number] if number < len(names) else f"argument {number}"
            if hasattr(argument, "block_shape"):
                self.bind_descriptor(argument, parameters, label)
                continue
            parameter = next(parameters, None)
            if parameter is None:
                raise PtxError(f"{kernel.name} has {len(kernel.parameters)} parameters, fewer than arguments")
            self.bind(parameter, argument, label)
        for parameter in parameters:  # that Triton adds: scratch memory
            self.values[parameter.name] = np.zeros((), parameter.type.bits)
            if scratch and parameter.type.width == 64:
                room = self.allocate("scratch memory", np.zeros(scratch + 256, np.uint8))
                self.values[parameter.name] = np.uint64(-(-room // 256) * 256)
                scratch = 0
        for number, array in enumerate(reachable):
            self.allocate(f"reachable {number}", array)

    def bind(self, parameter: Parameter, argument: Any, label: str) -> None:
        """Give a parameter its value."""
        kind = parameter.type
        if isinstance(argument, np.ndarray | Allocation) or hasattr(argument, "data_ptr"):
            self.values[parameter.name] = np.uint64(self.allocate(label, argument))
        elif kind.is_float:
            self.values[parameter.name] = kind.write(np.asarray(argument, kind.value))
        elif isinstance(argument, float):  # as bits: Triton passes fp32 as .f32, and half numbers as .b16
            self.values[parameter.name] = np.asarray(argument, f"f{kind.width // 8}").view(kind.bits)
        else:
            self.values[parameter.name] = np.asarray(int(argument) % (1 << kind.width), kind.bits)

    def bind_descriptor(self, argument: Any, parameters: Any, label: str) -> None:
        """A tensor descriptor: a tensor map, then the shape and the strides, twice as Triton passes them."""
        address = self.allocate(label, argument.base)
        size = _element_size(argument.base)
        inner = argument.block_shape[-1] * size
        swizzle = next((mode for mode, width in ((3, 128), (2, 64), (1, 32)) if inner >= width), 0)
        swizzle = getattr(argument, "swizzle", swizzle)
        box = [
            *argument.block_shape[:-1],
            min(argument.block_shape[-1], {3: 128, 2: 64, 1: 32}.get(swizzle, inner) // size),
        ]
        strides = [int(stride) * size for stride in argument.strides]
        data = encode_map(address, argument.shape, strides, box, size, swizzle)
        first = next(parameters)
        self.blocks[first.name] = data.tobytes()
        self.values[first.name] = np.uint64(self.allocate(f"tensor map of {label}", data))
        for value in (*argument.shape, *argument.strides):
            parameter = next(parameters)
            self.bind(parameter, int(value), label)

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
    return array.itemsize if isinstance(array, np.ndarray) else array.element_size()
