"""Faults that a type rule finds."""

from __future__ import annotations

from tests.support.m02_ops.descriptions import Op, array, integer, segments
from tests.support.m02_ops.faults.parts import SLT, Fault, combine, listed, yielding
from tests.support.m02_ops.programs import Body

TYPES: dict[str, Fault] = {}
UNCHECKED: dict[str, Fault] = {}  # not in every version of real Triton


@listed(TYPES)
def two_types_added(body: Body) -> Op:
    return body.emit("arith.addi", ("n", "x"), ["i32"])


@listed(TYPES)
def floats_added_as_integers(body: Body) -> Op:
    return body.emit("arith.addi", ("x", "x"), ["f32"])


@listed(TYPES)
def a_sum_of_another_type(body: Body) -> Op:
    return body.emit("arith.addi", ("n", "n"), ["i64"])


@listed(TYPES)
def a_comparison_that_gives_integers(body: Body) -> Op:
    return body.emit("arith.cmpi", ("i", "i"), ["tensor<8xi32>"], SLT)


@listed(TYPES)
def a_comparison_of_nobody_knows_what(body: Body) -> Op:
    return body.emit("arith.cmpi", ("i", "i"), ["tensor<8xi1>"])


@listed(TYPES)
def an_operand_too_few(body: Body) -> Op:
    return body.emit("arith.addi", ("n",), ["i32"])


@listed(TYPES)
def an_operation_that_does_not_exist(body: Body) -> Op:
    return body.emit("arith.addo", ("n", "n"), ["i32"])


@listed(TYPES)
def a_cast_to_the_same_width(body: Body) -> Op:
    return body.emit("arith.extf", ("x",), ["f32"])


@listed(TYPES)
def a_mask_of_another_shape(body: Body) -> Op:
    names = ["a", body.constant("tensor<4xi1>")]
    return body.emit("tt.load", names, ["tensor<8xf32>"], {"operandSegmentSizes": segments(True, True, False)})


@listed(TYPES)
def a_mask_of_integers(body: Body) -> Op:
    return body.emit("tt.store", ("a", "t", "i"))


@listed(TYPES)
def a_scalar_instead_of_a_mask(body: Body) -> Op:
    return body.emit("tt.store", ("a", "t", "c"))


@listed(TYPES)
def another_value_of_another_type(body: Body) -> Op:
    return body.emit("tt.load", ("a", "m", "i"), ["tensor<8xf32>"], {"operandSegmentSizes": segments(True, True, True)})


@listed(TYPES)
def a_load_of_what_is_not_there(body: Body) -> Op:
    return body.emit("tt.load", ("a",), ["tensor<8xf16>"], {"operandSegmentSizes": segments(True, False, False)})


@listed(TYPES)
def a_load_without_a_pointer(body: Body) -> Op:
    return body.emit("tt.load", ("i",), ["tensor<8xf32>"], {"operandSegmentSizes": segments(True, False, False)})


@listed(TYPES)
def a_stored_value_of_another_type(body: Body) -> Op:
    return body.emit("tt.store", ("a", "i"))


@listed(TYPES)
def an_offset_of_another_shape(body: Body) -> Op:
    return body.emit("tt.addptr", ("a", "n"), ["tensor<8x!tt.ptr<f32>>"])


@listed(TYPES)
def a_range_of_another_length(body: Body) -> Op:
    return body.emit("tt.make_range", (), ["tensor<16xi32>"], {"start": integer(0), "end": integer(8)})


@listed(TYPES)
def an_empty_range(body: Body) -> Op:
    return body.emit("tt.make_range", (), ["tensor<8xi32>"], {"start": integer(8), "end": integer(8)})


@listed(TYPES)
def a_broadcast_to_another_rank(body: Body) -> Op:
    return body.emit("tt.broadcast", ("t",), ["tensor<8x8xf32>"])


@listed(TYPES)
def a_reshape_to_another_size(body: Body) -> Op:
    return body.emit("tt.reshape", ("t",), ["tensor<4x4xf32>"])


@listed(TYPES)
def a_transpose_that_forgets_a_dimension(body: Body) -> Op:
    return body.emit("tt.trans", ("w",), ["tensor<2x2xf32>"], {"order": array((0, 0))})


@listed(TYPES)
def matrices_that_do_not_fit(body: Body) -> Op:
    return body.emit("tt.dot", ("w", "w", "w"), ["tensor<2x4xf32>"])


@listed(UNCHECKED)
def an_axis_out_of_range(body: Body) -> Op:
    region = combine(body, ("f32", "f32"), "tt.reduce.return", 0)
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(1)}, [region])


@listed(UNCHECKED)
def a_negative_axis(body: Body) -> Op:
    region = combine(body, ("f32", "f32"), "tt.reduce.return", 0)
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(-1)}, [region])


@listed(UNCHECKED)
def a_new_dimension_out_of_range(body: Body) -> Op:
    return body.emit("tt.expand_dims", ("t",), ["tensor<8x1xf32>"], {"axis": integer(2)})


@listed(TYPES)
def a_reduction_over_the_other_axis(body: Body) -> Op:
    region = combine(body, ("f32", "f32"), "tt.reduce.return", 0)
    return body.emit("tt.reduce", ("w",), ["tensor<4xf32>"], {"axis": integer(1)}, [region])


@listed(TYPES)
def a_reduction_that_takes_one_element(body: Body) -> Op:
    region = combine(body, ("f32",), "tt.reduce.return", 0)
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(0)}, [region])


@listed(TYPES)
def a_reduction_that_returns_another_type(body: Body) -> Op:
    region = combine(body, ("f32", "f32"), "tt.reduce.return", "n")
    return body.emit("tt.reduce", ("t",), ["f32"], {"axis": integer(0)}, [region])


@listed(TYPES)
def a_loop_that_yields_another_type(body: Body) -> Op:
    region = combine(body, ("i32", "f32"), "scf.yield", 0)
    return body.emit("scf.for", ("n", "n", "n", "x"), ["f32"], regions=[region])


@listed(TYPES)
def a_loop_that_yields_too_little(body: Body) -> Op:
    region = combine(body, ("i32", "f32"), "scf.yield")
    return body.emit("scf.for", ("n", "n", "n", "x"), ["f32"], regions=[region])


@listed(TYPES)
def a_loop_with_a_result_of_another_type(body: Body) -> Op:
    region = combine(body, ("i32", "f32"), "scf.yield", 1)
    return body.emit("scf.for", ("n", "n", "n", "x"), ["i32"], regions=[region])


@listed(TYPES)
def a_loop_with_its_results_in_another_order(body: Body) -> Op:
    region = combine(body, ("i32", "f32", "i32"), "scf.yield", 1, 2)
    return body.emit("scf.for", ("n", "n", "n", "x", "n"), ["i32", "f32"], regions=[region])


@listed(TYPES)
def a_loop_with_bounds_of_two_types(body: Body) -> Op:
    return body.emit("scf.for", ("n", body.constant("i1"), "n"), regions=[combine(body, ("i32",), "scf.yield")])


@listed(TYPES)
def branches_of_two_types(body: Body) -> Op:
    return body.emit("scf.if", ("c",), ["i32"], regions=[yielding("n"), yielding("x")])


@listed(TYPES)
def a_result_without_an_else(body: Body) -> Op:
    return body.emit("scf.if", ("c",), ["i32"], regions=[yielding("n"), ()])


@listed(TYPES)
def a_tensor_as_condition(body: Body) -> Op:
    return body.emit("scf.if", ("m",), regions=[yielding(), yielding()])


@listed(TYPES)
def a_while_that_forwards_another_type(body: Body) -> Op:
    before, after = combine(body, (), "scf.condition", "c", "x"), combine(body, ("i32",), "scf.yield")
    return body.emit("scf.while", (), ["f32"], regions=[before, after])
