"""Pairs of layouts for a tensor, and tensors in registers, whose elements are functions of their positions."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import log2, prod

import numpy as np
from hypothesis import strategies as st
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Register, width_of
from mini_triton.backends.threads.layouts import Index, Layout, blocked, flatten
from mini_triton.backends.threads.swizzles import LINE, WORD, Flat
from mini_triton.ir.types import BF16, F16, F32, F64, I1, I8, I16, I32, I64, Type

WARPS = (1, 2, 4, 8)
TYPES = (F32, I1, I8, I16, F16, BF16, I32, I64, F64)


@dataclass(frozen=True)
class Pair:
    """Two blocked layouts of a tensor: for each, the order of axes and how many neighbors a thread holds."""

    shape: tuple[int, ...]
    orders: tuple[tuple[int, ...], tuple[int, ...]]
    neighbors: tuple[Mapping[int, int], Mapping[int, int]]
    warps: int = 4

    @property
    def source(self) -> Layout:
        return blocked(self.shape, self.orders[0], self.neighbors[0], self.warps)

    @property
    def target(self) -> Layout:
        return blocked(self.shape, self.orders[1], self.neighbors[1], self.warps)

    @property
    def bits(self) -> int:
        return int(log2(prod(self.shape)))

    def __str__(self) -> str:
        return f"a tensor of shape {self.shape}, by {self.warps} warps, from\n  {self.source}\nto\n  {self.target}\n"


def transposed(rows: int, columns: int, together: int = 1, warps: int = 4) -> Pair:
    """From rows to columns: a thread has neighbors in a row, then neighbors in a column."""
    return Pair((rows, columns), ((1, 0), (0, 1)), ({1: together}, {0: together}), warps)


@st.composite
def pairs(draw: st.DrawFn, largest: int = 11) -> Pair:
    """Any two blocked layouts of a tensor, small tensors first."""
    bits = draw(st.lists(st.integers(0, 6), min_size=1, max_size=3).filter(lambda bits: sum(bits) <= largest))
    axes = range(len(bits))
    orders = tuple(tuple(draw(st.permutations(axes))) for _ in range(2))
    neighbors = tuple({axis: 1 << draw(st.integers(0, 3)) for axis in axes} for _ in range(2))
    return Pair(tuple(1 << bit for bit in bits), orders, neighbors, draw(st.sampled_from(WARPS)))  # type: ignore[arg-type]


def linear(columns: tuple[int, ...], number: int) -> int:
    """A linear function, from its definition."""
    found = 0
    for bit, column in enumerate(columns):
        found ^= column * (number >> bit & 1)
    return found


def conflict(layout: Flat, columns: tuple[int, ...], size: int, together: int) -> str:
    """Two lanes of warp 0 that are served at once, but access different words of one bank; empty if there are none.

    Each lane moves `together` elements of `size` bytes, from its register 0 on; `columns` are the places' function.
    """
    place_of = {linear(columns, place): place for place in range(1 << len(columns))}
    bytes = size * together
    at_once = LINE // max(WORD, bytes)
    for first in range(0, 32, at_once):
        words: dict[int, dict[int, int]] = defaultdict(dict)
        for lane in range(first, first + at_once):
            start = place_of[linear(layout[1], lane)] * size // WORD
            for word in range(start, start + max(1, bytes // WORD)):
                words[word % 32].setdefault(word, lane)
        for bank, known in words.items():
            if len(known) > 1:
                (word, lane), (other_word, other) = list(known.items())[:2]
                return f"lanes {lane} and {other} access words {word} and {other_word}, both in bank {bank}"
    return ""


def element(type: Type, position: np.ndarray) -> np.ndarray:
    """The bits of the element at each position."""
    position = position.astype(np.uint64)
    mixed = position * np.uint64(0x9E3779B97F4A7C15)
    width = width_of(type)
    return mixed >> np.uint64(7) & np.uint64(1) if width == 1 else mixed & np.uint64(2**width - 1)


def held(emitter: Emitter, type: Type, shape: tuple[int, ...], layout: Layout) -> dict[int, Register]:
    """The registers of a tensor of `element`. Of threads with the same one, only the first has the right bits."""
    found = {}
    position = emitter.linear(tuple(flatten(vector, shape) for vector in layout.threads))
    if layout.idle:
        idle = emitter.op("and.b32", emitter.thread, layout.idle)
        position = emitter.op("add.s32", position, emitter.op("mul.lo.s32", idle, 7919))
    width = width_of(type)
    for number in layout.distinct:
        wide = emitter.op("cvt.u64.u32", emitter.op("xor.b32", position, flatten(layout.index(number), shape)))
        mixed = emitter.op("mul.lo.s64", wide, 0x9E3779B97F4A7C15)
        if width == 1:
            bit = emitter.op("and.b32", emitter.op("cvt.u32.u64", emitter.op("shr.u64", mixed, 7)), 1)
            found[number] = emitter.op("setp.ne.s32", bit, 0)
        elif width == 64:
            found[number] = mixed
        else:
            found[number] = emitter.op(f"cvt.u{max(16, width)}.u64", mixed)
    return found


def index_of(layout: Layout, number: int, thread: int) -> Index:
    """The index of an element, straight from the definition of a layout."""
    vectors = [layout.registers[bit] for bit in range(len(layout.registers)) if number >> bit & 1]
    vectors += [(*layout.lanes, *layout.warps)[bit] for bit in range(len(layout.threads)) if thread >> bit & 1]
    total = [0] * len(layout.lanes[0])
    for vector in vectors:
        total = [x ^ y for x, y in zip(total, vector, strict=True)]
    return tuple(total)
