"""Task 2.5: dot, reduce and scan, as real Triton's verifier (and for the elements of a dot, its compiler) has them."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.ops.reduction import dot, reduce, scan

from tests.oracles import triton
from tests.support.m02_ops.descriptions import Block, Op, flag, integer, tensor
from tests.support.m02_ops.rules import Call, judge

SUMS = {  # for the elements of `a` and `b`, those in which the products may be summed
    ("i8", "i8"): ("i32",),
    ("f16", "f16"): ("f16", "f32"),
    ("bf16", "bf16"): ("f32",),
    ("f32", "f32"): ("f32",),
    ("f64", "f64"): ("f64",),
    **{pair: ("f16", "f32") for pair in itertools.product(("f8E5M2", "f8E4M3FN"), repeat=2)},
}
ELEMENTS = ("i8", "i32", "f8E5M2", "f8E4M3FN", "f16", "bf16", "f32", "f64")
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
sizes = st.sampled_from((16, 32, 64))
shapes = st.lists(st.sampled_from((1, 2, 4, 8)), min_size=1, max_size=3).map(tuple)
elements = st.lists(st.sampled_from(("f32", "i32", "f16")), min_size=1, max_size=3)
CHANGES = (
    "nothing",
    "one argument less",
    "one argument more",
    "an argument of another type",
    "arguments in another order",
    "whole tensors as arguments",
    "one value less",
    "one value more",
    "a value of another type",
    "another terminator",
    "no terminator",
    "a second region",
    "a second block",
    "no block",
)
changes = st.just("nothing") | st.sampled_from(CHANGES)


# --- dot


def dots(a: Shape, b: Shape, c: Shape) -> Call:
    """A dot of half precision tensors of these shapes."""
    types = tensor(a, "f16"), tensor(b, "f16"), tensor(c, "f32")
    return Call(dot, "tt.dot", types, [(types[2],)])


def test_shapes_of_matrices() -> None:
    pairs = [(16, 32), (32, 16), (16, 16)]
    judge(dots(*shapes) for shapes in itertools.product(pairs, repeat=3))


def test_stacks_of_matrices() -> None:
    ranks = [((16, 32), (2, 16, 32), (4, 16, 32)), ((32, 64), (2, 32, 64), (4, 32, 64))]
    judge(dots(a, b, c) for a, b in itertools.product(*ranks) for c in ((16, 64), (2, 16, 64), (4, 16, 64)))


@given(m=sizes, k=sizes, n=sizes, batch=st.lists(st.sampled_from((1, 2, 4)), max_size=1))
def test_any_sizes(m: int, k: int, n: int, batch: list[int]) -> None:
    judge([dots((*batch, m, k), (*batch, k, n), (*batch, m, n)), dots((*batch, m, k), (*batch, n, k), (*batch, m, n))])


def test_only_matrices_and_stacks_of_them() -> None:
    types = "tensor<16xf16>", "tensor<16xf16>", "tensor<16xf32>"
    judge([Call(dot, "tt.dot", types, [("tensor<16xf32>",)]), Call(dot, "tt.dot", ("f16", "f16", "f32"), [("f32",)])])
    why = "matrices, or stacks of them along one dimension"
    four = "tensor<2x2x16x16xf16>", "tensor<2x2x16x16xf16>", "tensor<2x2x16x16xf32>"
    judge([Call(dot, "tt.dot", four, (), stricter=why)])


def test_elements_that_meet_in_a_dot() -> None:
    for pair, accumulators in SUMS.items():
        types = [tensor((32, 32), element) for element in pair]
        judge(Call(dot, "tt.dot", (*types, c), [(c,)]) for c in (tensor((32, 32), name) for name in accumulators))


def test_real_triton_compiles_these_elements() -> None:
    for (a, b), accumulators in SUMS.items():
        types = [tensor((32, 32), a), tensor((32, 32), b), tensor((32, 32), accumulators[0])]
        judge([Call(dot, "tt.dot", types, [(types[2],)])])
        compiled = triton.compile_ttir(DOT.format(a=a, b=b, c=accumulators[0]))
        assert compiled, compiled.diagnostic


def test_elements_that_do_not_meet_in_a_dot() -> None:
    for a, b, c in itertools.product(ELEMENTS, repeat=3):
        if c not in SUMS.get((a, b), ()):
            types = [tensor((32, 32), element) for element in (a, b, c)]
            why = f"the products of {a} and {b} are not summed in {c}: see ACCUMULATORS"
            judge([Call(dot, "tt.dot", types, (), stricter=why)])


# --- reduce and scan


def combining(rule, name: str, shape: Shape, names: list[str], axis: int, change: str) -> Call:
    """A reduction or scan whose region returns its left elements, with something changed about the region."""
    sources = [tensor(shape, element) for element in names]
    arguments = [*names, *names]
    returned = [f"x{i}" for i in range(len(names))]
    end = f"{name}.return"
    if change == "one argument less":
        arguments.pop()
    elif change == "one argument more":
        arguments.append(names[0])
    elif change == "an argument of another type":
        arguments[-1] = "i64"
    elif change == "arguments in another order":
        arguments = [element for element in names for _ in "lr"]
        returned = [f"x{2 * i}" for i in range(len(names))]
    elif change == "whole tensors as arguments":
        arguments = [*sources, *sources]
    elif change == "one value less":
        returned.pop()
    elif change == "one value more":
        returned.append("x0")
    elif change == "a value of another type":
        returned[-1] = "elsewhere"
    elif change == "another terminator":
        end = "tt.scan.return" if name == "tt.reduce" else "tt.reduce.return"
    ends = (Op(end, tuple(returned)),) if change != "no terminator" else ()
    block = Block(tuple((f"x{i}", type) for i, type in enumerate(arguments)), ends)
    attributes = {"axis": integer(axis)}
    if name == "tt.scan":
        attributes["reverse"] = flag(False)
        offers = [tuple(sources)]
    else:
        rests = [shape[:i] + shape[i + 1 :] for i in range(len(shape))]
        offers = [tuple(tensor(rest, element) for element in names) for rest in rests]
    copies = 2 if change == "a second region" else 1
    regions: tuple[tuple[Block, ...], ...] = tuple((_renamed(block, copy),) for copy in range(copies))
    if change == "a second block":
        regions = ((block, _renamed(block, 1)),)
    elif change == "no block":
        regions = ((),)
    stricter = "" if 0 <= axis < len(shape) else "an axis counts from 0; not every version of Triton checks it"
    outside = [("elsewhere", "i64")]
    return Call(rule, name, sources, offers, attributes, regions=regions, outside=outside, stricter=stricter)


def _renamed(block: Block, copy: int) -> Block:
    """The same block again, whose values need names of their own."""
    names = {name: f"{name}_{copy}" if copy else name for name, _ in block.arguments}
    arguments = tuple((names[name], type) for name, type in block.arguments)
    ends = tuple(op._replace(operands=tuple(names.get(o, o) for o in op.operands)) for op in block.operations)
    return Block(arguments, ends)


@given(shape=shapes, names=elements, axis=st.integers(-1, 3), change=changes)
def test_reduce(shape: Shape, names: list[str], axis: int, change: str) -> None:
    judge([combining(reduce, "tt.reduce", shape, names, axis, change)])


@given(shape=shapes, names=elements, axis=st.integers(-1, 3), change=changes)
def test_scan(shape: Shape, names: list[str], axis: int, change: str) -> None:
    judge([combining(scan, "tt.scan", shape, names, axis, change)])


def test_every_wrong_region() -> None:
    for change, names in itertools.product(CHANGES, (["f32"], ["f32", "i32"])):
        judge([combining(reduce, "tt.reduce", (4, 8), names, 1, change)])
        judge([combining(scan, "tt.scan", (4, 8), names, 1, change)])


def test_sources_of_two_shapes() -> None:
    sources = "tensor<8xf32>", "tensor<4xi32>"
    for rule, name, results in ((reduce, "tt.reduce", ("f32", "i32")), (scan, "tt.scan", sources)):
        call = combining(rule, name, (8,), ["f32", "i32"], 0, "nothing")
        judge([Call(rule, name, sources, [results], call.attributes, regions=call.regions)])


def test_only_tensors_are_combined() -> None:
    for rule, name in ((reduce, "tt.reduce"), (scan, "tt.scan")):
        call = combining(rule, name, (8,), ["f32"], 0, "nothing")
        judge([Call(rule, name, ("f32",), [("f32",)], call.attributes, regions=call.regions)])


def test_nothing_to_combine() -> None:
    for rule, name in ((reduce, "tt.reduce"), (scan, "tt.scan")):
        attributes = combining(rule, name, (8,), ["f32"], 0, "nothing").attributes
        empty = ((Block((), (Op(f"{name}.return"),)),),)
        judge([Call(rule, name, (), [()], attributes, regions=empty)])
