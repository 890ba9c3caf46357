"""Task 13.4, operations that only move elements: NumPy moves them, too, and a view costs no instruction."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.layouts import SCALAR, Layout, blocked

from tests.checks import one_in
from tests.support.m13_threads.linear import powers
from tests.support.m13_threads.numbered import Numbered, check, elements

Shape = tuple[int, ...]


def type_of(shape: Shape) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}i32>" if shape else "i32"


def operands(*shapes: Shape) -> str:
    """Lines that define the operands %a and %b."""
    dense = [f"dense<{number}>" if shape else str(number) for number, shape in enumerate(shapes)]
    return "".join(
        f"%{name} = arith.constant {value} : {type_of(shape)}\n"
        for name, value, shape in zip("ab", dense, shapes, strict=False)
    )


def views(old: Shape, line: str, new: Shape) -> str:
    return f"{operands(old)}%r = {line} : {type_of(old)} -> {type_of(new)}"


def is_view(lines: str, layout: Layout, expected: np.ndarray, warps: int) -> None:
    """Check the elements of a view's result, and that the view only returns registers of its operand."""
    __tracebackhide__ = True
    threads = Numbered(lines, warps)
    registers = check(threads, layout, expected)
    for number, register in enumerate(registers):
        if register not in threads.asked:
            because = "a view moves no element from register to register"
            threads.result(layout, number).fail("a register that threads.register returned", register, because)


MOVES: dict[str, tuple[Shape, str, Shape, Callable[[np.ndarray], np.ndarray]]] = {
    "splat": ((), "tt.splat %a", (8, 16), lambda x: np.broadcast_to(x, (8, 16))),
    "a new last axis": ((16,), "tt.expand_dims %a {axis = 1 : i32}", (16, 1), lambda x: x[:, None]),
    "a new first axis": ((64,), "tt.expand_dims %a {axis = 0 : i32}", (1, 64), lambda x: x[None, :]),
    "rows": ((1, 16), "tt.broadcast %a", (8, 16), lambda x: np.broadcast_to(x, (8, 16))),
    "columns": ((32, 1), "tt.broadcast %a", (32, 8), lambda x: np.broadcast_to(x, (32, 8))),
    "transpose": ((8, 32), "tt.trans %a {order = array<i32: 1, 0>}", (32, 8), lambda x: x.T),
    "three axes": ((2, 8, 16), "tt.trans %a {order = array<i32: 2, 0, 1>}", (16, 2, 8), lambda x: x.transpose(2, 0, 1)),
    "flatten": ((8, 16), "tt.reshape %a", (128,), lambda x: x.reshape(128)),
    "fold": ((64,), "tt.reshape %a", (4, 16), lambda x: x.reshape(4, 16)),
    "other rows": ((8, 16), "tt.reshape %a", (32, 4), lambda x: x.reshape(32, 4)),
}


@pytest.mark.parametrize("name", MOVES)
def test_views(name: str) -> None:
    old, line, new, move = MOVES[name]
    expected = move(elements(old) if old else np.array(0))
    for warps, size in ((1, 1), (4, 4)):
        layout = blocked(new, tuple(reversed(range(len(new)))), {len(new) - 1: size}, warps)
        is_view(views(old, line, new), layout, expected, warps)


@st.composite
def layouts(draw: st.DrawFn, shape: Shape, warps: int) -> Layout:
    """A blocked layout with any order and blocks, or one in which the first and the last axis depend on each other."""
    axes = range(len(shape))
    layout = blocked(shape, draw(st.permutations(axes)), draw(st.dictionaries(st.sampled_from(axes), powers(2))), warps)
    kind = draw(st.sampled_from(["blocked", "first", "last"])) if len(shape) > 1 else "blocked"
    if kind == "first":
        return layout.map(lambda vector: (vector[0] ^ vector[-1] % shape[0], *vector[1:]))
    return layout.map(lambda vector: (*vector[:-1], vector[-1] ^ vector[0] % shape[-1])) if kind == "last" else layout


@one_in(3)
@given(data=st.data(), warps=st.sampled_from([1, 2]))
def test_any_view(data: st.DataObject, warps: int) -> None:
    rank = data.draw(st.integers(1, 3))
    old = tuple(data.draw(st.lists(powers(3), min_size=rank, max_size=rank)))
    kind = data.draw(st.sampled_from(["trans", "expand_dims", "broadcast", "reshape"]))
    x = elements(old)
    if kind == "trans":
        order = tuple(data.draw(st.permutations(range(rank))))
        line, result = f"tt.trans %a {{order = array<i32: {', '.join(map(str, order))}>}}", x.transpose(order)
    elif kind == "expand_dims":
        axis = data.draw(st.integers(0, rank))
        line, result = f"tt.expand_dims %a {{axis = {axis} : i32}}", np.expand_dims(x, axis)
    elif kind == "broadcast":
        new = tuple(data.draw(powers(3)) if size == 1 else size for size in old)
        line, result = "tt.broadcast %a", np.broadcast_to(x, new)
    else:
        first = data.draw(st.integers(0, x.size.bit_length() - 1))
        line, result = "tt.reshape %a", x.reshape(1 << first, -1)
    is_view(views(old, line, result.shape), data.draw(layouts(result.shape, warps)), result, warps)


@pytest.mark.parametrize("shape", [(1,), (1, 1)], ids=str)
def test_the_only_element(shape: Shape) -> None:
    lines = f"{operands(shape)}%r = tt.unsplat %a : {type_of(shape)}"
    is_view(lines, SCALAR, np.array(0), 1)
    threads = Numbered(lines, 2)
    kept = Layout(((0,) * len(shape),), *((((0,) * len(shape),) * bits) for bits in (5, 1)))
    threads.choice.carried[threads.operation.operands[0]] = kept
    register = threads.result(SCALAR, 0).succeeds("a register")
    assert threads.asked[register][1] == kept, (
        f"{threads.result(SCALAR, 0)}: the operand is asked for in the layout\n  {threads.asked[register][1]}\n"
        f"although it is computed in the layout\n  {kept}"
    )


# --- two operands


def joins(shape: Shape) -> str:
    return f"{operands(shape, shape)}%r = tt.join %a, %b : {type_of(shape)} -> {type_of((*shape, 2))}"


def cats(size: int) -> str:
    return f"{operands((size,), (size,))}%r = tt.cat %a, %b : {type_of((size,))} -> {type_of((2 * size,))}"


def is_join(lines: str, layout: Layout, expected: np.ndarray, warps: int, most: int) -> None:
    """Check the elements of a result, of which a thread needs at most some registers of an operand."""
    __tracebackhide__ = True
    threads = Numbered(lines, warps)
    registers = check(threads, layout, expected)
    asked = threads.result(layout, 0)
    if (count := len(threads.asked)) > most * len(registers):
        asked.fail(f"at most {most} registers of operands for each of the result", f"{count} for {len(registers)}")
    if most == 1 and not set(registers) <= set(threads.asked):
        asked.fail("registers that threads.register returned", registers, "all threads take the same operand")
    selections = sum(instruction.opcode == "selp.b32" for instruction in threads.lists[0])
    if selections > (most - 1) * len(registers):
        asked.fail(f"at most {(most - 1) * len(registers)} selections", f"{selections} selections")


@pytest.mark.parametrize("shape", [(64,), (8, 16)], ids=str)
def test_a_thread_holds_both_elements_of_a_join(shape: Shape) -> None:
    rank = len(shape)
    layout = blocked((*shape, 2), tuple(reversed(range(rank + 1))), {rank: 2}, 1)
    expected = np.stack([elements(shape), elements(shape, 1)], -1)
    is_join(joins(shape), layout, expected, 1, most=1)


@pytest.mark.parametrize("shape", [(16,), (64,), (4, 16)], ids=str)
def test_threads_hold_one_element_of_a_join(shape: Shape) -> None:
    rank = len(shape)
    layout = blocked((*shape, 2), tuple(reversed(range(rank + 1))), {}, 1)
    expected = np.stack([elements(shape), elements(shape, 1)], -1)
    is_join(joins(shape), layout, expected, 1, most=2)


def test_registers_and_threads_decide_together() -> None:
    """Register 1 of an odd thread holds an element of the first operand again."""
    layout = Layout(((0, 1),), ((1, 1), (2, 0), (4, 0), (8, 0), (16, 0)), ())
    expected = np.stack([elements((32,)), elements((32,), 1)], -1)
    is_join(joins((32,)), layout, expected, 1, most=2)


def test_concatenations() -> None:
    expected = np.concatenate([elements((64,)), elements((64,), 1)])
    is_join(cats(64), blocked((128,), (0,), {}, 1), expected, 1, most=1)
    is_join(cats(64), blocked((128,), (0,), {}, 4), expected, 4, most=2)
    is_join(cats(64), blocked((128,), (0,), {0: 4}, 1), expected, 1, most=2)


@one_in(3)
@given(data=st.data(), rank=st.integers(1, 2), warps=st.sampled_from([1, 2]))
def test_any_join(data: st.DataObject, rank: int, warps: int) -> None:
    shape = tuple(data.draw(st.lists(powers(4), min_size=rank, max_size=rank)))
    layout = data.draw(layouts((*shape, 2), warps))
    differ = any(vector[-1] for vector in layout.threads)
    is_join(joins(shape), layout, np.stack([elements(shape), elements(shape, 1)], -1), warps, most=1 + differ)


@one_in(3)
@given(data=st.data(), bits=st.integers(0, 7), warps=st.sampled_from([1, 2]))
def test_any_concatenation(data: st.DataObject, bits: int, warps: int) -> None:
    layout = data.draw(layouts((2 << bits,), warps))
    differ = any(vector[0] >> bits for vector in layout.threads)
    expected = np.concatenate([elements((1 << bits,)), elements((1 << bits,), 1)])
    is_join(cats(1 << bits), layout, expected, warps, most=1 + differ)


def test_the_condition_of_a_join_is_computed_once() -> None:
    threads = Numbered(joins((128,)), 1)
    layout = blocked((128, 2), (1, 0), {}, 1)
    for number in range(1 << len(layout.registers)):
        threads.result(layout, number).succeeds("a register")
    compared = [instruction for instruction in threads.lists[0] if instruction.opcode.startswith("setp")]
    assert len(compared) == 1, f"{threads.text}: {len(compared)} comparisons for 8 registers, instead of one"
