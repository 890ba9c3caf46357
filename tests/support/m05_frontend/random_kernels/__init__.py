"""Random kernels, as whole files of Python source.

    @given(kernel=kernels())
    def test(kernel: Kernel) -> None:
        judge([kernel])  # of `judging`: our front end makes the same of it as real Triton's

Each is well-typed: while it is written, the dtype and the shape of every name is known, and with `asserts` it says so
in the kernel. Real Triton from 3.6 to 3.9 accepts all of them and gives all the same meaning: what means something else
in one of them is left out, such as `-x` of a float, or comparing an fp16 with a number.

Run on its `arguments`, a kernel gives what its source says, and nothing that is left open:

* it ends: no loop runs more than four times;
* it reads inside of its buffers and writes inside of them, each program to places of its own; a buffer is read or
  written, not both; what it leaves unwritten stays as it was;
* no value comes from a masked-off lane, from a division by 0, from INT_MIN // -1, from a shift by the width or more, or
  from a float that is out of an integer's range. Integers wrap;
* floats may become infinite or NaN, but no result depends on the order in which NaNs are met, or on their bits.

For that, floats in its buffers must be finite and within ±8; integers may be anything, but those passed as arguments
have to be the `Scalar`s' values.

With `exact` there is no operation that machines round differently (`/` and `%` of floats, `tl.exp`, sums of floats), so
that results are equal bit for bit, where `x * y + z` is rounded twice and the sign of a zero does not count.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tests.support.m05_frontend.random_kernels import expressions as e
from tests.support.m05_frontend.random_kernels import statements as s
from tests.support.m05_frontend.random_kernels.recipe import Buffer, Function, Grammar, Kernel, Program, Scalar

__all__ = ["CONTROL_FLOW", "EVERYTHING", "LOOPS", "Buffer", "Kernel", "Scalar", "kernels", "write"]

EVERYTHING = Grammar(
    expressions=(
        *(s.load,) * 6,
        *(e.arithmetic,) * 5,
        *(e.argument, e.comparison, e.bitwise, e.shift, e.negation, e.indexing) * 2,
        *(e.division,) * 4,
        *(e.math,) * 8,
        *(e.several,) * 6,
        *(e.larger, e.where) * 3,
        *(e.cast,) * 4,
        *(e.bitcast,) * 2,
        *(e.reshape, e.join, e.new_block) * 2,
        *(e.transpose,) * 3,
        *(e.expand, e.reduced) * 5,
        *(e.scanned, s.ternary) * 2,
    ),
    statements=(
        *(s.assign,) * 16,
        *(s.change,) * 4,
        s.replaced,
        *(s.swap, s.store) * 2,
        *(s.pointer,) * 3,
        s.atomic,
        *(e.split,) * 4,
        *(e.with_index,) * 2,
        *(s.call,) * 3,
        *(s.for_loop, s.branch) * 4,
        *(s.while_loop,) * 2,
        s.early_return,
    ),
)
"""What a kernel may consist of, and how often. The first of each is the simplest."""

LOOPS = Grammar(
    expressions=(*(s.load,) * 3, *(e.arithmetic,) * 3, e.argument, e.shift, e.indexing, e.new_block),
    statements=(*(s.assign, s.change) * 2, s.swap, s.store, s.pointer, *(s.for_loop,) * 5),
)
"""Loops in loops, over every kind of range, that carry scalars, blocks, pointers, tuples."""

CONTROL_FLOW = Grammar(
    expressions=(*(s.load,) * 3, *(e.arithmetic,) * 3, e.argument, e.comparison, e.where, *(s.ternary,) * 3),
    statements=(
        *(s.assign, s.change) * 2,
        *(s.swap, s.store, s.pointer),
        *(s.call, s.for_loop, s.while_loop) * 2,
        *(s.branch, s.early_return) * 4,
    ),
)
"""Branches and loops in one another, functions, and early returns from both."""

_step = st.binary(min_size=32, max_size=32)
_steps = st.one_of(*(st.lists(_step, min_size=size, max_size=24) for size in (0, 8, 4)))  # long ones, shrinking to none


def kernels(exact: bool = False, asserts: bool = False, grammar: Grammar = EVERYTHING) -> st.SearchStrategy[Kernel]:
    """Random kernels: of a few to some fifty lines, and, when shrunk, of three or four."""
    return st.builds(write, _step, _steps, st.just(exact), st.just(asserts), st.just(grammar))


def write(
    start: bytes, steps: Sequence[bytes], exact: bool = False, asserts: bool = False, grammar: Grammar = EVERYTHING
) -> Kernel:
    """The kernel that a recipe stands for."""
    program = Program(start, steps, exact, asserts)
    k = Function(program, grammar)
    with program.step():
        s.first(k)
    while program.steps:
        with program.step():
            k.statement()
    s.finish(k)
    return program.kernel(k.written())
