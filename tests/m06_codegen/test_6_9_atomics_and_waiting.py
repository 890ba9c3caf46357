"""Task 6.9: atomic operations of many programs, and kernels whose programs wait for each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen.library import atomics
from mini_triton.codegen.pointers import origins, waits
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer

from tests.checks import described
from tests.support.m06_codegen.atomic_kernels import (
    ALIKE,
    ALIKE_READ,
    ALL,
    COUNT,
    HISTOGRAM,
    LOCK,
    PLACES,
    READS,
    RING,
    TURNS,
    UNUSED,
    loop,
)
from tests.support.m06_codegen.interleavings import MEANINGS, possible, swap
from tests.support.m06_codegen.kernels import Words, about, judge, kernel, running

INTEGERS = ("int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
KINDS = [(name, dtype) for name in MEANINGS if name != "fadd" for dtype in INTEGERS]
KINDS += [("fadd", dtype) for dtype in FLOATS] + [("exch", "float32"), ("exch", "float64")]
kinds = pytest.mark.parametrize(("name", "dtype"), KINDS)

WORDS = (0, 1, 2, 3, 5, 8, -1, -2, -8, 2**31 - 1, -(2**31))
GUARD = 3  # elements around those of the buffer


def array(numbers: Sequence[float], dtype: str) -> np.ndarray:
    return np.array(numbers).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def numbers_of(dtype: str) -> st.SearchStrategy[float]:
    """Sums of some of them are exact in every dtype."""
    return st.sampled_from(WORDS) if dtype in INTEGERS else st.integers(-8, 8).map(float)


def judge_order(
    words: str, step: Any, before: np.ndarray, after: np.ndarray, index: Sequence[int], given: Sequence[Any], read: Any
) -> None:
    """For each element there is an order in which its operations can have happened."""
    __tracebackhide__ = True
    for element in range(len(before)):
        lanes = [lane for lane, at in enumerate(index) if at == element]
        operands, seen = [given[lane] for lane in lanes], [read[lane] for lane in lanes]
        assert possible(step, before[element], after[element], operands, seen), (
            f"{words}\n  element {element}, which was {before[element]}, got {operands}\n"
            f"  expected  what each lane read, and what is left, in some order of the lanes {lanes}\n"
            f"  got       they read {seen}, and {after[element]} is left"
        )


Lane = tuple[int, float, bool]
"""An index, a value, and whether it takes part."""


def modifications(kind: tuple[str, str]) -> st.SearchStrategy[tuple[str, str, list[float], list[Lane]]]:
    """Memory and lanes for an operation and a dtype."""
    name, dtype = kind
    lane = st.tuples(st.integers(0, 3), numbers_of(dtype), st.integers(0, 3).map(bool))
    memory = st.lists(numbers_of(dtype), min_size=4, max_size=4)
    return st.tuples(st.just(name), st.just(dtype), memory, st.lists(lane, max_size=7))


def judge_rmw(name: str, dtype: str, memory: list[float], lanes: list[Lane], shape: tuple[int, ...]) -> None:
    """One call, with a result and without."""
    __tracebackhide__ = True
    index, values, mask = zip(*lanes, strict=True) if lanes else ((), (), ())
    given = array(values, dtype)
    places = [at if on else -1 for at, on in zip(index, mask, strict=True)]
    far = np.array([at if on else 10**9 for at, on in zip(index, mask, strict=True)], np.int64)
    before = array([7] * GUARD + memory + [7] * GUARD, dtype)
    part = slice(GUARD, GUARD + len(memory))

    def called(result: bool) -> tuple[described, np.ndarray, np.ndarray]:
        around = before.copy()
        buffer = Buffer("x", around[part])
        words = f"atomics.rmw({name!r}, x = {memory} of {dtype}, index {index}, values {values}, mask {mask})"
        words += "" if result else ", of which nobody wants the result"
        arguments = (name, buffer, far.reshape(shape), given.reshape(shape), shape, np.array(mask, bool).reshape(shape))
        call = described(words, atomics.rmw, *arguments, result=result)
        return call, call.succeeds("no error"), around

    call, got, around = called(True)
    form = described(f"Dtype and shape of {call}", lambda: (got.dtype.name, got.shape))
    form.returns((dtype, shape), "the result is what each lane has read")
    judge_order(repr(call), MEANINGS[name], before[part], around[part], places, list(given), got.ravel())
    judge_guard(call, before, around)
    call, _, around = called(False)
    judge_guard(call, before, around)
    for element, at in enumerate(range(GUARD, GUARD + len(memory))):
        used = [value for value, place in zip(given, places, strict=True) if place == element]
        left = {fold(name, before[at], order).tobytes() for order in orders(name, used)}
        assert around[at].tobytes() in left, (
            f"{call}\n  element {element}, which was {before[at]}, got {used}\n"
            f"  expected  {np.frombuffer(min(left), around.dtype)[0]}\n  got       {around[at]}"
        )


def judge_guard(call: described, before: np.ndarray, around: np.ndarray) -> None:
    """What is beside the buffer is as it was."""
    __tracebackhide__ = True
    for part in (slice(0, GUARD), slice(-GUARD, None)):
        assert around[part].tobytes() == before[part].tobytes(), f"{call}: memory beside the buffer was written"


def fold(name: str, memory: Any, values: Sequence[Any]) -> Any:
    for value in values:
        memory = np.asarray(MEANINGS[name](memory, value), memory.dtype)[()]
    return memory


def orders(name: str, values: list[Any]) -> list[list[Any]]:
    """Orders that may leave different things: only the last exchange counts, and nothing else depends on the order."""
    return [[value] for value in values] or [[]] if name == "exch" else [values]


@given(case=st.sampled_from(KINDS).flatmap(modifications))
def test_read_modify_write(case: tuple[str, str, list[float], list[Lane]]) -> None:
    """Some lanes, which often have the same element. Those that are masked off lead far away."""
    name, dtype, memory, lanes = case
    judge_rmw(name, dtype, memory, lanes, (len(lanes),))


@kinds
def test_many_lanes_with_one_element(name: str, dtype: str) -> None:
    """Each sees what those before it have left."""
    values = [3, 1, 3, 2, 7, 1, 0, 5, 6, 2, 4, 4]
    judge_rmw(name, dtype, [2, 9], [(0, value, True) for value in values], (3, 4))
    judge_rmw(name, dtype, [2, 9], [(i % 2, value, i != 5) for i, value in enumerate(values)], (2, 2, 3))
    judge_rmw(name, dtype, [2, 9], [(1, value, False) for value in values], (12,))
    judge_rmw(name, dtype, [1, 2, 3, 4, 5], [(i, 1, True) for i in (4, 0, 3, 1, 2)], (5, 1))


SPECIAL = (0.0, -0.0, np.nan, 1.5, -np.inf)


Swap = tuple[int, float, float]
"""An index, what is expected there, and what is to be written then."""


def swaps(dtype: str) -> st.SearchStrategy[tuple[str, list[float], list[Swap]]]:
    """Memory and lanes for a dtype."""
    numbers = st.sampled_from((0, 1, -1) if dtype in INTEGERS else SPECIAL)
    lanes = st.lists(st.tuples(st.integers(0, 1), numbers, numbers), max_size=6)
    return st.tuples(st.just(dtype), st.lists(numbers, min_size=2, max_size=2), lanes)


@given(case=st.sampled_from((*INTEGERS, "float32", "float64")).flatmap(swaps))
def test_compare_and_swap(case: tuple[str, list[float], list[Swap]]) -> None:
    """Lanes that write only where they find what they expect; floats are compared by their bits."""
    judge_cas(*case)


def judge_cas(dtype: str, memory: list[float], lanes: list[Swap]) -> None:
    __tracebackhide__ = True
    index, expected, new = zip(*lanes, strict=True) if lanes else ((), (), ())
    wanted, values = array(expected, dtype), array(new, dtype)
    before = array([7] * GUARD + memory + [7] * GUARD, dtype)
    around, part = before.copy(), slice(GUARD, GUARD + len(memory))
    words = f"atomics.cas(x = {memory} of {dtype}, index {index}, expected {expected}, new {new})"
    arguments = (Buffer("x", around[part]), np.array(index, np.int64), wanted, values, (len(lanes),))
    call = described(words, atomics.cas, *arguments)
    got = call.succeeds("no error")
    form = described(f"Dtype and shape of {call}", lambda: (got.dtype.name, got.shape))
    form.returns((dtype, (len(lanes),)), "the result is what each lane has read")
    pairs = list(zip(wanted, values, strict=True))
    judge_order(words, swap, before[part], around[part], index, pairs, got)
    judge_guard(call, before, around)


def test_swaps_by_bits() -> None:
    """-0.0 is not 0.0, and a NaN is itself."""
    for dtype in ("float32", "float64"):
        judge_cas(dtype, [0.0, -0.0, np.nan], [(0, -0.0, 1.0), (1, 0.0, 2.0), (2, np.nan, 3.0)])
        judge_cas(dtype, [np.nan], [(0, np.nan, 5.0)])
    judge_cas("int32", [0], [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 0, 9), (0, 3, 0)])


# --- kernels


@pytest.mark.parametrize("programs", [0, 1, 2, 13])
def test_every_program_counts(programs: int) -> None:
    """No operand differs from program to program, and yet each program adds."""
    before = [np.array([100], np.int32), np.full(13, -7, np.int32), 3]
    after = [np.array([100 + 3 * programs], np.int32)]
    judge(UNUSED, (programs,), [before[0], 3], [*after, 3], "each program adds 3")
    judge(ALIKE, (programs,), [before[0]], [after[0] + 9 * programs], "four lanes of each program add 3")
    call = running(COUNT, (programs,), before)
    counter, out, _ = call.succeeds()
    read, sums = sorted(out[:programs].tolist()), [100 + 3 * i for i in range(programs)]
    if (counter[0], read) != (after[0][0], sums):
        got = f"{counter[0]} in %counter, and the programs read {read}"
        call.fail(f"{after[0][0]} in %counter, and the programs read {sums}, each another one", Words(got))


def test_every_lane_counts() -> None:
    """All lanes of all programs add the same to the same element."""
    call = running(ALIKE_READ, (3,), [np.array([100], np.int32), np.zeros(12, np.int32), 3])
    counter, out, _ = call.succeeds()
    sums, got = [100 + 3 * i for i in range(12)], (int(counter[0]), sorted(out.tolist()))
    if got != (136, sums):
        words = f"{got[0]} in %x, and the lanes read {got[1]}"
        call.fail(f"136 in %x, and the lanes read {sums}, each another one", Words(words))


def test_swaps_by_programs() -> None:
    """Program p makes p + 1 of p, if its turn has come."""
    call = running(TURNS, (5,), [np.zeros(1, np.int32), np.zeros(5, np.int32), 0])
    counter, out, _ = call.succeeds()
    steps = [(np.int32(p), np.int32(p + 1)) for p in range(5)]
    judge_order(f"{call}: program p makes p + 1 of p", swap, np.zeros(1, np.int32), counter, [0] * 5, steps, out)


@pytest.mark.parametrize("count", [0, 1, 8, 29])
def test_a_histogram(count: int) -> None:
    """Where each number is to go in its bin: every place is taken once."""
    x = (np.arange(32, dtype=np.int32) ** 2 % 7)[:count]
    arguments = [x, np.zeros(7, np.int32), np.full(count, -7, np.int32), count]
    call = running(HISTOGRAM, (4,), arguments)
    _, bins, out, _ = call.succeeds()
    counted, places = np.bincount(x, minlength=7).tolist(), [sorted(out[x == number].tolist()) for number in range(7)]
    if bins.tolist() != counted:
        call.fail(f"%bins = {counted}", Words(f"%bins = {bins.tolist()}"), "each number adds 1 to its bin")
    if places != [list(range(total)) for total in counted]:
        call.fail(f"places below {counted}, each once", Words(str(places)), "each lane reads how many came before it")


# --- waiting


def judge_waits(text: str, expected: bool, because: str) -> None:
    __tracebackhide__ = True
    (function,) = parse_module(text).body.operations
    about("waits(function, …)", text, waits, function, origins(function)).returns(expected, because)


STORE = "tt.store %x, %n : !tt.ptr<i32>"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("read", READS)
def test_a_condition_that_depends_on_memory_waits(read: str, place: str) -> None:
    """If the kernel writes that memory: the read is in the condition, or in the body, which hands it on."""
    before, after = PLACES[place]
    because = f"the condition of the loop depends on {read}: another program may have to write first"
    judge_waits(loop(READS[read], "", before, f"{STORE}\n{after}"), True, because)
    handed = loop("%y = arith.addi %i, %c0 : i32", READS[read].replace("%y", "%k_"), before, f"{STORE}\n{after}", "%k_")
    judge_waits(handed, True, because)


def test_other_loops_do_not_wait() -> None:
    """They end whatever other programs do."""
    same = "%y = arith.addi %n, %c0 : i32"
    stored = "%z = tt.load %x : !tt.ptr<i32>\n%w = arith.addi %z, %k : i32\ntt.store %x, %w : !tt.ptr<i32>"
    judge_waits(loop(same, ""), False, "the condition computes with what the program has")
    because = "what the body of the loop reads is nothing to the condition"
    judge_waits(loop(same, stored), False, because)
    judge_waits(loop(same, f"%true = arith.constant true\n%z = tt.{ALL.format('add', '%x', '%k')}"), False, because)
    loaded = READS["a load"]
    judge_waits(loop(loaded, ""), False, "nobody writes what the condition reads")
    judge_waits(loop(loaded, "tt.store %u, %k : !tt.ptr<i32>"), False, "what the kernel writes is another argument")
    judge_waits(loop("", "", loaded, STORE), False, "the number is read once, before the loop")
    judge_waits(kernel("%x: !tt.ptr<i32>, %n: i32", f"{loaded}\n{STORE}"), False, "there is no loop")
    counted = f"%c0 = arith.constant 0 : i32\nscf.for %i = %c0 to %n step %n : i32 {{\n{loaded}\n{STORE}\n}}"
    judge_waits(kernel("%x: !tt.ptr<i32>, %n: i32", counted), False, "a loop over a range ends by itself")


def test_writes_through_an_address() -> None:
    """They may change any memory."""
    write = "%p = tt.int_to_ptr %a : i64 -> !tt.ptr<i32>\ntt.store %p, %n : !tt.ptr<i32>"
    judge_waits(loop(READS["a load"], "", "", write), True, "the address may be that of %x")


def test_a_lock() -> None:
    """Only one program has it at a time, and the others spin. Each makes 3t + 1 of the total t."""
    judge_waits(LOCK, True, "the condition swaps the lock")
    for programs in (1, 2, 7):
        arguments = [np.zeros(1, np.int32), np.zeros(1, np.int32), 3]
        expected = [arguments[0], np.array([(3**programs - 1) // 2], np.int32), 3]
        judge(LOCK, (programs,), arguments, expected, "each program adds on its own", chunk=1)


def test_a_chain() -> None:
    """Each program waits for the one before it."""
    judge_waits(RING, True, "the condition loads a flag")
    powers = 2 ** np.arange(8, dtype=np.int32)
    before = np.array([1, *[0] * 7], np.int32)
    arguments, expected = [before, np.zeros(7, np.int32)], [powers, powers[:7]]
    judge(RING, (7,), arguments, expected, "each program hands on what it got, doubled", chunk=1)
