"""Task 3.1: operations go where they should, and know which line they come from."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import Loc, VerificationError
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Module, Operation, Region, Value
from mini_triton.ir.ops.definition import create
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import F32, I32, FunctionType, TensorType

from tests.checks import calling, described
from tests.oracles import triton
from tests.support.m03_builder.exceptions import Stop, stopped

BLOCKS = 3


# --- where

withs = st.tuples(st.sampled_from(["at_end", "before", "location"]), st.integers(0, 5))
steps = st.recursive(
    st.just("make"),
    lambda step: st.tuples(withs, st.lists(step, max_size=4), st.sampled_from(["leave", "raise"])),
    max_leaves=12,
)


class Play:
    """The same steps with a builder and with plain lists of numbers: each operation is a constant with a number."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.blocks = [Block() for _ in range(BLOCKS)]
        self.lists: list[list[int]] = [[] for _ in range(BLOCKS)]
        self.made: list[Operation] = []
        self.lines: list[int | None] = []  # where each operation should come from
        self.place: tuple[int, int | None] | None = None  # list, and number before which to insert
        self.line: int | None = None
        self.told: list[str] = []  # the steps so far, as Python
        self.depth = 0

    @property
    def story(self) -> str:
        return "\n".join(self.told)

    def tell(self, line: str) -> None:
        self.told.append(f"    {'    ' * self.depth}{line}")

    def step(self, step: Any) -> None:
        if step == "make":
            self._make()
            return
        (kind, index), inner, end = step
        if kind == "before" and not self.made:
            return
        saved = self.place, self.line
        if kind == "location":
            self.line = index or None
            loc = Loc("kernel.py", index) if index else None
            scope, called = self.builder.location(loc), f"location({loc})"
        elif kind == "at_end":
            block = index % BLOCKS
            scope, called = self.builder.at_end(self.blocks[block]), f"at_end(block {block})"
            self.place = block, None
        else:
            number = index % len(self.made)
            scope, called = self.builder.before(self.made[number]), f"before(constant {number})"
            self.place = next(i for i, numbers in enumerate(self.lists) if number in numbers), number
        self.tell(f"with {called}:")
        self.depth += 1
        with stopped(f"`{called}`") if end == "raise" else nullcontext(), scope:
            self.steps(inner)
            self.tell("raise Stop" if end == "raise" else "pass")
            if end == "raise":
                raise Stop
        self.depth -= 1
        self.place, self.line = saved

    def steps(self, steps: list[Any]) -> None:
        for step in steps:
            self.step(step)

    def _make(self) -> None:
        number = len(self.made)
        self.tell(f"make constant {number}")
        if self.place is None:
            loose = create("arith.constant", value=number, result=I32)
            because = f"outside of all `with` blocks there is no insertion point. What was done:\n{self.story}"
            inserting(self.builder, loose).raises(ValueError, because=because)
            return
        block, anchor = self.place
        position = len(self.lists[block]) if anchor is None else self.lists[block].index(anchor)
        self.lists[block].insert(position, number)
        made = self.builder.operation("arith.constant", value=number, result=I32)
        assert isinstance(made, Operation), f"`operation` returned {made!r}, not the operation: so must `insert`, too"
        self.made.append(made)
        self.lines.append(self.line)


def inserting(builder: Builder, operation: Operation) -> calling:
    """A call of `insert`, to be shown."""

    def insert() -> None:
        builder.insert(operation)

    return described(f"builder.insert({operation.name})", insert)


@given(steps=st.lists(steps, min_size=1, max_size=5))
def test_nested_with_blocks(steps: list[Any]) -> None:
    """Some left by an exception: operations go where a list would put them, and come from the innermost location."""
    play = Play()
    play.step((("at_end", 0), ["make"], "leave"))
    play.steps(steps)
    for i, (block, expected) in enumerate(zip(play.blocks, play.lists, strict=True)):
        got = [operation.attributes["value"] for operation in block.operations]
        assert got == expected, (
            f"block {i} should hold the constants, numbered as they were made, in this order:\n"
            f"  expected  {expected}\n  got       {got}\n"
            "`at_end` appends, `before` keeps the order of making; both put the old insertion point back.\n"
            f"What was done:\n{play.story}"
        )
    lines = [operation.loc.line if operation.loc else None for operation in play.made]
    assert lines == play.lines, (
        f"the operations' lines:\n  expected  {play.lines}\n  got       {lines}\nWhat was done:\n{play.story}"
    )


def test_insert_returns_the_operation() -> None:
    builder, block = Builder(), Block()
    first, second = (create("arith.constant", value=value, result=I32) for value in (1, 2))
    with builder.at_end(block):
        assert builder.insert(first) is first, "`insert` returns the operation that it was given"
        with builder.before(first):
            assert builder.insert(second) is second, "`insert` returns the operation that it was given"
    assert block.operations == [second, first]
    assert first.parent is block, "an inserted operation knows its block: use the block's own `append` and `insert`"


def test_no_insertion_point() -> None:
    """Before the first `with` and after the last there is none; before an operation in no block there is none."""
    builder = Builder()
    loose = create("arith.constant", value=1, result=I32)
    why = "no `with` block says where operations go"
    inserting(builder, loose).raises(ValueError, because=why)
    with builder.at_end(Block()):
        pass
    inserting(builder, loose).raises(ValueError, because=why)
    described("builder.before(an operation in no block)", enter_before, builder, loose).raises(
        ValueError, because="an operation in no block has no place before it"
    )


def test_a_refused_with_moves_nothing() -> None:
    builder, block = Builder(), Block()
    loose, made = (create("arith.constant", value=value, result=I32) for value in (1, 2))
    with builder.at_end(block):
        described("builder.before(an operation in no block)", enter_before, builder, loose).raises(ValueError)
        inserting(builder, made).succeeds(because="`before` was refused, so operations go where they went")
    assert block.operations == [made]


def enter_before(builder: Builder, operation: Operation) -> None:
    with builder.before(operation):
        pass


# --- what


def test_operation_makes_and_types() -> None:
    """`operation` is `create` of ops/definition.py, then `insert`: name, operands, types, attributes and regions."""
    builder, block, body = Builder(), Block([I32, TensorType((8,), F32)]), Block([F32, F32])
    x, tensor = block.arguments
    with builder.at_end(body):
        end = builder.operation("tt.reduce.return", body.arguments[0])
    with builder.at_end(block):
        made = [
            builder.operation("arith.addi", x, x),
            builder.operation("tt.make_range", start=0, end=16),
            builder.operation("tt.splat", x, result=TensorType((4, 2), I32)),
            builder.operation("tt.reduce", tensor, axis=0, regions=[Region([body])]),
            builder.operation("tt.return"),
        ]
    assert block.operations == made, "`operation` inserts what it makes, in order, and returns it"
    assert end.parent is body
    types = [[str(result.type) for result in operation.results] for operation in made]
    assert types == [["i32"], ["tensor<16xi32>"], ["tensor<4x2xi32>"], ["f32"], []], f"result types: {types}"
    assert made[0].operands == (x, x) and made[3].operands == (tensor,)
    assert made[1].attributes == {"start": 0, "end": 16}
    assert [region.block for region in made[3].regions] == [body]
    with builder.at_end(Block()):
        result = builder.create("arith.muli", x, made[0].result)
    assert result.owner.name == "arith.muli" and result.index == 0


def test_what_a_rule_refuses_is_not_inserted() -> None:
    builder, block = Builder(), Block([I32, F32])
    with builder.at_end(block), builder.location(Loc("kernel.py", 7, 4)):
        for name, at_fault in (("arith.addi", "kernel.py:7:4"), ("arith.sum", "arith.sum")):
            words = f"builder.operation({name!r}, an i32, an f32), at kernel.py:7:4"
            described(words, builder.operation, name, *block.arguments).raises(VerificationError, at_fault)
    assert block.operations == [], "an operation whose type rule refuses must not be inserted"


# --- whence


def test_no_location_hides_the_one_around() -> None:
    builder = Builder()
    with builder.at_end(Block()), builder.location(Loc("kernel.py", 7, 4)), builder.location(None):
        made = builder.operation("tt.return")
    assert made.loc is None, f"within `location(None)` an operation comes from nowhere, got {made.loc}"


@given(
    places=st.lists(
        st.tuples(st.sampled_from(["kernel.py", "a b.py", "Größe.py"]), st.integers(1, 2**20), st.integers(0, 200)),
        min_size=1,
        max_size=5,
    )
)
def test_locations_reach_real_triton(places: list[tuple[str, int, int]]) -> None:
    """What the builder marks is what real Triton reads from the printed module, for every operation."""
    locs = [Loc(*place) for place in places]
    builder, block = Builder(), Block([I32])
    value: Value = block.arguments[0]
    with builder.at_end(block):
        for loc in locs:
            with builder.location(loc):
                value = builder.create("arith.addi", value, value)
        with builder.location(locs[-1]):
            builder.operation("tt.return")
    function = create(
        "tt.func", sym_name="kernel", function_type=FunctionType((I32,)), regions=[Region([block])], loc=locs[0]
    )
    text = triton.parse(print_module(Module([function]), locations=True), locations=True)
    expected = [(loc.file, loc.line, loc.column) for loc in (*locs, locs[-1], locs[0])]
    got = read_locations(text)
    assert got == expected, f"the locations that real Triton reads:\n  expected  {expected}\n  got       {got}\n{text}"


def read_locations(text: str) -> list[tuple[str, int, int] | str]:
    """The location of every operation that is on a line of its own in real Triton's text, the module's left out.

    To one that has none in our text it gives the place in the file that it read, see `tests/oracles/server.py`.
    """
    aliases = dict(re.findall(r"^(#loc\d*) = loc\((.*)\)$", text, re.MULTILINE))
    found: list[tuple[str, int, int] | str] = []
    for reference in re.findall(r"^ +.*loc\((#loc\d*)\)$", text, re.MULTILINE):
        file, line, column = re.fullmatch(r'"(.*)":(\d+):(\d+)', aliases[reference]).groups()  # type: ignore[union-attr]
        decoded = re.sub(rb"\\([0-9A-F]{2})", lambda match: bytes.fromhex(match[1].decode()), file.encode())
        name = decoded.decode()
        found.append("none in the text" if Path(name).name == "module.ttir" else (name, int(line), int(column)))
    return found
