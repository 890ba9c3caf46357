"""Task 3.5: loops and branches as `with` blocks, which carry values as Python's variables would."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import Loc, VerificationError
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Operation, Value
from mini_triton.ir.printer import print_module
from mini_triton.ir.scopes import condition, for_, if_, while_, yield_
from mini_triton.ir.types import F32, I1, I32, I64
from mini_triton.ir.verifier import verify

from tests.oracles import triton
from tests.support.m02_ops import descriptions as ir
from tests.support.m02_ops.descriptions import Op
from tests.support.m02_ops.diagnostics import parting
from tests.support.m02_ops.programs import Step, program, recipes
from tests.support.m03_builder.exceptions import Stop, stopped
from tests.support.m03_builder.modules import module_around
from tests.support.m03_builder.rebuilding import LINE, rebuilt

# --- whole programs


def must_build(program: Op) -> None:
    """Real Triton reads in what is built that which is described; every operation comes from a line."""
    __tracebackhide__ = True
    module = rebuilt(program)
    verify(module)
    text = print_module(module, locations=True)
    meant, built = triton.accepts_many([ir.text(program), text])
    assert meant, f"the test is wrong: {meant.diagnostic}"
    assert built, f"real Triton refuses what was built: {built.diagnostic}\n{text}"
    if built.text != meant.text:
        raise AssertionError(f"what is built is not what was described; it differs {parting(meant.text, built.text)}")
    unmarked = [operation.name for operation in module.walk() if operation.loc is None]
    assert set(unmarked) <= {"builtin.module", "tt.func"}, f"operations without a location: {unmarked}"


def test_a_sum() -> None:
    """total = 0; for i in range(0, n, 1): total = total + i"""
    builder, block = Builder(), Block([I32])
    (n,) = block.arguments
    with builder.at_end(block):
        zero, one = (builder.create("arith.constant", value=value, result=I32) for value in (0, 1))
        with for_(builder, zero, n, one, [zero]) as loop:
            assert loop.variable.type == I32 and [value.type for value in loop.carried] == [I32]
            yield_(builder, builder.create("arith.addi", loop.carried[0], loop.variable))
    inside = [operation.name for operation in loop.variable.owner.operations]
    assert "scf.for" not in inside, "scf.for is not in the block around the `with`; it went into its own body"
    names = [operation.name for operation in block.operations]
    assert names == ["arith.constant", "arith.constant", "scf.for"], f"around the `with` there is {names}"
    made = block.operations[-1]
    assert made.operands == (zero, n, one, zero), "an `scf.for` takes the bounds, the step, then the initial values"
    assert tuple(loop.results) == made.results, "after the `with`, `results` are the operation's"


@given(recipe=recipes())
def test_random_programs(recipe: list[Step]) -> None:
    must_build(program(recipe))


def test_every_statement_inside_every_other() -> None:
    """Two levels, so that each kind of region meets each operation, with and without values."""
    step = ("integers", 0, 0, 1)
    for carried in ([], [0], [1, 4], [0, 0, 2]):
        inner = [
            step,
            ("for", carried, [step, ("addptr", 0, 1)]),
            ("if", 0, carried, [step], [("floats", 0, 0, 1)]),
            ("if", 1, [], [step], []),
            ("while", carried, [1, 0], [step], [("compare", 0, 0, 1)]),
        ]
        must_build(program([("for", carried, inner)]))
        must_build(program([("if", 0, carried, inner, []), ("if", 1, carried, [], inner)]))
        must_build(program([("while", carried, carried, inner, inner[:2])]))


# --- one at a time


def test_a_loop_takes_the_type_of_its_bounds() -> None:
    builder, block = Builder(), Block([I64, I64, I64, F32])
    lower, upper, step, x = block.arguments
    with builder.at_end(block):
        with for_(builder, lower, upper, step, [x, lower]) as loop:
            assert loop.variable.type == I64, "the induction variable is of the bounds' type"
            assert [value.type for value in loop.carried] == [F32, I64]
            yield_(builder, *loop.carried)
    assert [result.type for result in loop.results] == [F32, I64]


def test_regions_end_by_themselves() -> None:
    """Where no values are carried, `yield_` may be left out."""
    builder, block = Builder(), Block([I32, I1])
    n, flag = block.arguments
    with builder.at_end(block):
        with for_(builder, n, n, n):
            pass
        with if_(builder, flag) as branch:
            with branch.then():
                pass
        with while_(builder) as loop:
            with loop.before():
                condition(builder, flag)
            with loop.after():
                pass
    verify(module_around(block))
    assert [operation.name for operation in block.operations] == ["scf.for", "scf.if", "scf.while", "tt.return"]
    assert not block.operations[1].regions[1].blocks, "an `if` without `otherwise` has an empty second region"


def test_the_operation_comes_where_the_with_stands() -> None:
    """Before an anchor as well; and it comes from the line of the `with`, not from one inside."""
    builder, block = Builder(), Block([I32, I1])
    n, flag = block.arguments
    with builder.at_end(block):
        end = builder.operation("tt.return")

    def loop() -> None:
        with for_(builder, n, n, n), builder.location(Loc("kernel.py", 99)):
            builder.operation("tt.print", prefix="inside", hex=False, isSigned=())

    def branch() -> None:
        with if_(builder, flag) as branch:
            with branch.then(), builder.location(Loc("kernel.py", 99)):
                loop()

    def spin() -> None:
        with while_(builder) as loop:
            with loop.before(), builder.location(Loc("kernel.py", 99)):
                condition(builder, flag)
            with loop.after():
                branch()

    with builder.before(end), builder.location(LINE):
        for build in (loop, branch, spin, loop):
            build()
    names = [operation.name for operation in block.operations]
    assert names == ["scf.for", "scf.if", "scf.while", "scf.for", "tt.return"], f"before the return there is {names}"
    for operation in block.operations[:-1]:
        assert operation.loc == LINE, f"{operation.name} stands at {LINE}, but says {operation.loc}"


# --- what goes wrong inside


def scopes(builder: Builder, n: Value, flag: Value) -> dict[str, Callable[[Callable[[], None]], None]]:
    """Each `with` of `scopes.py`, as a function that calls another one inside."""

    def in_for(inside: Callable[[], None]) -> None:
        with for_(builder, n, n, n, [n]) as loop:
            inside()
            yield_(builder, *loop.carried)

    def in_if(inside: Callable[[], None]) -> None:
        with if_(builder, flag) as branch:
            inside()
            with branch.then():
                pass

    def in_then(inside: Callable[[], None]) -> None:
        with if_(builder, flag) as branch:
            with branch.then():
                inside()

    def in_otherwise(inside: Callable[[], None]) -> None:
        with if_(builder, flag) as branch:
            with branch.then():
                pass
            with branch.otherwise():
                inside()

    def in_while(inside: Callable[[], None]) -> None:
        with while_(builder, [n]) as loop:
            with loop.before() as carried:
                condition(builder, flag, *carried)
            inside()
            with loop.after() as passed:
                yield_(builder, *passed)

    def in_before(inside: Callable[[], None]) -> None:
        with while_(builder, [n]) as loop:
            with loop.before() as carried:
                inside()
                condition(builder, flag, *carried)
            with loop.after() as passed:
                yield_(builder, *passed)

    def in_after(inside: Callable[[], None]) -> None:
        with while_(builder, [n]) as loop:
            with loop.before() as carried:
                condition(builder, flag, *carried)
            with loop.after() as passed:
                inside()
                yield_(builder, *passed)

    return {name: scope for name, scope in locals().items() if name.startswith("in_")}


NAMES = ("in_for", "in_if", "in_then", "in_otherwise", "in_while", "in_before", "in_after")


@given(path=st.lists(st.sampled_from(NAMES), min_size=1, max_size=4))
def test_an_exception_leaves_nothing_behind(path: list[str]) -> None:
    """However deep it is raised: no operation is made, and the builder is back where it was."""
    builder, block = Builder(), Block([I32, I1])

    def fail() -> None:
        raise Stop

    inside = fail
    for name in reversed(path):
        inside = nested(scopes(builder, *block.arguments)[name], inside)
    with builder.at_end(block):
        first = builder.operation("arith.constant", value=1, result=I32)
        with stopped(" > ".join(name.removeprefix("in_") for name in path)):
            inside()
        second = builder.operation("arith.constant", value=2, result=I32)
    names = [operation.name for operation in block.operations]
    assert block.operations == [first, second], (
        f"an exception came out of {' > '.join(path)}; around it there should be two constants, but there are {names}"
    )


def nested(scope: Callable[[Callable[[], None]], None], inside: Callable[[], None]) -> Callable[[], None]:
    """The function that calls `inside` in `scope`."""
    return lambda: scope(inside)


def test_what_the_type_rules_refuse() -> None:
    """The operation is made from all that was built inside, when its `with` ends: its type rule sees the mistake."""
    builder, block = Builder(), Block([I32, I1, F32])
    n, flag, x = block.arguments

    def nothing_yielded() -> None:
        with for_(builder, n, n, n, [x]):
            pass

    def other_type() -> None:
        with for_(builder, n, n, n, [x]) as loop:
            yield_(builder, loop.variable)

    def float_bounds() -> None:
        with for_(builder, x, x, x):
            pass

    def no_else() -> None:
        with if_(builder, flag) as branch:
            with branch.then():
                yield_(builder, x)

    def no_then() -> None:
        with if_(builder, flag):
            pass

    def branches_differ() -> None:
        with if_(builder, flag) as branch:
            with branch.then():
                yield_(builder, x)
            with branch.otherwise():
                yield_(builder, n)

    def no_condition() -> None:
        with while_(builder, [n]) as loop:
            with loop.before() as carried:
                yield_(builder, *carried)
            with loop.after():
                yield_(builder, n)

    def not_what_it_started_with() -> None:
        with while_(builder, [n]) as loop:
            with loop.before():
                condition(builder, flag, x)
            with loop.after() as passed:
                yield_(builder, *passed)

    mistakes = (nothing_yielded, other_type, float_bounds, no_else, no_then, branches_differ)
    with builder.at_end(block):
        for mistake in (*mistakes, no_condition, not_what_it_started_with):
            refused = False
            try:
                mistake()
            except VerificationError:
                refused = True
            assert refused, f"{mistake.__name__}: leaving the `with` should raise VerificationError"
            left: list[Operation] = block.operations
            assert not left, f"{mistake.__name__}: refused, but {left[0].name} was inserted all the same"
