"""Task 12.5: a buffer is used again after its last reader."""

import pytest
import torch
from hypothesis import given
from mini_triton.fusion.program import ProgramWriter

from tests.checks import one_in
from tests.support.m12_fusion.compiling import graph_program, normal, program
from tests.support.m12_fusion.drawn import programs_with_products


def reused(text: str, **inputs: torch.Tensor) -> graph_program:
    return graph_program(text, suspect=ProgramWriter.last_uses, **inputs)


def buffers(call: program) -> int:
    """How many buffers a program allocates."""
    return sum(compiled.source.count("torch.empty_strided(") for compiled in call.programs)


def allocates(call: program, count: int, because: str) -> None:
    __tracebackhide__ = True
    found = buffers(call)
    if found != count:
        call.fail(f"{count} buffers", f"{found}:\n{call.programs[0].source.partition('def call')[2]}", because)


SQUARE = {"x": normal(16, 16), "w": normal(16, 16, seed=1) / 4}

CHAINS = {
    "x @ w": (1, "the result needs memory"),
    "x @ w @ w": (2, "the first product is read while the second is written"),
    "x @ w @ w @ w @ w": (2, "the memory of the first product is free for the third, and so on"),
    "[(a := x @ w), a @ w @ w @ a][-1]": (3, "a is read at the end: its memory is not free until then"),
    "[(a := x @ w), (a, a @ w @ w @ w)][-1]": (3, "a is returned: its memory is the caller's"),
    "[(a := x @ w), (a.t(), a @ w @ w @ w)][-1]": (3, "a view of a is returned, which shares a's memory"),
    "[(a := x @ w), (b := a @ w), (c := b @ w), a.t() @ c][-1]": (3, "a is read at the end, by way of a view"),
    "[(c := (x @ w) @ (x @ w.t())), (d := c @ w), (e := c @ w.t()), d @ e][-1]": (
        3,
        "c needs two buffers, whose memory is then free for d and e",
    ),
    "torch.cumsum(torch.cumsum(x @ w, 0) @ w, 0)": (
        1,
        "what cumsum returns is PyTorch's; the product's memory is free",
    ),
    "torch.cumsum((x @ w).t(), 0) @ w @ w": (2, "cumsum reads the product's memory by way of a view, then it is free"),
}


@pytest.mark.parametrize("text", CHAINS)
def test_buffers(text: str) -> None:
    count, because = CHAINS[text]
    call = reused(text, **SQUARE).computes_what_eager_does(because)
    allocates(call, count, because)


def test_only_memory_of_the_same_kind() -> None:
    inputs = {"x": normal(16, 8), "w": normal(8, 16, seed=1) / 4}
    call = reused("(((x @ w) @ x) @ w) @ x", **inputs).computes_what_eager_does()
    allocates(call, 2, "shapes 16 by 16 and 16 by 8 alternate: each buffer is free for the product after the next")


def test_arguments_are_not_free() -> None:
    reused("x @ w @ w @ w", **SQUARE).computes_what_eager_does("arguments keep their values")


def test_buffers_that_are_read_twice(device: str) -> None:
    text = "[(a := x @ w), (b := a @ w), (c := b @ a), (d := c @ b), d @ c @ d][-1]"
    call = program(text, **SQUARE, device=device, suspect=ProgramWriter.last_uses)
    call.computes_what_eager_does("no buffer is written before its last reader has run")


def test_a_step_that_nobody_reads_after() -> None:
    call = reused("torch.relu(x @ w) @ torch.sigmoid(x @ w.t()) @ w", **SQUARE).computes_what_eager_does()
    allocates(call, 3, "the product of two buffers needs a third; the last product reuses one of the first two")


@one_in(5)
@given(programs_with_products())
def test_random_programs(drawn: tuple[str, dict[str, torch.Tensor]]) -> None:
    text, inputs = drawn
    reused(text, **inputs).computes_what_eager_does("a buffer is used again after its last reader, and not before")
