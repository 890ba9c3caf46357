"""Task 3.1: the builder inserts operations at the insertion point, with the location of their source line."""

from contextlib import nullcontext
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.errors import Loc, VerificationError
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Module, Operation, Region, Value
from mini_triton.ir.ops.definition import create
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import F32, I32, FunctionType, TensorType

from tests.checks import described
from tests.oracles import triton
from tests.support.m03_builder.exceptions import Interrupt, Stop, stopped

BLOCKS = 3
STOPS: dict[str, type[BaseException]] = {"raise": Stop, "interrupt": Interrupt}


# --- insertion points

KINDS = ("at_end", "before", "location")

withs = st.tuples(st.sampled_from(KINDS), st.integers(0, 5))
steps = st.recursive(
    st.just("make"),
    lambda step: st.tuples(withs, st.lists(step, max_size=4), st.sampled_from(["leave", *STOPS])),
    max_leaves=12,
)


class Play:
    """The same steps with a builder and with lists of numbers. Every operation is a constant, known by its number."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.blocks = [Block() for _ in range(BLOCKS)]
        self.lists: list[list[int]] = [[] for _ in range(BLOCKS)]
        self.made: list[Operation] = []
        self.lines: list[int | None] = []  # the expected source line of each operation
        self.place: tuple[int, int | None] | None = None  # list, and the number before which to insert
        self.line: int | None = None
        self.story = ""  # the steps so far, as Python

    def step(self, step: Any, indent: str = "\n    ") -> None:
        if step == "make":
            self.story += f"{indent}make constant {len(self.made)}"
            self.make(len(self.made))
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
            self.place = index % BLOCKS, None
            scope, called = self.builder.at_end(self.blocks[index % BLOCKS]), f"at_end(block {index % BLOCKS})"
        else:
            number = index % len(self.made)
            self.place = next(i for i, numbers in enumerate(self.lists) if number in numbers), number
            scope, called = self.builder.before(self.made[number]), f"before(constant {number})"
        self.story += f"{indent}with {called}:"
        stop = STOPS.get(end)
        with stopped(f"`{called}`", stop) if stop else nullcontext(), scope:
            for one in inner:
                self.step(one, indent + "    ")
            self.story += f"{indent}    {f'raise {stop.__name__}' if stop else 'pass'}"
            if stop:
                raise stop
        self.place, self.line = saved

    def make(self, number: int) -> None:
        if self.place is None:
            because = f"there is no insertion point outside all `with` blocks. These were the steps:{self.story}"
            described("builder.insert(constant)", self.builder.insert, a_constant()).raises(ValueError, because=because)
            return
        block, anchor = self.place
        position = len(self.lists[block]) if anchor is None else self.lists[block].index(anchor)
        self.lists[block].insert(position, number)
        made = self.builder.operation("arith.constant", value=number, result=I32)
        assert isinstance(made, Operation), (
            f"`operation` returned {made!r}, not the operation; `insert` must return it as well"
        )
        self.made.append(made)
        self.lines.append(self.line)


def a_constant() -> Operation:
    """An operation in no block."""
    return create("arith.constant", value=1, result=I32)


@given(steps=st.lists(steps, min_size=1, max_size=5))
@example(
    [(("at_end", 0), ["make", (("before", 1), ["make", (("before", 0), ["make"], "leave"), "make"], "leave")], "raise")]
)
@example([((kind, 0), ["make", ((kind, 1), ["make"], end), "make"], "leave") for kind in KINDS for end in STOPS])
def test_nested_with_blocks(steps: list[Any]) -> None:
    """Blocks hold what lists would hold, and operations get the innermost location. Exceptions end some `with`s."""
    play = Play()
    nowhere = (("location", 1), [(("location", 0), ["make"], "leave"), "make"], "leave")
    for step in ((("at_end", 0), ["make", nowhere], "leave"), *steps):
        play.step(step)
    for i, (block, expected) in enumerate(zip(play.blocks, play.lists, strict=True)):
        got = [operation.attributes["value"] for operation in block.operations]
        assert got == expected, (
            f"block {i} should hold these constants, numbered in order of creation:\n"
            f"  expected  {expected}\n  got       {got}\n"
            "  because   `at_end` appends, `before` keeps the order of creation; both restore the insertion point\n"
            f"These were the steps:{play.story}"
        )
    lines = [operation.loc.line if operation.loc else None for operation in play.made]
    assert lines == play.lines, (
        f"the operations' lines:\n  expected  {play.lines}\n  got       {lines}\nThese were the steps:{play.story}"
    )


def test_no_insertion_point() -> None:
    """There is no insertion point before the first `with` and after the last. A refused `with` does not move it."""
    builder, block, made = Builder(), Block(), a_constant()

    def enter_before() -> None:
        with builder.before(a_constant()):
            pass

    nowhere = described("builder.insert(constant)", builder.insert, made)
    nowhere.raises(ValueError, because="no `with` block has set an insertion point")
    with builder.at_end(block), builder.location(Loc("kernel.py", 7)):
        refused = described("builder.before(an operation in no block)", enter_before)
        refused.raises(ValueError, because="nothing can be inserted before an operation that is in no block")
        nowhere.returns(
            made, because="the refused `before` leaves the insertion point as it was; `insert` returns the operation"
        )
    assert block.operations == [made]
    assert made.loc is None, "`operation` gives locations to the operations that it creates; `insert` only inserts"
    assert made.parent is block, (
        "an inserted operation's `parent` is its block: use the block's own `append` and `insert`"
    )
    after = described("builder.insert(constant)", builder.insert, a_constant())
    after.raises(ValueError, because="all `with` blocks have ended, so there is no insertion point")


# --- operations


def test_operation_makes_and_types() -> None:
    """`operation` is `create` of ops/definition.py, then `insert`: name, operands, types, attributes and regions."""
    builder, block, body = Builder(), Block([I32, TensorType((8,), F32)]), Block([F32, F32])
    x, tensor = block.arguments
    with builder.at_end(body):
        end = builder.operation("tt.reduce.return", body.arguments[0])
    with builder.at_end(block):
        splat = builder.operation("tt.splat", x, result=TensorType((4, 2), I32))
        reduce = builder.operation("tt.reduce", tensor, axis=0, regions=iter([Region([body])]))
        product = builder.create("arith.muli", x, x)
    assert block.operations == [splat, reduce, product.owner], (
        "new operations should be inserted in order, and returned"
    )
    assert end.parent is body and reduce.regions[0].block is body
    types = [str(operation.result.type) for operation in block.operations]
    assert types == ["tensor<4x2xi32>", "f32", "i32"], f"result types: {types}"
    assert splat.operands == (x,) and reduce.operands == (tensor,) and reduce.attributes == {"axis": 0}


def test_what_a_rule_refuses_is_not_inserted() -> None:
    builder, block = Builder(), Block([I32, F32])
    with builder.at_end(block), builder.location(Loc("kernel.py", 7, 4)):
        for name, at_fault in (("arith.addi", "kernel.py:7:4"), ("arith.sum", "arith.sum")):
            words = f"builder.operation({name!r}, an i32, an f32), at kernel.py:7:4"
            described(words, builder.operation, name, *block.arguments).raises(VerificationError, at_fault)
    assert block.operations == [], "an operation that its type rule refuses must not be inserted"


# --- source locations

files = st.sampled_from(["kernel.py", "a b.py", "Größe.py"])


@given(locs=st.lists(st.builds(Loc, files, st.integers(1, 2**20), st.integers(0, 200)), min_size=1, max_size=5))
def test_locations_reach_real_triton(locs: list[Loc]) -> None:
    """Real Triton reads the location of every operation from the printed module."""
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
    _, *got = (operation.loc for operation in parse_module(text).walk())
    expected = [locs[0], *locs, locs[-1]]
    assert got == expected, f"the locations that real Triton reads:\n  expected  {expected}\n  got       {got}\n{text}"
