"""Copies from global to shared memory that run beside the computation, and products that do. (Given.)

A ring of buffers in shared memory holds several matrices of one type; an operation names one by its slot, a number.

Source: Triton's `TritonGPUOps.td` and `TritonNvidiaGPUOps.td`; there, a slot is a value of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from mini_triton.ir.ops.definition import READS, op, require
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.types import I1, I32, TensorType, Type, with_element


@dataclass(frozen=True)
class RingType:
    """The type of a ring of buffers in shared memory, printed as `!ttg.memdesc<3x128x64xf16>`."""

    slots: int
    matrix: TensorType

    def __str__(self) -> str:
        return f"!ttg.memdesc<{self.slots}x{str(self.matrix)[len('tensor<') :]}"


@dataclass(frozen=True)
class MapType:
    """The type of the address of a tensor map, by which the copy engine finds an array."""

    width: int = 64

    def __str__(self) -> str:
        return "!ttng.tensor_map"


def matrix_of(ring: object) -> TensorType:
    """The type of the matrices in a ring."""
    if not isinstance(ring, RingType):
        raise TypeError(f"it needs a ring, got {ring}")
    return ring.matrix


@op("ttg.local_alloc", assembly="attr-dict : type(result)")
def local_alloc(*, result: Type) -> Type:
    """A ring of buffers."""
    return result


@op("ttg.local_dealloc", assembly="$ring attr-dict : type($ring)")
def local_dealloc(ring: Type) -> None:
    """The end of a ring: its bytes may be used again."""


@op(
    "ttg.async_copy_global_to_local",
    assembly="$ptr , $ring [ $slot ] (, $mask)? attr-dict : type($ptr) -> type($ring)",
    effects=READS,
    accesses=True,
)
def async_copy(ptr: Type, ring: Type, slot: Type, mask: Type | None = None) -> None:
    """Start to copy a matrix into a slot. Where the mask is false, the slot becomes 0, and no memory is read."""
    require(pointee(ptr) == matrix_of(ring), f"the elements of {ptr} do not fit into {ring}")
    require(slot == I32, f"its slot must be i32, got {slot}")
    require(mask in (None, with_element(ptr, I1)), f"its mask must be {with_element(ptr, I1)}, got {mask}")


@op("ttg.async_commit_group", assembly="attr-dict")
def async_commit_group() -> None:
    """The copies that started since the last one of these are a group."""


@op("ttg.async_wait", assembly="attr-dict")
def async_wait(*, num: int) -> None:
    """A barrier, at which each thread waits until all its groups of copies have landed, except for the last `num`."""


@op("ttg.local_load", assembly="$ring [ $slot ] attr-dict : type($ring) -> type(result)", effects=READS)
def local_load(ring: Type, slot: Type) -> Type:
    """The matrix in a slot."""
    require(slot == I32, f"its slot must be i32, got {slot}")
    return matrix_of(ring)


@op("ttng.warp_group_dot_wait", assembly="attr-dict")
def dot_wait(*, pendings: int) -> None:
    """Wait until all products have finished, except for the last `pendings`."""


@op("ttng.block_pointers", assembly="$map [ $row , $column ] attr-dict : type(result)", pure=True)
def block_pointers(map: Type, row: Type, column: Type, *, result: Type) -> Type:
    """The pointers of a block of a matrix, which only the copy engine knows."""
    require(isinstance(map, MapType) and row == column == I32, f"it needs a tensor map and indices, got {map}")
    return result
