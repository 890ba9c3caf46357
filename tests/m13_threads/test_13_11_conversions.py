"""Task 13.11: tensors change their layouts. The judges are the emulator, NumPy and records of a GPU."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.conversions import exchange, renaming
from mini_triton.backends.threads.instructions import Register, size_of, width_of
from mini_triton.backends.threads.layouts import Layout, flatten
from mini_triton.backends.threads.swizzles import places, shared_registers
from mini_triton.backends.threads.threads import Threads
from mini_triton.emulator.report import Report
from mini_triton.ir.types import F16, F32, I8, I64, TensorType, Type, element_type

from tests.checks import described, one_in
from tests.corpus import named
from tests.corpus.cases import Case
from tests.support.m13_threads.codes import judge_kernel
from tests.support.m13_threads.exchanging import TYPES, Pair, conflict, element, held, index_of, pairs, transposed
from tests.support.m13_threads.probing import look, threads_of

# --- other names for registers


def renamed(source: Layout, target: Layout) -> None:
    """Compare the learner's numbers with a search among all registers."""
    call = described(f"renaming(source, target) for\n  {source}\n  {target}\n", renaming, source, target)
    threads = [0, *(1 << bit for bit in range(len(target.threads)))]  # layouts are linear, so these suffice
    known = {tuple(index_of(source, number, thread) for thread in threads): number for number in source.distinct}
    wanted = {number: tuple(index_of(target, number, thread) for thread in threads) for number in target.distinct}
    expected = {number: known[indices] for number, indices in wanted.items() if indices in known}
    if len(expected) < len(target.distinct):
        expected = {}
    got = dict(call.succeeds())
    if got != expected:
        call.fail(str(expected), got)


def test_the_same_layout() -> None:
    layout = transposed(16, 64, 4).source
    renamed(layout, layout)


def test_registers_in_another_order() -> None:
    """The same threads hold the elements, in other registers."""
    renamed(Layout(((1,), (2,)), ((4,), (8,)), ()), Layout(((2,), (1,)), ((4,), (8,)), ()))


def test_registers_that_do_not_matter() -> None:
    """A register whose vector is zero repeats another, so it is not distinct."""
    short, long = Layout(((1,),), ((2,),), ()), Layout(((0,), (1,)), ((2,),), ())
    renamed(short, long)
    renamed(long, short)


def test_other_threads() -> None:
    pair = transposed(16, 64)
    renamed(pair.source, pair.target)
    renamed(Layout(((1,),), ((2,), (4,)), ()), Layout(((1,),), ((4,), (2,)), ()))


def test_an_element_that_no_register_has() -> None:
    renamed(Layout(((1,),), ((4,),), ()), Layout(((1,), (2,)), ((4,),), ()))


@given(pair=pairs(8), order=st.permutations(range(8)))
def test_random_renamings(pair: Pair, order: list[int]) -> None:
    """A layout and itself with its registers in another order; then two layouts."""
    source = pair.source
    registers = tuple(source.registers[place] for place in order if place < len(source.registers))
    renamed(source, Layout(registers, source.lanes, source.warps))
    renamed(source, pair.target)


# --- through shared memory


def begin(pair: Pair) -> Threads:
    """A back end with nothing but a parameter."""
    return threads_of("module { tt.func public @k(%out: !tt.ptr<i64>) { tt.return } }", pair.warps)[0]


def exchanged(threads: Threads, pair: Pair, type: Type) -> dict[int, Register]:
    """The learner's registers in the target's layout."""
    source, target = pair.source, pair.target
    registers = held(threads, type, pair.shape, source)
    asked = TensorType(pair.shape, element_type(type))
    call = described(f"exchange of {asked}: {pair}", exchange, threads, asked, source, registers, target)
    found = call()
    if sorted(found) != target.distinct:
        call.fail(f"registers for {target.distinct}", f"registers for {sorted(found)}")
    return found


def compare(pair: Pair, type: Type, registers: dict[int, Register], bits: np.ndarray) -> None:
    """Compare bits of registers, [threads, registers], with elements."""
    target, mask = pair.target, np.uint64(2 ** width_of(type) - 1)
    for number, column in zip(registers, bits.T, strict=True):
        for thread, got in enumerate(column & mask):
            index = index_of(target, number, thread)
            wanted = element(type, np.array(flatten(index, pair.shape)))
            assert got == wanted, (
                f"{type}, {pair}register {number} of thread {thread} should have element {index}, which is"
                f" {int(wanted):#x}, not {int(got):#x}"
            )


def check(pair: Pair, type: Type = F32) -> Report:
    """Exchange a tensor; compare all threads' registers; count what the exchange costs."""
    threads = begin(pair)
    registers = exchanged(threads, pair, type)
    size = size_of(type)
    flat = pair.source.flat(pair.shape), pair.target.flat(pair.shape)
    together = 1 << len(shared_registers(*flat, size))
    for name, layout in (("st.shared", pair.source), ("ld.shared", pair.target)):
        count = sum(instruction.opcode.startswith(name) for instruction in threads.lists[0])
        assert count == len(layout.distinct) // together, (
            f"{type}, {pair}a thread has {len(layout.distinct)} registers, and {together} of them are neighbors in both"
            f" layouts; so {len(layout.distinct) // together} instructions {name} suffice, not {count}"
        )
    room = -(-size * prod(pair.shape) // 16) * 16
    assert threads.shared == room, f"{type}, {pair}the tensor needs {room} bytes of shared memory, not {threads.shared}"
    found, report = look(threads, list(registers.values()))
    assert not report.errors, f"{type}, {pair}{report.errors[0]}"
    compare(pair, type, registers, found[0])
    assert report.total.barriers == 1, f"{type}, {pair}one barrier suffices, between stores and loads"
    assert report.total.bank_ways == report.total.shared, (
        f"{type}, {pair}the accesses should take {report.total.shared} cycles of the banks, not"
        f" {report.total.bank_ways}: {conflicts(pair, size, together)}"
    )
    return report


def conflicts(pair: Pair, size: int, together: int) -> str:
    """Where the bank conflicts come from."""
    flat = pair.source.flat(pair.shape), pair.target.flat(pair.shape)
    columns = places(*flat, pair.bits, size)
    for layout, verb in zip(flat, ("store", "load"), strict=True):
        if lanes := conflict(layout, columns, size, together):
            return f"with the places of `places`, when lanes {verb}, {lanes}"
    return "the places of `places` have no conflict, so the threads of `exchange` access other places"


def test_one_thread_holds_all() -> None:
    """From one element of each lane to four in each register of eight lanes."""
    check(Pair((32,), ((0,), (0,)), ({}, {0: 4}), 1))


def test_transposed() -> None:
    check(transposed(32, 32, warps=1))
    check(transposed(16, 64, together=4))


def test_one_element() -> None:
    check(Pair((1,), ((0,), (0,)), ({}, {})))


def test_fewer_elements_than_threads() -> None:
    """Of threads that hold the same element, the first stores it; here, the others have something else."""
    check(Pair((8,), ((0,), (0,)), ({}, {})))
    check(transposed(4, 4, warps=8))


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_types(type: Type) -> None:
    check(transposed(16, 32, together=2), type)


@pytest.mark.parametrize("type", [I8, F16, F32, I64], ids=str)
def test_neighbors_of_both_layouts_move_together(type: Type) -> None:
    check(Pair((32, 64), ((1, 0), (0, 1)), ({1: 8}, {1: 8})), type)


@one_in(2)
@given(pair=pairs(), type=st.sampled_from(TYPES))
def test_random_exchanges(pair: Pair, type: Type) -> None:
    check(pair, type)


@pytest.mark.parametrize("size", [16, 32, 64])
def test_exchanges_use_the_same_bytes(size: int) -> None:
    """Three exchanges in a row; where they use the same bytes, a barrier is between them, and elsewhere none."""
    pair = transposed(size, size)
    threads = begin(pair)
    every = [exchanged(threads, pair, type) for type in (F32, F32, F16)]
    found, report = look(threads, [register for registers in every for register in registers.values()])
    assert not report.errors, f"{pair}{report.errors[0]}"
    parts = np.split(found[0], np.cumsum([len(registers) for registers in every])[:-1], axis=1)
    for type, registers, bits in zip((F32, F32, F16), every, parts, strict=True):
        compare(pair, type, registers, bits)
    most = {16: 3, 32: 5, 64: 5}[size]
    barriers = report.total.barriers
    assert barriers <= most, (
        f"{pair}three exchanges need {most} barriers, not {barriers}: see the rooms of the accesses"
    )


# --- kernels

KERNELS = "transpose three_axes rotary reduce_axes arg_reductions custom_reductions several_results layer_norm_forward"


@pytest.mark.parametrize("case", named(*KERNELS.split()), ids=str)
def test_kernels(case: Case) -> None:
    """The results of a GPU, and no bank conflicts."""
    report = judge_kernel(case)
    assert report.total.bank_ways == report.total.shared, f"{case} has bank conflicts"
