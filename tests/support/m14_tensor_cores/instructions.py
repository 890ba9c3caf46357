"""Instructions of tensor cores on the emulator, for tests of layouts and of tiles."""

from collections.abc import Sequence

import numpy as np
from mini_triton.backends.threads import words
from mini_triton.backends.threads.barriers import add_barriers
from mini_triton.backends.threads.fragments import Arrangement
from mini_triton.backends.threads.instructions import Address, Register, size_of
from mini_triton.backends.threads.layouts import Index, Layout, flatten
from mini_triton.backends.threads.ptx import print_kernel
from mini_triton.backends.threads.tensor_cores import NAMES
from mini_triton.backends.threads.threads import Threads
from mini_triton.backends.threads.tiles import Tile, store_tile
from mini_triton.emulator import emulate
from mini_triton.emulator.report import Report
from mini_triton.ir.storage import numpy_dtype
from mini_triton.ir.types import I8, I32, TensorType, Type, element_type

from tests.support.m13_threads.probing import threads_of

EMPTY = "module { tt.func public @k(%out: !tt.ptr<i64>) { tt.return } }"


def bare(warps: int) -> Threads:
    """A back end without any operation."""
    return threads_of(EMPTY, warps)[0]


def place_of(threads: Threads, parameter: int, size: int, shape: Index, layout: Layout, number: int) -> Address:
    """Where a thread's element is in row-major memory, whose address is a parameter."""
    base = threads.op("ld.param.b64", f"[k_param_{parameter}]")
    position = threads.linear(tuple(flatten(vector, shape) for vector in layout.threads))
    position = threads.op("xor.b32", position, flatten(layout.index(number), shape))
    return Address(threads.op("mad.wide.s32", position, size, base))


def packed(threads: Threads, parameter: int, type: Type, shape: Index, layout: Layout) -> list[Register]:
    """The words of a matrix, in the order of the layout's registers."""
    found = []
    for number in layout.distinct:
        address = place_of(threads, parameter, size_of(type), shape, layout, number)
        found += words.load(threads, "global", type, address, 1)
    count = 4 // size_of(type)
    parts = [found[start : start + count] for start in range(0, len(found), count)]
    return [words.pack(threads, type, part)[0] for part in parts]


def multiplied(
    shape: tuple[int, int],
    depth: int,
    type: Type,
    warps: Arrangement,
    layouts: tuple[Layout, Layout, Layout],
    matrices: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, list[str]]:
    """A product by `mma.sync`, if these are the layouts of the sums and of both matrices, and the emulator's errors.

    Each instruction takes the next registers of each layout: the first four words, the first two words, four sums.
    """
    sums, first, second = layouts
    threads = bare(warps.rows * warps.columns * warps.copies)
    size = size_of(type)
    a = packed(threads, 1, type, (shape[0], depth), first)
    b = packed(threads, 2, type, (depth, shape[1]), second)
    kind, steps = "s32" if type is I8 else "f32", depth * size // 32
    opcode = f"mma.sync.aligned.m16n8k{32 // size}.row.col.{kind}.{NAMES[str(type)]}.{NAMES[str(type)]}.{kind}"
    across = shape[1] // warps.columns // 8
    for block in range(len(sums.distinct) // 4):
        down, right = divmod(block, across)
        totals = [threads.op("mov.b32", 0) for _ in range(4)]
        for step in range(steps):
            left, top = 4 * (steps * down + step), 2 * (steps * right + step)
            results = [threads.new("b32") for _ in range(4)]
            threads.do(opcode, tuple(a[left : left + 4]), tuple(b[top : top + 2]), tuple(totals), results=results)
            totals = results
        for number, total in zip(sums.distinct[4 * block : 4 * block + 4], totals, strict=True):
            address = place_of(threads, 0, 4, shape, sums, number)
            threads.do("st.global.b32", address, total, guard=threads.speaker(sums))
    out = np.full(shape, 77, np.int32 if type is I8 else np.float32)
    report = finished(threads, out, *(matrix.astype(numpy_dtype(type)) for matrix in matrices))
    return out, list(map(str, report.errors))


def finished(threads: Threads, out: np.ndarray, *given: np.ndarray) -> Report:
    """Run a thread's instructions; the parameters are arrays."""
    threads.do("ret")
    instructions = add_barriers(threads.lists[0]) if threads.shared else threads.lists[0]
    types = ["b64"] * (1 + len(given))
    text = print_kernel("k", types, instructions, threads.counts, 32 * threads.warps, "sm_90")
    return emulate(text, (1, 1, 1), [out, *given], shared=threads.shared)


def loaded(
    tile: Tile, vectors: Sequence[Index], corner: Index, words: int, transposed: bool, warps: int
) -> tuple[np.ndarray, Report]:
    """The elements [threads, words, 4 // size] that `ldmatrix` loads from a tile, and the report.

    An element is its position in row-major order. `vectors` and `corner` say where a lane's row begins.
    """
    threads = bare(warps)
    threads.shared = tile.start + tile.bytes
    types = {1: np.uint8, 2: np.uint16, 4: np.uint32}
    numbers = np.arange(tile.bytes // tile.size).reshape(tile.shape)
    memory = np.zeros(tile.bytes // tile.size, types[tile.size])
    for index in np.ndindex(*tile.shape):
        memory[tile.place(index) // tile.size] = numbers[index] % (1 << 8 * tile.size)
    given = threads.op("ld.param.b64", "[k_param_1]")
    room = threads.room(tile.start, tile.bytes, True)
    for start in range(0, tile.bytes, 128 * warps):
        place = threads.op("mad.lo.s32", threads.thread, 4, start)
        word = threads.op("ld.global.b32", Address(threads.op("mad.wide.s32", place, 1, given)))
        shared = threads.op("add.s32", place, threads.op("mov.b32", "shared_memory"))
        threads.do("st.shared.b32", Address(shared, tile.start), word, room=room)
    results = [threads.new("b32") for _ in range(words)]
    opcode = f"ldmatrix.sync.aligned.m8n8.x{words}{'.trans' if transposed else ''}.shared.b16"
    address = tile.address(threads, vectors, corner)
    threads.do(opcode, address, results=results, room=threads.room(tile.start, tile.bytes, False))
    base = threads.op("mad.wide.s32", threads.thread, 4 * words, threads.op("ld.param.b64", "[k_param_0]"))
    for number, result in enumerate(results):
        threads.do("st.global.b32", Address(base, 4 * number), result)
    out = np.zeros((32 * warps, words), np.uint32)
    report = finished(threads, out, memory)
    return out.view(types[tile.size]).reshape(32 * warps, words, 4 // tile.size), report


def stored(tile: Tile, type: Type, layout: Layout) -> tuple[np.ndarray, int, Report]:
    """The elements that `store_tile` writes, the number of its instructions, and the report.

    An element is its position in row-major order, as far as its bits suffice.
    """
    text = EMPTY.replace("tt.return", f"%x = arith.constant dense<0> : {TensorType(tile.shape, I32)} tt.return")
    threads, (_, value) = threads_of(text, 1 << len(layout.warps))
    kind = {1: "b16", 2: "b16", 4: "b32"}[tile.size]
    registers = {}
    for number in layout.distinct:
        position = threads.linear(tuple(flatten(vector, tile.shape) for vector in layout.threads))
        position = threads.op("xor.b32", position, flatten(layout.index(number), tile.shape))
        registers[number] = position if kind == "b32" else threads.op("cvt.u16.u32", position)
    value.type = TensorType(tile.shape, element_type(type))
    threads.hold(value, layout, registers)
    threads.shared = tile.start + tile.bytes
    before = len(threads.lists[0])
    store_tile(threads, value, layout, tile)
    stores = sum(made.opcode.startswith("st.shared") for made in threads.lists[0][before:])
    warps, out = 1 << len(layout.warps), np.zeros(tile.bytes, np.uint8)
    result = threads.op("ld.param.b64", "[k_param_0]")
    room = threads.room(tile.start, tile.bytes, False)
    for start in range(0, tile.bytes, 128 * warps):
        place = threads.op("mad.lo.s32", threads.thread, 4, start)
        shared = threads.op("add.s32", place, threads.op("mov.b32", "shared_memory"))
        word = threads.new("b32")
        threads.do("ld.shared.b32", Address(shared, tile.start), results=[word], room=room)
        threads.do("st.global.b32", Address(threads.op("mad.wide.s32", place, 1, result)), word)
    report = finished(threads, out)
    return out.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[tile.size]), stores, report
