"""Arguments of a launch as bytes of parameters, and as memory that the kernel may access."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mini_triton.emulator.memory import Allocation
from mini_triton.emulator.parser import Kernel, Parameter, PtxError
from mini_triton.emulator.tensor_maps import TensorMap


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
            elif isinstance(argument, TensorMap):
                self.bind_map(argument, label)
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
        self.bind_map(TensorMap(argument.base, argument.shape, strides, box, size, swizzle), label)
        for value in (*argument.shape, *argument.strides):
            self.bind(next(self.parameters), int(value), label)

    def bind_map(self, map: TensorMap, label: str) -> None:
        """Give the next parameter a tensor map."""
        data, name = map.encode(self.allocate(label, map.base)), next(self.parameters).name
        self.bytes[name], self.addresses[name] = data.tobytes(), self.allocate(f"tensor map of {label}", data)

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
