"""Task 13.3: the layouts of loads and stores are real Triton's, and a warp holds what a scan combines."""

import functools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.choice import Choice
from mini_triton.backends.threads.layouts import Layout
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.types import shape_of

from tests.checks import described
from tests.oracles import linear_layouts
from tests.oracles.linear_layouts import Kernel, source
from tests.support.m13_threads.linear import along, powers

LINES = ["i = tl.arange(0, 1024)"]


def accesses(module: Module) -> list[Operation]:
    """The loads and stores."""
    return [operation for operation in module.walk() if operation.name in ("tt.load", "tt.store")]


def shown(kernel: Kernel) -> str:
    """A kernel's statements, its types, and its arguments that are multiples of 16."""
    types = ", ".join(f"{name}: {type}" for name, type in kernel.signature.items())
    statements = kernel.text.partition("):\n")[2].rstrip()
    return f"{statements}\n    with {types}; multiples of 16: {', '.join(kernel.divisible) or 'none'}"


# --- how many neighbors


def held(signature: dict[str, str], statements: list[str], number: int, warps: int = 1) -> described:
    """How many neighbors a thread holds of an access."""
    kernel = Kernel(source(signature, statements), signature, tuple(signature), warps)
    module = kernel.module()
    choice, operation = Choice(module, warps), accesses(module)[number]
    name = (
        f"elements(the access of {operation.name} number {number}), for {warps} warps, in the kernel\n{shown(kernel)}\n"
    )
    return described(name, choice.elements, choice.accesses[operation])


def test_the_neighbors_of_one_access() -> None:
    for type, expected in (("i8", 16), ("fp16", 8), ("fp32", 4), ("fp64", 2)):
        signature = {"x": f"*{type}", "out": f"*{type}"}
        for number in (0, 1):
            asked = held(signature, [*LINES, "tl.store(out + i, tl.load(x + i))"], number)
            asked.returns(expected, f"an instruction moves 16 bytes, which are {expected} elements")


def test_a_load_holds_as_many_elements_as_the_widest_access() -> None:
    signature, statements = {"x": "*fp32", "out": "*i8"}, [*LINES, "tl.store(out + i, tl.load(x + i))"]
    held(signature, statements, 0).returns(16, "the store moves 16 elements with an instruction")
    held(signature, statements, 1).returns(16, "a store holds what its own instruction moves")
    held({"x": "*i8", "out": "*fp32"}, statements, 1).returns(4, "a store holds what its own instruction moves")
    held({"x": "*fp64", "out": "*fp32"}, statements, 0).returns(4, "elements count, not bytes")


def test_other_shapes_and_axes_do_not_count() -> None:
    signature = {"x": "*i8", "y": "*i8", "z": "*fp32", "out": "*fp32"}
    copy = "tl.store(out + i, tl.load(z + i))"
    asked = held(signature, ["j = tl.arange(0, 2048)", *LINES, "tl.store(y + j, tl.load(x + j))", copy], 2)
    asked.returns(4, "the tensors of i8 have another shape")
    tile = ["i = tl.arange(0, 64)[:, None]", "j = tl.arange(0, 64)[None, :]", "rows = i * 64 + j"]
    copy = "tl.store(out + rows, tl.load(z + rows))"
    asked = held(signature, [*tile, "tl.store(y + i + j * 64, tl.load(x + i + j * 64))", copy], 2)
    asked.returns(4, "the threads of the tensors of i8 lie along the other axis")
    asked = held(signature, [*tile, "tl.store(y + rows, tl.load(x + rows))", copy], 2)
    asked.returns(16, "all four tensors have the same shape, and threads along the same axis")


def test_a_mask_may_narrow_an_access() -> None:
    signature = {"x": "*fp32", "out": "*fp32", "n": "i32"}
    statements = [*LINES, "tl.store(out + i, tl.load(x + i), mask=i < n - 1)"]
    held(signature, statements, 1).returns(1, "neighbors may differ in their masks, so an instruction moves 4 bytes")
    held(signature, statements, 0).returns(4, "the load has no mask")


# --- the layouts of accesses


def compare(kernel: Kernel) -> None:
    """Compare the layouts of a kernel's accesses with real Triton's."""
    __tracebackhide__ = True
    module = kernel.module()
    choice = Choice(module, kernel.warps)
    for number, (operation, (_, vectors)) in enumerate(zip(accesses(module), kernel.accesses, strict=True)):
        name = f"of_access({operation.name} number {number}), for {kernel.warps} warps, in the kernel\n"
        because = f"this is real Triton's layout; elements for one instruction:\n{moved(choice, accesses(module))}"
        described(f"{name}{shown(kernel)}\n", choice.of_access, operation).returns(Layout(*vectors), because)


def moved(choice: Choice, operations: list[Operation]) -> str:
    """How many elements one instruction of each access moves."""
    return "\n".join(
        f"    {operation.name} number {number}: {access.bytes // access.element} along axis {access.axis}"
        f" of the shape {shape_of(operation.operands[0].type)}"
        for number, operation in enumerate(operations)
        if (access := choice.accesses.get(operation))
    )


@pytest.mark.parametrize("number", range(len(linear_layouts.WRITTEN)), ids=lambda number: f"kernel {number}")
def test_kernels_that_differ_in_one_thing(number: int) -> None:
    compare(linear_layouts.kernels()[number])


def test_random_kernels() -> None:
    for kernel in linear_layouts.kernels()[len(linear_layouts.WRITTEN) :]:
        compare(kernel)


# --- scans


@functools.cache
def scan(shape: tuple[int, ...], axis: int) -> Module:
    """A kernel with a cumulative sum."""
    rank = len(shape)
    signature = {"x": "*i32", "out": "*i32"}
    tops = [f"tl.arange(0, {size})" for size in shape]
    if rank > 1:
        tops = [f"{top}[{', '.join(':' if a == b else 'None' for b in range(rank))}]" for a, top in enumerate(tops)]
    statements = [f"p = {tops[0]}", *(f"p = p * {size} + {top}" for size, top in zip(shape[1:], tops[1:], strict=True))]
    statements.append(f"tl.store(out + p, tl.cumsum(tl.load(x + p), {axis}))")
    return Kernel(source(signature, statements), signature, (), 4).module()


def of_scan(shape: tuple[int, ...], axis: int, warps: int) -> described:
    """The layout of a scan's operands."""
    module = scan(shape, axis)
    (operation,) = (operation for operation in module.walk() if operation.name == "tt.scan")
    name = f"of_scan(operation), for a scan of the shape {shape} along axis {axis} by {warps} warps"
    return described(name, Choice(module, warps).of_scan, operation)


SCANS = [
    (
        (16, 128), 1, 4,
        Layout((*along(1, 1, 2), *along(0, 4, 8)), along(1, 4, 8, 16, 32, 64), along(0, 1, 2)),
        "32 lanes with four neighbors each hold a row",
    ),
    (
        (128, 16), 0, 4,
        Layout((*along(0, 1, 2), *along(1, 4, 8)), along(0, 4, 8, 16, 32, 64), along(1, 1, 2)),
        "32 lanes with four neighbors each hold a column",
    ),
    (
        (64, 8), 1, 4,
        Layout(along(0, 16, 32), (*along(1, 1, 2, 4), *along(0, 1, 2)), along(0, 4, 8)),
        "eight lanes hold a row, and need no neighbors",
    ),
    (
        (1024,), 0, 4,
        Layout(along(0, 1, 2, 4, rank=1), along(0, 8, 16, 32, 64, 128, rank=1), along(0, 256, 512, rank=1)),
        "128 threads with eight neighbors each hold the axis",
    ),
    (
        (64,), 0, 4,
        Layout((), along(0, 1, 2, 4, 8, 16, rank=1), along(0, 32, 0, rank=1)),
        "64 threads hold an element each",
    ),
    (
        (4, 32, 8), 1, 4,
        Layout(
            (*along(2, 4, rank=3), *along(0, 1, 2, rank=3)),
            along(1, 1, 2, 4, 8, 16, rank=3),
            along(2, 1, 2, rank=3),
        ),
        "the lanes hold an axis; after it, warps and registers lie along the last axis before the first",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    "shape, axis, warps, expected, because", SCANS, ids=[f"{shape} along axis {axis}" for shape, axis, *_ in SCANS]
)
def test_scans(shape: tuple[int, ...], axis: int, warps: int, expected: Layout, because: str) -> None:
    of_scan(shape, axis, warps).returns(expected, because)


@given(
    shape=st.lists(powers(8), min_size=1, max_size=3).map(tuple).filter(lambda shape: 1 < math.prod(shape) < 8192),
    axis=st.integers(0, 2),
    warps=st.sampled_from([1, 2, 4, 8]),
)
def test_threads_hold_an_axis_in_order(shape: tuple[int, ...], axis: int, warps: int) -> None:
    """Along the axis, thread after thread, and register after register, holds the next elements."""
    axis %= len(shape)
    asked = of_scan(shape, axis, warps)
    layout = asked.succeeds("a layout")
    of_all = [vector[axis] for part in (layout.registers, layout.lanes, layout.warps) for vector in part]
    places = [place for place in of_all if place]
    if places != [1 << bit for bit in range(len(places))] or 1 << len(places) != shape[axis]:
        where = f"along axis {axis}, the vectors of registers, lanes and warps are {of_all}"
        asked.fail("neighbors along the axis in registers, then in lanes, then in warps", where)
    if len(shape) > 1 and any(vector[axis] for vector in layout.warps):
        asked.fail("the whole axis in each warp", f"the vectors of warps are {layout.warps}")
    threads = 32 if len(shape) > 1 else 32 * warps
    registers = 1 << sum(vector[axis] > 0 for vector in layout.registers)
    if registers != (each := max(1, shape[axis] // threads)):
        because = f"{'one warp holds' if len(shape) > 1 else 'all threads hold'} the {shape[axis]} elements of the axis"
        asked.fail(f"{each} elements along the axis in each thread", f"{registers} in {layout}", because)
    used = 1 << sum(map(any, layout.threads))
    if used != (most := min(32 * warps, math.prod(shape) // each)):
        asked.fail(f"{most} threads that hold different elements", f"{used} in {layout}")
