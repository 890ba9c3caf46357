"""Faults of order: what is used where it is not visible, and what ends a block."""

from __future__ import annotations

from tests.support.m02_ops.descriptions import Block, Op, integer
from tests.support.m02_ops.faults.parts import Fault, combine, listed, yielding
from tests.support.m02_ops.programs import Body

ORDER: dict[str, Fault] = {}
TERMINATORS: dict[str, Fault] = {}


@listed(ORDER)
def a_value_before_it_is_defined(body: Body) -> Op:
    later = body.new_name()
    wrong = body.emit("arith.addi", ("n", later), ["i32"])
    body.operations.append(Op("arith.subi", ("n", "n"), ((later, "i32"),)))
    return wrong


@listed(ORDER)
def a_value_of_itself(body: Body) -> Op:
    name = body.new_name()
    body.operations.append(Op("arith.addi", (name, name), ((name, "i32"),)))
    return body.operations[-1]


@listed(ORDER)
def a_value_from_inside_a_branch(body: Body) -> Op:
    inner, _ = body.inner()
    value = inner.constant("i32")
    inner.emit("scf.yield")
    body.emit("scf.if", ("c",), regions=[(Block((), tuple(inner.operations)),), ()])
    return body.emit("arith.addi", ("n", value), ["i32"])


@listed(ORDER)
def a_value_from_the_other_branch(body: Body) -> Op:
    then, _ = body.inner()
    value = then.constant("i32")
    then.emit("scf.yield")
    other, _ = body.inner()
    wrong = other.emit("arith.addi", (value, value), ["i32"])
    other.emit("scf.yield")
    body.emit("scf.if", ("c",), regions=[(Block((), tuple(inner.operations)),) for inner in (then, other)])
    return wrong


@listed(ORDER)
def an_induction_variable_after_its_loop(body: Body) -> Op:
    region = combine(body, ("i32",), "scf.yield")
    body.emit("scf.for", ("n", "n", "n"), regions=[region])
    return body.emit("arith.addi", (region[0].arguments[0][0], "n"), ["i32"])


@listed(ORDER)
def a_carried_value_outside_of_its_loop(body: Body) -> Op:
    region = combine(body, ("i32", "f32"), "scf.yield", 1)
    body.emit("scf.for", ("n", "n", "n", "x"), ["f32"], regions=[region])
    return body.emit("arith.addf", (region[0].arguments[1][0], "x"), ["f32"])


@listed(ORDER)
def a_result_inside_its_own_loop(body: Body) -> Op:
    result = body.new_name()
    region = combine(body, ("i32", "f32"), "scf.yield", result)
    body.operations.append(Op("scf.for", ("n", "n", "n", "x"), ((result, "f32"),), {}, (region,)))
    return region[0].operations[0]


@listed(ORDER)
def what_the_first_region_takes_in_the_second(body: Body) -> Op:
    before, after = combine(body, ("i32",), "scf.condition", "c"), body.inner()[0]
    wrong = after.emit("scf.yield", [before[0].arguments[0][0]])
    body.emit("scf.while", ("n",), regions=[before, (Block((), (wrong,)),)])
    return wrong


@listed(ORDER)
def what_the_first_region_computes_in_the_second(body: Body) -> Op:
    before, after = (body.inner()[0] for _ in range(2))
    value = before.constant("i32")
    before.emit("scf.condition", ["c"])
    wrong = after.emit("arith.addi", ("n", value), ["i32"])
    after.emit("scf.yield")
    body.emit("scf.while", regions=[(Block((), tuple(inner.operations)),) for inner in (before, after)])
    return wrong


@listed(ORDER)
def a_value_of_another_function(body: Body) -> Op:
    return body.emit("arith.addf", ("h", "h"), ["f32"])


# --- terminators


@listed(TERMINATORS)
def a_return_in_the_middle(body: Body) -> Op:
    return body.emit("tt.return")


@listed(TERMINATORS)
def a_yield_in_the_middle(body: Body) -> Op:
    return body.emit("scf.yield")


@listed(TERMINATORS)
def a_branch_without_a_yield(body: Body) -> Op:
    inner, _ = body.inner()
    inner.constant("i32")
    return body.emit("scf.if", ("c",), regions=[(Block((), tuple(inner.operations)),), ()])


@listed(TERMINATORS)
def an_empty_branch(body: Body) -> Op:
    return body.emit("scf.if", ("c",), regions=[yielding(), (Block(),)])


@listed(TERMINATORS)
def a_loop_that_ends_in_a_return(body: Body) -> Op:
    return body.emit("scf.for", ("n", "n", "n"), regions=[combine(body, ("i32",), "tt.return")])


@listed(TERMINATORS)
def a_reduction_without_a_return(body: Body) -> Op:
    region = combine(body, ("f32", "f32"), None)
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(0)}, [region])


@listed(TERMINATORS)
def a_reduction_that_ends_in_a_yield(body: Body) -> Op:
    region = combine(body, ("f32", "f32"), "scf.yield", 0)
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(0)}, [region])


@listed(TERMINATORS)
def a_condition_at_the_end_of_the_second_region(body: Body) -> Op:
    region = combine(body, (), "scf.condition", "c")
    return body.emit("scf.while", regions=[region, region])
