"""Task 13.5: a value's instructions are emitted when one of its registers is needed, once, and where it is defined."""

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.instructions import Register, Unsupported
from mini_triton.backends.threads.layouts import SCALAR, Layout, blocked
from mini_triton.backends.threads.threads import Threads
from mini_triton.errors import Loc
from mini_triton.ir.core import OpResult, Value

from tests.checks import described
from tests.support.m13_threads.probing import elements, threads_of

TILE = "tensor<1024xi32>"
LAYOUT = blocked((1024,), (0,), {0: 4}, 4)
KERNEL = f"""module {{
  tt.func public @k(%p: !tt.ptr<i32>, %n: i32, %c: i1) {{
    %range = tt.make_range {{start = 0 : i32, end = 1024 : i32}} : {TILE}
    %many = tt.splat %n : i32 -> {TILE}
    %sum = arith.addi %range, %many : {TILE}
    %square = arith.muli %sum, %sum : {TILE}
    %rest = arith.remsi %square, %many : {TILE}
    %unused = arith.divsi %sum, %many : {TILE}
    %either = arith.select %c, %sum, %square : i1, {TILE}
    tt.return
  }}
}}"""
RANGE, MANY, SUM, SQUARE, REST, UNUSED, EITHER = range(3, 10)
"""Places of the values of `KERNEL`, after the parameters."""


class Asked(described):
    """A request for one register of a value."""

    def __init__(self, threads: Threads, value: Value, layout: Layout = LAYOUT, number: int = 0) -> None:
        name = f"the result of `{value.owner.name}`" if isinstance(value, OpResult) else "a parameter"
        super().__init__(f"threads.register({name}, …, {number})", threads.register, value, layout, number)
        self.threads = threads

    def emits(self, expected: dict[str, int], because: str) -> Register:
        """Require that the request emits so many arithmetic instructions of each kind; return the register."""
        __tracebackhide__ = True
        before = len(self.threads.lists[self.threads.level])
        register = self()
        emitted = self.threads.lists[self.threads.level][before:]
        counts = Counter(i.opcode.split(".")[0] for i in emitted)
        got = {name: counts[name] for name in ("add", "mul", "rem", "div", "selp") if counts[name]}
        if got != expected:
            self.fail(f"instructions {expected}", f"instructions {got}", because)
        return register


def test_an_element_needs_one_register_of_each_operand() -> None:
    threads, values = threads_of(KERNEL)
    Asked(threads, values[REST], number=5).emits({"add": 1, "mul": 1, "rem": 1}, "one of 8 elements is needed")
    assert not threads.registers.get((values[UNUSED], LAYOUT)), "nobody needs the quotient"


def test_nothing_is_computed_twice() -> None:
    threads, values = threads_of(KERNEL)
    first = Asked(threads, values[SQUARE], number=3).emits({"add": 1, "mul": 1}, "both operands are one element")
    again = Asked(threads, values[SQUARE], number=3).emits({}, "the element is in a register")
    assert again == first, f"the second request returns {again}, the first {first}; the same register holds the element"
    Asked(threads, values[REST], number=3).emits({"rem": 1}, "the square is in a register")
    Asked(threads, values[REST], number=2).emits({"add": 1, "mul": 1, "rem": 1}, "this is another element")


def test_registers_of_the_same_element_are_one() -> None:
    threads, values = threads_of(KERNEL)
    layout = Layout(((1,), (0,), (2,)), tuple((4 << bit,) for bit in range(5)), ((128,), (256,)))
    first = Asked(threads, values[SUM], layout, 1).emits({"add": 1}, "")
    other = Asked(threads, values[SUM], layout, 3).emits({}, "bit 1 of a register's number does not matter")
    assert first == other


def test_numbers_among_the_operands() -> None:
    threads, values = threads_of(KERNEL)
    Asked(threads, values[EITHER], number=1).emits({"add": 1, "mul": 1, "selp": 1}, "%c is a number")
    found, report = elements(threads, values[EITHER], LAYOUT, [7, 1])
    assert not report.errors
    expected = np.array([[LAYOUT.index(r, t)[0] + 7 for r in LAYOUT.distinct] for t in range(128)])
    assert (found == expected).all(), f"with %c true, thread 1 has {found[1]}; `%range + 7` is {expected[1]}"


def test_values_of_all_threads() -> None:
    threads, values = threads_of(KERNEL)
    found, _ = elements(threads, values[REST], LAYOUT, [37, 0])
    at = np.array([[LAYOUT.index(r, t)[0] for r in LAYOUT.distinct] for t in range(128)], np.int64)
    expected = (at + 37) ** 2 % 37
    assert (found == expected).all(), f"thread 1 has {found[1]}; `(%range + 37)² % 37` is {expected[1]}"


# --- results of several operations


def test_which_result() -> None:
    pair, half = "tensor<256x2xi32>", "tensor<256xi32>"
    threads, values = threads_of(f"""module {{
      tt.func public @k(%p: !tt.ptr<i32>) {{
        %range = tt.make_range {{start = 0 : i32, end = 512 : i32}} : tensor<512xi32>
        %pairs = tt.reshape %range : tensor<512xi32> -> {pair}
        %even, %odd = tt.split %pairs : {pair} -> {half}
        tt.return
      }}
    }}""")
    layout = blocked((256,), (0,), {0: 2}, 4)
    at = np.array([[layout.index(r, t)[0] for r in layout.distinct] for t in range(128)])
    for value, offset in zip(values[-2:], (0, 1), strict=True):
        found, _ = elements(threads, value, layout)
        assert (found == 2 * at + offset).all(), f"result {offset} of tt.split in thread 1 is {found[1]}"
        threads.lists[0].pop()


# --- values in registers


def stand_in(threads: Threads) -> list[tuple[Value, Layout]]:
    """Conversions that only count: each makes new registers. Task 13.11 moves the elements."""
    calls: list[tuple[Value, Layout]] = []

    def convert(value: Value, layout: Layout) -> None:
        assert value in threads.homes, f"`convert` takes a value from its home, but {value!r} is not in registers"
        assert threads.homes[value] != layout, "the value is in this layout already"
        calls.append((value, layout))
        found = {number: Register("b32", 10_000 + number) for number in layout.distinct}
        threads.registers.setdefault((value, layout), {}).update(found)

    vars(threads)["convert"] = convert
    return calls


def test_held_values() -> None:
    threads, values = threads_of(KERNEL)
    calls = stand_in(threads)
    mine = {number: threads.new("b32") for number in LAYOUT.distinct}
    threads.hold(values[SQUARE], LAYOUT, mine)
    register = Asked(threads, values[SQUARE], number=2).emits({}, "the value is held")
    assert register == mine[2], f"the value is held in {mine[2]}, but the request returns {register}"
    Asked(threads, values[REST], number=2).emits({"rem": 1}, "the square is held, so no sum is needed")
    assert not calls, "a value in its own layout is not converted"


def test_held_values_in_another_layout() -> None:
    threads, values = threads_of(KERNEL)
    calls = stand_in(threads)
    threads.hold(values[SQUARE], LAYOUT, {number: threads.new("b32") for number in LAYOUT.distinct})
    other = blocked((1024,), (0,), {}, 4)
    for number in (5, 2, 5):
        register = Asked(threads, values[SQUARE], other, number).emits({}, "a held value is never computed again")
        assert register == Register("b32", 10_000 + number), "the register is one that `convert` filled in"
    assert calls == [(values[SQUARE], other)], f"one conversion gives all registers; there were {len(calls)}"
    assert threads.homes[values[SQUARE]] == LAYOUT


ADDRESSES = f"""module {{
  tt.func public @k(%p: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}) {{
    %range = tt.make_range {{start = 0 : i32, end = 1024 : i32}} : {TILE}
    %pointers = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %places = tt.addptr %pointers, %range : tensor<1024x!tt.ptr<i32>>, {TILE}
    %loaded = tt.load %places : tensor<1024x!tt.ptr<i32>>
    %sum = arith.addi %loaded, %range : {TILE}
    %square = arith.muli %sum, %sum : {TILE}
    tt.return
  }}
}}"""


def test_computed_values_have_a_layout_of_their_own() -> None:
    """The load holds its result as 16-byte accesses want; what is computed from it stays there."""
    threads, values = threads_of(ADDRESSES)
    calls = stand_in(threads)
    *_, loaded, _, square = values
    own = threads.choice.natural(loaded)
    assert own == LAYOUT
    threads.hold(loaded, own, {number: threads.new("b32") for number in own.distinct})
    Asked(threads, square, own, 3).emits({"add": 1, "mul": 1}, "in its own layout, one register is computed")
    other = blocked((1024,), (0,), {}, 4)
    Asked(threads, square, other, 6).emits(
        {"add": 7, "mul": 7}, "before a conversion, the other 7 of 8 registers are computed, in the value's own layout"
    )
    Asked(threads, square, other, 1).emits({}, "the conversion gave all registers")
    assert calls == [(square, other)], "only the value itself is converted, not what it is computed from"
    assert threads.homes[square] == own
    assert set(threads.registers[square, own]) == set(own.distinct)


# --- places


NESTED = """module {
  tt.func public @k(%p: !tt.ptr<i32>, %n: i32) {
    %outer = arith.muli %n, %n : i32
    scf.for %i = %n to %n step %n : i32 {
      %inner = arith.addi %outer, %i : i32
      %both = arith.subi %inner, %outer : i32
    }
    tt.return
  }
}"""


def test_instructions_stand_where_the_value_is_defined() -> None:
    threads, values = threads_of(NESTED)
    outer = values[2]
    assert outer.parent_block
    _, loop, _ = outer.parent_block.operations
    block = loop.regions[0].block
    inner, both = (operation.result for operation in block.operations[:2])
    with threads.nested(block) as instructions:
        threads.hold(block.arguments[0], SCALAR, {0: threads.new("b32")})
        described("threads.register(%both) inside a loop", threads.register, both)()
        assert threads.level == 1, "after the request, instructions go to the loop's list again"
        threads.register(inner)
    names = [instruction.opcode for instruction in instructions]
    assert names == ["add.s32", "sub.s32"], f"the loop has {names}; %inner and %both are defined in it, %outer is not"
    assert "mul.lo.s32" in [i.opcode for i in threads.lists[0]], "%outer is computed before the loop"


def test_instructions_have_the_location_of_their_operation() -> None:
    threads, values = threads_of(KERNEL)
    here = threads.place = Loc("k.py", 1, 0)
    for number, value in enumerate(values[RANGE:], 2):
        assert isinstance(value, OpResult)
        value.owner.loc = Loc("k.py", number, 4)
    Asked(threads, values[SQUARE]).emits({"add": 1, "mul": 1}, "")
    for value, opcode in ((values[SUM], "add.s32"), (values[SQUARE], "mul.lo.s32")):
        (made,) = (i for i in threads.lists[0] if i.opcode == opcode)
        assert isinstance(value, OpResult)
        assert made.place == value.owner.loc, f"{opcode} stands for {value.owner.loc}, but is marked {made.place}"
    assert threads.place == here, "after the request, the place is the caller's again"


# --- operations that nobody compiles


def test_operations_in_no_table() -> None:
    """Only `threads.block` compiles a load, in order; nobody has done it here."""
    threads, values = threads_of(ADDRESSES)
    Asked(threads, values[-3]).raises(Unsupported, "tt.load", because="a load is neither in PURE nor in PLACED")
    Asked(threads, values[-1]).raises(Unsupported, "tt.load", because="the sum needs the load")


# --- programs


BINARY = {"addi": np.add, "subi": np.subtract, "muli": np.multiply, "xori": np.bitwise_xor, "maxsi": np.maximum}
SHAPES = [(64,), (512,), (8, 32), (2, 64), (1, 16), (4, 4, 8)]


@given(
    shape=st.sampled_from(SHAPES),
    steps=st.lists(st.tuples(st.sampled_from(list(BINARY)), st.integers(0, 9), st.integers(0, 9)), min_size=1),
    sizes=st.lists(st.sampled_from([1, 2, 4]), min_size=3, max_size=3),
    last=st.booleans(),
    warps=st.sampled_from([1, 2, 4]),
)
def test_random_programs(
    shape: tuple[int, ...], steps: list[tuple[str, int, int]], sizes: list[int], last: bool, warps: int
) -> None:
    count, tile = int(np.prod(shape)), f"tensor<{'x'.join(map(str, shape))}xi32>"
    lines = [
        f"%v = tt.make_range {{start = 0 : i32, end = {count} : i32}} : tensor<{count}xi32>",
        f"%v0 = tt.reshape %v : tensor<{count}xi32> -> {tile}",
        f"%v1 = tt.splat %n : i32 -> {tile}",
    ]
    known: list[Any] = [np.arange(count, dtype=np.int32).reshape(shape), np.full(shape, 77, np.int32)]
    for name, first, second in steps:
        first, second = first % len(known), second % len(known)
        lines.append(f"%v{len(known)} = arith.{name} %v{first}, %v{second} : {tile}")
        known.append(BINARY[name](known[first], known[second]))
    text = "\n".join(["module {", "tt.func public @k(%p: !tt.ptr<i32>, %n: i32) {", *lines, "tt.return", "}", "}"])
    threads, values = threads_of(text, warps)
    order = range(len(shape)) if not last else reversed(range(len(shape)))
    layout = blocked(shape, tuple(order), {axis: min(sizes[axis], shape[axis]) for axis in range(len(shape))}, warps)
    asked = described(f"the elements of the last value of\n{text}\n", elements, threads, values[-1], layout, [77])
    found, report = asked()
    assert not report.errors
    got = found.astype(np.uint32).view(np.int32)
    expected = np.array(
        [[known[-1][layout.index(register, thread)] for register in layout.distinct] for thread in range(32 * warps)]
    )
    if (got != expected).any():
        thread, place = map(int, np.argwhere(got != expected)[0])
        where = f"at {layout.index(layout.distinct[place], thread)}, in thread {thread}"
        asked.fail(f"{expected[thread, place]} {where}", f"{got[thread, place]}", "NumPy computes it")
    arithmetic = Counter(i.opcode.split(".")[0] for i in threads.lists[0])
    assert arithmetic["mul"] <= len(layout.distinct) * sum(name == "muli" for name, *_ in steps), (
        f"{arithmetic['mul']} products for {len(layout.distinct)} registers of each value of\n{text}"
    )


def test_instructions_are_linear_in_the_program() -> None:
    """Each value is used twice by the next: if elements were computed again, their number would double each time."""
    lines = "\n".join(f"%v{n + 1} = arith.addi %v{n}, %v{n} : i32" for n in range(12))
    threads, values = threads_of(
        f"module {{\ntt.func public @k(%p: !tt.ptr<i32>, %v0: i32) {{\n{lines}\ntt.return\n}}\n}}"
    )
    Asked(threads, values[-1], SCALAR).emits({"add": 12}, "each of 12 values is computed once")
