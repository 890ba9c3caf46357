"""Tensor cores: matrices whose elements are spread over the registers of a warp, and products of such matrices.

All fragments follow one pattern: four lanes side by side hold a row, each with one 32-bit word of neighbors. Eight rows
make a warp; further registers hold the rows eight below, then the columns to the right.

`wgmma` reads matrices from shared memory, in the swizzled layouts that its descriptors name. Its sums are in registers
at once, but using them before `wgmma.wait_group` is reported. So is a product without a `wgmma.fence` after threads
have used its registers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Step, instruction
from mini_triton.emulator.parser import Instruction
from mini_triton.emulator.types import Array, Type, type_of

SWIZZLES = {0: (16, 0), 1: (128, 7), 2: (64, 3), 3: (32, 1)}
"""For each mode of a wgmma descriptor, the bytes of a row, and the bits of the row's number that swizzle it."""


def shape_of(i: Instruction) -> tuple[int, int, int]:
    """M, N and K in a modifier such as m16n8k16."""
    return tuple(map(int, re.search(r"\.m(\d+)n(\d+)k(\d+)\.", i.text).groups()))  # type: ignore


def elements(words: Array, kind: Type) -> Array:
    """The values in 32-bit words, along a new last axis, as numbers that NumPy multiplies fast and exactly."""
    if kind.element == "tf32":
        return (words & np.uint32(0xFFFFE000)).view(np.float32)[..., None]
    pieces = np.ascontiguousarray(words)[..., None].view(kind.bits)
    return kind.read(pieces).astype(np.float32)


def fragments(machine: Machine, gets: list[Callable[[], Array]], kind: Type) -> Array:
    """The left matrices [warps, 16, columns] of which each lane holds some words."""
    values = elements(np.stack([machine.full(get()) for get in gets]), kind)
    blocks = values.reshape(len(gets) // 2, 2, machine.warps, 8, 4, -1)
    return blocks.transpose(2, 1, 3, 0, 4, 5).reshape(machine.warps, 16, -1)


class Sums:
    """The registers of a matrix of sums: f32 and s32 one by one, f16 in pairs."""

    def __init__(self, machine: Machine, sources: list[str], targets: list[str], kind: Type) -> None:
        register = type_of("f16x2") if kind.element == "f16" else kind
        self.machine, self.kind, self.register = machine, kind, register
        self.gets = [machine.source(name, register) for name in sources]
        self.puts = [machine.target(name, register) for name in targets]

    def add(self, product: Array, mask: Mask, keep: Array | None = None) -> None:
        """Add products [sums of a lane, lanes]; lanes that do not `keep` their sums start from 0."""
        pairs, number = self.register.packed == 2, np.float32 if self.kind.is_float else self.kind.value
        for n, (get, put) in enumerate(zip(self.gets, self.puts, strict=True)):
            old = get() if keep is None else np.where(keep[:, None] if pairs else keep, get(), 0)
            more = product[2 * n : 2 * n + 2].T if pairs else product[n]
            put(self.register.write(old.astype(number, copy=False) + more.astype(number, copy=False)), mask)


@instruction("mma")
def multiply(machine: Machine, i: Instruction) -> Step:
    """mma.sync: a product of two small matrices, which a warp holds in registers, and a sum."""
    m, n, k = shape_of(i)
    d_type, a_type, b_type, c_type = i.types
    names = [machine.parts(operand) for operand in i.operands]
    if (m, n) != (16, 8) or d_type != c_type or i.has("sp"):
        raise KeyError("shape")
    a, b = ([machine.bits(name, 32) for name in group] for group in names[1:3])
    sums, halves, warps = Sums(machine, names[3], names[0], c_type), len(b), machine.warps

    def step(mask: Mask) -> None:
        machine.need_whole_groups(i, mask)
        y = elements(np.stack([machine.full(get()) for get in b]), b_type).reshape(halves, warps, 8, 4, -1)
        y = y.transpose(1, 0, 3, 4, 2).reshape(warps, k, 8)
        product = np.matmul(fragments(machine, a, a_type), y).reshape(warps, 2, 8, 4, 2).transpose(1, 4, 0, 2, 3)
        sums.add(product.reshape(4, machine.count), mask)

    return step


def rows_of(machine: Machine, i: Instruction, address: Array, count: int, mask: Mask) -> tuple[Array, Array]:
    """The places of the rows of `count` 8x8 matrices in shared memory, and the lanes that hold their addresses."""
    if not i.has("m8n8") or not i.has("b16"):
        raise KeyError("shape")
    machine.need_whole_groups(i, mask)
    holds = mask if count == 4 else mask & (machine.lanes % 32 < 8 * count)
    return machine.shared.locate(i, machine.full(address), 16, holds)


@instruction("ldmatrix")
def load_matrices(machine: Machine, i: Instruction) -> Step:
    """Load 8x8 matrices of 16 bits; lane n has the address of row n. With `.trans`, lanes take columns."""
    names = machine.parts(i.operands[0])
    puts, address = [machine.target(name, type_of("b32")) for name in names], machine.address(i.operands[1])

    def step(mask: Mask) -> None:
        at, lanes = rows_of(machine, i, address(), len(puts), mask)
        machine.checker.access(i, machine.shared, at, 16, lanes, False)
        rows = np.zeros((machine.count, 8), np.uint16)
        rows.view(np.complex128)[lanes, 0] = machine.shared.read(at, 16)
        matrices = rows.reshape(machine.warps, 4, 8, 8)
        if i.has("trans"):
            matrices = matrices.swapaxes(2, 3)
        for n, put in enumerate(puts):
            put(np.ascontiguousarray(matrices[:, n]).view(np.uint32).reshape(-1), mask)

    return step


@instruction("stmatrix")
def store_matrices(machine: Machine, i: Instruction) -> Step:
    """Store 8x8 matrices of 16 bits, as `ldmatrix` loads them."""
    gets, address = [machine.bits(name, 32) for name in machine.parts(i.operands[1])], machine.address(i.operands[0])

    def step(mask: Mask) -> None:
        at, lanes = rows_of(machine, i, address(), len(gets), mask)
        rows = np.zeros((machine.warps, 4, 8, 8), np.uint16)
        for n, get in enumerate(gets):
            matrix = np.ascontiguousarray(machine.full(get())).view(np.uint16).reshape(machine.warps, 8, 8)
            rows[:, n] = matrix.swapaxes(1, 2) if i.has("trans") else matrix
        data = rows.reshape(machine.count, 8).view(np.complex128)[lanes, 0]
        machine.checker.access(i, machine.shared, at, 16, lanes, True, data)
        machine.shared.write(at, 16, data)

    return step


# --- groups of four warps


def offsets(descriptors: Array, rows: int, columns: int, size: int, transposed: bool) -> Array:
    """The offsets [groups, rows, columns] in shared memory of matrices with elements of `size` bytes.

    Rows are contiguous, unless `transposed`. The bits of the descriptors are those of NVIDIA's PTX ISA.
    """
    field = lambda start: ((descriptors >> np.uint64(start) & np.uint64(0x3FFF)).astype(np.int64) * 16)[:, None, None]  # noqa: E731
    first, leading, stride = field(0), field(16), field(32)
    mode = int(descriptors[0] >> np.uint64(62))
    if mode == 0 and transposed:
        leading, stride = stride, leading
    width, swizzle = SWIZZLES[mode]
    across, along = np.ogrid[:rows, :columns]
    if transposed:
        across, along = along, across
    at = first + across % 8 * width + along * size % width
    at = at + across // 8 * stride + along * size // width * leading
    return at ^ ((at >> 7 & swizzle) << 4)


@instruction("wgmma.fence")
def fence(machine: Machine, i: Instruction) -> Step:
    """Let products that follow use the registers that threads have used."""
    return machine.shadow.fence_registers


@instruction("wgmma.mma_async")
def multiply_group(machine: Machine, i: Instruction) -> Step:
    """A product of matrices in shared memory; the left one may be in registers."""
    m, n, k = shape_of(i)
    d_type, a_type, b_type = i.types
    size = a_type.width // 8
    names, in_registers = machine.parts(i.operands[0]), i.operands[1].startswith("{")
    sums = Sums(machine, names, names, d_type)
    a_names = machine.parts(i.operands[1])
    a_gets = [machine.bits(name, 32 if in_registers else 64) for name in a_names]
    used = {name: machine.index_of(name) for name in (*names, *(a_names if in_registers else ()))}
    b_get, keep = machine.bits(i.operands[2], 64), machine.bits(i.operands[3], 1)
    sign = math.prod(map(int, i.operands[4:6])) if a_type.is_float else 1
    *_, a_turned, b_turned = (False, False, *(operand == "1" for operand in i.operands[6:]))
    groups = machine.count // 128

    def read(bits: Array, rows: int, columns: int, contiguous: bool, kind: Type, live: Array) -> Array:
        """A matrix in shared memory, for each warp group."""
        places = offsets(machine.full(bits)[::128], rows, columns, size, transposed=not contiguous)
        places = np.where(live[:, None, None], places, 0)
        if places.max() + size > machine.shared.used:
            machine.find("out of bounds", i, "a matrix ends after shared memory", np.flatnonzero(live) * 128)
            places = np.minimum(places, machine.shared.used - size)
        at = places + machine.shared.base[::128, None, None]
        chunks = (at[..., :: 16 // size] if contiguous else at[:, :: 16 // size])[live] // 16 * 16
        owners = np.broadcast_to((np.flatnonzero(live) * 128)[:, None, None], chunks.shape)
        machine.shadow.read_later(i, chunks.reshape(-1), owners.reshape(-1), used.values())
        words = machine.shared.read(at, size)
        if kind.element == "tf32":
            return elements(words, kind)[..., 0]
        return kind.read(words).astype(np.float32)

    def step(mask: Mask) -> None:
        machine.need_whole_groups(i, mask, 128)
        live = mask.reshape(-1, 128).all(1)
        if in_registers:
            x = fragments(machine, a_gets, a_type).reshape(groups, m, k)
        else:
            x = read(a_gets[0](), m, k, not a_turned, a_type, live)
        y = read(b_get(), k, n, b_turned, b_type, live)
        product = np.matmul(x, y) * np.float32(sign)
        product = product.reshape(groups * 4, 2, 8, n // 8, 4, 2).transpose(3, 1, 5, 0, 2, 4)
        sums.add(product.reshape(n // 2, machine.count), mask, machine.full(keep()))
        machine.shadow.need_fence(i, used, mask)

    return step
