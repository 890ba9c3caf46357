"""Task 2.8: what real Triton's verifier accepts is accepted, and what it refuses is refused where it is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import VerificationError
from mini_triton.ir.core import Block, Operation, Region, Value
from mini_triton.ir.types import I32
from mini_triton.ir.verifier import check_terminators, check_types, check_visibility, verify

from tests.checks import described
from tests.oracles import triton
from tests.support.m02_ops import descriptions as ir
from tests.support.m02_ops import faults
from tests.support.m02_ops.descriptions import Op
from tests.support.m02_ops.diagnostics import reason
from tests.support.m02_ops.programs import PARAMETERS, Step, program, recipes
from tests.support.m02_ops.rules import applying

places = st.lists(st.sampled_from(faults.PLACES), max_size=3)


def verdict(module: Op) -> VerificationError | None:
    """What the verifier under test has to say."""
    try:
        verify(ir.build(module))
    except VerificationError as error:
        return error
    return None


def must_accept(module: Op) -> None:
    __tracebackhide__ = True
    error, answer = verdict(module), triton.accepts(ir.text(module))
    assert answer, f"the test is wrong: {answer.diagnostic}\n{ir.text(module)}"
    if error:
        shown = f"  got  {error}\n  in\n{ir.kernel_text(module)}"
        raise _about(error, f"verify should accept this, as real Triton does\n{shown}")


def _about(error: VerificationError, message: str) -> AssertionError:
    """A failure that points to where the error was raised."""
    return AssertionError(message).with_traceback(error.__traceback__)


def must_refuse(module: Op, wrong: Op | None, fault: str) -> None:
    """Both refuse the module, and we say which operation is wrong, if it is clear."""
    __tracebackhide__ = True
    error, text = verdict(module), ir.kernel_text(module)
    says = "not every version of real Triton checks it, so it is not asked"
    if fault not in faults.UNCHECKED:
        answer = triton.accepts(ir.text(module))
        assert not answer, f"the test is wrong: real Triton accepts {fault}\n{text}"
        says = f"real Triton says: {reason(answer)}"
    assert error, f"verify should refuse {fault}, by {_check(fault)}\n  because  {says}\n  in\n{text}"
    if wrong:
        shown = f"{fault}: the error should be about {wrong.name}\n  got  {error}\n  in\n{text}"
        if not (error.message.startswith(wrong.name) and error.loc and error.loc.line == faults.line_of(wrong, module)):
            raise _about(error, shown)


def _check(fault: str) -> str:
    """The check that should find a fault."""
    if fault in faults.ORDER:
        return "check_visibility"
    return "check_types" if fault in faults.TYPES or fault in faults.UNCHECKED else "check_terminators or check_types"


@given(recipe=recipes())
def test_right_programs(recipe: list[Step]) -> None:
    must_accept(program(recipe))


def test_an_empty_module() -> None:
    must_accept(ir.module())


@pytest.mark.parametrize("fault", [*faults.TYPES, *faults.UNCHECKED])
def test_wrong_types(fault: str) -> None:
    must_refuse(*faults.spoiled([], (faults.TYPES | faults.UNCHECKED)[fault]), fault)


@pytest.mark.parametrize("fault", faults.ORDER)
def test_values_that_cannot_be_seen(fault: str) -> None:
    must_refuse(*faults.spoiled([], faults.ORDER[fault]), fault)


@pytest.mark.parametrize("fault", faults.TERMINATORS)
def test_wrong_terminators(fault: str) -> None:
    module, _ = faults.spoiled([], faults.TERMINATORS[fault])
    must_refuse(module, None, fault)


def test_functions_must_return() -> None:
    for fault, operations in (("a function without a return", [faults.ONE]), ("an empty function", [])):
        must_refuse(ir.module(ir.function(PARAMETERS, operations)), None, fault)


@given(recipe=recipes(max_size=4), fault=st.sampled_from(tuple(faults.FAULTS)), inside=places)
def test_a_fault_anywhere(recipe: list[Step], fault: str, inside: list[str]) -> None:
    module, wrong = faults.spoiled(recipe, faults.FAULTS[fault], inside)
    must_refuse(module, None if fault in faults.TERMINATORS else wrong, fault)


# --- the three checks, each alone


def test_types_alone() -> None:
    values = Block([I32]).arguments * 2
    check_types(Operation("arith.addi", values, [I32]))
    for operands, results in ((values[:1], [I32]), (values, []), (values, [I32, I32])):
        why = f"arith.addi of {len(operands)} operands and {len(results)} results, where 2 and 1 are right"
        call = applying(check_types, Operation("arith.addi", operands, results))
        call.raises(VerificationError, "arith.addi", because=why)


def holding(*names: str) -> Operation:
    """A function that holds operations of these names."""
    block = Block()
    for name in names:
        block.append(Operation(name))
    return Operation("tt.func", regions=[Region([block])])


def test_terminators_alone() -> None:
    check_terminators(holding("tt.return"))
    check_terminators(holding("gpu.barrier", "scf.yield"))
    wrongs = [("gpu.barrier",), (), ("tt.return", "tt.return"), ("scf.yield", "gpu.barrier", "tt.return")]
    wrongs += [("not.declared",), ("gpu.barrier", "gpu.barrier"), ("gpu.barrier", "scf.yield", "tt.return")]
    for wrong in wrongs:
        function = f"tt.func {{ {'; '.join(wrong)} }}"
        call = described(f"check_terminators({function})", check_terminators, holding(*wrong))
        call.raises(VerificationError, because="the last operation is a terminator, and no other")


def test_every_block_of_every_region_ends_in_a_terminator() -> None:
    good, bad = holding("tt.return").regions[0], holding("gpu.barrier").regions[0]
    blocks = [*holding("tt.return").regions[0].blocks, *holding("gpu.barrier").regions[0].blocks]
    for regions in ([good, bad], [Region(blocks)]):
        call = applying(check_terminators, Operation("scf.if", regions=regions))
        call.raises(VerificationError, because="its last block ends in gpu.barrier, which is no terminator")


def test_only_a_module_needs_no_terminator() -> None:
    block = Block()
    block.append(holding("tt.return"))
    check_terminators(Operation("builtin.module", regions=[Region([block])]))
    check_terminators(Operation("builtin.module", regions=[Region([Block()])]))
    check_terminators(Operation("arith.constant"))


def test_visibility_alone() -> None:
    outer, inner = Block([I32]), Block([I32])
    (x,), (y,) = outer.arguments, inner.arguments
    inner.append(Operation("arith.addi", [x, y], [I32]))
    unseen = "check_visibility(^bb0(%y) { arith.addi %x, %y }, visible=set())"
    described(unseen, check_visibility, inner, set()).raises(VerificationError, because="%x is not visible")
    holder = Block()
    holder.append(Operation("scf.if", regions=[Region([Block(), inner])]))
    nested = "check_visibility(^bb0 { scf.if ({}, {^bb0(%y): arith.addi %x, %y}) }, visible=set())"
    described(nested, check_visibility, holder, set()).raises(VerificationError, because="%x is not visible")
    visible: set[Value] = {x}
    check_visibility(inner, visible)
    assert visible == {x}, "check_visibility should add to a set of its own, not to its caller's"


def test_functions_see_nothing_from_outside() -> None:
    inner, (x,) = Block(), Block([I32]).arguments
    inner.append(Operation("use", [x]))
    for name in ("tt.func", "builtin.module"):
        block = Block()
        block.append(Operation(name, regions=[Region([inner])]))
        call = described(f"check_visibility({name} {{ use %x }}, visible={{%x}})", check_visibility, block, {x})
        call.raises(VerificationError, because=f"{name} is isolated from above")
    block = Block()
    block.append(Operation("scf.if", regions=[Region([inner])]))
    check_visibility(block, {x})
