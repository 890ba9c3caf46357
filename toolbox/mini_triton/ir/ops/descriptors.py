"""Tensor descriptors: each describes an array in memory, whose blocks the copy engine of newer GPUs moves. (Given.)

For targets without a copy engine, `transforms/descriptors.py` turns these operations into loads and stores.

Source: Triton's `TritonOps.td` and `TritonTypes.td`.
"""

from __future__ import annotations

from dataclasses import dataclass

from mini_triton.ir.attributes import ReduceKind
from mini_triton.ir.ops.definition import READS, op, require
from mini_triton.ir.ops.memory import HINTS, pointee
from mini_triton.ir.types import I32, I64, TensorType, Type, element_type, shape_of

NAN = 2
"""The `padding` of a descriptor whose loads give NaN outside the array; 1 stands for zero."""
PADDING = "tt.padding"
"""The attribute with the `padding` of a descriptor made by the host."""


@dataclass(frozen=True)
class DescriptorType:
    """The type of a descriptor with blocks of this type, printed as `!tt.tensordesc<tensor<16x32xf16>>`.

    Integers in memory have a `sign`, "s" or "u": `!tt.tensordesc<tensor<16x32xui8>>` loads `tensor<16x32xi8>`.
    """

    block: TensorType
    sign: str = ""

    def __str__(self) -> str:
        shape = "x".join(map(str, self.block.shape))
        return f"!tt.tensordesc<tensor<{shape}x{self.sign}{self.block.element}>>"


def block_of(desc: object, *indices: Type) -> TensorType:
    """The type of a descriptor's blocks; checks the indices of a block."""
    if not isinstance(desc, DescriptorType):
        raise TypeError(f"it needs a descriptor, got {desc}")
    require(not indices or indices == (I32,) * desc.block.rank, f"it needs {desc.block.rank} indices of type i32")
    return desc.block


@op("tt.make_tensor_descriptor", assembly="custom", pure=True)
def make_tensor_descriptor(
    base: Type, *sizes: Type, operandSegmentSizes: tuple[int, ...], padding: int = 1, result: Type
) -> Type:
    """A descriptor of the array at `base`; `sizes` are its shape and its strides, counted in elements."""
    block = block_of(result)
    require(operandSegmentSizes == (1, block.rank, block.rank), f"{operandSegmentSizes} do not fit {result}")
    require(sizes == (I32,) * block.rank + (I64,) * block.rank, "its shape must be i32, and its strides i64")
    require(pointee(base) == block.element, f"the elements of {result} are not at {base}")
    return result


@op(
    "tt.descriptor_load",
    assembly=f"$desc [ $indices ] {HINTS} attr-dict : type($desc) -> type(result)",
    effects=READS,
)
def descriptor_load(desc: Type, *indices: Type) -> Type:
    """The block at these indices."""
    return block_of(desc, *indices)


@op("tt.descriptor_store", assembly="$desc [ $indices ] , $src attr-dict : type($desc) , type($src)")
def descriptor_store(desc: Type, src: Type, *indices: Type) -> None:
    """Store a block. Nothing is stored outside the array."""
    require(src == block_of(desc, *indices), f"its value must be {block_of(desc)}, got {src}")


@op("tt.descriptor_reduce", assembly="#kind , $desc [ $indices ] , $src attr-dict : type($desc) , type($src)")
def descriptor_reduce(desc: Type, src: Type, *indices: Type, kind: ReduceKind) -> None:
    """Combine a block with the one in memory, each element atomically."""
    descriptor_store(desc, src, *indices)


@op("tt.descriptor_gather", assembly="$desc [ $x_offsets , $y_offset ] attr-dict : functional-type", effects=READS)
def descriptor_gather(desc: Type, x_offsets: Type, y_offset: Type) -> Type:
    """The rows `x_offsets` of a matrix, from the column `y_offset` on."""
    block = block_of(desc)
    require(element_type(x_offsets) == y_offset == I32, f"its offsets must be i32, got {x_offsets} and {y_offset}")
    require(block.rank == 2 and len(shape_of(x_offsets)) == 1, "it gathers rows of a matrix")
    return TensorType((*shape_of(x_offsets), block.shape[1]), block.element)


@op(
    "tt.descriptor_scatter",
    assembly="$desc [ $x_offsets , $y_offset ] , $src attr-dict"
    " : type($desc) , type($x_offsets) , type($y_offset) , type($src)",
)
def descriptor_scatter(desc: Type, x_offsets: Type, y_offset: Type, src: Type) -> None:
    """Store rows of a matrix."""
    rows = descriptor_gather(desc, x_offsets, y_offset)
    require(src == rows, f"its value must be {rows}, got {src}")
