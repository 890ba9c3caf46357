"""Task 2.5: dot, reduce and scan, as real Triton's verifier demands. Its compiler judges a dot's element types."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.formats import FLOATS
from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.ops.control_flow import end_of
from mini_triton.ir.ops.reduction import dot, reduce, scan

from tests.oracles import triton
from tests.support.m02_ops.generic_form import op, region, tensor
from tests.support.m02_ops.rules import Call, applying, judge

FP8 = tuple(name for name, row in FLOATS.items() if row.width == 8)
COMPILED = tuple(name for name in FP8 if FLOATS[name].capability is not None)  # the others are for AMD's GPUs
SUMS = {  # element types of `a` and `b`: the types in which their products may be summed
    ("i8", "i8"): ("i32",),
    ("f16", "f16"): ("f16", "f32"),
    ("bf16", "bf16"): ("f32",),
    ("f32", "f32"): ("f32",),
    ("f64", "f64"): ("f64",),
    **{pair: ("f16", "f32") for pair in itertools.product(FP8, repeat=2)},
}
ELEMENTS = ("i8", "i32", *COMPILED, "f16", "bf16", "f32", "f64")
DOT = """
tt.func public @dot(%pa: !tt.ptr<{a}>, %pb: !tt.ptr<{b}>, %pc: !tt.ptr<{c}>) {{
  %sa = tt.splat %pa : !tt.ptr<{a}> -> tensor<32x32x!tt.ptr<{a}>>
  %sb = tt.splat %pb : !tt.ptr<{b}> -> tensor<32x32x!tt.ptr<{b}>>
  %sc = tt.splat %pc : !tt.ptr<{c}> -> tensor<32x32x!tt.ptr<{c}>>
  %a = tt.load %sa : tensor<32x32x!tt.ptr<{a}>>
  %b = tt.load %sb : tensor<32x32x!tt.ptr<{b}>>
  %c = tt.load %sc : tensor<32x32x!tt.ptr<{c}>>
  %d = tt.dot %a, %b, %c : tensor<32x32x{a}> * tensor<32x32x{b}> -> tensor<32x32x{c}>
  tt.store %sc, %d : tensor<32x32x!tt.ptr<{c}>>
  tt.return
}}
"""

Shape = tuple[int, ...]
shapes = st.lists(st.sampled_from((1, 2, 4, 8)), min_size=1, max_size=3).map(tuple)
elements = st.lists(st.sampled_from(("f32", "i32", "f16")), min_size=1, max_size=3)


# --- dot


def dots(a: Shape, b: Shape, c: Shape) -> Call:
    """A dot of half precision tensors of these shapes."""
    types = tensor(a, "f16"), tensor(b, "f16"), tensor(c, "f32")
    return Call(dot, "tt.dot", types, [(types[2],)])


def test_shapes_of_matrices() -> None:
    for sizes in ((16, 32), (1, 16)):
        judge(dots(*shapes) for shapes in itertools.product(list(itertools.product(sizes, repeat=2)), repeat=3))


def test_stacks_of_matrices() -> None:
    stacks = ((), (1,), (2,), (4,))
    judge(dots((*a, 16, 32), (*b, 32, 64), (*c, 16, 64)) for a, b, c in itertools.product(stacks, repeat=3))


def test_only_matrices_and_stacks_of_matrices() -> None:
    types = "tensor<16xf16>", "tensor<16xf16>", "tensor<16xf32>"
    judge([Call(dot, "tt.dot", types, [("tensor<16xf32>",)]), Call(dot, "tt.dot", ("f16", "f16", "f32"), [("f32",)])])
    why = "operands must be matrices, or stacks of matrices along one dimension"
    four = "tensor<2x2x16x16xf16>", "tensor<2x2x16x16xf16>", "tensor<2x2x16x16xf32>"
    judge([Call(dot, "tt.dot", four, (), stricter=why)])


def test_element_types_of_a_dot() -> None:
    """Real Triton's verifier accepts all accumulators, and its compiler accepts the first one of each pair."""
    for (a, b), accumulators in SUMS.items():
        types = [tensor((32, 32), a), tensor((32, 32), b)]
        judge(Call(dot, "tt.dot", (*types, c), [(c,)]) for c in (tensor((32, 32), name) for name in accumulators))
        if {a, b} & {*FP8} <= {*COMPILED}:
            compiled = triton.compile_ttir(DOT.format(a=a, b=b, c=accumulators[0]))
            assert compiled, compiled.diagnostic


def test_element_types_that_a_dot_refuses() -> None:
    for a, b, c in itertools.product(ELEMENTS, repeat=3):
        if c not in SUMS.get((a, b), ()):
            types = [tensor((32, 32), element) for element in (a, b, c)]
            why = f"the products of {a} and {b} are not summed in {c}: see ACCUMULATORS"
            judge([Call(dot, "tt.dot", types, (), stricter=why)])


# --- reduce and scan

RULES: dict[str, Callable[..., Any]] = {"tt.reduce": reduce, "tt.scan": scan}
CHANGES = (
    "nothing",
    "one argument less",
    "one argument more",
    "an argument of a different type",
    "arguments in another order",
    "whole tensors as arguments",
    "one value less",
    "one value more",
    "a value of a different type",
    "values in another order",
    "another terminator",
    "no terminator",
    "a second region",
    "a second block",
    "no block",
    "no region",
)


def combining(name: str, shape: Shape, names: list[str], axis: int, change: str = "nothing") -> Call:
    """A reduction or scan whose region returns its left arguments, with one change in the region."""
    sources = [tensor(shape, element) for element in names]
    arguments, returned = {
        "one argument less": ([*names, *names][:-1], names),
        "one argument more": ([*names, *names, names[0]], names),
        "an argument of a different type": ([*names, *names[:-1], "i64"], names),
        "arguments in another order": ([element for element in names for _ in "lr"], names),
        "whole tensors as arguments": ([*sources, *sources], sources),
        "one value less": ([*names, *names], names[:-1]),
        "one value more": ([*names, *names], [*names, names[0]]),
        "a value of a different type": ([*names, *names], [*names[:-1], "i64"]),
        "values in another order": ([*names, *names], names[::-1]),
    }.get(change, ([*names, *names], names))
    other = "tt.scan" if name == "tt.reduce" else "tt.reduce"
    end = f"{other if change == 'another terminator' else name}.return"

    def block(copy: str) -> str:
        """A block whose names end in `copy`, so that two copies share no name."""
        named = [(f"{copy}{i}", type) for i, type in enumerate(arguments)]
        known = {type: (value, type) for value, type in reversed(named)} | {"i64": ("elsewhere", "i64")}
        ends = [op(end, [known[type] for type in returned if type in known])]
        return region(*ends * (change != "no terminator"), arguments=named)

    regions = [block("x"), block("y")] if change == "a second region" else [block("x")]
    if change == "a second block":
        regions = [block("x")[:-1] + block("y")[2:].replace("bb0", "bb1")]
    if change in ("no block", "no region"):
        regions = ["{}"] * (change == "no block")
    rests = [shape[:i] + shape[i + 1 :] for i in range(len(shape))]
    offers = [tuple(tensor(rest, element) for element in names) for rest in rests]
    return Call(
        RULES[name],
        name,
        sources,
        offers if name == "tt.reduce" else [tuple(sources)],
        f"axis = {axis} : i32" + ", reverse = false" * (name == "tt.scan"),
        regions=regions,
        outside={"elsewhere": "i64"},
        stricter="" if 0 <= axis < len(shape) else "an axis counts from 0; not every version of Triton checks it",
    )


@pytest.mark.parametrize("name", RULES)
@example(shape=(4, 8), names=["f32"], axis=-1, change="nothing")
@example(shape=(4, 8), names=["f32"], axis=2, change="nothing")
@given(shape=shapes, names=elements, axis=st.integers(-1, 3), change=st.just("nothing") | st.sampled_from(CHANGES))
def test_combine(name: str, shape: Shape, names: list[str], axis: int, change: str) -> None:
    judge([combining(name, shape, names, axis, change)])


@pytest.mark.parametrize("name", RULES)
def test_every_wrong_region(name: str) -> None:
    judge(
        combining(name, (4, 8), names, 1, change)
        for change, names in itertools.product(CHANGES, (["f32"], ["f32", "i32"]))
    )


def test_a_scan_from_the_end() -> None:
    call = combining("tt.scan", (4, 8), ["f32", "i32"], 1)
    judge([replace(call, attributes=call.attributes.replace("false", "true"))])


@pytest.mark.parametrize("name", RULES)
def test_sources_that_cannot_be_combined(name: str) -> None:
    """Sources of two shapes, scalars, or none at all."""
    right, pair = combining(name, (8,), ["f32"], 0), combining(name, (8,), ["f32", "i32"], 0)
    for sources, call in (
        (("tensor<8xf32>", "tensor<4xi32>"), pair),
        (("f32",), right),
        ((), Call(RULES[name], name, (), (), right.attributes, regions=[region(op(f"{name}.return"))])),
    ):
        offers = [sources] if name == "tt.scan" else [("f32", "i32")[: len(sources)]]
        judge([Call(RULES[name], name, sources, offers, call.attributes, regions=call.regions)])


def test_the_end_of_a_region() -> None:
    def block(*names: str) -> Block:
        made = Block()
        for name in names:
            made.append(Operation(name))
        return made

    region, late = Region([block("arith.constant", "scf.yield")]), Region([block("scf.yield", "arith.constant")])
    end = region.block.operations[1]
    applying(end_of, region, "scf.yield").returns(end, because="it is the last operation of the only block")
    applying(end_of, late, "scf.yield").raises(TypeError, "scf.yield", because="it ends in arith.constant")
    applying(end_of, region, "tt.return").raises(TypeError, "tt.return", because="it ends in scf.yield")
    applying(end_of, Region(), "scf.yield").raises(TypeError, because="it has no block")
    applying(end_of, Region([Block()]), "scf.yield").raises(TypeError, "scf.yield", because="its block is empty")
    two = Region([block("scf.yield"), block("scf.yield")])
    applying(end_of, two, "scf.yield").raises(TypeError, because="it has two blocks")
