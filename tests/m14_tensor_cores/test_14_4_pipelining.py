"""Task 14.4: pipelined loops. An interpreter in which a copy lands only at its wait runs them beside the originals."""

import textwrap
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module
from mini_triton.transforms.pipelining import needed_inside, runs_ahead

from tests.checks import described, one_in
from tests.support.m14_tensor_cores.rings import Loop, copyable

COUNTS = {"n": "i32"}


def loop(body: str, before: str = "", counts: Mapping[str, str] = COUNTS, over: str = "range(n)") -> Loop:
    """A kernel with a loop over i, which adds to `total`."""
    text = f"def kernel(out, x, y, {', '.join(counts)}, W: tl.constexpr):\n"
    text += "    at = tl.arange(0, W)\n    total = tl.zeros((W,), tl.int32)\n    p = x + at\n    q = y + at\n"
    text += textwrap.indent(textwrap.dedent(before).strip() + "\n", "    ") if before else ""
    text += f"    for i in {over}:\n" + textwrap.indent(textwrap.dedent(body).strip() + "\n", "        ")
    return Loop(text + "    tl.store(out + at, total)\n", counts)


CARRIED = loop("""
    total = total * 3 + tl.load(p)
    p += W
""")  # fmt: skip
COUNTER = loop("total = total * 3 + tl.load(x + i * W + at)")
MASKED = loop("""
    total = total * 3 + tl.load(p, mask=at < n * W - i * W - 3, other=0)
    p += W
""")  # fmt: skip
CARRIED_MASK = loop("""
    total = total * 3 + tl.load(x + i * W + at, mask=at < left, other=0)
    left -= 2
""", before="left = n * 2 - 5")  # fmt: skip
TWO = loop("""
    total = total * 3 + tl.load(p) - tl.load(x + i * W + at)
    p += W
""")  # fmt: skip
ONE_STAYS = loop("""
    total = total * 3 + tl.load(p) - tl.load(q)
    p += W
    q += W
""")  # fmt: skip
SWAPPED = loop("""
    total = total * 3 + tl.load(p)
    p, r = r, p + W
""", before="r = p + (n - 1) // 2 * W")  # fmt: skip
DELAYED = loop("""
    total = total * 3 + tl.load(x + first * W + at)
    first = second
    second = i
""", before="first = 0\nsecond = 0")  # fmt: skip
INVARIANT = loop("total = total * 3 + tl.load(p)")
DIVIDED = loop("total = total * 3 + tl.load(p + n // (n - i) % 2)")
FAR = loop("""
    total = total * 3 + tl.load(p)
    p += W
""", over="range(0, 2**30, 2**30 - 1)")  # fmt: skip
AFTER = Loop(
    CARRIED.text.replace("tl.store(out + at, total)", "tl.store(out + at, total + tl.load(p - W, mask=n > 0))")
)
KINDS = {
    "carried": CARRIED,
    "counter": COUNTER,
    "masked": MASKED,
    "carried mask": CARRIED_MASK,
    "two": TWO,
    "one stays": ONE_STAYS,
    "swapped": SWAPPED,
    "delayed": DELAYED,
    "invariant": INVARIANT,
    "divided": DIVIDED,
    "used after": AFTER,
}


@pytest.mark.parametrize("stages", [2, 3, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_loops(kind: str, stages: int) -> None:
    """Also loops of no iteration, of one, and of fewer iterations than slots."""
    for n in (0, 1, 2, 3, 4, 7):
        KINDS[kind].check(stages, n=n)


@one_in(4)
@given(kind=st.sampled_from(sorted(KINDS)), stages=st.integers(2, 8), n=st.integers(0, 20))
def test_random_sizes(kind: str, stages: int, n: int) -> None:
    KINDS[kind].check(stages, n=n)


@pytest.mark.parametrize("type", ["i32", "i64"])
def test_bounds(type: str) -> None:
    """The first iteration is not 0, the step is not 1, and the bounds may have 64 bits."""
    bounds = {"first": type, "last": type, "step": type}
    text = loop("total = total * 3 + tl.load(x + i * W + at)", counts=bounds, over="range(first, last, step)")
    for first, last, step in ((0, 9, 3), (1, 9, 3), (2, 9, 3), (5, 5, 1), (7, 3, 2), (1, 2, 50)):
        text.check(3, first=first, last=last, step=step)


@pytest.mark.parametrize("stages", [2, 4])
def test_constant_bounds(stages: int) -> None:
    loop("total = total * 3 + tl.load(x + i * W + at)", over="range(2, 9, 3)").check(stages, n=9)


@pytest.mark.parametrize("stages", [2, 3, 8])
def test_the_counter_does_not_overflow(stages: int) -> None:
    """After the last of these two iterations, another step does not overflow, but two do."""
    FAR.check(stages, n=2)


def test_one_wait_an_iteration() -> None:
    for n in range(6):
        copies = TWO.check(4, n=n)
        asked = described(f"the kernel, pipelined, with n = {n}\n{TWO.text}", lambda: None)
        if copies.waits != n + 1:
            asked.fail(f"{n + 1} waits: one an iteration, one after the loop", f"{copies.waits} waits")
        slots = [ring.slots.shape[0] for ring in copies.rings]
        if slots != [4, 4]:
            asked.fail("two rings of 4 slots", f"{len(slots)} rings, of {slots} slots")


NESTED = """def kernel(out, x, y, n, m, W: tl.constexpr):
    at = tl.arange(0, W)
    total = tl.zeros((W,), tl.int32)
    row = x + at
    for i in range(n):
        {before}
        p = row
        for k in range(m):
            total = total * 3 + tl.load(p)
            p += W
        {after}
        row += m * W
    tl.store(out + at, total)
"""


INDEXED = NESTED.format(before="index = 0", after="row += index").replace(
    "p += W\n", "p += W\n            index = tl.load(y + k).to(tl.int32) & 1\n"
)
"""Before the next run of the inner loop, the outer loop moves the pointer by what the inner loop has loaded."""


@pytest.mark.parametrize("stages", [2, 3])
def test_a_loop_in_a_loop(stages: int) -> None:
    for n, m in ((3, 4), (4, 1), (2, 0)):
        for text in (NESTED.format(before="", after=""), INDEXED):
            Loop(text, {"n": "i32", "m": "i32"}).check(stages, n=n, m=m)


def test_loops_one_after_the_other() -> None:
    again = "    for i in range(n):\n        total = total * 5 + tl.load(x + i * W + at)\n    tl.store"
    for n in range(5):
        Loop(CARRIED.text.replace("    tl.store", again)).check(3, n=n)


# --- which loads


def load_of_x(kernel: Loop) -> tuple[Operation, Operation]:
    """The first load from `x` in a loop, and the loop."""
    loops = [operation for operation in kernel.module().walk() if operation.name == "scf.for"]
    return next((load, loop) for loop in loops for load in loop.regions[0].block.operations if copyable(load))


NEEDS = """
tt.func @kernel(%x: !tt.ptr<f32>, %n: i32, %w: i32) {{
  %zero = arith.constant 0 : i32
  %sum = arith.constant 0.0 : f32
  %r:3 = scf.for %i = %zero to %n step %w iter_args(%acc = %sum, %p = %x, %k = %w) -> (f32, !tt.ptr<f32>, i32) : i32 {{
    %a = tt.addptr %p, %w : !tt.ptr<f32>, i32
    %b = arith.muli %i, %w : i32
    %c = arith.addi %k, %b : i32
    %d = tt.addptr %x, {offset} : !tt.ptr<f32>, i32
    %e = arith.cmpi slt, {compared}, %n : i32
    %f = tt.load {pointer}, %e : !tt.ptr<f32>
    %g = arith.addf %acc, %f : f32
    scf.yield %g, %a, %c : f32, !tt.ptr<f32>, i32
  }}
  tt.return
}}
"""


@pytest.mark.parametrize(
    "pointer, offset, compared, names",
    [
        ("%x", "%w", "%w", "e"),
        ("%x", "%w", "%i", "e i"),
        ("%x", "%w", "%b", "b e i"),
        ("%x", "%w", "%k", "b c e i k"),
        ("%d", "%w", "%w", "d e"),
        ("%d", "%b", "%n", "b d e i"),
        ("%d", "%k", "%n", "b c d e i k"),
        ("%p", "%w", "%w", "a e p"),
        ("%a", "%k", "%i", "a e i p"),
        ("%p", "%k", "%c", "a b c e i k p"),
    ],
)
def test_what_a_load_needs(pointer: str, offset: str, compared: str, names: str) -> None:
    text = NEEDS.format(pointer=pointer, offset=offset, compared=compared)
    (loop,) = (operation for operation in parse_module(text).walk() if operation.name == "scf.for")
    (load,) = (operation for operation in loop.walk() if operation.name == "tt.load")
    call = described(f"needed_inside(load, loop) for\n{text}\n", needed_inside, load, loop)
    found = sorted(value.name for value in call())
    if found != names.split():
        call.fail(f"the values {names}", f"the values {' '.join(found)}")


AHEAD = {
    "a selected pointer": loop("total += tl.load(x + at + tl.where(i < 2, i, n) % 2)"),
    "a division, by zero after the last iteration": DIVIDED,
    "loaded before the loop": loop("total += tl.load(x + at + first)", before="first = tl.load(x)"),
    "a branch before the loop": loop("total += tl.load(r)", before="r = p\nif n > 3:\n    r = p + 1"),
    "a branch for something else": loop("""
        total += tl.load(p)
        if i > 3:
            total += 5
        p += W
    """),
    "a load for something else": ONE_STAYS,
    "a loaded index, but only outside the loop": Loop(INDEXED, {"n": "i32", "m": "i32"}),
    "a store before the loop": loop("total += tl.load(p + i)", before="tl.store(out + at, total)"),
}  # fmt: skip
LATE = {
    "a loaded index": loop("total += tl.load(x + at + tl.load(y + i) % 2)"),
    "a loaded mask": loop("total += tl.load(p, mask=tl.load(q) > i)"),
    "an index from an earlier iteration's load": loop("""
        total += tl.load(p + index)
        index = tl.load(y + i).to(tl.int32) % 2
    """, before="index = 0"),
    "a branch": loop("""
        total += tl.load(p)
        if i > 3:
            p += W
    """),
    "a branch that chooses": loop("""
        r = p
        if i > 3:
            r = x + at + n
            total += tl.load(q)
        total += tl.load(r)
    """),
    "an inner loop": loop("""
        total += tl.load(p)
        for k in range(i):
            p += W
    """),
    "an inner while": loop("""
        total += tl.load(p)
        while first * first < i:
            first += 1
        p += first
    """, before="first = 0"),
    "a loop that may wait for another program": loop("""
        total += tl.load(p)
        while tl.load(y) < i:
            first += 1
        total += first
        p += W
    """, before="first = 0"),
    "sums": loop("total += tl.load(p + tl.sum(total, 0))"),
    "a store": loop("""
        total += tl.load(p)
        tl.store(p + 1, total)
    """),
    "an atomic": loop("""
        tl.atomic_add(x + i, 1)
        total += tl.load(p)
    """),
    "a store in a branch": loop("""
        total += tl.load(p)
        if i > 3:
            tl.store(p, total)
    """),
}  # fmt: skip


@pytest.mark.parametrize("why", [*AHEAD, *LATE])
def test_which_loads_run_ahead(why: str) -> None:
    kernel = (AHEAD | LATE)[why]
    call = described(f"runs_ahead(load, loop) for the load from x in\n{kernel.text}\n", runs_ahead, *load_of_x(kernel))
    call.returns(why in AHEAD, because=f"there is {why}" if why in LATE else "")


@pytest.mark.parametrize("why", ["a branch", "a loaded index"])
def test_other_loads_stay(why: str) -> None:
    copies = LATE[why].check(3, n=1)
    assert not copies.rings, f"the load is not copied, because of {why}:\n{LATE[why].text}"
