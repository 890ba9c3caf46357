"""Task 12.3: which operators share a kernel."""

import dataclasses
import graphlib
import itertools
from typing import Any
from unittest import mock

import pytest
import sympy
import torch
from hypothesis import given
from mini_triton.fusion.body import Space
from mini_triton.fusion.grouping import Partition, can_be_free, find_uses, recompute_cheap
from mini_triton.fusion.lowering import lower_graph
from mini_triton.fusion.lowering.graph import HANDLERS, elementwise
from mini_triton.fusion.program import materialize
from mini_triton.fusion.tensors import Called, Computed, Stored, Tensor, hint

from tests.checks import described, one_in
from tests.support.m12_fusion.compiling import (
    FUSED,
    fused,
    graph_program,
    insist_that_triton_compiles,
    normal,
    odd,
    program,
    whole,
)
from tests.support.m12_fusion.drawn import pointwise_programs, programs_with_calls


class planned:
    """A program before fusion: its partition, and its tensors by the names of the graph's nodes."""

    def __init__(self, text: str, **inputs: torch.Tensor) -> None:
        self.text = text
        graph = graph_program(text, **inputs).graph
        lowered = lower_graph(graph)
        self.tensors = {node.name: x for node, x in lowered.items() if isinstance(x, Tensor)}
        for x in self.tensors.values():
            if isinstance(x, Called):
                x.inputs = tuple(map(materialize, x.inputs))
        (output,) = (node for node in graph.nodes if node.op == "output")
        results = output.args[0] if isinstance(output.args[0], tuple | list) else [output.args[0]]
        self.results = [materialize(lowered[node]) for node in results]
        self.partition = Partition(find_uses(self.results))

    def group(self, name: str) -> Any:
        return self.partition.home[self.tensors[name]]


# --- the bytes that a kernel moves

BYTES = {
    "x + y": (4 * (24 + 24 + 24), "two tensors of 24 numbers are read, one is written"),
    "x + x": (4 * (24 + 24), "x is read once, though it is used twice"),
    "x + x.t().reshape(4, 6)": (
        4 * (24 + 24 + 24),
        "x is read at two different indices, so each element is read twice",
    ),
    "x + y[:1]": (4 * (24 + 24 + 24), "each step reads y, and there are as many steps as results"),
    "x[:1] + z": (4 * (6 + 6 + 6), "the loops read only as many elements of x as they have steps"),
    "x + z": (4 * (24 + 6 + 24), "z is broadcast: only its 6 elements are read"),
    "x > y": (4 * (24 + 24) + 24, "a bool has one byte"),
    "h + x": (2 * 24 + 4 * (24 + 24), "an element of h has 2 bytes in memory, although the kernel computes in fp32"),
    "x.to(torch.float64)": (4 * 24 + 8 * 24, "the result has 8 bytes per element"),
    "s @ s": (4 * 3 * 256, "a product reads each of its operands, although both are s"),
    "s[:4] @ s": (4 * (64 + 256 + 64), "a product reads a slice of 64 elements, and whole operands"),
    "torch.full((4, 6), 2.0) * x": (4 * (24 + 24), "a constant is not read"),
}


@pytest.mark.parametrize("text", BYTES)
def test_bytes(text: str) -> None:
    count, because = BYTES[text]
    inputs = {"x": normal(4, 6), "y": normal(4, 6), "z": normal(6), "h": normal(4, 6, dtype=torch.float16)}
    plan = planned(text, **inputs, s=normal(16, 16))
    (group,) = plan.partition.groups
    described(
        f"bytes of the kernel of {text}, with x, y, h: (4, 6), z: (6), s: (16, 16)", getattr, group, "bytes"
    ).returns(count, because)


def test_bytes_on_several_conditions() -> None:
    def lower(node: Any, x: Any) -> Any:
        def at(body: Any, index: Any) -> Any:
            condition = body.apply("lt", [body.index(index[0]), body.index(sympy.Integer(2))], torch.bool)
            return body.where(condition, lambda: body.value(x, index), lambda: body.value(x, index))

        return elementwise(node, [x], at)

    with mock.patch.dict(HANDLERS, {"sin": lower}):
        (group,) = planned("torch.sin(x)", x=normal(4, 6)).partition.groups
    call = described(
        "bytes of a kernel that loads an element of x if i < 2, and otherwise too", getattr, group, "bytes"
    )
    call.returns(4 * (24 + 24), "each step reads x at one place, on either condition")


def test_bytes_of_reduced_loops() -> None:
    (group,) = planned("x[:1] + z", x=normal(4, 6), z=normal(6)).partition.groups
    group = dataclasses.replace(group, space=Space(group.space.sizes, (False, True)))
    described("bytes of x[:1] + z, if the kernel reduces its loop of 6 steps", getattr, group, "bytes").returns(
        4 * (6 + 6 + 6), "the kernel also loads elements in each step of a loop that it reduces"
    )


def test_bytes_of_symbolic_sizes() -> None:
    call = program("x * 2", x=normal(5, 7), options=FUSED, dynamic=True).computes_what_eager_does()
    (group,) = call.programs[0].groups
    size = hint(group.members[0].numel)
    described("bytes of x * 2, dynamic=True", getattr, group, "bytes").returns(
        8 * size, "a symbolic size counts as its hint"
    )


# --- recomputation

AGAIN = {
    "x.to(torch.float64) * 2": ({"_to_copy"}, "4 bytes are read instead of 8"),
    "(x + v) * 2": ({"add"}, "192 bytes are read instead of 288: v has 6 doubles"),
    "torch.sin(x) * 2": (set(), "reading sin or x costs the same: nothing is gained"),
    "(x + y) * 2": (set(), "two tensors would be read in place of one"),
    "(z * 2) + x": (set(), "z * 2 has as many elements as z"),
    "(z.reshape(6, 1) + z) * w": ({"add"}, "add has 36 elements, and is computed from 6"),
    "(z.reshape(6, 1) + z) * 2 * w": (
        {"add"},
        "recomputing mul would read add, and this read counts, although add is recomputed",
    ),
    "torch.tril(x) + x": ("masks", "a mask is computed from indices"),
    "torch.cumsum(x.to(torch.float64), 0)": (set(), "a tensor that PyTorch reads must be stored"),
    "[(a := z.reshape(6, 1) + z), (a @ x, a * y)][-1]": (set(), "a product reads its operands more than once"),
    "(x.to(torch.float64), x.to(torch.float64) + 1)": ({"_to_copy_1"}, "results are stored in any case"),
    "x.to(torch.float32).to(torch.float64) * 2": ({"_to_copy"}, "the loop reads x, whatever casts lie between"),
}


@pytest.mark.parametrize("text", AGAIN)
def test_cheap_values_are_recomputed(text: str) -> None:
    expected, because = AGAIN[text]
    inputs = {"x": normal(6, 6), "y": normal(6, 6), "w": normal(6, 6), "z": normal(6)}
    plan = planned(text, **inputs, v=normal(6, dtype=torch.float64))
    uses = find_uses(plan.results)
    call = described(f"recompute_cheap(the tensors of {text}), with x, y, w: (6, 6), z, v: (6)", recompute_cheap, uses)
    call.succeeds()
    free = {x.name for x in uses.order if getattr(x, "is_free", False)}
    wrong = bool(free) != bool(expected) if expected == "masks" else free != expected
    if wrong:
        call.fail(
            f"is_free: {sorted(expected) if expected else 'nothing'}", f"is_free: {sorted(free) or 'nothing'}", because
        )


def test_recomputation_with_symbolic_sizes() -> None:
    text = "x.to(torch.float64) * 2"
    call = program(text, x=normal(5, 7), options=FUSED, dynamic=True).computes_what_eager_does()
    counts = [len(group.members) for group in call.programs[0].groups]
    because = "a symbolic size counts as its hint, so the cast is free, and in no group"
    described(f"the numbers of tensors in the groups of {text}, dynamic=True", lambda: counts).returns([1], because)


def test_a_tensor_that_overwrites_an_argument_is_stored() -> None:
    plan = planned("torch.sin(x + 1)", x=normal(6))
    uses, tensor = find_uses(plan.results), plan.tensors["add"]
    described("can_be_free(x + 1), in sin(x + 1)", can_be_free, tensor, uses).returns(True, "only sin reads it")
    (x,) = tensor.inputs
    assert isinstance(tensor, Computed) and isinstance(x, Stored)
    tensor.into = x
    call = described("can_be_free(x + 1), which overwrites x", can_be_free, tensor, uses)
    call.returns(False, "the new values of x must be in memory")


# --- cycles


def test_a_path_through_a_call_is_a_cycle() -> None:
    plan = planned("(a := x + 1) * torch.cumsum(a, 0)", x=normal(6))
    a, b = plan.group("add"), plan.group("mul")
    call = described("would_cycle(add, mul) in (x + 1) * cumsum(x + 1)", plan.partition.would_cycle, a, b)
    call.returns(True, "the kernel would wait for cumsum, which waits for the kernel")
    call = described("would_cycle(mul, add), the other way round", plan.partition.would_cycle, b, a)
    call.returns(True, "the order of the two operators does not matter")


def test_a_direct_use_is_not_a_cycle() -> None:
    plan = planned("torch.cumsum(torch.sin(x + 1), 0)", x=normal(6))
    call = described(
        "would_cycle(add, sin) in cumsum(sin(x + 1))", plan.partition.would_cycle, plan.group("add"), plan.group("sin")
    )
    call.returns(False, "sin reads add inside of one kernel; cumsum comes after both")


def test_a_long_way_round() -> None:
    plan = planned("(a := x + 1) * torch.cumsum(torch.sin(torch.cumsum(torch.cos(a), 0)), 0)", x=normal(6))
    for name in ("add", "cos"):
        call = described(
            f"would_cycle({name}, mul) in a * cumsum(sin(cumsum(cos(a)))), a = x + 1",
            plan.partition.would_cycle,
            plan.group(name),
            plan.group("mul"),
        )
        call.returns(True, "the path leads through two calls")


@one_in(5)
@given(programs_with_calls())
def test_cycles_in_random_programs(drawn: tuple[str, dict[str, torch.Tensor]]) -> None:
    text, inputs = drawn
    partition = planned(text, **inputs).partition
    groups = partition.groups
    sources = {group: partition.sources(group) for group in groups}
    for a in groups:
        for b in groups:
            if a is b:
                continue
            merged = {g: {a if s is b else s for s in sources[g]} for g in groups if g not in (a, b)}
            merged[a] = (sources[a] | sources[b]) - {a, b}
            try:
                graphlib.TopologicalSorter(merged).prepare()
                expected = False
            except graphlib.CycleError:
                expected = True
            names = f"{a.members[0].name}, {b.members[0].name}"
            call = described(f"would_cycle({names}) in {text}", partition.would_cycle, a, b)
            call.returns(expected, "graphlib has sorted the groups" if not expected else "graphlib finds a cycle")


# --- fusing


def test_a_chain_is_one_kernel(device: str) -> None:
    call = program("torch.sin(x * 2 + y).exp() + 1", x=normal(5, 7), y=normal(7), options=FUSED, device=device)
    call.computes_what_eager_does().launches(1, "all operators have the same loops, and intermediates need no memory")


def test_neighbors_are_one_kernel() -> None:
    fused("(x + 1, x * 2)", x=normal(50)).computes_what_eager_does().launches(
        1, "both operators read x, and one kernel reads it once"
    )
    fused("(x + 1, torch.sin(x + 1), x * 2)", x=normal(50)).computes_what_eager_does().launches(
        1, "one kernel reads x once for all three operators"
    )


def test_strangers_stay_apart() -> None:
    call = fused("(x + 1, y * 2)", x=normal(50), y=normal(50)).computes_what_eager_does()
    call.launches(2, "one kernel would move as many bytes as two")


def test_other_loops_stay_apart() -> None:
    call = fused("(x + y, y * 2)", x=normal(5, 7), y=normal(7)).computes_what_eager_does()
    call.launches(2, "a loop of 35 steps would compute each of the 7 elements 5 times")


def test_the_same_elements_in_another_order() -> None:
    call = fused("(x + 1).reshape(7, 5) * 2", x=normal(5, 7)).computes_what_eager_does()
    call.launches(1, "a reshape keeps the order of memory: the loops are the same")
    fused("((x + 1).t() * y).reshape(-1) + 1", x=normal(5, 7), y=normal(7, 5)).computes_what_eager_does().launches(
        1, "x + 1 is computed at the swapped index"
    )


def test_bytes_of_a_product_among_others() -> None:
    plan = planned("x * 2 + s @ s", x=normal(16, 16), s=normal(16, 16))
    described("fuse() of x * 2 + s @ s", plan.partition.fuse).succeeds()
    call = described("bytes of the kernel of x * 2 + s @ s, with x, s: (16, 16)", lambda: plan.group("mul").bytes)
    call.returns(4 * 4 * 256, "the kernel reads x, s and s, and writes the sum")


def test_calls_part_kernels() -> None:
    call = fused("(a := x + 1) * torch.cumsum(torch.sin(a), 0) + a", x=normal(30)).computes_what_eager_does()
    call.launches(2, "one kernel runs before cumsum, and one after it")


GROUPS = {
    "((a := x + 1) * torch.cumsum(a, 0), y + 1, y * 2)": (
        [["add"], ["add_1", "mul_1"], ["cumsum"], ["mul"]],
        "merging add with mul would cause a cycle; add_1 and mul_1 read the same y",
    ),
    "(h := x.to(torch.float16)) * torch.cumsum(x * 2, 0)": (
        [["_to_copy", "mul_1"], ["cumsum"], ["mul"]],
        "a group and its reader rank above two groups that read x, even if merging these two saves more bytes",
    ),
}


@pytest.mark.parametrize("text", GROUPS)
def test_which_pairs_are_merged(text: str) -> None:
    expected, because = GROUPS[text]
    partition = planned(text, x=normal(100, dtype=torch.float64), y=normal(20)).partition
    call = described(f"fuse() of {text}, with x: float64[100], y: float32[20]", partition.fuse)
    call.succeeds()
    found = sorted([x.name for x in group.members] for group in partition.groups)
    if found != expected:
        call.fail(f"kernels {expected}", found, because)


@pytest.mark.parametrize("step", [1, -1])
def test_the_first_of_equal_pairs_goes_first(step: int) -> None:
    """If addresses decided, kernels would differ between runs."""
    text = "((a := x.sin()) * torch.cumsum(b := x.cos(), 0), torch.cumsum(a, 0) * b)"
    partition = planned(text, x=normal(9)).partition
    neighbors = partition.neighbors

    def by_address() -> Any:
        return sorted(neighbors(), key=lambda pair: (id(pair[0]), id(pair[1])))[::step]

    partition.neighbors = by_address  # type: ignore[method-assign]
    first = next((a, b) for a, b in by_address() if a in partition.sources(b) and partition.merged(a, b))
    expected = sorted(x.name for group in first for x in group.members)
    call = described(f"fuse() of {text}, where neighbors() has two best pairs", partition.fuse)
    call.succeeds()
    found = [sorted(x.name for x in group.members) for group in partition.groups]
    if expected not in found:
        because = "of pairs with the same gain, the first in neighbors() is merged"
        call.fail(f"one kernel for {' and '.join(expected)}", found, because)


@pytest.mark.parametrize("order", ["first", "last"])
def test_the_best_pair_goes_first(order: str) -> None:
    text = "[(p := x + 1), (q := p * y), torch.cumsum(p, 0) + q][-1]"
    plan = planned(text, x=normal(100), y=normal(100))
    partition = plan.partition
    neighbors = partition.neighbors

    def sorted_neighbors() -> Any:
        saved = lambda pair: sum(g.bytes for g in pair) - getattr(partition.merged(*pair), "bytes", 10**6)  # noqa: E731
        return sorted(neighbors(), key=saved, reverse=order == "first")

    partition.neighbors = sorted_neighbors  # type: ignore[method-assign]
    call = described(f"fuse() of {text}, where neighbors() has the best pair {order}", partition.fuse)
    call.succeeds()
    found = [[x.name for x in group.members] for group in partition.groups]
    if sorted(found) != [["add"], ["cumsum"], ["mul", "add_1"]]:
        because = "fusing q with the result saves 800 bytes; fusing p with q saves 400, and would then cause a cycle"
        call.fail("kernels [add], [mul, add_1]", found, because)


def test_home_names_the_group_of_each_tensor() -> None:
    plan = planned("torch.sin(x * 2 + y).exp() + 1", x=normal(5, 7), y=normal(7))
    partition = plan.partition
    call = described("fuse() of sin(x * 2 + y).exp() + 1", partition.fuse)
    call.succeeds()
    (group,) = partition.groups
    for tensor in partition.uses.order:
        if partition.home[tensor] is not group or tensor not in group.members:
            call.fail(f"home[{tensor.name}] is the group with all five operators", partition.home[tensor].members)


@one_in(5)
@given(programs_with_calls())
def test_nothing_is_left_to_fuse(drawn: tuple[str, dict[str, torch.Tensor]]) -> None:
    text, inputs = drawn
    fused(text, **inputs).computes_what_eager_does()
    partition = planned(text, **inputs).partition
    call = described(f"fuse() of {text}", partition.fuse)
    call.succeeds()
    for a, b in itertools.combinations(partition.groups, 2):
        group = partition.merged(a, b)
        if group is not None and not partition.would_cycle(a, b):
            names = f"{a.members[0].name} and {b.members[0].name}"
            saved = a.bytes + b.bytes - group.bytes
            call.fail(
                f"{names} in one kernel", "in two", f"it saves {saved} bytes, and no path leads through a third kernel"
            )


@one_in(5)
@given(pointwise_programs())
def test_random_programs(drawn: tuple[str, dict[str, torch.Tensor]]) -> None:
    text, inputs = drawn
    fused(text, **inputs).computes_what_eager_does()


def test_special_values_in_one_kernel() -> None:
    text = "torch.where(torch.isnan(x), 0.0, torch.maximum(x, -x)) + torch.relu(x) * 0"
    fused(text, x=odd(4, 7)).computes_what_eager_does().launches(1, "all operators have the same loops")


def test_sixteen_bits() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        call = fused("torch.sigmoid(x * y) + x - 1.5", x=normal(40, dtype=dtype), y=normal(40, dtype=dtype, seed=1))
        call.computes_what_eager_does("a kernel computes in fp32, and rounds the values that it stores").launches(
            1, "one kernel"
        )


def test_an_argument_is_overwritten_once_it_was_read(device: str) -> None:
    call = program(
        "[x.add_(y), y.mul_(2), x * y][-1]", x=normal(5, 7), y=normal(5, 7, seed=1), options=FUSED, device=device
    )
    call.computes_what_eager_does("operators that read the old values run before the overwriting, or in the same step")


def test_gradients(device: str) -> None:
    call = program(
        "F.gelu(x * y) + x",
        x=normal(5, 7),
        y=normal(5, 7, seed=1),
        gradient=True,
        options=FUSED,
        device=device,
    )
    call.computes_what_eager_does().launches(2, "one kernel for each pass")


def test_one_program_serves_all_sizes() -> None:
    program(
        "torch.sin(x + y) * 2", x=normal(5, 7), y=normal(7), dynamic=True, options=FUSED
    ).computes_what_eager_does().launches(1, "")


def test_real_triton_compiles_the_kernels() -> None:
    call = fused(
        "[(a := torch.sigmoid(x.t() + y)), a.reshape(-1)[3:] * z.to(torch.float16)][-1]",
        x=normal(5, 4),
        y=normal(5),
        z=whole(17),
    )
    insist_that_triton_compiles(call.computes_what_eager_does())
