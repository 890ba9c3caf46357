"""Everything that can be wrong with a program, each by its name.

A fault writes a few operations at the end of a block, of which one breaks a rule, and returns that one. Whatever
was there before is right. The values of `programs.PARAMETERS` can be used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.strategies import ir
from tests.strategies.ir import Block, Op, array, integer, segments, word
from tests.strategies.programs import PARAMETERS, Body, Region, Step, around

Fault = Callable[[Body], Op]
TYPES: dict[str, Fault] = {}
ORDER: dict[str, Fault] = {}
TERMINATORS: dict[str, Fault] = {}
UNCHECKED: dict[str, Fault] = {}  # not in every version of real Triton
SLT = {"predicate": word("slt", 2, width=64)}


def spoiled(steps: Sequence[Step], fault: Fault, inside: Sequence[str] = ()) -> tuple[Op, Op]:
    """The module that a recipe stands for with a fault at its end, and the operation at fault.

    `inside` names the blocks around the fault, from the outside in: "for", "if", "else", "before" or "after".
    """
    outer = Body(PARAMETERS)
    outer.follow(steps)
    wrong = _place(outer, fault, list(inside))
    return around(outer), wrong


def line_of(wrong: Op, module: Op) -> int:
    """The line that `ir.build` says an operation comes from."""
    return next(line for line, op in enumerate(module.walk(), 1) if op is wrong)


def _place(body: Body, fault: Fault, inside: list[str]) -> Op:
    if not inside:
        return fault(body)
    where, *rest = inside
    inner, arguments = body.inner(*(["i32"] if where == "for" else []))
    wrong = _place(inner, fault, rest)
    inner.emit("scf.condition" if where == "before" else "scf.yield", ["c"] if where == "before" else [])
    region = (Block(arguments, tuple(inner.operations)),)
    if where == "for":
        body.emit("scf.for", ("n", "n", "n"), regions=[region])
    elif where in ("if", "else"):
        body.emit("scf.if", ("c",), regions=[region, _yielding()] if where == "if" else [_yielding(), region])
    else:
        condition = (Block((), (Op("scf.condition", ("c",)),)),)
        body.emit("scf.while", regions=[region, _yielding()] if where == "before" else [condition, region])
    return wrong


def _yielding(*names: str) -> Region:
    return (Block((), (Op("scf.yield", names),)),)


def _listed(faults: dict[str, Fault]) -> Callable[[Fault], Fault]:
    def enter(fault: Fault) -> Fault:
        faults[fault.__name__.replace("_", " ")] = fault
        return fault

    return enter


def _combine(body: Body, arguments: Sequence[str], end: str | None, *returned: int | str) -> Region:
    """A combine region; it returns arguments by number, or values by name."""
    _, named = body.inner(*arguments)
    names = tuple(named[value][0] if isinstance(value, int) else value for value in returned)
    return (Block(named, (Op(end, names),) if end else ()),)


# --- types


@_listed(TYPES)
def two_types_added(body: Body) -> Op:
    return body.emit("arith.addi", ("n", "x"), ["i32"])


@_listed(TYPES)
def floats_added_as_integers(body: Body) -> Op:
    return body.emit("arith.addi", ("x", "x"), ["f32"])


@_listed(TYPES)
def a_sum_of_another_type(body: Body) -> Op:
    return body.emit("arith.addi", ("n", "n"), ["i64"])


@_listed(TYPES)
def a_comparison_that_gives_integers(body: Body) -> Op:
    return body.emit("arith.cmpi", ("i", "i"), ["tensor<8xi32>"], SLT)


@_listed(TYPES)
def a_comparison_of_nobody_knows_what(body: Body) -> Op:
    return body.emit("arith.cmpi", ("i", "i"), ["tensor<8xi1>"])


@_listed(TYPES)
def an_operand_too_few(body: Body) -> Op:
    return body.emit("arith.addi", ("n",), ["i32"])


@_listed(TYPES)
def an_operation_that_does_not_exist(body: Body) -> Op:
    return body.emit("arith.addo", ("n", "n"), ["i32"])


@_listed(TYPES)
def a_cast_to_the_same_width(body: Body) -> Op:
    return body.emit("arith.extf", ("x",), ["f32"])


@_listed(TYPES)
def a_mask_of_another_shape(body: Body) -> Op:
    names = ["a", body.constant("tensor<4xi1>")]
    return body.emit("tt.load", names, ["tensor<8xf32>"], {"operandSegmentSizes": segments(True, True, False)})


@_listed(TYPES)
def a_mask_of_integers(body: Body) -> Op:
    return body.emit("tt.store", ("a", "t", "i"))


@_listed(TYPES)
def a_scalar_instead_of_a_mask(body: Body) -> Op:
    return body.emit("tt.store", ("a", "t", "c"))


@_listed(TYPES)
def another_value_of_another_type(body: Body) -> Op:
    return body.emit(
        "tt.load", ("a", "m", "i"), ["tensor<8xf32>"], {"operandSegmentSizes": segments(True, True, True)}
    )


@_listed(TYPES)
def a_load_of_what_is_not_there(body: Body) -> Op:
    return body.emit("tt.load", ("a",), ["tensor<8xf16>"], {"operandSegmentSizes": segments(True, False, False)})


@_listed(TYPES)
def a_load_without_a_pointer(body: Body) -> Op:
    return body.emit("tt.load", ("i",), ["tensor<8xf32>"], {"operandSegmentSizes": segments(True, False, False)})


@_listed(TYPES)
def a_stored_value_of_another_type(body: Body) -> Op:
    return body.emit("tt.store", ("a", "i"))


@_listed(TYPES)
def an_offset_of_another_shape(body: Body) -> Op:
    return body.emit("tt.addptr", ("a", "n"), ["tensor<8x!tt.ptr<f32>>"])


@_listed(TYPES)
def a_range_of_another_length(body: Body) -> Op:
    return body.emit("tt.make_range", (), ["tensor<16xi32>"], {"start": integer(0), "end": integer(8)})


@_listed(TYPES)
def an_empty_range(body: Body) -> Op:
    return body.emit("tt.make_range", (), ["tensor<8xi32>"], {"start": integer(8), "end": integer(8)})


@_listed(TYPES)
def a_broadcast_to_another_rank(body: Body) -> Op:
    return body.emit("tt.broadcast", ("t",), ["tensor<8x8xf32>"])


@_listed(TYPES)
def a_reshape_to_another_size(body: Body) -> Op:
    return body.emit("tt.reshape", ("t",), ["tensor<4x4xf32>"])


@_listed(TYPES)
def a_transpose_that_forgets_a_dimension(body: Body) -> Op:
    return body.emit("tt.trans", ("w",), ["tensor<2x2xf32>"], {"order": array((0, 0))})


@_listed(TYPES)
def matrices_that_do_not_fit(body: Body) -> Op:
    return body.emit("tt.dot", ("w", "w", "w"), ["tensor<2x4xf32>"])


@_listed(UNCHECKED)
def an_axis_out_of_range(body: Body) -> Op:
    combine = _combine(body, ("f32", "f32"), "tt.reduce.return", 0)
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(1)}, [combine])


@_listed(UNCHECKED)
def a_negative_axis(body: Body) -> Op:
    combine = _combine(body, ("f32", "f32"), "tt.reduce.return", 0)
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(-1)}, [combine])


@_listed(UNCHECKED)
def a_new_dimension_out_of_range(body: Body) -> Op:
    return body.emit("tt.expand_dims", ("t",), ["tensor<8x1xf32>"], {"axis": integer(2)})


@_listed(TYPES)
def a_reduction_over_the_other_axis(body: Body) -> Op:
    combine = _combine(body, ("f32", "f32"), "tt.reduce.return", 0)
    return body.emit("tt.reduce", ("w",), ["tensor<4xf32>"], {"axis": integer(1)}, [combine])


@_listed(TYPES)
def a_reduction_that_takes_one_element(body: Body) -> Op:
    combine = _combine(body, ("f32",), "tt.reduce.return", 0)
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(0)}, [combine])


@_listed(TYPES)
def a_reduction_that_returns_another_type(body: Body) -> Op:
    combine = _combine(body, ("f32", "f32"), "tt.reduce.return", "n")
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(0)}, [combine])


@_listed(TYPES)
def a_loop_that_yields_another_type(body: Body) -> Op:
    region = _combine(body, ("i32", "f32"), "scf.yield", 0)
    return body.emit("scf.for", ("n", "n", "n", "x"), ["f32"], regions=[region])


@_listed(TYPES)
def a_loop_that_yields_too_little(body: Body) -> Op:
    region = _combine(body, ("i32", "f32"), "scf.yield")
    return body.emit("scf.for", ("n", "n", "n", "x"), ["f32"], regions=[region])


@_listed(TYPES)
def a_loop_with_a_result_of_another_type(body: Body) -> Op:
    region = _combine(body, ("i32", "f32"), "scf.yield", 1)
    return body.emit("scf.for", ("n", "n", "n", "x"), ["i32"], regions=[region])


@_listed(TYPES)
def a_loop_with_its_results_in_another_order(body: Body) -> Op:
    region = _combine(body, ("i32", "f32", "i32"), "scf.yield", 1, 2)
    return body.emit("scf.for", ("n", "n", "n", "x", "n"), ["i32", "f32"], regions=[region])


@_listed(TYPES)
def a_loop_with_bounds_of_two_types(body: Body) -> Op:
    return body.emit("scf.for", ("n", body.constant("i1"), "n"), regions=[_combine(body, ("i32",), "scf.yield")])


@_listed(TYPES)
def branches_of_two_types(body: Body) -> Op:
    return body.emit("scf.if", ("c",), ["i32"], regions=[_yielding("n"), _yielding("x")])


@_listed(TYPES)
def a_result_without_an_else(body: Body) -> Op:
    return body.emit("scf.if", ("c",), ["i32"], regions=[_yielding("n"), ()])


@_listed(TYPES)
def a_tensor_as_condition(body: Body) -> Op:
    return body.emit("scf.if", ("m",), regions=[_yielding(), _yielding()])


@_listed(TYPES)
def a_while_that_forwards_another_type(body: Body) -> Op:
    before, after = _combine(body, (), "scf.condition", "c", "x"), _combine(body, ("i32",), "scf.yield")
    return body.emit("scf.while", (), ["f32"], regions=[before, after])


# --- order


@_listed(ORDER)
def a_value_before_it_is_defined(body: Body) -> Op:
    later = body.new_name()
    wrong = body.emit("arith.addi", ("n", later), ["i32"])
    body.operations.append(Op("arith.subi", ("n", "n"), ((later, "i32"),)))
    return wrong


@_listed(ORDER)
def a_value_of_itself(body: Body) -> Op:
    name = body.new_name()
    body.operations.append(Op("arith.addi", (name, name), ((name, "i32"),)))
    return body.operations[-1]


@_listed(ORDER)
def a_value_from_inside_a_branch(body: Body) -> Op:
    inner, _ = body.inner()
    value = inner.constant("i32")
    inner.emit("scf.yield")
    body.emit("scf.if", ("c",), regions=[(Block((), tuple(inner.operations)),), ()])
    return body.emit("arith.addi", ("n", value), ["i32"])


@_listed(ORDER)
def a_value_from_the_other_branch(body: Body) -> Op:
    then, _ = body.inner()
    value = then.constant("i32")
    then.emit("scf.yield")
    other, _ = body.inner()
    wrong = other.emit("arith.addi", (value, value), ["i32"])
    other.emit("scf.yield")
    body.emit("scf.if", ("c",), regions=[(Block((), tuple(inner.operations)),) for inner in (then, other)])
    return wrong


@_listed(ORDER)
def an_induction_variable_after_its_loop(body: Body) -> Op:
    region = _combine(body, ("i32",), "scf.yield")
    body.emit("scf.for", ("n", "n", "n"), regions=[region])
    return body.emit("arith.addi", (region[0].arguments[0][0], "n"), ["i32"])


@_listed(ORDER)
def a_carried_value_outside_of_its_loop(body: Body) -> Op:
    region = _combine(body, ("i32", "f32"), "scf.yield", 1)
    body.emit("scf.for", ("n", "n", "n", "x"), ["f32"], regions=[region])
    return body.emit("arith.addf", (region[0].arguments[1][0], "x"), ["f32"])


@_listed(ORDER)
def a_result_inside_its_own_loop(body: Body) -> Op:
    result = body.new_name()
    region = _combine(body, ("i32", "f32"), "scf.yield", result)
    body.operations.append(Op("scf.for", ("n", "n", "n", "x"), ((result, "f32"),), {}, (region,)))
    return region[0].operations[0]


@_listed(ORDER)
def what_the_first_region_takes_in_the_second(body: Body) -> Op:
    before, after = _combine(body, ("i32",), "scf.condition", "c"), body.inner()[0]
    wrong = after.emit("scf.yield", [before[0].arguments[0][0]])
    body.emit("scf.while", ("n",), regions=[before, (Block((), (wrong,)),)])
    return wrong


@_listed(ORDER)
def what_the_first_region_computes_in_the_second(body: Body) -> Op:
    before, after = (body.inner()[0] for _ in range(2))
    value = before.constant("i32")
    before.emit("scf.condition", ["c"])
    wrong = after.emit("arith.addi", ("n", value), ["i32"])
    after.emit("scf.yield")
    body.emit("scf.while", regions=[(Block((), tuple(inner.operations)),) for inner in (before, after)])
    return wrong


@_listed(ORDER)
def a_value_of_another_function(body: Body) -> Op:
    return body.emit("arith.addf", ("h", "h"), ["f32"])


# --- terminators


@_listed(TERMINATORS)
def a_return_in_the_middle(body: Body) -> Op:
    return body.emit("tt.return")


@_listed(TERMINATORS)
def a_yield_in_the_middle(body: Body) -> Op:
    return body.emit("scf.yield")


@_listed(TERMINATORS)
def a_branch_without_a_yield(body: Body) -> Op:
    inner, _ = body.inner()
    inner.constant("i32")
    return body.emit("scf.if", ("c",), regions=[(Block((), tuple(inner.operations)),), ()])


@_listed(TERMINATORS)
def an_empty_branch(body: Body) -> Op:
    return body.emit("scf.if", ("c",), regions=[_yielding(), (Block(),)])


@_listed(TERMINATORS)
def a_loop_that_ends_in_a_return(body: Body) -> Op:
    return body.emit("scf.for", ("n", "n", "n"), regions=[_combine(body, ("i32",), "tt.return")])


@_listed(TERMINATORS)
def a_reduction_without_a_return(body: Body) -> Op:
    region = _combine(body, ("f32", "f32"), None)
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(0)}, [region])


@_listed(TERMINATORS)
def a_reduction_that_ends_in_a_yield(body: Body) -> Op:
    region = _combine(body, ("f32", "f32"), "scf.yield", 0)
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(0)}, [region])


@_listed(TERMINATORS)
def a_condition_at_the_end_of_the_second_region(body: Body) -> Op:
    region = _combine(body, (), "scf.condition", "c")
    return body.emit("scf.while", regions=[region, region])


FAULTS = {**TYPES, **ORDER, **TERMINATORS}
PLACES = ("for", "if", "else", "before", "after")


def without_a_return() -> Op:
    """A module whose kernel ends in an ordinary operation."""
    return ir.module(ir.function(PARAMETERS, [ir.constant("one", "i32")]))


def without_operations() -> Op:
    """A module whose kernel is empty."""
    return ir.module(ir.function(PARAMETERS, []))
