"""Tensor descriptors: each describes an array in memory, whose blocks a kernel loads and stores. (Given.)

    rows = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[16, 64])
    rows.store([0, 64], rows.load([0, 0]) * 2)

The hardware of newer GPUs implements descriptors (TMA). Our compiler lowers them like block pointers: each access
becomes a tensor of pointers and a mask, which every device can run. Outside the array, a load gives zero or NaN, and a
store has no effect. As the hardware requires, the last dimension is contiguous, and a block has at least 16 bytes along
it.

Source: `make_tensor_descriptor` and `descriptor_*` in Triton's `semantic.py`, and its
`RewriteTensorDescriptorToPointer.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mini_triton.ir.types import TensorType
from mini_triton.language import atomics
from mini_triton.language.block_pointer import block_pointer, listed, widen
from mini_triton.language.constexpr import RunTimeValue
from mini_triton.language.context import builtin
from mini_triton.language.dtypes import (
    bfloat16,
    dtype,
    float16,
    float32,
    int32,
    int64,
    pointer_type,
    uint32,
    uint64,
)
from mini_triton.language.memory import load, store
from mini_triton.language.tensor import block_type, convert, make_scalar, tensor, to_tensor

__all__ = [
    *("make_tensor_descriptor", "load_tensor_descriptor", "store_tensor_descriptor"),
    *("tensor_descriptor", "tensor_descriptor_type"),
]

MOST_DIMENSIONS = 5
SMALLEST_ROW = 16
"""The least number of bytes of a block along its last dimension."""

ADDED = (uint32, int32, uint64, float32, float16, bfloat16)
COMPARED = (uint32, int32, uint64, int64, float16, bfloat16)
BITS = (uint32, int32, uint64, int64)
"""The element types of the hardware's atomic reductions: additions, minimum and maximum, and bitwise operations."""


@dataclass(frozen=True)
class tensor_descriptor_type:
    """The type of a descriptor: the type of its blocks, and the padding outside the array.

    For a descriptor made by the host, `divisible` names the `inputs` that are multiples of 16.
    """

    block_type: block_type
    padding: str = "zero"
    divisible: tuple[str, ...] = ()

    @property
    def inputs(self) -> dict[str, dtype | pointer_type]:
        """The arguments that a kernel gets for a descriptor made by the host. The last stride is always 1."""
        axes = range(len(self.block_type.shape))
        shape = {f"shape.{axis}": int32 for axis in axes}
        strides = {f"strides.{axis}": int64 for axis in axes[:-1]}
        return {"base": pointer_type(self.block_type.element_ty), **shape, **strides}  # type: ignore[arg-type]

    def receive(self, base: tensor, *sizes: tensor) -> tensor_descriptor:
        """The descriptor with the values of its `inputs`."""
        rank = len(self.block_type.shape)
        strides = (*sizes[rank:], make_scalar(1, int64))
        return tensor_descriptor(base, sizes[:rank], strides, self.block_type.shape, self.padding)

    def __str__(self) -> str:
        return f"tensor_descriptor<{self.block_type}>"


@dataclass(frozen=True)
class tensor_descriptor(RunTimeValue):
    """An array in memory. Its shape consists of int32 scalars, and its strides of int64 scalars, in elements."""

    base: tensor
    shape: tuple[tensor, ...]
    strides: tuple[tensor, ...]
    block_shape: tuple[int, ...]
    padding: str

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.base.dtype.element_ty

    @property
    def block_type(self) -> Any:
        return self.type.block_type

    @property
    def type(self) -> tensor_descriptor_type:
        return tensor_descriptor_type(block_type(self.dtype, self.block_shape), self.padding)

    @builtin
    def load(self, offsets: Any) -> tensor:
        """The block that begins at these offsets."""
        return self._load(self._block(offsets))

    @builtin
    def store(self, offsets: Any, value: Any) -> None:
        """Convert a block to the dtype of the array, and store it at these offsets."""
        block, value = self._block(offsets), to_tensor(value)
        _check_shape(value, self.block_shape)
        self._store(block, convert(value, self.dtype))

    @builtin
    def gather(self, *args: Any) -> tensor:
        """The rows with the indices `rows`, starting at `column`: `desc.gather(rows, column)`."""
        return self._load(self._rows("gather", *args))

    @builtin
    def scatter(self, value: tensor, *args: Any) -> None:
        """Store rows at the indices `rows`, starting at `column`: `desc.scatter(value, rows, column)`."""
        block = self._rows("scatter", *args)
        _check_shape(value, block.block_shape)
        self._store(block, value)

    @builtin
    def atomic_add(self, offsets: Any, value: tensor) -> None:
        """Add a block to memory atomically. Unlike `tl.atomic_add`, the atomic methods return nothing."""
        self._reduce(atomics.atomic_add, ADDED, offsets, value)

    @builtin
    def atomic_min(self, offsets: Any, value: tensor) -> None:
        self._reduce(atomics.atomic_min, COMPARED, offsets, value)

    @builtin
    def atomic_max(self, offsets: Any, value: tensor) -> None:
        self._reduce(atomics.atomic_max, COMPARED, offsets, value)

    @builtin
    def atomic_and(self, offsets: Any, value: tensor) -> None:
        self._reduce(atomics.atomic_and, BITS, offsets, value)

    @builtin
    def atomic_or(self, offsets: Any, value: tensor) -> None:
        self._reduce(atomics.atomic_or, BITS, offsets, value)

    @builtin
    def atomic_xor(self, offsets: Any, value: tensor) -> None:
        self._reduce(atomics.atomic_xor, BITS, offsets, value)

    # --- as block pointers

    @property
    def _axes(self) -> tuple[int, ...]:
        return tuple(range(len(self.block_shape)))

    def _block(self, offsets: Any) -> block_pointer:
        """A pointer to the block at these offsets."""
        offsets = listed(offsets)
        if len(offsets) != len(self.block_shape):
            raise ValueError(f"expected {len(self.block_shape)} offsets, but got {len(offsets)}")
        return self._pointer(widen(offsets, narrow=True), self.block_shape)

    def _rows(self, name: str, *args: Any) -> block_pointer:
        """A pointer to rows of the array, with as many columns as a block has."""
        if len(args) != 2:
            raise ValueError(f"descriptor {name} only supports 2D indexing, but got {len(args)}")
        (rows, column), block_shape = args, list(self.block_shape)
        if len(block_shape) != 2:
            raise ValueError(f"descriptor must be 2D, but got {block_shape}")
        if block_shape[0] != 1:
            raise ValueError(f"descriptor block must have 1 row, but got {block_shape}")
        if not isinstance(rows, tensor) or len(rows.shape) != 1:
            raise ValueError(f"x offsets must be 1D, but got {list(getattr(rows, 'shape', ()))}")
        if rows.shape[0] < 8:
            raise ValueError(f"descriptor {name} must have at least 8 rows, but got {list(rows.shape)}")
        columns = 32 // self.dtype.primitive_bitwidth * 8
        if block_shape[1] < columns:
            raise ValueError(
                f"descriptor {name} of {self.dtype} must have at least {columns} columns, but got {block_shape[1]}"
            )
        return self._pointer((convert(rows, int64), *widen([column], narrow=True)), (rows.shape[0], block_shape[1]))

    def _pointer(self, offsets: tuple[tensor, ...], block_shape: tuple[int, ...]) -> block_pointer:
        shape = tuple(convert(size, int64) for size in self.shape)
        return block_pointer(self.base, shape, self.strides, offsets, block_shape)

    def _load(self, block: block_pointer) -> tensor:
        return load(block, boundary_check=self._axes, padding_option=self.padding)

    def _store(self, block: block_pointer, value: tensor) -> None:
        store(block, value, boundary_check=self._axes)

    def _reduce(self, function: Callable[..., tensor], dtypes: Sequence[Any], offsets: Any, value: Any) -> None:
        block, value = self._block(offsets), to_tensor(value)
        _check_shape(value, self.block_shape)
        if self.dtype not in dtypes:
            raise TypeError(f"Unsupported dtype {self.dtype}, only {', '.join(map(str, dtypes))}")
        if self.dtype in (float16, bfloat16) and function is not atomics.atomic_add:
            raise TypeError("16-bit float types require native tma support, which is not used here")
        if value.dtype.ir_type != self.dtype.ir_type:
            raise TypeError(f"Block element type({self.dtype}) and value element type({value.dtype}) mismatch")
        function(block.pointers(), convert(value, self.dtype), block.mask(self._axes))


@builtin
def make_tensor_descriptor(
    base: tensor, shape: Any, strides: Any, block_shape: Any, padding_option: str = "zero"
) -> tensor_descriptor:
    """A descriptor of the array at `base` with this shape and these strides, in elements, and blocks of `block_shape`.

    Loads outside the array return the `padding_option`, "zero" or "nan". Raises `ValueError` or `TypeError` for
    arguments that the hardware does not support.
    """
    if not isinstance(base, tensor) or not base.dtype.is_ptr() or base.shape:
        raise TypeError(f"Expected `base` to be a pointer, got {base!r}")
    shape, strides, block_shape = map(listed, (shape, strides, block_shape))
    rank = len(shape)
    if not 1 <= rank <= MOST_DIMENSIONS:
        raise ValueError(f"Expected 1 <= ndim <= 5 but got {rank} dimensions")
    if len(strides) != rank:
        raise ValueError(f"Expected {rank} strides but got {len(strides)}")
    if len(block_shape) != rank:
        raise ValueError(f"Expected block_shape to have {rank} dimensions but got {len(block_shape)}")
    element = base.dtype.element_ty
    type = describe_blocks(element, block_shape, padding_option)
    if isinstance(strides[-1], tensor) or strides[-1] != 1:
        raise ValueError(f"Tensor descriptor last dim must be 1 but got {strides[-1]!r}")
    return tensor_descriptor(
        base,
        tuple(_scalar(size, int32) for size in shape),
        tuple(_scalar(stride, int64) for stride in strides),
        type.block_type.shape,
        type.padding,
    )


def describe_blocks(element: dtype, block_shape: Sequence[int], padding: str = "zero") -> tensor_descriptor_type:
    """The type of a descriptor. Raises `ValueError` for invalid blocks or padding."""
    shape = TensorType(tuple(block_shape), element.ir_type).shape
    size = element.primitive_bitwidth // 8
    if shape[-1] * size < SMALLEST_ROW:
        raise ValueError(
            "Descriptor block shape must have at least 16 bytes in the last dimension, "
            f"but got {shape[-1]} * {size} = {shape[-1] * size} bytes"
        )
    if padding not in ("zero", "nan"):
        raise ValueError(f"Padding option {padding} not supported")
    if padding == "nan" and element.is_int():
        raise ValueError("Padding option `nan` is not supported for integer blocks")
    return tensor_descriptor_type(block_type(element, shape), padding)


@builtin
def load_tensor_descriptor(desc: tensor_descriptor, offsets: Any) -> tensor:
    """`desc.load(offsets)` as a function."""
    return desc.load(offsets)


@builtin
def store_tensor_descriptor(desc: tensor_descriptor, offsets: Any, value: Any) -> None:
    """`desc.store(offsets, value)` as a function."""
    desc.store(offsets, value)


def _scalar(value: Any, dtype: dtype) -> tensor:
    """A size or a stride, converted to `dtype`."""
    value = to_tensor(value)
    if value.shape or not value.dtype.is_int():
        raise TypeError(f"Expected an integer scalar type in shape/strides/offsets, got {value!r}")
    return convert(value, dtype)


def _check_shape(value: tensor, shape: tuple[int, ...]) -> None:
    if value.shape != shape:
        raise ValueError(f"Block shape({shape}) and value shape({value.shape}) mismatch")
