"""The copy engine of Hopper GPUs (TMA) fills the rings of pipelined loops, if the host made the descriptors. (Given.)

A load of a block becomes a load through pointers, `ttng.block_pointers`, which nobody ever computes. Thus, a loop is
pipelined as if its threads copied. Then one thread starts the copy of a whole tile, in boxes with rows of at most 128
bytes, swizzled as tensor cores expect. The bytes of a slot arrive at its mbarrier, for which all threads wait: even and
odd rounds of the ring alternate.

A tensor map, which the driver encodes, tells the engine where the array is. Descriptors that kernels make, and those of
other accesses, are lowered to pointers.

Source: "Asynchronous Data Copies using Tensor Maps" in NVIDIA's "CUDA C++ Programming Guide"; Triton's
`TMALowering.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mini_triton.backends.threads import copies
from mini_triton.backends.threads.instructions import Operand, Register, Unsupported, size_of
from mini_triton.backends.threads.layouts import Layout
from mini_triton.backends.threads.ptx import DYNAMIC
from mini_triton.backends.threads.threads import ANCHORED, PLACED, Threads, rule
from mini_triton.backends.threads.tiles import CHUNK, HOPPER, LINE, Tile
from mini_triton.ir.core import BlockArgument, Module, Operation, OpResult, Value
from mini_triton.ir.ops.asynchronous import MapType
from mini_triton.ir.ops.definition import create, operand_of
from mini_triton.ir.ops.descriptors import NAN, PADDING, DescriptorType
from mini_triton.ir.types import FunctionType, PointerType, TensorType
from mini_triton.transforms.structure import insert, replace_by

MOST_ROWS = 256
"""Of a box."""


@dataclass(frozen=True)
class Box:
    """What the engine copies at once: rows of a tile."""

    rows: int
    columns: int
    size: int  # bytes of an element

    @staticmethod
    def of(block: TensorType) -> Box:
        """The box for blocks of this type."""
        size = size_of(block)
        return Box(block.shape[0], min(block.shape[1], LINE // size), size)

    @property
    def swizzle(self) -> int:
        """The number of the swizzle for rows of 16, 32, 64 or 128 bytes: 0 to 3."""
        return (self.columns * self.size // CHUNK).bit_length() - 1


def use_engine(module: Module, capability: int, stages: int) -> dict[int, Box]:
    """Mark the descriptors of a module that tensor maps can replace. Returns boxes, by the number of the argument."""
    (function,) = module.body.operations
    boxes: dict[int, Box] = {}
    if capability != HOPPER or stages < 2:
        return boxes
    for number, argument in enumerate(function.regions[0].block.arguments):
        if isinstance(type := argument.type, DescriptorType) and is_simple(argument, type.block):
            boxes[number] = Box.of(type.block)
            argument.type = MapType()
            argument.attributes.clear()
            for load, _ in list(argument.uses):
                through_pointers(load, type.block)
    inputs = tuple(argument.type for argument in function.regions[0].block.arguments)
    function.attributes["function_type"] = FunctionType(inputs)
    return boxes


def is_simple(descriptor: BlockArgument, block: TensorType) -> bool:
    """Whether a descriptor is for matrices, and a kernel only loads in loops with it."""
    fits = block.rank == 2 and 8 <= block.shape[0] <= MOST_ROWS and descriptor.attributes.get(PADDING) != NAN
    parents = [user.parent_op for user, _ in descriptor.uses if user.name == "tt.descriptor_load"]
    loops = [parent for parent in parents if parent and parent.name == "scf.for"]
    return fits and 0 < len(loops) == len(descriptor.uses)


def through_pointers(load: Operation, block: TensorType) -> None:
    """Replace the load of a block by a load through pointers, which are neighbors."""
    facts: Any = {"tt.contiguity": (1, block.shape[1]), "tt.divisibility": (CHUNK, CHUNK)}
    type = TensorType(block.shape, PointerType(block.element))
    pointers = create("ttng.block_pointers", *load.operands, result=type, loc=load.loc, **facts)
    insert(pointers, load)
    loaded = create("tt.load", pointers.result, loc=load.loc)
    insert(loaded, load)
    replace_by(load, loaded.results)


@rule(PLACED, "ttng.block_pointers")
def compute(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    raise Unsupported(operation, "except for the copy engine")


# --- rings whose slots the engine fills


@dataclass
class Arrivals:
    """The mbarriers of a ring's slots, 8 bytes each, and the parity of the current round."""

    start: int
    slots: int
    parity: Register

    def address(self, threads: Threads, slot: Value | None = None) -> Register:
        """The address of a slot's mbarrier, or of the first one."""
        base = threads.only_once("shared", lambda: threads.op("mov.b32", DYNAMIC))
        if slot:
            base = threads.op("add.s32", base, threads.op("mul.lo.s32", threads.register(slot), 8))
        return threads.op("add.s32", base, self.start)

    def each(self, text: str) -> str:
        """Instructions on all mbarriers."""
        return " ".join(f"@$0 {text.format(8 * slot)};" for slot in range(self.slots))


def arrivals_of(threads: Threads, ring: Value) -> Arrivals | None:
    """The mbarriers of a ring; None if threads fill it."""
    return threads.once.get(("arrivals", ring))


def leader(threads: Threads) -> Register:
    """Whether this is the thread that starts copies."""
    return threads.only_once("leader", lambda: threads.op("setp.eq.s32", threads.thread, 0))


def engine_copy(ring: Value) -> Operation | None:
    """A copy by the engine to a ring."""
    copying = [user for user, _ in ring.uses if user.name == "ttg.async_copy_global_to_local"]
    return next((copy for copy in copying if pointers_of(copy)), None)


def pointers_of(copy: Operation) -> Operation | None:
    """The operation that stands for the pointers of a copy by the engine."""
    pointers = copy.operands[0]
    if isinstance(pointers, OpResult) and pointers.owner.name == "ttng.block_pointers":
        return pointers.owner
    return None


@rule(ANCHORED, "ttg.local_alloc")
def allocate(threads: Threads, operation: Operation) -> None:
    """Reserve a ring; initialize its mbarriers before any thread uses them."""
    copies.allocate(threads, operation)
    ring = operation.result
    if engine_copy(ring):
        slots = ring.type.slots  # type: ignore[union-attr]
        arrivals = Arrivals(threads.keep(8 * slots), slots, threads.bits("b32", 0))
        threads.once["arrivals", ring] = arrivals
        text = arrivals.each("mbarrier.init.shared.b64 [$1+{}], 1")
        threads.do("asm", text, leader(threads), arrivals.address(threads))
        threads.do("fence.proxy.async.shared::cta")
        threads.do("bar.sync", 0)


@rule(ANCHORED, "ttg.local_dealloc")
def free(threads: Threads, operation: Operation) -> None:
    """Give the bytes of a ring back, after all threads have waited."""
    copies.free(threads, operation)
    if arrivals := arrivals_of(threads, operation.operands[0]):
        threads.do("bar.sync", 0)
        threads.do(
            "asm", arrivals.each("mbarrier.inval.shared.b64 [$1+{}]"), leader(threads), arrivals.address(threads)
        )


@rule(ANCHORED, "ttg.async_copy_global_to_local")
def copy(threads: Threads, operation: Operation) -> None:
    """Start to copy a matrix: by one thread, if the engine copies, and if there is such an iteration."""
    pointers, ring, slot = pointers_of(operation), *operation.operands[1:3]
    if not pointers:
        copies.copy(threads, operation)
        return
    arrivals, mask, tile = (
        arrivals_of(threads, ring),
        operand_of(operation, "mask"),
        copies.slot_of(threads, ring, slot),
    )
    assert arrivals and tile.room and tile.slot and isinstance(mask, OpResult) and mask.owner.name == "tt.splat"
    runs = threads.op("and.pred", leader(threads), threads.register(mask.owner.operands[0]))
    base = threads.only_once("shared", lambda: threads.op("mov.b32", DYNAMIC))
    target = threads.op("add.s32", base, tile.slot)
    map, row, column = (threads.register(operand) for operand in pointers.operands)
    operands: list[Operand] = [runs, arrivals.address(threads, slot), target, map, row]
    lines = [f"@$0 mbarrier.arrive.expect_tx.shared.b64 _, [$1], {tile.bytes};"]
    for place, first in boxes_of(tile):
        operands.append(threads.op("add.s32", column, first) if first else column)
        lines.append(
            "@$0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
            f"[$2+{place}], [$3, {{${len(operands) - 1}, $4}}], [$1];"
        )
    threads.do("asm", " ".join(lines), *operands, room=tile.room._replace(writes=True))


def boxes_of(tile: Tile) -> Iterator[tuple[int, int]]:
    """Where each panel of a tile begins in shared memory, and its first column."""
    width = tile.row // tile.size
    for number in range(tile.shape[1] // width):
        yield tile.start + number * tile.panel, number * width


@rule(ANCHORED, "ttg.local_load")
def load(threads: Threads, operation: Operation) -> None:
    """A tile, after its bytes have arrived."""
    ring, slot = operation.operands
    if arrivals := arrivals_of(threads, ring):
        wait = "mbarrier.try_wait.parity.shared.b64 over, [$0], $1;"
        text = f".reg .pred over; again: {wait} @!over bra again;"
        threads.do("asm", text, arrivals.address(threads, slot), arrivals.parity)
        is_last = threads.op("setp.eq.s32", threads.register(slot), arrivals.slots - 1)
        flip = threads.op("selp.b32", 1, 0, is_last)
        threads.do("xor.b32", arrivals.parity, flip, results=(arrivals.parity,))
    copies.load(threads, operation)
