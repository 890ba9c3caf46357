"""Random kernels, as whole files of Python source.

    @given(kernel=kernels())
    def test(kernel: Kernel) -> None:
        judge([kernel])  # of `judging`: our front end makes the same of it as real Triton's

Each is well-typed: while it is written, the dtype and the shape of every name is known (`types`), and with `asserts` it
says so in the kernel. Real Triton from 3.6 to 3.9 accepts all of them and gives all the same meaning: what means
something else in one of them is left out, such as `-x` of a float, or comparing an fp16 with a number.

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

from hypothesis import strategies as st

from tests.support.m05_frontend.random_kernels.grammar import write
from tests.support.m05_frontend.random_kernels.kernel import Buffer, Kernel, Scalar

__all__ = ["Buffer", "Kernel", "Scalar", "kernels"]

_step = st.binary(min_size=32, max_size=32)
_steps = st.one_of(*(st.lists(_step, min_size=size, max_size=24) for size in (0, 8, 4)))  # long ones, shrinking to none


def kernels(exact: bool = False, asserts: bool = False) -> st.SearchStrategy[Kernel]:
    """Random kernels: of a few to some fifty lines, and, when shrunk, of three or four."""
    return st.builds(write, _step, _steps, st.just(exact), st.just(asserts))
