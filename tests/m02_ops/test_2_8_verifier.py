"""Task 2.8: the verifier accepts what real Triton's accepts, and refuses the rest at the operation at fault."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import VerificationError
from mini_triton.ir.core import Block, Operation, Region, Value
from mini_triton.ir.types import I32
from mini_triton.ir.verifier import check_terminators, check_visibility, verify

from tests.checks import described
from tests.oracles import triton
from tests.support.m02_ops import faults
from tests.support.m02_ops import generic_form as ir
from tests.support.m02_ops.generic_form import reason
from tests.support.m02_ops.programs import EVERY, Step, program, recipes
from tests.support.m02_ops.rules import applying

places = st.lists(st.sampled_from(faults.PLACES), max_size=3)


def must_accept(module: str) -> None:
    __tracebackhide__ = True
    answer = triton.accepts(module)
    assert answer, f"the test is wrong: {answer.diagnostic}\n{module}"
    described(f"verify(\n{module}\n)", verify, ir.build(module)).succeeds(because="real Triton accepts it")


def must_refuse(module: str, fault: str) -> None:
    """Real Triton and `verify` refuse the module. Our error has a location, and names the operation at fault."""
    __tracebackhide__ = True
    answer = triton.accepts(module)
    assert not answer, f"the test is wrong: real Triton accepts {fault}\n{module}"
    call = described(f"verify(\n{module}\n), which has {fault}", verify, ir.build(module))
    call.raises(VerificationError, because=f"real Triton says: {reason(answer)}")
    with pytest.raises(VerificationError) as caught:
        call()
    error = caught.value
    if not error.loc:
        call.fail("an error with the location of an operation", error)
    if lines := (faults.TYPES | faults.ORDER).get(fault):
        name, line = faults.line_at_fault(lines, module)
        if not (error.message.startswith(name) and error.loc.line == line):
            call.fail(f"an error about {name} in line {line}", error)


@given(recipe=recipes())
def test_right_programs(recipe: list[Step]) -> None:
    must_accept(program(recipe))


def test_every_operation() -> None:
    must_accept(ir.module())
    must_accept(ir.kernel(EVERY))


@pytest.mark.parametrize("fault", faults.FAULTS)
def test_faults(fault: str) -> None:
    must_refuse(faults.spoiled([], faults.FAULTS[fault]), fault)


def test_functions_must_return() -> None:
    for fault, lines in (("a function without a return", [faults.ONE]), ("an empty function", [])):
        must_refuse(ir.module(ir.function(ir.PARAMETERS, *lines)), fault)


@given(recipe=recipes(max_size=4), fault=st.sampled_from(tuple(faults.FAULTS)), inside=places)
def test_a_fault_anywhere(recipe: list[Step], fault: str, inside: list[str]) -> None:
    must_refuse(faults.spoiled(recipe, faults.FAULTS[fault], inside), fault)


# --- the three checks, each alone


def region(*operations: str | Operation) -> Region:
    """A region of one block with these operations."""
    block = Block()
    for operation in operations:
        block.append(Operation(operation) if isinstance(operation, str) else operation)
    return Region([block])


RIGHT = [("tt.return",), ("gpu.barrier", "scf.yield")]
WRONG = [
    *[("gpu.barrier",), (), ("tt.return", "tt.return"), ("scf.yield", "gpu.barrier", "tt.return")],
    *[("not.declared",), ("gpu.barrier", "gpu.barrier"), ("gpu.barrier", "scf.yield", "tt.return")],
]


@pytest.mark.parametrize("names", RIGHT + WRONG, ids="; ".join)
def test_terminators_alone(names: tuple[str, ...]) -> None:
    """The check covers later regions and later blocks; only a module's block needs no terminator."""
    two_blocks = Region([*region("tt.return").blocks, *region(*names).blocks])
    for regions in ([region(*names)], [region("tt.return"), region(*names)], [two_blocks]):
        call = applying(check_terminators, Operation("tt.func", regions=regions))
        if names in RIGHT:
            call.succeeds()
        else:
            call.raises(VerificationError, because="a block needs a terminator as its last operation, and nowhere else")
    early = applying(check_terminators, Operation("builtin.module", regions=[region("tt.return", "tt.func")]))
    early.raises(VerificationError, because="a terminator is the last operation, also in a module's block")
    check_terminators(Operation("builtin.module", regions=[region(Operation("tt.func"))]))
    check_terminators(Operation("builtin.module", regions=[region()]))
    check_terminators(Operation("arith.constant"))


def test_visibility_alone() -> None:
    outer, inner = Block([I32]), Block([I32])
    (x,), (y,) = outer.arguments, inner.arguments
    inner.append(Operation("arith.addi", [x, y], [I32]))
    unseen = "check_visibility(^bb0(%y) { arith.addi %x, %y }, visible=set())"
    described(unseen, check_visibility, inner, set()).raises(VerificationError, because="%x is not visible")
    (holder,) = region(Operation("scf.if", regions=[Region([Block(), inner])])).blocks
    nested = "check_visibility(^bb0 { scf.if ({}, {^bb0(%y): arith.addi %x, %y}) }, visible=set())"
    described(nested, check_visibility, holder, set()).raises(VerificationError, because="%x is not visible")
    other = Block([I32])
    other.append(Operation("use", inner.arguments))
    (holder,) = region(Operation("scf.if", regions=[Region([Block([I32]), inner, other])])).blocks
    later = "check_visibility(^bb0 { scf.if ({^bb0, ^bb1(%y): addi %x, %y, ^bb2: use %y}) }, visible={%x})"
    described(later, check_visibility, holder, {x}).raises(VerificationError, because="%y belongs to another block")
    body = Block([I32])
    (holder,) = region(Operation("scf.for", body.arguments, regions=[Region([body])])).blocks
    bound = "check_visibility(^bb0 { scf.for %i ({^bb0(%i)}) }, visible=set())"
    described(bound, check_visibility, holder, set()).raises(VerificationError, because="%i is visible only inside")
    visible: set[Value] = {x}
    check_visibility(inner, visible)
    assert visible == {x}, "check_visibility should add to a set of its own, not to its caller's"


@pytest.mark.parametrize("name", ["tt.func", "builtin.module"])
def test_functions_see_nothing_from_outside(name: str) -> None:
    (x,) = Block([I32]).arguments
    (block,) = region(Operation(name, regions=[region(Operation("use", [x]))])).blocks
    call = described(f"check_visibility({name} {{ use %x }}, visible={{%x}})", check_visibility, block, {x})
    call.raises(VerificationError, because=f"{name} is isolated from above")
