"""Task 2.2: the types of elementwise operations, comparisons, select and casts, as real Triton's verifier demands."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from mini_triton.formats import FLOATS
from mini_triton.ir.ops.elementwise import (
    bitcast,
    cmpf,
    cmpi,
    narrower_float,
    narrower_integer,
    same_floats,
    same_integers,
    select,
    wider_float,
    wider_integer,
)

from tests.support.m02_ops.generic_form import tensor, type_of
from tests.support.m02_ops.rules import Call, applying, judge
from tests.support.type_names import NUMBERS

INTEGERS = ("i1", "i8", "i16", "i32", "i64")
ELEMENTS = (*NUMBERS, "!tt.ptr<f32>", "!tt.ptr<i8>")
TYPES = [tensor(shape, element) for shape in ((), (8,)) for element in ELEMENTS]
TYPES += [tensor(shape, element) for shape in ((4,), (2, 4)) for element in ("i1", "i32", "f32")]
FLOAT_8 = "only tt.fp_to_fp casts fp8: real Triton parses this operation, but cannot compile it"


def boolean_of(type: str) -> str:
    """`i1` in the shape of a type."""
    dimensions, x, _ = type.rpartition("x")
    return f"{dimensions}{x}i1>" if type.startswith("tensor") else "i1"


def casts(rule, name: str, stricter: str = "") -> list[Call]:
    """The calls that cast from every type to every type."""
    return [
        Call(rule, name, (source,), [(target,)], given=target, stricter=stricter if "f8" in source + target else "")
        for source, target in itertools.product(TYPES, repeat=2)
    ]


def test_arithmetic() -> None:
    for rule, name in ((same_integers, "arith.addi"), (same_floats, "arith.mulf")):
        judge(Call(rule, name, pair, [(pair[0],)]) for pair in itertools.product(TYPES, repeat=2))


def test_two_different_types_are_both_named() -> None:
    for rule, elements in ((same_integers, INTEGERS), (same_floats, FLOATS)):
        types = [tensor(shape, element) for shape in ((), (8,), (2, 4)) for element in elements]
        for lhs, rhs in itertools.permutations(types, 2):
            call = applying(rule, type_of(lhs), type_of(rhs))
            call.raises(TypeError, lhs, rhs, because="the types differ, and the message should name both")


@pytest.mark.parametrize(("rule", "predicate"), [(cmpi, 2), (cmpf, 4)])
def test_compare(rule: Callable[..., Any], predicate: int) -> None:
    """The predicate is "less than" for integers, and "ordered and less than" for floats."""
    judge(
        Call(
            rule, f"arith.{rule.__name__}", (lhs, rhs), [("i1",), (boolean_of(lhs),)], f"predicate = {predicate} : i64"
        )
        for lhs, rhs in itertools.product(TYPES, repeat=2)
    )


def test_select() -> None:
    conditions = ("i1", "i8", "f32", "tensor<8xi1>", "tensor<8xi8>", "tensor<4xi1>", "tensor<2x4xi1>")
    judge(
        Call(select, "arith.select", (condition, type, type), [(type,)])
        for type, condition in itertools.product(TYPES, conditions)
        if type.startswith("tensor") or not condition.startswith("tensor")
    )
    judge([Call(select, "arith.select", ("tensor<8xi1>", "f32", "f32"), [("f32",)])])  # real Triton aborts


def test_select_between_different_types() -> None:
    types = ("i1", "i32", "f32", "!tt.ptr<f32>", "tensor<8xi32>", "tensor<8xf32>", "tensor<4xi32>")
    judge(
        Call(select, "arith.select", (condition, *values), [(values[0],), (values[1],)])
        for values in itertools.permutations(types, 2)
        for condition in {"i1", *map(boolean_of, values)}
    )


def test_casts() -> None:
    judge(casts(wider_float, "arith.extf", FLOAT_8) + casts(narrower_float, "arith.truncf", FLOAT_8))
    judge(casts(wider_integer, "arith.extsi") + casts(narrower_integer, "arith.trunci"))
    judge(casts(bitcast, "tt.bitcast"))
