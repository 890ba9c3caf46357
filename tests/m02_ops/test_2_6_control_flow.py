"""Task 2.6: the types of the values that `for`, `if` and `while` pass on, as real Triton's verifier demands."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.ops.control_flow import condition, for_, if_, while_

from tests.oracles import triton
from tests.support.m02_ops import generic_form as ir
from tests.support.m02_ops.generic_form import reason, type_of
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

Types = tuple[str, ...]
types = st.lists(st.sampled_from(tuple(NAMES)), max_size=3).map(tuple)
changes = st.just("nothing") | st.sampled_from(CHANGES)
ends = st.just("scf.yield") | st.sampled_from(ENDS)


def changed(types: Types, change: str) -> Types:
    """The same types except for one."""
    if change == "one less":
        return types[:-1]
    if change == "one more":
        return (*types, "i32")
    if change == "another type" and types:
        return (*types[:-1], "f32" if types[-1] != "f32" else "i32")
    return types[::-1] if change == "another order" else types


def region(arguments: Iterable[str], end: str, *returned: str) -> str:
    """A region with arguments of these types, which ends in an operation with operands of these types."""
    if end == "no block":
        return "{}"
    operation = ir.op("scf.yield" if end == "two blocks" else end, [(NAMES[type], type) for type in returned])
    named = [(f"REGION{i}", type) for i, type in enumerate(arguments)]
    text = ir.region(*[operation] * (end != "nothing"), arguments=named)
    return f"{text[:-1]}^bb1:\n{operation}\n}}" if end == "two blocks" else text


def call(rule: Callable[..., Any], operands: Types, offers: Iterable[Types], *regions: str) -> Call:
    """A call to a rule with these regions, which may use `VALUES`."""
    name = f"scf.{rule.__name__.strip('_')}"
    return Call(rule, name, operands, list(offers), regions=named(*regions), outside=VALUES)


def named(*regions: str) -> list[str]:
    """The same regions, each argument with a name of its own."""
    return [region.replace("REGION", f"a{i}_") for i, region in enumerate(regions)]


# --- for


@given(bound=st.sampled_from(("i32", "i64")), inits=types, carried=changes, yielded=changes, end=ends)
def test_for(bound: str, inits: Types, carried: str, yielded: str, end: str) -> None:
    inside = region((bound, *changed(inits, carried)), end, *changed(inits, yielded))
    judge([call(for_, (bound, bound, bound, *inits), [inits, changed(inits, yielded)], inside)])


def test_bounds_of_a_loop() -> None:
    """All three bounds and the induction variable have one integer type."""
    bounds = ("i8", "i16", "i32", "i64", "f32", "tensor<8xi32>", "!tt.ptr<i32>")
    pairs: list[tuple[Types, str]] = [
        ((bound,) * 3, variable) for bound, variable in itertools.product(bounds, repeat=2)
    ]
    pairs += [(three, three[0]) for three in itertools.product(("i32", "i64"), repeat=3)]
    judge(call(for_, three, [()], region([variable], "scf.yield")) for three, variable in pairs)
    why = "i1 cannot count to one: real Triton parses such a range, but no front end emits it"
    judge([replace(call(for_, ("i1",) * 3, [], region(["i1"], "scf.yield")), stricter=why)])


def test_the_region_of_a_loop() -> None:
    """A loop has one region, which takes the induction variable and ends in a yield."""
    three, body = ("i32",) * 3, region(["i32"], "scf.yield")
    judge(call(for_, three, [()], *regions) for regions in ((region([], "scf.yield"),), (body, body), ()))
    for end, inits in itertools.product(ENDS, ((), ("f32",))):
        judge([call(for_, (*three, *inits), [inits], region(("i32", *inits), end, *inits))])


# --- if


@given(results=types, change=changes, has_else=st.just(True) | st.booleans(), end=ends, changes_else=st.booleans())
def test_if(results: Types, change: str, has_else: bool, end: str, changes_else: bool) -> None:
    others = changed(results, change)
    then = region((), "scf.yield", *results)
    other = region((), end, *others) if has_else else "{}"
    regions = (then, other) if changes_else or not has_else else (other, then)
    judge([call(if_, ("i1",), [results, others, ()], *regions)])


def test_condition_of_an_if() -> None:
    for type in ("i1", "i8", "i32", "f32", "tensor<8xi1>", "!tt.ptr<i1>"):
        judge([call(if_, (type,), [()], region((), "scf.yield"), "{}")])


def test_regions_of_an_if() -> None:
    """An `if` has two regions without arguments that end in a yield. The second may be empty if nothing is yielded."""
    plain, taking = region((), "scf.yield"), region(["i32"], "scf.yield")
    wrong: list[Types] = [(taking, plain), (plain, taking), (taking, "{}"), (plain,), (plain, plain, plain), ()]
    judge(call(if_, ("i1",), [()], *those) for those in wrong)
    for results in ((), ("i32",), ("f32", "i32")):
        judge([call(if_, ("i1",), [results, ()], region((), "scf.yield", *results), "{}")])
    for end, yielded in itertools.product(ENDS, ((), ("f32",))):
        right, other = region((), "scf.yield", *yielded), region((), end, *yielded)
        judge(call(if_, ("i1",), [yielded], *regions) for regions in [(right, other), (other, right)])


# --- while


@given(inits=types, forwarded=types, taken=changes, received=changes, yielded=changes)
def test_while(inits: Types, forwarded: Types, taken: str, received: str, yielded: str) -> None:
    before = region(changed(inits, taken), "scf.condition", "i1", *forwarded)
    after = region(changed(forwarded, received), "scf.yield", *changed(inits, yielded))
    judge([call(while_, inits, [forwarded, inits, changed(forwarded, received)], before, after)])


def test_every_change() -> None:
    """Two carried values; in one of the places where their types must agree, a type is changed."""
    types, three = ("i32", "f32"), ("i32",) * 3
    for other in (changed(types, change) for change in CHANGES):
        offers = dict.fromkeys([types, other])
        judge(
            call(for_, (*three, *types), offers, region(("i32", *taken), "scf.yield", *yielded))
            for taken, yielded in ((other, types), (types, other))
        )
        branches = region((), "scf.yield", *types), region((), "scf.yield", *other)
        judge(call(if_, ("i1",), offers, *regions) for regions in (branches, branches[::-1]))
        judge(
            call(
                while_, types, offers, region(taken, "scf.condition", "i1", *types), region(got, "scf.yield", *yielded)
            )
            for taken, got, yielded in ((other, types, types), (types, other, types), (types, types, other))
        )


def test_both_regions_of_a_while_end_as_they_should() -> None:
    before, after = region((), "scf.condition", "i1"), region((), "scf.yield")
    wrong = [region((), end) for end in ENDS[2:]]
    pairs = [(before, after), (after, before), *((before, end) for end in wrong), *((end, after) for end in wrong)]
    judge(call(while_, (), [()], *regions) for regions in (*pairs, (before,), (before, after, after), ()))


def test_condition_of_a_while() -> None:
    """The condition is a scalar boolean, and any values may follow it."""
    for type, forwarded in itertools.product(NAMES, ((), ("f32",), ("i32", "tensor<8xf32>"))):
        regions = named(region((), "scf.condition", type, *forwarded), region(forwarded, "scf.yield"))
        loop = ir.op("scf.while", (), [(f"r{i}", t) for i, t in enumerate(forwarded)], regions=regions)
        answer = triton.accepts(ir.module(ir.function(VALUES, loop, ir.RETURN)))
        asked = applying(condition, type_of(type), *map(type_of, forwarded))
        if not answer:
            asked.raises(TypeError, because=f"real Triton says: {reason(answer)}")
        elif (got := asked.succeeds(because="real Triton accepts it")) not in (None, ()):
            asked.fail("no results", got, "the values go to the second region, or become the loop's results")
