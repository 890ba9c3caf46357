"""Task 6.9: atomic operations of many programs, and kernels whose programs wait for each other."""

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.analysis.pointers import origins, waits
from mini_triton.codegen.library import atomics
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer

from tests.checks import described
from tests.support.m06_codegen.kernels import Words, about, compiled, judge, running

INTEGERS = ("int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
GUARD = 3  # elements before the buffer, and after it
PART = slice(GUARD, -GUARD)

Step = Callable[[Any, Any], Any]
"""The value that an operation writes, from the old value and its operand."""


MEANINGS: dict[str, Step] = {
    "add": lambda x, y: x + y,
    "fadd": lambda x, y: x + y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "max": max,
    "min": min,
    "exch": lambda x, y: y,
}
KINDS = [(name, dtype) for name in MEANINGS if name != "fadd" for dtype in INTEGERS]
KINDS += [("fadd", dtype) for dtype in FLOATS] + [("exch", "float32"), ("exch", "float64")]


def swap(x: Any, pair: Any) -> Any:
    """Compare and swap: the expected value, and the value to write."""
    expected, new = pair
    return new if x.tobytes() == expected.tobytes() else x


def possible(step: Step, before: Any, after: Any, given: Sequence[Any], read: Sequence[Any]) -> bool:
    """Whether the operations on one element can have run one after the other, in some order."""

    def goes_on(memory: Any, left: tuple[int, ...]) -> bool:
        if not left:
            return memory.tobytes() == after.tobytes()
        now = [i for i in left if read[i].tobytes() == memory.tobytes()]
        results = {i: np.asarray(step(memory, given[i]), memory.dtype)[()] for i in now}
        # Operations that leave the element as it is may as well run now.
        idle = tuple(i for i in now if results[i].tobytes() == memory.tobytes())
        if idle:
            return goes_on(memory, tuple(i for i in left if i not in idle))
        different = {results[i].tobytes(): i for i in now}.values()
        return any(goes_on(results[i], tuple(j for j in left if j != i)) for i in different)

    with np.errstate(all="ignore"):
        return goes_on(before, tuple(range(len(given))))


def judge_order(
    words: str, step: Step, before: np.ndarray, after: np.ndarray, index: Sequence[int], given: Sequence[Any], read: Any
) -> None:
    """Require for each element an order in which the operations on it can have run."""
    __tracebackhide__ = True
    for element in range(len(before)):
        lanes = [lane for lane, at in enumerate(index) if at == element]
        operands, seen = [given[lane] for lane in lanes], [read[lane] for lane in lanes]
        expected = f"values that result if the lanes {lanes} run one after the other, in some order"
        if len(lanes) == 1:
            with np.errstate(all="ignore"):
                left = np.asarray(step(before[element], operands[0]), before.dtype)
            expected = told_of(before[[element]], left)
        assert possible(step, before[element], after[element], operands, seen), (
            f"{words}\n  where     element {element} was {before[element]}, and each of the lanes {lanes} gives one of "
            f"{np.asarray(operands).tolist()}\n"
            f"  expected  {expected}\n  got       {told_of(seen, after[element])}"
        )


def told_of(read: Sequence[Any] | np.ndarray, left: Any) -> str:
    """The values that lanes read from an element, and the one that is in memory afterwards."""
    return f"they read {np.asarray(read).tolist()}, and {left} is left"


def array(numbers: Sequence[float], dtype: str) -> np.ndarray:
    return np.array(numbers).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def changed(words: str, change: Callable[[Buffer], Any], memory: Sequence[float], dtype: str) -> tuple[Any, Any, Any]:
    """The call, its result, and the memory afterwards. Require that the call wrote nothing outside the buffer."""
    __tracebackhide__ = True
    before = array([7] * GUARD + [*memory] + [7] * GUARD, dtype)
    around = before.copy()
    call = described(words, change, Buffer("x", around[PART]))
    got, after = call.succeeds("no error"), around[PART].copy()
    around[PART] = before[PART]
    assert around.tobytes() == before.tobytes(), f"{call}: memory outside the buffer was written"
    return call, got, after


def judge_atomic(
    words: str,
    change: Callable[[Buffer], Any],
    step: Step,
    memory: Sequence[float],
    dtype: str,
    index: Sequence[int],
    given: Sequence[Any],
    shape: tuple[int, ...],
) -> np.ndarray:
    """Require that lanes change the elements at their indices one after the other. Return the memory afterwards."""
    __tracebackhide__ = True
    call, got, after = changed(words, change, memory, dtype)
    form = described(f"Dtype and shape of {call}", lambda: (got.dtype.name, got.shape))
    form.returns((dtype, shape), "each lane gets the value that it read")
    judge_order(repr(call), step, array(memory, dtype), after, index, given, got.ravel())
    return after


Lane = tuple[int, float, bool]
"""An index, a value, and whether the lane takes part."""
WORDS = (0, 1, 2, 3, 5, 8, -1, -2, -8, 2**31 - 1, -(2**31))


def numbers_of(dtype: str) -> st.SearchStrategy[float]:
    """Numbers whose sums are exact in the dtype."""
    return st.sampled_from(WORDS) if dtype in INTEGERS else st.integers(-8, 8).map(float)


def modifications(kind: tuple[str, str]) -> st.SearchStrategy[tuple[str, str, list[float], list[Lane]]]:
    """Memory and lanes for an operation and a dtype."""
    name, dtype = kind
    lane = st.tuples(st.integers(0, 3), numbers_of(dtype), st.integers(0, 3).map(bool))
    memory = st.lists(numbers_of(dtype), min_size=4, max_size=4)
    return st.tuples(st.just(name), st.just(dtype), memory, st.lists(lane, max_size=7))


def judge_rmw(name: str, dtype: str, memory: list[float], lanes: list[Lane], shape: tuple[int, ...]) -> None:
    """Judge a call whose result is used, and one whose result is not used. Masked-off lanes are out of bounds."""
    __tracebackhide__ = True
    index, values, mask = zip(*lanes, strict=True) if lanes else ((), (), ())
    given = array(values, dtype)
    places = [at if on else -1 for at, on in zip(index, mask, strict=True)]
    far = np.array([at if on else 10**9 for at, on in zip(index, mask, strict=True)], np.int64)
    arguments = (far.reshape(shape), given.reshape(shape), shape, np.array(mask, bool).reshape(shape))
    words = f"atomics.rmw({name!r}, x = {memory} of {dtype}, index {index}, values {values}, mask {mask})"

    def change(buffer: Buffer, result: bool = True) -> Any:
        return atomics.rmw(name, buffer, *arguments, result=result)

    left = judge_atomic(words, change, MEANINGS[name], memory, dtype, places, list(given), shape)
    words += ", whose result is not used"
    call, _, after = changed(words, lambda buffer: change(buffer, False), memory, dtype)
    for element, wanted in enumerate(left):
        exchanged = [x.tobytes() for x, at in zip(given, places, strict=True) if name == "exch" and at == element]
        assert after[element].tobytes() in (exchanged or [wanted.tobytes()]), (
            f"{call}\n  expected  {wanted} in element {element}\n  got       {after[element]}"
        )


@given(case=st.sampled_from(KINDS).flatmap(modifications))
def test_read_modify_write(case: tuple[str, str, list[float], list[Lane]]) -> None:
    """Several lanes, which often update the same element."""
    name, dtype, memory, lanes = case
    judge_rmw(name, dtype, memory, lanes, (len(lanes),))


@pytest.mark.parametrize(("name", "dtype"), KINDS)
def test_many_lanes_with_one_element(name: str, dtype: str) -> None:
    """Each lane reads what the lanes before it have left."""
    values = [3, 1, 3, 2, 7, 1, 0, 5, 6, 2, 4, 4]
    judge_rmw(name, dtype, [2, 9], [(0, value, True) for value in values], (3, 4))
    judge_rmw(name, dtype, [2, 9], [(i % 2, value, i != 5) for i, value in enumerate(values)], (2, 2, 3))
    judge_rmw(name, dtype, [2, 9], [(1, value, False) for value in values], (12,))
    judge_rmw(name, dtype, [1, 2, 3, 4, 5], [(i, 1, True) for i in (4, 0, 3, 1, 2)], (5, 1))


def test_lanes_with_different_elements_run_at_once() -> None:
    """Sixty-four lanes and 32 elements: each element has two lanes, so there are two turns. Up to 8 are accepted."""
    turns = []

    def step(old: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        turns.append(lanes)
        return old + 1

    buffer, index = Buffer("x", np.zeros(32, np.int32)), np.arange(64) * 5 % 32
    words = "atomics.in_turns of 64 lanes, two for each of 32 elements"
    call = described(words, atomics.in_turns, buffer, index, np.arange(64), (64,), step)
    call.succeeds()
    if len(turns) > 8:
        call.fail("two calls of `step`", f"{len(turns)} calls", "lanes that access different elements run at once")


Swap = tuple[int, float, float]
"""An index, the expected value, and the value to write."""


def swaps(dtype: str) -> st.SearchStrategy[tuple[str, list[float], list[Swap]]]:
    """Memory and lanes for a dtype."""
    numbers = st.sampled_from((0, 1, -1) if dtype in INTEGERS else (0.0, -0.0, np.nan, 1.5, -np.inf))
    lanes = st.lists(st.tuples(st.integers(0, 1), numbers, numbers), max_size=6)
    return st.tuples(st.just(dtype), st.lists(numbers, min_size=2, max_size=2), lanes)


@given(case=st.sampled_from((*INTEGERS, "float32", "float64")).flatmap(swaps))
def test_compare_and_swap(case: tuple[str, list[float], list[Swap]]) -> None:
    """A lane writes only if it finds the value that it expects; floats are compared by their bits."""
    judge_cas(*case)


def judge_cas(dtype: str, memory: list[float], lanes: list[Swap]) -> None:
    __tracebackhide__ = True
    index, expected, new = zip(*lanes, strict=True) if lanes else ((), (), ())
    wanted, values, shape = array(expected, dtype), array(new, dtype), (len(lanes),)
    words = f"atomics.cas(x = {memory} of {dtype}, index {index}, expected {expected}, new {new})"

    def change(buffer: Buffer) -> Any:
        return atomics.cas(buffer, np.array(index, np.int64), wanted, values, shape)

    pairs = list(zip(wanted, values, strict=True))
    judge_atomic(words, change, swap, memory, dtype, index, pairs, shape)


def test_swaps_by_bits() -> None:
    """-0.0 differs from 0.0, and a NaN equals a NaN with the same bits."""
    for dtype in ("float32", "float64"):
        judge_cas(dtype, [0.0, -0.0, np.nan], [(0, -0.0, 1.0), (1, 0.0, 2.0), (2, np.nan, 3.0)])
        judge_cas(dtype, [np.nan], [(0, np.nan, 5.0)])
    judge_cas("int32", [0], [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 0, 9), (0, 3, 0)])


# --- kernels

SAME = "x + tl.zeros((4,), tl.int32)"
COUNTS = {
    "a number of each program": "tl.store(out + tl.program_id(0), tl.atomic_add(x, 3))",
    "four numbers of each program": f"""
        old = tl.atomic_add({SAME}, tl.full((4,), 3, tl.int32))
        tl.store(out + tl.program_id(0) * 4 + tl.arange(0, 4), old)
    """,
    "a number that is not read": "tl.atomic_add(x, 3)",
    "four numbers that are not read": f"tl.atomic_add({SAME}, tl.full((4,), 3, tl.int32))",
}


@pytest.mark.parametrize("programs", [0, 1, 2, 13])
@pytest.mark.parametrize("what", COUNTS)
def test_every_program_counts(what: str, programs: int) -> None:
    """Each lane of each program adds, although all operands are uniform."""
    call = running(compiled(COUNTS[what], x="*i32", out="*i32"), (programs,), [number(100), np.full(52, -7, np.int32)])
    counter, out = call.succeeds()
    times = programs * (4 if "four" in what else 1)
    read = [] if "not read" in what else [100 + 3 * i for i in range(times)]
    got = int(counter[0]), sorted(out[out != -7].tolist())
    if got != (100 + 3 * times, read):
        words = f"{got[0]} in %x, and the lanes read {got[1]}"
        call.fail(f"{100 + 3 * times} in %x, and each lane reads a different number of {read}", Words(words))


def number(value: int) -> np.ndarray:
    return np.array([value], np.int32)


def test_swaps_by_programs() -> None:
    """Program p replaces p by p + 1 if it finds p."""
    text = compiled("p = tl.program_id(0)\ntl.store(out + p, tl.atomic_cas(x, p, p + 1))", x="*i32", out="*i32")
    call = running(text, (5,), [number(0), np.zeros(5, np.int32)])
    counter, out = call.succeeds()
    steps = [(np.int32(p), np.int32(p + 1)) for p in range(5)]
    judge_order(f"{call}: program p replaces p by p + 1", swap, number(0), counter, [0] * 5, steps, out)


HISTOGRAM = """
    at = tl.program_id(0) * 8 + tl.arange(0, 8)
    mask = at < n
    old = tl.atomic_add(bins + tl.load(x + at, mask=mask), 1, mask=mask)
    tl.store(out + at, old, mask=mask)
"""


@pytest.mark.parametrize("count", [0, 1, 8, 29])
def test_a_histogram(count: int) -> None:
    """Each number gets a place in its bin, and each place is taken once."""
    x = (np.arange(32, dtype=np.int32) ** 2 % 7)[:count]
    arguments = [x, np.zeros(7, np.int32), np.full(count, -7, np.int32), count]
    call = running(compiled(HISTOGRAM, x="*i32", bins="*i32", out="*i32", n="i32"), (4,), arguments)
    _, bins, out, _ = call.succeeds()
    counted, places = np.bincount(x, minlength=7).tolist(), [sorted(out[x == number].tolist()) for number in range(7)]
    if bins.tolist() != counted:
        call.fail(f"%bins = {counted}", Words(f"%bins = {bins.tolist()}"), "each number adds 1 to its bin")
    if places != [list(range(total)) for total in counted]:
        call.fail(
            f"places below {counted}, each once", Words(str(places)), "each lane reads the number of lanes before it"
        )


# --- waiting

WAITING = """
while i < {read}:
    i += 1
---
while i < n:
    i = {read}
"""
READS = ("tl.load(x)", "tl.atomic_xchg(x, n)", "tl.atomic_cas(x, n, 0)", "(tl.load(x) if n > 0 else n)")
PLACES = {"alone": "", "in a loop": "for j in range(0, n):", "in a branch": "if n > 1:"}
GOES_ON = {
    "while i < n:\n    i += 1\ntl.store(x, n)": "the condition depends on the program's own values",
    "while i < n:\n    tl.store(x, tl.load(x) + i)\n    i += 1": "the condition does not depend on what the body reads",
    "while i < n:\n    tl.atomic_add(x, i)\n    i += 1": "the condition does not depend on what the body reads",
    "while i < tl.load(x):\n    i += 1": "the memory that the condition reads is not written",
    "while i < tl.load(x):\n    i += 1\n    tl.store(u, i)": "the kernel writes a different argument",
    "y = tl.load(x)\nwhile i < y:\n    i += 1\ntl.store(x, n)": "the number is read once, before the loop",
    "while i < n:\n    for j in range(0, n):\n        i += 1\n        tl.store(x, i)": "the inner loop only writes",
    "while i < n:\n    if n > 3:\n        i += 1\n        tl.store(x, i)\n    i += 1": "the branch only writes",
    "tl.store(x, tl.load(x))": "there is no loop",
    "for j in range(0, n):\n    tl.store(x, tl.load(x) + j)": "a loop over a range ends by itself",
}


def judge_waits(text: str, expected: bool, because: str) -> None:
    __tracebackhide__ = True
    (function,) = parse_module(text).body.operations
    about("waits(function, …)", text, waits, function, origins(function)).returns(expected, because)


def judge_loop(lines: str, expected: bool, because: str) -> None:
    """Judge whether a kernel with these lines waits."""
    __tracebackhide__ = True
    judge_waits(compiled(f"i = n - n\n{lines}", x="*i32", u="*i32", a="i64", n="i32"), expected, because)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("read", READS)
def test_a_condition_that_depends_on_memory_waits(read: str, place: str) -> None:
    """A loop waits if the kernel writes the memory that its condition reads, directly or through a carried value."""
    because = f"the condition of the loop depends on {read}: another program may have to write first"
    for loop in WAITING.split("---"):
        lines = f"{loop.strip().format(read=read)}\ntl.store(x, n)"
        header, indent = PLACES[place], "    " * bool(PLACES[place])
        judge_loop("\n".join([header, *(indent + line for line in lines.splitlines())]), True, because)


@pytest.mark.parametrize("lines", GOES_ON)
def test_other_loops_do_not_wait(lines: str) -> None:
    """These loops end whatever other programs do."""
    judge_loop(lines, False, GOES_ON[lines])


def test_writes_through_an_address() -> None:
    """Writes through an address may change any memory."""
    lines = "while i < tl.load(x):\n    i += 1\ntl.store(a.to(tl.pointer_type(tl.int32)), n)"
    judge_loop(lines, True, "the address may be that of %x")


def test_reads_through_an_address() -> None:
    """Any write may change the memory at an address."""
    lines = "while i < tl.load(a.to(tl.pointer_type(tl.int32))):\n    i += 1"
    judge_loop(f"{lines}\ntl.store(x, n)", True, "the address may be that of %x")
    judge_loop(lines, False, "no program writes")


LOCK = """
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) * 3 + 1)
    tl.atomic_xchg(lock, 0)
"""


def test_a_lock() -> None:
    """One program at a time holds the lock, and the others spin. Each replaces the total t by 3t + 1."""
    text = compiled(LOCK, lock="*i32", total="*i32")
    judge_waits(text, True, "the condition swaps the lock")
    for programs in (1, 2, 7):
        expected = [number(0), number((3**programs - 1) // 2)]
        judge(text, (programs,), [number(0), number(0)], expected, "one program at a time updates the total", chunk=1)


RING = """
    mine = flags + tl.program_id(0)
    flag = tl.load(mine)
    while flag == 0:
        flag = tl.load(mine)
    tl.atomic_or(mine + 1, flag + flag)
    tl.store(out + tl.program_id(0), flag)
"""


def test_a_chain() -> None:
    """Each program waits for the one before it."""
    text = compiled(RING, flags="*i32", out="*i32")
    judge_waits(text, True, "the condition loads a flag")
    powers = 2 ** np.arange(8, dtype=np.int32)
    arguments, expected = [np.array([1, *[0] * 7], np.int32), np.zeros(7, np.int32)], [powers, powers[:7]]
    judge(text, (7,), arguments, expected, "each program passes on twice the value that it read", chunk=1)
