"""Random kernels, as whole files of Python source.

    @given(kernel=kernels())
    def test(kernel: Kernel) -> None:
        judge(kernel)  # our front end makes the same of it as real Triton's

Each is well-typed: while it is written, the dtype and the shape of every name is known. Real Triton from 3.6 to 3.9
accepts all of them and gives all the same meaning: what means something else in one of them is left out, such as `-x`
of a float, or comparing an fp16 with a number.

Run on its `arguments`, a kernel gives what its source says, and nothing that is left open:

* it ends: no loop runs more than four times;
* it reads inside of its buffers and writes inside of them, each program to places of its own; a buffer is read or
  written, not both; what it leaves unwritten stays as it was;
* no value comes from a masked-off lane, from a division by 0, from INT_MIN // -1, from a shift by the width or more, or
  from a float that is out of an integer's range. Integers wrap;
* floats may become infinite or NaN, but no result depends on the order in which NaNs are met, or on their bits.

With `exact` there is no operation that machines round differently (`/` and `%` of floats, `tl.exp`, sums of floats), so
that results are equal bit for bit, where `x * y + z` is rounded twice and the sign of a zero does not count.
"""

import random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.corpus.inputs import DTYPES, random_bits, random_numbers
from tests.oracles.launching import Launch
from tests.oracles.triton import Source
from tests.support.m05_frontend.compilation import judge_valid
from tests.support.m05_frontend.random_kernels import expressions as e
from tests.support.m05_frontend.random_kernels import statements as s
from tests.support.m05_frontend.random_kernels.writing import (
    INTEGERS,
    Buffer,
    Function,
    Grammar,
    Kernel,
    Program,
    in_signature,
)

__all__ = ["EVERYTHING", "LOOPS", "Buffer", "Kernel", "judge", "kernels", "launch", "of_text", "write"]

EVERYTHING = Grammar(
    expressions=(
        *(e.load,) * 8,
        *(form for form in e.FORMS for _ in range(form.weight)),
        *(e.cast,) * 4,
        *(e.new_block,) * 2,
    ),
    statements=(
        *(s.assign,) * 16,
        *(s.change,) * 4,
        *(s.swap, s.store) * 2,
        *(s.pointer, s.call) * 3,
        *(s.for_loop, s.branch) * 5,
        *(s.while_loop, s.early_return) * 2,
        s.atomic,
    ),
)
"""The parts of kernels, repeated to make them more likely. The first part of each kind is the simplest."""

LOOPS = Grammar(
    expressions=(*(e.load, e.ARITHMETIC) * 3, e.COLUMN, e.new_block),
    statements=(*(s.assign, s.change) * 2, s.swap, s.store, s.pointer, *(s.for_loop,) * 5),
)
"""Loops in loops, over every kind of range, that carry scalars, blocks, pointers, tuples."""


def kernels(exact: bool = False, grammar: Grammar = EVERYTHING) -> st.SearchStrategy[Kernel]:
    """Random kernels: of a few to some fifty lines, and, when shrunk, of three or four."""
    return st.builds(write, st.randoms(use_true_random=False), st.just(exact), st.just(grammar))


def write(source: random.Random, exact: bool = False, grammar: Grammar = EVERYTHING) -> Kernel:
    """The kernel that these choices stand for."""
    program = Program(source, grammar, exact, e.HELPERS)
    k = Function(program)
    if value := e.load(k):
        k.define(value)
    s.statements(k, 24)
    s.finish(k)
    return program.kernel(k.lines)


def judge(kernel: Kernel) -> None:
    """Fail if our front end and real Triton's compile the kernel differently."""
    __tracebackhide__ = True
    judge_valid(to_source(kernel))


def to_source(kernel: Kernel, **more: Any) -> Source:
    """The kernel as a question to real Triton."""
    return Source(kernel.source, "kernel", kernel.signature, kernel.constexprs, **more)


OPTIONS = {"enable_fp_fusion": False}
"""`x * y + z` is rounded twice."""


def launch(kernel: Kernel, seed: int, times: int = 1) -> Launch:
    """A launch of the kernel as real Triton compiles it, of so many times the programs of its grid."""
    generator = np.random.PCG64(seed)
    arguments: list[Any] = [
        _random(argument, generator, times) if isinstance(argument, Buffer) else argument
        for argument in kernel.arguments.values()
    ]
    x, *others = kernel.grid
    return Launch(to_source(kernel, options=OPTIONS), (x * times, *others), arguments)


def of_text(asked: Launch, kernel: Kernel, text: str) -> Launch:
    """The same launch of the kernel, of a module's text."""
    signature = [kind for kind in kernel.signature.values() if kind != "constexpr"]
    return Launch(text, asked.grid, asked.arguments, options=OPTIONS, signature=signature)


def _random(buffer: Buffer, generator: np.random.PCG64, times: int) -> np.ndarray:
    """Floats within ±8; integers are small ones or any. Each program has a part of its own: more programs need more."""
    fill = random_bits if buffer.dtype in INTEGERS and generator.random_raw() % 2 else random_numbers
    return fill(buffer.length * times, DTYPES[in_signature(buffer.dtype)], generator)
