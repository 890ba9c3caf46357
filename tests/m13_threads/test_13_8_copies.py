"""Task 13.8: copies into registers, all at once. The judge is Python's assignment of tuples."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.control import assign
from mini_triton.backends.threads.layouts import blocked
from mini_triton.backends.threads.threads import Threads
from mini_triton.ir.core import Value

from tests.checks import described
from tests.support.m13_threads import probing

NAMES = "abcdef"
TEXT = f"module {{\ntt.func public @k(%p: !tt.ptr<i32>, {', '.join(f'%{n}: i32' for n in NAMES)}) {{\ntt.return\n}}\n}}"
NUMBERS = [10 * number for number in range(1, 7)]


def held() -> tuple[Threads, list[Value]]:
    """Six numbers in registers."""
    threads, (_, *values) = probing.threads_of(TEXT, 1)
    return threads, values


def judge(targets: str, sources: str, most: int | None = None, because: str = "") -> None:
    """Require the result of `targets = sources`, and at most so many copies."""
    __tracebackhide__ = True
    threads, values = held()
    known = dict(zip(NAMES, values, strict=True))
    before = len(threads.lists[0])
    given = [known[name] for name in targets], [known[name] for name in sources]
    asked = described(f"assign(threads, [{', '.join(targets)}], [{', '.join(sources)}])", assign, threads, *given)
    asked()
    copies = len(threads.lists[0]) - before
    registers = [threads.register(value) for value in values]
    found, _ = probing.look(threads, registers, NUMBERS, ["b32"] * 6)
    expected = dict(zip(NAMES, NUMBERS, strict=True))
    expected |= {target: expected[source] for target, source in zip(targets, sources, strict=True)}
    got = dict(zip(NAMES, map(int, found[0][0]), strict=True))
    if got != expected:
        asked.fail(f"{expected}", f"{got}", because or "every register is read before one is written")
    if most is not None and copies > most:
        asked.fail(f"at most {most} copies", f"{copies} copies", because)


def test_other_registers() -> None:
    judge("a", "b", 1)
    judge("abc", "def", 3, "no register is both read and written")
    judge("ab", "cc", 2, "two registers get one value")
    judge("", "", 0)


def test_swaps() -> None:
    judge("ab", "ba")
    judge("abc", "bca")
    judge("abcd", "badc")


def test_chains() -> None:
    judge("ab", "bc")
    judge("ba", "ab")
    judge("bc", "ab")
    judge("abcde", "bcdef")


def test_copies_that_change_nothing() -> None:
    judge("abc", "abc", 0, "each value is in its register already")
    judge("abc", "adc", 1, "two of three are in their registers already")


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6), st.permutations(NAMES))
def test_random_assignments(sources: list[str], names: list[str]) -> None:
    targets = names[: len(sources)]
    moved = {target for target, source in zip(targets, sources, strict=True) if target != source}
    spared = {source for target, source in zip(targets, sources, strict=True) if target != source and source in moved}
    most = len(moved) + len(spared)
    judge("".join(targets), "".join(sources), most, "only values whose register is overwritten take two copies")


def test_values_that_are_computed_first() -> None:
    """`b - a` becomes instructions only here; it reads the register of `a` before the copy into `a`."""
    text = TEXT.replace("tt.return", "%s = arith.addi %a, %b : i32\n%d2 = arith.subi %b, %a : i32\ntt.return")
    threads, (_, *values) = probing.threads_of(text, 1)
    a, b, *_, total, difference = values
    asked = described("assign(threads, [a, b], [a + b, b - a])", assign, threads, [a, b], [total, difference])
    asked()
    found, _ = probing.look(threads, [threads.register(a), threads.register(b)], NUMBERS, ["b32"] * 6)
    got = [int(number) for number in found[0][0]]
    if got != [30, 10]:
        asked.fail("a, b = 30, 10", f"a, b = {got}", "a and b were 10 and 20; both results are computed from these")


def test_tensors_in_the_targets_layout() -> None:
    """Two tensors change places; a third, which fits every layout, is computed in the layout of its target."""
    type = "tensor<128xi32>"
    threads, (_, _, range_, _, x, y, z) = probing.threads_of(f"""module {{
      tt.func public @k(%p: !tt.ptr<i32>, %n: i32) {{
        %range = tt.make_range {{start = 0 : i32, end = 128 : i32}} : {type}
        %many = tt.splat %n : i32 -> {type}
        %x = arith.addi %range, %many : {type}
        %y = arith.muli %range, %many : {type}
        %z = arith.subi %range, %many : {type}
        tt.return
      }}
    }}""", 1)  # fmt: skip
    layout = blocked((128,), (0,), {0: 2}, 1)
    at = np.array([[layout.index(register, thread)[0] for register in layout.distinct] for thread in range(32)])
    for value in (x, y, z):
        computed = {number: threads.new("b32") for number in layout.distinct}
        for number, register in computed.items():
            threads.copy(register, threads.compute(value, layout, number))
        threads.hold(value, layout, computed)
    asked = described("assign(threads, [x, y, z], [y, x, range])", assign, threads, [x, y, z], [y, x, range_])
    asked()
    for value, expected, name in ((x, at * 7, "x"), (y, at + 7, "y"), (z, at, "z")):
        found, _ = probing.elements(threads, value, layout, [7])
        threads.lists[0].pop()
        if (found != expected).any():
            asked.fail(f"{name} in thread 1: {expected[1]}", f"{found[1]}", f"n is 7, and range has {at[1]} there")
