"""Task 13.4, coordinates: a thread computes indices from its number, with few instructions; the emulator runs them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.elementwise import choose
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Register
from mini_triton.backends.threads.layouts import SCALAR, Columns, Layout, blocked
from mini_triton.backends.threads.ptx import line, spell
from mini_triton.backends.threads.threads import Threads
from mini_triton.ir.parser import parse_module

from tests.checks import calling, described, one_in
from tests.support.m13_threads.linear import powers, values
from tests.support.m13_threads.probing import look


def compare(asked: calling, emitter: Emitter, registers: list[Register], expected: Any, because: str) -> None:
    """Run the instructions of an emitter, and compare registers of all threads: expected[register, thread]."""
    __tracebackhide__ = True
    code = [f"    {line(instruction).strip()}" for instruction in emitter.lists[0]]
    found, report = look(emitter, registers)
    assert not report.errors, f"{asked}\n{report.errors[0]}"
    for register, right, got in zip(registers, expected, found[0].T.tolist(), strict=True):
        if got != list(right):
            thread = next(thread for thread, (a, b) in enumerate(zip(got, right, strict=True)) if a != b)
            why = "\n".join([f"{because}; the instructions are", *code])
            asked.fail(f"{right[thread]} in {spell(register)} of thread {thread}", got[thread], why)


def cost(columns: Columns) -> int:
    """The most instructions for a linear function: for each distance by which bits move, `and`, shift and `xor`."""
    distances = {
        target - bit for bit, column in enumerate(columns) for target in range(32) if column >> target & 1
    }  # fmt: skip
    return 3 * len(distances) - (0 in distances) - 1 if distances else 1


def linear(columns: Columns, warps: int) -> None:
    """Check the values and the cost of a linear function."""
    __tracebackhide__ = True
    emitter = Emitter(warps)
    asked = calling(emitter.linear, columns)
    _ = emitter.thread
    before = len(emitter.lists[0])
    register = asked.succeeds("a register")
    made = [instruction.opcode for instruction in emitter.lists[0][before:]]
    if len(made) > (most := cost(columns)):
        asked.fail(f"at most {most} instructions", f"{len(made)}: {', '.join(made)}")
    again = asked.succeeds("a register")
    if again != register or len(emitter.lists[0]) != before + len(made):
        asked.fail("the same register when it is asked again, without instructions", again)
    compare(asked, emitter, [register], [values(columns)], f"its values at 0, 1, 2, ... are {values(columns)}")


@pytest.mark.parametrize(
    "columns",
    [
        (1, 2, 4, 8, 16),
        (4, 8, 16, 32, 64),
        (0, 0, 1, 2, 4),
        (0, 0, 0, 0, 0),
        (0, 0, 0, 0, 1),
        (1, 0, 4, 0, 16),
        (2, 1, 8, 4, 0),
        (3, 6, 12, 24, 48),
        (1 << 20, 1, 0, 0, 5),
    ],
)
def test_linear_functions_of_the_thread(columns: Columns) -> None:
    linear(columns, 1)


@given(data=st.data(), bits=st.sampled_from([5, 7, 10]), most=st.sampled_from([1, 7, 1023, (1 << 20) - 1]))
def test_any_linear_function(data: st.DataObject, bits: int, most: int) -> None:
    linear(tuple(data.draw(st.lists(st.integers(0, most), min_size=bits, max_size=bits))), 1 << bits - 5)


# --- coordinates

TILE = blocked((16, 64), (1, 0), {1: 4}, 4)


def coordinates(layout: Layout, axis: int, warps: int) -> None:
    """Check the indices in all registers along an axis, and their cost."""
    __tracebackhide__ = True
    emitter = Emitter(warps)
    asked = described(
        f"emitter.coordinate(layout, axis={axis}, register), where\nlayout = {layout}\n", emitter.coordinate
    )
    everywhere = range(1 << len(layout.registers))
    _ = emitter.thread
    before = len(emitter.lists[0])
    registers = [calling(emitter.coordinate, layout, axis, number).succeeds("a register") for number in everywhere]
    made = len(emitter.lists[0]) - before
    distinct = sum(layout.index(number)[axis] > 0 for number in everywhere)
    most = cost(tuple(vector[axis] for vector in layout.threads)) + distinct
    if made > most:
        asked.fail(f"at most {most} instructions for all registers", f"{made} instructions")
    expected = [[layout.index(number, thread)[axis] for thread in range(32 * warps)] for number in everywhere]
    compare(asked, emitter, registers, expected, "this is the index at this place")


def test_the_coordinates_of_a_tile() -> None:
    emitter = Emitter(4)
    row, column = (calling(emitter.coordinate, TILE, axis, 3).succeeds("a register") for axis in (0, 1))
    thread = np.arange(128)
    asked = described(f"emitter.coordinate(layout, axis, 3), where\nlayout = {TILE}\n", emitter.coordinate)
    expected = [(thread // 16).tolist(), (thread % 16 * 4 + 3).tolist()]
    compare(asked, emitter, [row, column], expected, "16 threads with four neighbors each hold a row")


@st.composite
def layouts(draw: st.DrawFn, warps: int) -> Layout:
    """A blocked layout, or one whose vectors were added to one another."""
    rank = draw(st.integers(1, 3))
    shape = draw(st.lists(powers({1: 9, 2: 5, 3: 3}[rank]), min_size=rank, max_size=rank))
    order, sizes = draw(st.permutations(range(rank))), draw(st.dictionaries(st.integers(0, rank - 1), powers(3)))
    layout = blocked(tuple(shape), order, sizes, warps)
    if not draw(st.booleans()):
        return layout
    return layout.map(lambda vector: (vector[0] ^ vector[-1] % shape[0], *vector[1:]))


def test_coordinates_that_share_bits() -> None:
    """Register 1 of thread 1 holds element 1 ^ 3, which is not 1 + 3."""
    coordinates(Layout(((1,),), ((3,), (4,), (8,), (16,), (0,)), ()), 0, 1)


@one_in(2)
@given(data=st.data(), warps=st.sampled_from([1, 2, 8]))
def test_the_coordinates_of_any_layout(data: st.DataObject, warps: int) -> None:
    layout = data.draw(layouts(warps))
    for axis in range(len(layout.threads[0])) if layout != SCALAR else ():
        coordinates(layout, axis, warps)


# --- one of the threads with the same elements


def speakers(layout: Layout, warps: int) -> None:
    """Check which threads are the first with their elements."""
    __tracebackhide__ = True
    emitter = Emitter(warps)
    asked = described(f"emitter.speaker(layout) of {warps} warps, where\nlayout = {layout}\n", emitter.speaker, layout)
    seen, expected = set(), []
    for thread in range(32 * warps):
        place = layout.index(0, thread) if layout != SCALAR else ()
        expected.append(int(place not in seen))
        seen.add(place)
    condition = asked.succeeds("a register")
    made = len(emitter.lists[0])
    if all(expected):
        if condition is not None or made:
            asked.fail("None, and no instruction", f"{condition} and {made} instructions", "all elements differ")
        return
    if not isinstance(condition, Register) or condition.kind != "pred":
        other = next(thread for thread, is_first in enumerate(expected) if not is_first)
        because = f"thread {other} holds the same elements as a thread before it"
        asked.fail('a register of kind "pred"', condition, because)
    if asked.succeeds("a register") != condition or len(emitter.lists[0]) != made:
        asked.fail("the same register when it is asked again, without instructions", "another one")
    compare(asked, emitter, [condition], [expected], "a thread speaks if no thread before it holds the same elements")


@pytest.mark.parametrize(
    "layout, warps",
    [
        (blocked((128,), (0,), {}, 4), 4),
        (blocked((64,), (0,), {}, 4), 4),
        (blocked((8,), (0,), {}, 1), 1),
        (blocked((1,), (0,), {}, 2), 2),
        (TILE.without(1), 4),
        (TILE.without(0), 4),
        (SCALAR, 1),
        (SCALAR, 4),
    ],
    ids=str,
)
def test_one_thread_speaks_for_each_element(layout: Layout, warps: int) -> None:
    speakers(layout, warps)


@given(data=st.data(), warps=st.sampled_from([1, 2, 8]))
def test_who_speaks_in_any_layout(data: st.DataObject, warps: int) -> None:
    rank = data.draw(st.integers(2, 3))
    shape = tuple(data.draw(st.lists(powers(4), min_size=rank, max_size=rank)))
    layout = blocked(shape, data.draw(st.permutations(range(rank))), {}, warps)
    speakers(layout.without(data.draw(st.integers(0, rank - 1))), warps)


# --- one of two elements


@pytest.mark.parametrize("kind", ["b32", "b16", "b64", "pred"])
def test_choices(kind: str) -> None:
    threads = Threads(parse_module("module {\n tt.func public @k() {\n tt.return\n }\n}"), 1, 90)
    bits = [threads.op("and.b32", threads.op("shr.u32", threads.thread, bit), 1) for bit in range(3)]
    condition, *conditions = (threads.op("setp.ne.s32", bit, 0) for bit in bits)
    mask = 1 if kind == "pred" else (1 << int(kind[1:])) - 1
    numbers = [0x9123456789ABCDEF & mask, 0x8FEDCBA987654321 & mask]
    if kind == "pred":
        elements = conditions
    else:
        elements = [threads.bits(kind, number) for number in numbers]
    name = f'choose(threads, condition, first, second) for registers of kind "{kind}"'
    asked = described(name, choose, threads, condition, *elements)
    before = len(threads.lists[0])
    chosen = asked.succeeds("a register")
    made = [instruction.opcode for instruction in threads.lists[0][before:]]
    if "selp.pred" in made:
        asked.fail("instructions of PTX", ", ".join(made), "selp selects from registers of every kind but pred")
    if kind != "pred" and len(made) != 1:
        asked.fail("one instruction", ", ".join(made), f"selp.{kind} selects")
    expected = []
    for thread in range(32):
        first, second = (thread >> 1 & 1, thread >> 2 & 1) if kind == "pred" else numbers
        expected.append(first if thread & 1 else second)
    assert chosen.kind == kind, f"{asked} is a register of kind {chosen.kind}"
    compare(asked, threads, [chosen], [expected], "the condition holds in odd threads; then the first is chosen")
