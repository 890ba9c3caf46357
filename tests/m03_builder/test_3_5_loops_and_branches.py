"""Task 3.5: `with` blocks build loops and branches, and carry values through them."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import Loc, VerificationError
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Region, Value
from mini_triton.ir.printer import print_module
from mini_triton.ir.scopes import For, condition, for_, if_, region, while_, yield_
from mini_triton.ir.types import F32, I1, I32, I64
from mini_triton.ir.verifier import verify

from tests.checks import calling, described
from tests.oracles import triton
from tests.support.m02_ops import faults
from tests.support.m02_ops.generic_form import build, kernel, parting
from tests.support.m02_ops.programs import Step, program, recipes
from tests.support.m03_builder.exceptions import Stop, stopped
from tests.support.m03_builder.rebuilding import LINE, Rebuilder, rebuilt

# --- whole programs


def must_build(program: str) -> None:
    """Rebuild the program; require that real Triton reads the same program, and that operations have locations."""
    __tracebackhide__ = True
    try:
        module = rebuilt(build(program))
    except AssertionError as failure:
        failure.args = (f"{failure}\nthe program to build is\n{program}",)
        raise
    verify(module)
    text = print_module(module, locations=True)
    meant, built = triton.accepts_many([program, text])
    assert meant, f"the test is wrong: {meant.diagnostic}"
    assert built, triton.refusal("what was built", text, built.diagnostic)
    if built.text != meant.text:
        raise AssertionError(
            f"the builder's module is not the described program; it differs {parting(meant.text, built.text)}"
        )
    named = [operation for operation in module.walk() if operation.name not in ("builtin.module", "tt.func")]
    unmarked = [operation.name for operation in named if operation.loc is None]
    assert not unmarked, f"operations without a location: {unmarked}"


def test_a_sum() -> None:
    """total = 0; for i in range(0, n, 1): total = total + i; in 64 bits, with a float carried along"""
    builder, block = Builder(), Block([I64, F32])
    n, x = block.arguments
    with builder.at_end(block):
        zero, one = (builder.create("arith.constant", value=value, result=I64) for value in (0, 1))
        with for_(builder, zero, n, one, [zero, x]) as loop:
            assert isinstance(loop, For), f"`with for_(…) as loop`\n  expected  a `For`\n  got       {loop!r}"
            assert loop.variable.type == I64, "the induction variable should have the bounds' type"
            assert [value.type for value in loop.carried] == [I64, F32]
            yield_(builder, builder.create("arith.addi", loop.carried[0], loop.variable), loop.carried[1])
    inside = [operation.name for operation in loop.variable.owner.operations]
    assert "scf.for" not in inside, "scf.for should be in the block around the `with`, not in its own body"
    names = [operation.name for operation in block.operations]
    assert names == ["arith.constant", "arith.constant", "scf.for"], f"the block around the `with` holds {names}"
    made = block.operations[-1]
    assert made.operands == (zero, n, one, zero, x), "an `scf.for` takes the bounds, the step, then the initial values"
    assert tuple(loop.results) == made.results, "after the `with`, `results` should be the operation's results"


@given(recipe=recipes())
def test_random_programs(recipe: list[Step]) -> None:
    must_build(program(recipe))


@pytest.mark.parametrize("terminator", ["scf.yield", "tt.return"])
def test_a_region_ends_in_its_terminator(terminator: str) -> None:
    builder, owner, block = Builder(), Region(), Block()
    with region(builder, owner, block, terminator):
        builder.create("arith.constant", value=1, result=I32)
    names = [operation.name for operation in owner.block.operations]
    assert names == ["arith.constant", terminator], f"a `region` with the terminator {terminator!r} holds {names}"


# --- nested contexts

paths = st.lists(
    st.sampled_from(("for", "if", "then", "otherwise", "while", "before", "after")), min_size=1, max_size=4
)


def nested(builder: Builder, path: list[str], values: Sequence[Value], inside: Callable[[], None]) -> None:
    """Call `inside` at the end of a path of `with` blocks, which leads from the outside in."""
    if not path:
        inside()
        return
    place, *rest = path
    n, flag = values

    def here(name: str) -> None:
        if name == place:
            nested(builder, rest, values, inside)

    if place == "for":
        with for_(builder, n, n, n, [n]) as loop:
            here("for")
            yield_(builder, *loop.carried)
    elif place in ("if", "then", "otherwise"):
        with if_(builder, flag) as branch:
            here("if")
            with branch.then():
                here("then")
            with branch.otherwise():
                here("otherwise")
    else:
        with while_(builder, [n]) as spin:
            with spin.before() as carried:
                here("before")
                condition(builder, flag, *carried)
            here("while")
            with spin.after() as passed:
                here("after")
                yield_(builder, *passed)


@given(path=paths)
def test_an_exception_leaves_nothing_behind(path: list[str]) -> None:
    """After an exception in any `with`, no operation is left, and the old insertion point is restored."""
    builder, block = Builder(), Block([I32, I1])

    def fail() -> None:
        raise Stop

    with builder.at_end(block):
        first = builder.operation("arith.constant", value=1, result=I32)
        with stopped(" > ".join(path)):
            nested(builder, path, block.arguments, fail)
        second = builder.operation("arith.constant", value=2, result=I32)
    names = [operation.name for operation in block.operations]
    assert block.operations == [first, second], (
        f"after an exception in {' > '.join(path)}, the outer block should hold two constants, but holds {names}"
    )


@given(path=paths)
def test_the_operation_comes_where_the_with_stands(path: list[str]) -> None:
    """This also holds before an anchor. The operation's location is the line of the `with`, not a line in its body."""
    builder, block = Builder(), Block([I32, I1])

    def elsewhere() -> None:
        with builder.location(Loc("kernel.py", 99)):
            builder.operation("gpu.barrier")

    with builder.at_end(block):
        end = builder.operation("tt.return")
    with builder.before(end), builder.location(LINE):
        nested(builder, path, block.arguments, elsewhere)
    made, last = block.operations[-2:]
    assert last is end and made.name.startswith("scf."), f"the operation before the return should be scf.{path[0]}"
    assert made.loc == LINE, f"{made.name} is at {LINE}, but its location is {made.loc}"


REFUSED = (
    "a loop that yields a different type",
    "a loop that yields too little",
    "branches of two types",
    "a result without an else",
    "a tensor as condition",
    "a while that yields a different type",
)


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_the_type_rules_refuse(mistake: str) -> None:
    """The operation is created with its regions when the `with` ends, so that its type rule finds the mistake."""
    (function,) = build(kernel(faults.TYPES[mistake])).regions[0].block.operations
    body, rebuilder = function.regions[0].block, Rebuilder()
    block = Block([argument.type for argument in body.arguments])
    with rebuilder.builder.at_end(block):
        leaving = described(f"leaving the `with` of {mistake}", rebuilder.fill, body, block.arguments)
        leaving.raises(VerificationError, because="the type rule checks the finished regions")
    left = [operation.name for operation in block.operations]
    assert not left, f"{mistake}: refused, but {left} was inserted"


def test_forgotten_results() -> None:
    builder, block = Builder(), Block([I32, I1])
    n, flag = block.arguments

    def no_then() -> None:
        with if_(builder, flag):
            pass

    def no_before() -> None:
        with while_(builder) as loop, loop.after() as forwarded:
            assert forwarded == (), f"without `before`, nothing is forwarded, but `after` yields {forwarded}"

    def failed_before() -> None:
        with while_(builder) as loop:
            with stopped("before"), loop.before():
                raise Stop
            with loop.after():
                pass

    def no_condition() -> None:
        with while_(builder, [n]) as loop:
            with loop.before() as carried:
                yield_(builder, *carried)
            with loop.after():
                yield_(builder, n)

    def no_after() -> None:
        with while_(builder, [n]) as loop, loop.before() as carried:
            condition(builder, flag, *carried)

    with builder.at_end(block):
        for mistake in (no_then, no_before, failed_before, no_condition, no_after):
            calling(mistake).raises(VerificationError)
            assert not block.operations, f"{mistake.__name__}: refused, but an operation was inserted"
