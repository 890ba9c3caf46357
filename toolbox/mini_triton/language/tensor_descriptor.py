"""Tensor descriptors: each describes an array in memory, whose blocks a kernel loads and stores. (Given.)

    rows = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[16, 64])
    rows.store([0, 64], rows.load([0, 0]) * 2)

The copy engine (TMA) of newer GPUs implements descriptors. For other devices, the pass in `transforms/descriptors.py`
lowers them. Outside the array, a load gives zero or NaN, and a store has no effect. As the hardware requires, the last
dimension is contiguous, and a block has at least 16 bytes along it.

Source: `make_tensor_descriptor` and `descriptor_*` in Triton's `semantic.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mini_triton.ir.ops.descriptors import NAN, PADDING, DescriptorType
from mini_triton.ir.types import TensorType
from mini_triton.language.block_pointer import listed, widen
from mini_triton.language.constexpr import RunTimeValue
from mini_triton.language.context import builtin, current
from mini_triton.language.dtypes import (
    bfloat16,
    dtype,
    float16,
    float32,
    int32,
    int64,
    uint32,
    uint64,
)
from mini_triton.language.tensor import block_type, build, convert, make_scalar, tensor, to_tensor

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
    def ir_type(self) -> DescriptorType:
        element: Any = self.block_type.element_ty
        sign = "" if element.is_floating() else "s" if element.signed else "u"
        return DescriptorType(TensorType(self.block_type.shape, element.ir_type), sign)

    @property
    def inputs(self) -> dict[str, Any]:
        """The arguments that compiled code takes for a descriptor made by the host.

        Without a copy engine, the first one is a pointer.
        """
        axes = range(len(self.block_type.shape))
        return {
            "base": self,
            **{f"shape.{axis}": int32 for axis in axes},
            **{f"strides.{axis}": int64 for axis in axes},
        }

    def receive(self, handle: tensor, *sizes: tensor) -> tensor_descriptor:
        """The descriptor with the values of its `inputs`. The last stride is always 1."""
        if self.padding == "nan":
            handle.handle.attributes[PADDING] = NAN  # type: ignore[attr-defined]  # an argument
        rank = len(self.block_type.shape)
        return tensor_descriptor(handle, sizes[:rank], (*sizes[rank:-1], make_scalar(1, int64)))

    def __str__(self) -> str:
        return f"tensor_descriptor<{self.block_type}>"


@dataclass(frozen=True)
class tensor_descriptor(RunTimeValue):
    """An array in memory. Its shape consists of int32 scalars, and its strides of int64 scalars, in elements."""

    handle: tensor
    shape: tuple[tensor, ...]
    strides: tuple[tensor, ...]

    @property
    def type(self) -> tensor_descriptor_type:
        return self.handle.dtype

    @property
    def block_type(self) -> Any:
        return self.type.block_type

    @property
    def block_shape(self) -> tuple[int, ...]:
        return self.block_type.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.block_type.element_ty

    @builtin
    def load(self, offsets: Any) -> tensor:
        """The block that begins at these offsets."""
        return build("tt.descriptor_load", self.handle, *self._indices(offsets), dtype=self.dtype)

    @builtin
    def store(self, offsets: Any, value: Any) -> None:
        """Convert a block to the dtype of the array, and store it at these offsets."""
        indices, value = self._indices(offsets), to_tensor(value)
        _check_shape(value, self.block_shape)
        self._write("store", convert(value, self.dtype), *indices)

    @builtin
    def gather(self, *args: Any) -> tensor:
        """The rows with the indices `rows`, starting at `column`: `desc.gather(rows, column)`."""
        return build("tt.descriptor_gather", self.handle, *self._rows("gather", *args), dtype=self.dtype)

    @builtin
    def scatter(self, value: tensor, *args: Any) -> None:
        """Store rows at the indices `rows`, starting at `column`: `desc.scatter(value, rows, column)`."""
        rows, column = self._rows("scatter", *args)
        _check_shape(value, (rows.shape[0], self.block_shape[1]))
        current().operation("tt.descriptor_scatter", *(x.handle for x in (self.handle, rows, column, value)))

    @builtin
    def atomic_add(self, offsets: Any, value: tensor) -> None:
        """Add a block to memory atomically. Unlike `tl.atomic_add`, the atomic methods return nothing."""
        self._reduce("add", ADDED, offsets, value)

    @builtin
    def atomic_min(self, offsets: Any, value: tensor) -> None:
        self._reduce("min", COMPARED, offsets, value)

    @builtin
    def atomic_max(self, offsets: Any, value: tensor) -> None:
        self._reduce("max", COMPARED, offsets, value)

    @builtin
    def atomic_and(self, offsets: Any, value: tensor) -> None:
        self._reduce("and", BITS, offsets, value)

    @builtin
    def atomic_or(self, offsets: Any, value: tensor) -> None:
        self._reduce("or", BITS, offsets, value)

    @builtin
    def atomic_xor(self, offsets: Any, value: tensor) -> None:
        self._reduce("xor", BITS, offsets, value)

    def _indices(self, offsets: Any) -> tuple[tensor, ...]:
        """The offsets of a block as int32."""
        offsets = listed(offsets)
        if len(offsets) != len(self.block_shape):
            raise ValueError(f"expected {len(self.block_shape)} offsets, but got {len(offsets)}")
        return widen(offsets, narrow=True, dtype=int32)

    def _write(self, name: str, value: tensor, *indices: tensor, **attributes: Any) -> None:
        """Build an operation that takes a block."""
        operands = (x.handle for x in (self.handle, value, *indices))
        current().operation(f"tt.descriptor_{name}", *operands, **attributes)

    def _rows(self, name: str, *args: Any) -> tuple[tensor, tensor]:
        """The indices of rows and of a column, as int32."""
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
        (first,) = widen([column], narrow=True, dtype=int32)
        return convert(rows, int32), first

    def _reduce(self, kind: str, dtypes: Sequence[Any], offsets: Any, value: Any) -> None:
        indices, value = self._indices(offsets), to_tensor(value)
        _check_shape(value, self.block_shape)
        if self.dtype not in dtypes:
            raise TypeError(f"Unsupported dtype {self.dtype}, only {', '.join(map(str, dtypes))}")
        if self.dtype in (float16, bfloat16) and kind != "add":
            raise TypeError("16-bit float types require native tma support, which is not used here")
        if value.dtype.ir_type != self.dtype.ir_type:
            raise TypeError(f"Block element type({self.dtype}) and value element type({value.dtype}) mismatch")
        self._write("reduce", value, *indices, kind=kind)


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
    sizes = tuple(_scalar(size, int32) for size in shape)
    steps = tuple(_scalar(stride, int64) for stride in strides)
    handle = build(
        "tt.make_tensor_descriptor",
        *(base, *sizes, *steps),
        dtype=type,  # type: ignore[arg-type]
        result=type.ir_type,
        operandSegmentSizes=(1, rank, rank),
        padding=NAN if padding_option == "nan" else 1,
    )
    return tensor_descriptor(handle, sizes, steps)


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
