"""Task 2.6: the types that go through `for`, `if` and `while`, as real Triton's verifier has them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.core import Block as BuiltBlock
from mini_triton.ir.core import Operation, Region
from mini_triton.ir.ops.control_flow import condition, end_of, for_, if_, while_

from tests.oracles import triton
from tests.support.m02_ops import descriptions as ir
from tests.support.m02_ops.descriptions import RETURN, Block, Op, type_of
from tests.support.m02_ops.diagnostics import reason
from tests.support.m02_ops.rules import Call, applying, judge

VALUES = {
    "n": "i32",
    "k": "i64",
    "x": "f32",
    "c": "i1",
    "t": "tensor<8xf32>",
    "m": "tensor<8xi1>",
    "p": "!tt.ptr<f32>",
}
"""Values from outside, one of each type."""

NAMES = {type: name for name, type in VALUES.items()}
CHANGES = ("nothing", "one less", "one more", "another type", "another order")
ENDS = ("scf.yield", "scf.condition", "tt.return", "nothing", "two blocks", "no block")

Rule = Callable[..., Any]
Types = tuple[str, ...]
types = st.lists(st.sampled_from(tuple(NAMES)), max_size=3).map(tuple)
changes = st.just("nothing") | st.sampled_from(CHANGES)
ends = st.just("scf.yield") | st.sampled_from(ENDS)


def changed(types: Types, change: str) -> Types:
    """The same types but for one change."""
    if change == "one less":
        return types[:-1]
    if change == "one more":
        return (*types, "i32")
    if change == "another type" and types:
        return (*types[:-1], "f32" if types[-1] != "f32" else "i32")
    return types[::-1] if change == "another order" else types


def region(arguments: Iterable[str], end: str, *returned: str) -> tuple[Block, ...]:
    """A region with arguments of these types, which ends in an operation with operands of these types."""
    if end == "no block":
        return ()
    operands = tuple(NAMES[type] for type in returned)
    if end == "two blocks":
        return (*region(arguments, "scf.yield", *returned), Block((), (Op("scf.yield", operands),)))
    unnamed = tuple(("", type) for type in arguments)
    return (Block(unnamed, (Op(end, operands),) if end != "nothing" else ()),)


def named(*regions: tuple[Block, ...]) -> tuple[tuple[Block, ...], ...]:
    """The same regions, each argument with a name of its own."""
    names = (f"a{i}" for i in itertools.count())

    def name(block: Block) -> Block:
        return block._replace(arguments=tuple((next(names), type) for _, type in block.arguments))

    return tuple(tuple(map(name, region)) for region in regions)


def call(rule: Rule, name: str, operands: Types, offers: list[Types], *regions: tuple[Block, ...]) -> Call:
    """A call of a rule with these regions, which may use `VALUES`."""
    return Call(rule, name, operands, offers, regions=named(*regions), outside=list(VALUES.items()))


# --- for


@given(bound=st.sampled_from(("i32", "i64")), inits=types, carried=changes, yielded=changes, end=ends)
def test_for(bound: str, inits: Types, carried: str, yielded: str, end: str) -> None:
    inside = region((bound, *changed(inits, carried)), end, *changed(inits, yielded))
    offers = [inits, changed(inits, yielded)]
    judge([call(for_, "scf.for", (bound, bound, bound, *inits), offers, inside)])


def test_bounds_of_a_loop() -> None:
    """All three bounds and the induction variable have one integer type."""
    bounds = ("i8", "i16", "i32", "i64", "f32", "tensor<8xi32>", "!tt.ptr<i32>")
    for bound, variable in itertools.product(bounds, repeat=2):
        judge([call(for_, "scf.for", (bound,) * 3, [()], region([variable], "scf.yield"))])
    for three in itertools.product(("i32", "i64"), repeat=3):
        judge([call(for_, "scf.for", three, [()], region([three[0]], "scf.yield"))])


def test_booleans_bound_no_loop() -> None:
    why = "a range of i1 cannot even count to one: real Triton parses it, but no front end makes it"
    judge([replace(call(for_, "scf.for", ("i1",) * 3, [], region(["i1"], "scf.yield")), stricter=why)])


def test_a_loop_needs_its_induction_variable() -> None:
    judge([call(for_, "scf.for", ("i32",) * 3, [()], region([], "scf.yield"))])


def test_for_ends_in_a_yield() -> None:
    for end, inits in itertools.product(ENDS, ((), ("f32",))):
        judge([call(for_, "scf.for", ("i32", "i32", "i32", *inits), [inits], region(("i32", *inits), end, *inits))])


def test_a_loop_has_one_region() -> None:
    body = region(["i32"], "scf.yield")
    judge([call(for_, "scf.for", ("i32",) * 3, [()], body, body)])


# --- if


@given(results=types, change=changes, has_else=st.just(True) | st.booleans(), end=ends, changes_else=st.booleans())
def test_if(results: Types, change: str, has_else: bool, end: str, changes_else: bool) -> None:
    others = changed(results, change)
    then = region((), "scf.yield", *results)
    other = region((), end, *others) if has_else else ()
    regions = (then, other) if changes_else or not has_else else (other, then)
    judge([call(if_, "scf.if", ("i1",), list(dict.fromkeys([results, others, ()])), *regions)])


def test_condition_of_an_if() -> None:
    for type in ("i1", "i8", "i32", "f32", "tensor<8xi1>", "!tt.ptr<i1>"):
        judge([call(if_, "scf.if", (type,), [()], region((), "scf.yield"), ())])


def test_an_if_without_else() -> None:
    for results in ((), ("i32",), ("f32", "i32")):
        judge([call(if_, "scf.if", ("i1",), [results, ()], region((), "scf.yield", *results), ())])


def test_regions_of_an_if_take_no_arguments() -> None:
    plain, taking = region((), "scf.yield"), region(["i32"], "scf.yield")
    judge(call(if_, "scf.if", ("i1",), [()], *regions) for regions in ((taking, plain), (plain, taking), (taking, ())))


def test_an_if_has_two_regions() -> None:
    plain = region((), "scf.yield")
    judge(call(if_, "scf.if", ("i1",), [()], *regions) for regions in ((plain,), (plain, plain, plain)))


def test_both_branches_end_in_a_yield() -> None:
    for end, results in itertools.product(ENDS, ((), ("f32",))):
        right, other = region((), "scf.yield", *results), region((), end, *results)
        judge(call(if_, "scf.if", ("i1",), [results], *regions) for regions in ((right, other), (other, right)))


# --- while


@given(inits=types, forwarded=types, taken=changes, received=changes, yielded=changes)
def test_while(inits: Types, forwarded: Types, taken: str, received: str, yielded: str) -> None:
    before = region(changed(inits, taken), "scf.condition", "i1", *forwarded)
    after = region(changed(forwarded, received), "scf.yield", *changed(inits, yielded))
    offers = list(dict.fromkeys([forwarded, inits, changed(forwarded, received)]))
    judge([call(while_, "scf.while", inits, offers, before, after)])


def test_both_regions_of_a_while_end_as_they_should() -> None:
    before, after = region((), "scf.condition", "i1"), region((), "scf.yield")
    wrong = [region((), end) for end in ENDS[2:]]
    judge([call(while_, "scf.while", (), [()], before, after), call(while_, "scf.while", (), [()], after, before)])
    judge(call(while_, "scf.while", (), [()], before, end) for end in wrong)
    judge(call(while_, "scf.while", (), [()], end, after) for end in wrong)
    judge([call(while_, "scf.while", (), [()], before), call(while_, "scf.while", (), [()], before, after, after)])


def test_condition_of_a_while() -> None:
    """It is a scalar boolean, and any values may follow it."""
    for type, forwarded in itertools.product(NAMES, ((), ("f32",), ("i32", "tensor<8xf32>"))):
        before, after = region((), "scf.condition", type, *forwarded), region(forwarded, "scf.yield")
        loop = Op("scf.while", (), tuple((f"r{i}", t) for i, t in enumerate(forwarded)), {}, named(before, after))
        try:
            condition(type_of(type), *map(type_of, forwarded))
            refusal = ""
        except TypeError as error:
            refusal = str(error)
        answer = triton.accepts(ir.text(ir.module(ir.function(VALUES.items(), [loop, RETURN]))))
        asked = f"condition({', '.join([type, *forwarded])})"
        assert answer or refusal, f"{asked} should be refused, as by real Triton: {reason(answer)}"
        assert not answer or not refusal, f"{asked} should be accepted, as by real Triton, but got TypeError: {refusal}"


# --- the helper


def test_the_end_of_a_region() -> None:
    end = Operation("scf.yield")
    block = BuiltBlock()
    block.append(Operation("arith.constant"))
    block.append(end)
    region = Region([block])
    applying(end_of, region, "scf.yield").returns(end, because="it is the last operation of the only block")
    applying(end_of, region, "tt.return").raises(TypeError, "tt.return", because="it ends in scf.yield")
    applying(end_of, Region(), "scf.yield").raises(TypeError, because="it has no block")
    applying(end_of, Region([BuiltBlock()]), "scf.yield").raises(TypeError, "scf.yield", because="its block is empty")
    applying(end_of, Region([block, BuiltBlock()]), "scf.yield").raises(TypeError, because="it has two blocks")
