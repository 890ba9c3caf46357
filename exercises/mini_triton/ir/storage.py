"""How values are stored while a kernel runs: NumPy dtypes of elements, memory behind pointers, atomics. (Given.)

The IR's integers are signless; the arrays that hold them are signed. A boolean takes a byte.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from mini_triton import exact
from mini_triton.formats import FLOATS, FORMATS, INTEGERS
from mini_triton.ir.described import Described, describe
from mini_triton.ir.types import PointerType, Type, element_type

DTYPES = {
    **{name: f"np.{row.array}" if row.native else row.array for name, row in (INTEGERS | FLOATS).items()},
    "i1": "np.bool_",
}
TORCH_ONLY = {f"torch.{row.array}": getattr(ml_dtypes, row.array) for row in FORMATS if not row.native}
"""PyTorch dtypes that NumPy has only with `ml_dtypes`."""


def dtype_text(type: Type) -> str:
    """The NumPy dtype of one element, as written in Python: `np.int32`; a pointer is an `np.int64`."""
    element = element_type(type)
    if isinstance(element, PointerType):
        return "np.int64"
    return DTYPES[str(element)]


@functools.cache
def numpy_dtype(type: Type) -> np.dtype:
    """The NumPy dtype of one element."""
    return np.dtype(dtype_text(type).removeprefix("np.").rstrip("_"))


class OutOfBounds(IndexError):
    """An out-of-bounds access: the element that it requested, and the lane of the access.

    The code that runs the kernel sets `kernel`, `program` and `place` ("file:line").
    """

    def __init__(self, buffer: Buffer, element: int, lane: tuple[int, ...]) -> None:
        super().__init__(buffer, element, lane)
        self.buffer, self.element, self.lane = buffer, element, lane
        self.program: tuple[int, int, int] | None = None
        self.place, self.kernel = "", ""

    def __str__(self) -> str:
        name, count = self.buffer.name, self.buffer.data.size
        inside = 0 <= self.element + self.buffer.origin < count
        owned = "in a gap of the slice" if inside else f"outside its {count} elements"
        where = f" by program {self.program}" if self.program else ""
        return f"{name}[{self.element}] is {owned}: accessed{where}" + (f" at {self.place}" if self.place else "")


@dataclass
class Buffer:
    """The memory behind a pointer argument, `data`. The pointer points to element `origin` of `data`.

    `gaps` is true for elements that lie between elements of the array but do not belong to the array, such as the
    elements that a slice `x[:, :3]` omits. It is None if there are no such elements. `constant` promises that a launch
    does not write to the memory.
    """

    name: str
    data: np.ndarray
    origin: int = 0
    gaps: np.ndarray | None = None
    shape: tuple[int, ...] | None = None
    constant: bool = False

    @staticmethod
    def of(name: str, array: Any) -> Buffer:
        """The memory of a NumPy array or of a PyTorch tensor on the CPU, with any strides, without a copy."""
        array = as_numpy(array)
        dtype = np.dtype(f"i{array.itemsize}") if array.dtype.kind == "u" else array.dtype  # IR integers are signless
        by_stride = array if array.flags.c_contiguous else array.transpose(np.argsort(array.strides)[::-1])
        if by_stride.flags.c_contiguous:
            return Buffer(name, by_stride.reshape(-1).view(dtype), shape=array.shape)
        if not array.size:
            return Buffer(name, np.zeros(0, dtype), shape=array.shape)
        low, high = byte_bounds(array)
        corner = array[tuple(slice(-1, None) if stride < 0 else slice(0, 1) for stride in array.strides)]
        count = (high - low) // array.itemsize
        flat = as_strided(corner.view(f"i{array.itemsize}"), (count,), (array.itemsize,)).view(dtype)
        origin = (array.__array_interface__["data"][0] - low) // array.itemsize
        gaps = np.ones(count, bool)
        gaps[origin + _elements(array)] = False
        return Buffer(name, flat, origin, gaps if gaps.any() else None, array.shape)

    @property
    def start(self) -> int:
        """The address of the memory, in bytes."""
        return int(self.data.__array_interface__["data"][0])

    @property
    def end(self) -> int:
        """The first address after the memory."""
        return self.start + self.data.nbytes

    def address(self, offset: Any) -> Any:
        """The address, in bytes, of the element at this offset."""
        return np.int64(self.start + self.origin * self.data.itemsize) + np.int64(self.data.itemsize) * offset

    def read_as(self, dtype: Any) -> Buffer:
        """The same memory as elements of another dtype."""
        dtype = np.dtype(dtype)
        if dtype == self.data.dtype:
            return self
        first = self.origin * self.data.itemsize
        skipped = first % dtype.itemsize  # bytes before the first whole element
        count = (self.data.nbytes - skipped) // dtype.itemsize

        gaps = None
        if self.gaps is not None:
            by_byte = np.repeat(self.gaps, self.data.itemsize)[skipped : skipped + count * dtype.itemsize]
            gaps = np.logical_or.reduce(by_byte.reshape(count, dtype.itemsize), axis=1)
        flat = self.data.view(np.uint8)[skipped : skipped + count * dtype.itemsize].view(dtype)
        return Buffer(self.name, flat, first // dtype.itemsize, gaps, self.shape, self.constant)

    def unless_among(self, written: Sequence[Any]) -> Buffer:
        """The same memory, marked as constant unless it overlaps a buffer among these arguments."""
        if any(isinstance(other, Buffer) and np.may_share_memory(self.data, other.data) for other in written):
            return self
        data = self.data.view()
        data.flags.writeable = False
        return Buffer(self.name, data, self.origin, self.gaps, self.shape, True)


def reach(
    buffers: Sequence[Buffer], address: Any, mask: Any = True, shape: tuple[int, ...] = ()
) -> Iterator[tuple[Buffer, np.ndarray, np.ndarray]]:
    """Find the memory behind addresses: each buffer that a lane reaches, an index for every lane, and the lanes in it.

    Masked-off lanes reach no memory. The lanes have the common shape of the address, the mask and `shape`. Raises
    `OutOfBounds` for an address outside all buffers.
    """
    address, missing, _ = np.broadcast_arrays(address, mask, np.empty(shape, bool))
    missing = missing.copy()
    for buffer in buffers:
        inside = missing & (address >= buffer.start) & (address < buffer.end)
        index = np.where(inside, address - buffer.start, 0) // buffer.data.itemsize
        if buffer.gaps is not None and inside.any():
            inside &= ~buffer.gaps[index]
        if inside.any():
            missing &= ~inside
            yield buffer, index, inside
    if missing.any():
        lane = np.unravel_index(np.argmax(missing), missing.shape)
        raise OutOfBounds(Buffer("memory", np.zeros(0, np.int8)), int(address[lane]), tuple(map(int, lane)))


def as_numpy(array: Any) -> np.ndarray:
    """A NumPy array, a PyTorch tensor or described memory, on the CPU, as an array over the same memory."""
    array = describe(array)
    if isinstance(array, np.ndarray):
        return array
    dtype = TORCH_ONLY.get(str(array.dtype))
    if isinstance(array, Described):
        return array.numpy(np.dtype(dtype or str(array.dtype).removeprefix("torch.")))
    tensor = array.detach()
    if dtype is None:
        return tensor.numpy()
    import torch

    return tensor.view(torch.int16 if tensor.itemsize == 2 else torch.int8).numpy().view(dtype)


def _elements(array: np.ndarray) -> np.ndarray:
    """The offset of each element from the first one."""
    result = np.zeros((), np.int64)
    for size, stride in zip(array.shape, array.strides, strict=True):
        result = result[..., None] + np.arange(size) * (stride // array.itemsize)
    return result.ravel()


ATOMICS: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("add", "fadd"), np.add),
    **{"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor},
    **{"max": np.maximum, "min": np.minimum, "umax": exact.maxui, "umin": exact.minui},
    "exch": lambda old, value: value,
}
"""The values that atomic operations write, computed from the old value and the operand."""


def swap(old: Any, expected: Any, value: Any) -> Any:
    """The values that `tt.atomic_cas` writes: `value` where memory holds the expected bits."""
    return value if old.tobytes() == expected.tobytes() else old
