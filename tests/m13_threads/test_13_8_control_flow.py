"""Task 13.8: kernels with loops and branches. The judge is Python, which runs the same statements."""

import textwrap
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.back_end import compile_module
from mini_triton.emulator.report import Report
from mini_triton.ir.parser import parse_module

from tests.checks import described, one_in
from tests.support.m13_threads import kernels

BLOCK = 256
"""Elements of a tile. Nothing is known of `out`, so stores move single elements, and all layouts are alike."""
SIGNATURE = {"out": "*i32", "scalars": "*i32", "n": "i32", "m": "i32"}


def body(statements: str) -> str:
    """A kernel: numbers a, b, c and a tile t; the statements change them."""
    return f"""def k(out, scalars, n, m, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = n
    b = m
    c = n ^ m
    t = at + n
{textwrap.indent(textwrap.dedent(statements).strip(), "    ")}
    tl.store(out + at, t)
    tl.store(scalars, a)
    tl.store(scalars + 1, b)
    tl.store(scalars + 2, c)
"""


def in_python(text: str, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """What a kernel stores, computed by Python and NumPy."""
    stored: dict[Any, Any] = {}

    class Language:
        constexpr = int

        @staticmethod
        def arange(start: int, stop: int) -> np.ndarray:
            return np.arange(start, stop, dtype=np.int32)

        @staticmethod
        def store(place: Any, value: Any) -> None:
            stored[int(np.ravel(place)[0])] = value

    names: dict[str, Any] = {"tl": Language, "np": np}
    exec(text, names)
    with np.errstate(all="ignore"):
        names["k"](0, 100, np.int32(n), np.int32(m), BLOCK)
    tile = np.broadcast_to(np.asarray(stored[0], np.int32), (BLOCK,))
    return tile, np.array([stored[100 + number] for number in range(3)], np.int32)


def judge(statements: str, n: int, m: int) -> tuple[str, Report]:
    """Require what Python computes. Returns the PTX, and the report of the launch."""
    __tracebackhide__ = True
    text = body(statements)
    code = kernels.code_of(kernels.source(text, SIGNATURE, BLOCK=BLOCK))
    arguments = [np.zeros(BLOCK, np.int32), np.zeros(3, np.int32), n, m]
    report, (tile, scalars, *_) = kernels.after(code, (1,), arguments, text)
    expected, numbers = in_python(text, n, m)
    asked = described(f"a launch with n = {n}, m = {m} of\n{text}", kernels.run)
    if (scalars != numbers).any():
        asked.fail(f"a, b, c = {numbers}", f"a, b, c = {scalars}", "Python computes it")
    if (tile != expected).any():
        place = int(np.flatnonzero(tile != expected)[0])
        asked.fail(f"t[{place}] = {expected[place]}", f"t[{place}] = {tile[place]}", "NumPy computes it")
    return code.ptx, report


# --- branches


IF = """
if n > m:
    a = n * 2
    t = t + m
"""
IF_ELSE = """
if n > m:
    a = b + 1
    t = t * 3
else:
    b = a - 1
    t = t - at
"""
SWAPPED = """
if n > m:
    a, b = b, a
"""
INNER = """
if n > m:
    if n > 2 * m:
        a = 1
    else:
        t = t + 1
    b = a + 5
else:
    if n == m:
        c = 7
"""


@pytest.mark.parametrize("statements", [IF, IF_ELSE, SWAPPED, INNER], ids=["if", "else", "swap", "inner"])
def test_branches(statements: str) -> None:
    for n, m in ((5, 3), (3, 5), (4, 4), (9, 3), (-9, 3)):
        judge(statements, n, m)


def test_only_one_block_runs() -> None:
    """The other block would store."""
    text = """def k(out, scalars, n, m, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if n > m:
        tl.store(out + at, at)
    else:
        tl.store(scalars, n)
"""
    code = kernels.code_of(kernels.source(text, SIGNATURE, BLOCK=BLOCK))
    for n, m in ((5, 3), (3, 5)):
        arguments = [np.full(BLOCK, -1, np.int32), np.full(3, -1, np.int32), n, m]
        _, (tile, scalars, *_) = kernels.after(code, (1,), arguments, text)
        asked = described(f"what is stored with n = {n}, m = {m} by\n{text}", kernels.run)
        if (tile == np.arange(BLOCK)).all() != (n > m) or (scalars[0] == n) != (n <= m):
            asked.fail("the store of one block", "another store", "no thread runs the other block")


def test_branches_without_a_second_block() -> None:
    text = """module {
  tt.func public @k(%out: !tt.ptr<i32>, %n: i32, %c: i1) {
    scf.if %c {
      tt.store %out, %n : !tt.ptr<i32>
    }
    %twice = arith.addi %n, %n : i32
    %one = arith.constant 1 : i32
    %place = tt.addptr %out, %one : !tt.ptr<i32>, i32
    tt.store %place, %twice : !tt.ptr<i32>
    tt.return
  }
}"""
    code = described(f"the code of\n{text}", compile_module, parse_module(text), 4, 90).succeeds()
    for condition in (0, 1):
        _, (out, *_) = kernels.after(code, (1,), [np.zeros(2, np.int32), 21, condition], text)
        asked = described(f"a launch with n = 21, c = {condition} of\n{text}", kernels.run)
        if list(out) != [21 * condition, 42]:
            asked.fail(f"out = {[21 * condition, 42]}", f"out = {list(out)}")


# --- loops over ranges


SUM = """
for i in range(0, n):
    a += i
    t += i
"""
FIBONACCI = """
for i in range(0, n):
    a, b = b, a + b
"""
ROTATED = """
for i in range(m, n, 3):
    a, b, c = b, c, a
    t = t + a
"""
ALIKE = """
for i in range(0, n):
    b = a
    a = i
    c = b
"""
NESTED = """
for i in range(0, n):
    for j in range(i, m):
        a += i * j
        t = t ^ j
    b = a
"""
USED_AFTER = """
for i in range(0, n):
    x = t + i
    t = x * 2
    if i > 2:
        t = t - x
        a = i
t = t + a
"""
LOOPS = {"sum": SUM, "fibonacci": FIBONACCI, "rotated": ROTATED, "alike": ALIKE, "nested": NESTED, "after": USED_AFTER}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name: str) -> None:
    for n, m in ((0, 3), (1, 4), (5, 2), (-2, 2), (7, -7)):
        judge(LOOPS[name], n, m)


def test_wide_counters() -> None:
    text = """def k(out, start, stop, step):
    count = 0
    last = start
    for i in range(start, stop, step):
        count += 1
        last = i
    tl.store(out, last)
    tl.store(out + 1, count.to(tl.int64))
"""
    signature = {"out": "*i64", "start": "i64", "stop": "i64", "step": "i64"}
    code = kernels.code_of(kernels.source(text, signature))
    for numbers in ((-(2**40), 2**40, 2**39), (2**33, 2**33 + 5, 1), (3, 3, 1)):
        _, (out, *_) = kernels.after(code, (1,), [np.zeros(2, np.int64), *numbers], text)
        values = list(range(*numbers))
        expected = [values[-1] if values else numbers[0], len(values)]
        assert list(out) == expected, f"range{numbers}: last and count are {list(out)}, expected {expected}"


def test_counters_are_signed() -> None:
    judge("for i in range(n, m):\n    a += i\n    b += 1", -3, 3)


# --- the cost of a loop


def executed(ptx: str, report: Report, opcode: str) -> int:
    """How many times the first warp runs instructions that begin so."""
    lines = ptx.splitlines()
    found = 0
    for number, (_, counts) in report.instructions.items():
        words = [word for word in lines[number - 1].split() if not word.startswith("@")]
        found += counts.instructions // 4 if words[0].startswith(opcode) else 0
    return found


def test_an_iteration_takes_one_branch() -> None:
    for n in (0, 1, 10):
        ptx, report = judge("for i in range(0, n):\n    a ^= i", n, 3)
        got = executed(ptx, report, "bra")
        asked = described(f"the branches that a thread meets in a loop of {n} iterations", kernels.run)
        if got > n + 1:
            asked.fail(f"at most {n + 1}", f"{got}", "one before the loop, and one at the end of an iteration")


def test_what_a_loop_does_not_change_is_computed_before() -> None:
    ptx, report = judge("for i in range(0, n):\n    t = t + m * m\n    a = a + m * m * n", 10, 3)
    got = executed(ptx, report, "mul")
    asked = described(
        "the products that a thread computes in 10 iterations of `t += m * m; a += m * m * n`", kernels.run
    )
    if got > 2:
        asked.fail("2", f"{got}", "`m * m` is defined before the loop; its instructions go to its own level")


def test_loops_are_entered_at_their_labels() -> None:
    """The given pass `hoist` computes `out + m` before the label."""
    text = """def k(out, scalars, n, m, BLOCK: tl.constexpr):
    a = 0
    i = 0
    while i < n:
        a += tl.load(out + i + m)
        i += 1
    for j in range(0, n):
        a += tl.load(out + j + m)
    tl.store(scalars, a)
"""
    code = kernels.code_of(kernels.source(text, SIGNATURE, BLOCK=8))
    given = np.arange(16, dtype=np.int32) ** 2
    for n, m in ((0, 1), (1, 15), (5, 3)):
        _, (_, scalars, *_) = kernels.after(code, (1,), [given, np.zeros(1, np.int32), n, m], text)
        expected = 2 * int(given[m : m + n].sum())
        asked = described(f"a launch with n = {n}, m = {m} of\n{text}", kernels.run)
        if scalars[0] != expected:
            asked.fail(f"{expected}", f"{scalars[0]}", "a loop begins at its label")


def test_carried_values_stay_in_their_registers() -> None:
    ptx, report = judge("for i in range(0, n):\n    t = t + i", 10, 3)
    got = executed(ptx, report, "mov.b32")
    asked = described("the copies in 10 iterations of `t = t + i`, where a thread has 2 elements of t", kernels.run)
    if got > 10 * 2 + 12:
        asked.fail("2 for each iteration, and a few around the loop", f"{got}", "only t has next values")


# --- loops over conditions


COUNTDOWN = """
while a > 0:
    a -= 3
    t = t + a
"""
EUCLID = """
while b != 0:
    a, b = b, a % b
    c += 1
"""
BOTH = """
i = 0
while i < n:
    if i % 2 == 0:
        t = t + i
        a = b
    else:
        b = a + i
    j = 0
    while j < i:
        c += j
        j += 1
    i += 1
"""
WHILES = {"countdown": COUNTDOWN, "euclid": EUCLID, "nested": BOTH}


@pytest.mark.parametrize("name", WHILES)
def test_while_loops(name: str) -> None:
    for n, m in ((0, 0), (12, 18), (7, 3), (1, 5), (10, 4)):
        judge(WHILES[name], n, m)


def test_effects_in_every_block() -> None:
    """The first block of a while loop loads; blocks of a loop and of a branch store."""
    text = """def k(out, scalars, n, m, BLOCK: tl.constexpr):
    a = 0
    while tl.load(out + a) > n:
        tl.store(scalars, a)
        a += 1
    for i in range(0, a):
        tl.store(out + BLOCK + i, tl.load(out + i) + i)
    if a > m:
        tl.store(scalars + 1, a)
    else:
        tl.store(scalars + 2, a)
"""
    code = kernels.code_of(kernels.source(text, SIGNATURE, BLOCK=8))
    for length, m in ((0, 3), (1, 0), (5, 3), (5, 9)):
        given = np.array([9] * length + [1] * (16 - length), np.int32)
        arguments = [given, np.full(3, -1, np.int32), 2, m]
        _, (out, scalars, *_) = kernels.after(code, (1,), arguments, text)
        expected = given.copy()
        expected[8 : 8 + length] = 9 + np.arange(length)
        numbers = [length - 1, length if length > m else -1, -1 if length > m else length]
        asked = described(f"a launch with out[:{length}] > n and m = {m} of\n{text}", kernels.run)
        if (out != expected).any() or list(scalars) != numbers:
            asked.fail(f"out = {expected}, scalars = {numbers}", f"out = {out}, scalars = {list(scalars)}")


FORWARDED = """module {
  tt.func public @k(%out: !tt.ptr<i32>, %n: i32) {
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %r:2 = scf.while (%x = %n, %y = %one) : (i32, i32) -> (i32, i32) {
      %twice = arith.muli %x, %two : i32
      %goes_on = arith.cmpi slt, %x, %n2 : i32
      scf.condition(%goes_on) %y, %twice : i32, i32
    } do {
    ^bb0(%p: i32, %q: i32):
      %next = arith.addi %p, %one : i32
      scf.yield %q, %next : i32, i32
    }
    tt.store %out, %r#0 : !tt.ptr<i32>
    %place = tt.addptr %out, %one : !tt.ptr<i32>, i32
    tt.store %place, %r#1 : !tt.ptr<i32>
    tt.return
  }
}""".replace("%n: i32)", "%n: i32, %n2: i32)")


def test_values_that_the_first_block_forwards() -> None:
    """The first block forwards other values than its arguments, in another order."""
    code = compile_module(parse_module(FORWARDED), 4, 90)
    for n, limit in ((1, 50), (3, 1), (5, 1000)):
        x, y = n, 1
        while True:
            p, q = y, x * 2
            if not x < limit:
                break
            x, y = q, p + 1
        _, (out, *_) = kernels.after(code, (1,), [np.zeros(2, np.int32), n, limit], FORWARDED)
        asked = described(f"the results of scf.while with n = {n}, n2 = {limit} in\n{FORWARDED}", kernels.run)
        if list(out) != [p, q]:
            asked.fail(f"{[p, q]}", f"{list(out)}", "the results are what the first block forwards at last")


# --- random programs


ASSIGNMENTS = ["a = b + 3", "b = a ^ c", "c = c + a", "a, b = b, a", "b, c, a = a, b, c", "t = t + a", "t = t ^ b"]
ASSIGNMENTS += ["a = (a * 5 + b) & 1023", "t = t * 3 + c", "c = b"]
CONDITIONS = ["a > b", "c & 1 == 0", "b < 100", "a != c"]


@st.composite
def statements(draw: st.DrawFn, depth: int = 3) -> str:
    """A few statements; loops end after at most three iterations."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["assign", "assign", "if", "else", "for", "while"] if depth else ["assign"]))
        if kind == "assign":
            lines.append(draw(st.sampled_from(ASSIGNMENTS)))
            continue
        inner = textwrap.indent(draw(statements(depth - 1)), "    ")
        condition = draw(st.sampled_from(CONDITIONS))
        if kind == "for":
            lines.append(f"for i{depth} in range(0, a & 3):\n    c += i{depth}\n{inner}")
        elif kind == "while":
            lines.append(f"w{depth} = 0\nwhile w{depth} < (b & 3):\n    w{depth} += 1\n{inner}")
        else:
            lines.append(f"if {condition}:\n{inner}")
            if kind == "else":
                lines[-1] += "\nelse:\n" + textwrap.indent(draw(statements(depth - 1)), "    ")
    return "\n".join(lines)


@given(text=statements(), n=st.integers(-100, 100), m=st.integers(-100, 100))
def test_random_programs(text: str, n: int, m: int) -> None:
    judge(text, n, m)


test_random_programs = one_in(5)(test_random_programs)
