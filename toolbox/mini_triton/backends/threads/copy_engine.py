"""The copy engine of Hopper GPUs (TMA) fills the rings of pipelined loops that load by tensor descriptors. (Given.)

A load of a block becomes a load through pointers, `ttng.block_pointers`, which nobody ever computes. Thus, a loop is
pipelined as if its threads copied. Then one thread starts the copy of a whole tile, in boxes with rows of at most 128
bytes, swizzled as tensor cores expect. The bytes of a slot arrive at its mbarrier, for which all threads wait: even and
odd rounds of the ring alternate.

A tensor map, which the driver encodes before the launch, tells the engine where the array is. It is a further parameter
of the kernel. So the launch must know what describes the array, even if the kernel makes the descriptor. Other
descriptors are lowered to pointers.

Source: "Asynchronous Data Copies using Tensor Maps" in NVIDIA's "CUDA C++ Programming Guide"; Triton's
`TMALowering.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mini_triton.analysis.axis_info import AxisAnalysis
from mini_triton.backends.threads import copies
from mini_triton.backends.threads.instructions import Operand, Register, Unsupported, size_of
from mini_triton.backends.threads.layouts import Layout
from mini_triton.backends.threads.ptx import DYNAMIC
from mini_triton.backends.threads.threads import ANCHORED, PLACED, Threads, rule
from mini_triton.backends.threads.tiles import CHUNK, HOPPER, LINE, Tile
from mini_triton.emulator.tensor_maps import TensorMap
from mini_triton.ir.core import Block, BlockArgument, Module, Operation, OpResult, Value
from mini_triton.ir.ops.asynchronous import MapType
from mini_triton.ir.ops.definition import create, operand_of
from mini_triton.ir.ops.descriptors import NAN, PADDING, DescriptorType
from mini_triton.ir.types import FunctionType, PointerType, TensorType
from mini_triton.transforms.descriptors import has_descriptors
from mini_triton.transforms.inlining import inline_calls
from mini_triton.transforms.rewriting import constant_of
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


@dataclass(frozen=True)
class Given:
    """An argument of a launch."""

    number: int


@dataclass(frozen=True)
class Map:
    """A tensor map, which a launch makes from its arguments."""

    base: Given
    sizes: tuple[Given | int, ...]  # rows, columns, and the elements from a row to the next
    box: Box

    def describe(self, arguments: Sequence[Any]) -> tuple[Any, tuple[int, int], int]:
        """The array, its shape, and its stride."""
        rows, columns, stride = (int(arguments[s.number]) if isinstance(s, Given) else s for s in self.sizes)
        return arguments[self.base.number], (rows, columns), stride

    def for_emulator(self, arguments: Sequence[Any]) -> TensorMap:
        """The tensor map that the emulator takes."""
        (array, shape, stride), box = self.describe(arguments), self.box
        return TensorMap(array, shape, (stride * box.size, box.size), (box.rows, box.columns), box.size, box.swizzle)


def use_engine(module: Module, capability: int, stages: int) -> tuple[Map, ...]:
    """Replace the descriptors of a module by tensor maps, which become its last parameters, where possible."""
    if capability != HOPPER or stages < 2 or not has_descriptors(module):
        return ()
    inline_calls(module)
    (function,) = module.body.operations
    kernel, maps = function.regions[0].block, list[Map]()
    facts = AxisAnalysis(module)
    makers = [operation for operation in module.walk() if operation.name == "tt.make_tensor_descriptor"]
    for descriptor in (*kernel.arguments, *(maker.result for maker in makers if is_aligned(maker, facts))):
        if isinstance(type := descriptor.type, DescriptorType) and (map := map_of(descriptor, type.block, kernel)):
            maps.append(map)
            parameter = kernel.add_argument(MapType())
            for load, _ in list(descriptor.uses):
                through_pointers(load, parameter, type.block)
    inputs = tuple(argument.type for argument in kernel.arguments)
    function.attributes["function_type"] = FunctionType(inputs)
    return tuple(maps)


def map_of(descriptor: Value, block: TensorType, kernel: Block) -> Map | None:
    """The map for a descriptor; None unless it is for matrices, and the kernel only loads in loops with it."""
    loads = [user for user, _ in descriptor.uses if user.name == "tt.descriptor_load"]
    in_loops = [load for load in loads if load.parent_op and load.parent_op.name == "scf.for"]
    if block.rank != 2 or not 8 <= block.shape[0] <= MOST_ROWS or not 0 < len(in_loops) == len(descriptor.uses):
        return None
    if isinstance(descriptor, BlockArgument):
        padding, described = descriptor.attributes.get(PADDING), tuple[Value, ...](kernel.arguments[descriptor.index :])
    else:
        assert isinstance(descriptor, OpResult)
        padding, described = descriptor.owner.attributes.get("padding"), descriptor.owner.operands
    base, *sizes = (known(value, kernel) for value in described[:4])
    known_sizes = tuple(size for size in sizes if size is not None)
    if padding == NAN or not isinstance(base, Given) or len(known_sizes) < len(sizes):
        return None
    return Map(base, known_sizes, Box.of(block))


def is_aligned(maker: Operation, facts: AxisAnalysis) -> bool:
    """Whether the rows of the matrix begin at multiples of 16 bytes. (The host makes no other descriptors.)"""
    base, _, _, stride, *_ = maker.operands
    sizes = {base: 1, stride: size_of(base.type)}
    return all(facts[value][0].divisibility * size % CHUNK == 0 for value, size in sizes.items())


def known(value: Value, kernel: Block) -> Given | int | None:
    """The argument or the constant that a value is; None if a launch does not know it before the kernel runs."""
    while isinstance(value, OpResult) and value.owner.name == "arith.extsi":
        (value,) = value.owner.operands
    if isinstance(value, BlockArgument):
        return Given(value.index) if value.owner is kernel else None
    constant = constant_of(value)
    return constant if isinstance(constant, int) else None


def through_pointers(load: Operation, map: Value, block: TensorType) -> None:
    """Replace the load of a block by a load through pointers, which are neighbors."""
    facts: Any = {"tt.contiguity": (1, block.shape[1]), "tt.divisibility": (CHUNK, CHUNK)}
    type = TensorType(block.shape, PointerType(block.element))
    pointers = create("ttng.block_pointers", map, *load.operands[1:], result=type, loc=load.loc, **facts)
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
    target = threads.op("mad.lo.s32", tile.slot, tile.bytes, base)
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
