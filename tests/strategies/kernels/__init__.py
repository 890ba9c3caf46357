"""Random kernels, as whole files of Python source that real Triton compiles.

@given(kernels())
def test(kernel: Kernel) -> None:
    ...  # kernel.source, kernel.signature, kernel.constexprs, kernel.divisible
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.strategies.kernels.grammar import write
from tests.strategies.kernels.kernel import Buffer, Kernel, Scalar

__all__ = ["Buffer", "Kernel", "Scalar", "kernels"]

_step = st.binary(min_size=32, max_size=32)
# Kernels are drawn long and shrink to any length.
_steps = (
    st.lists(_step, max_size=24) | st.lists(_step, min_size=8, max_size=24) | st.lists(_step, min_size=4, max_size=24)
)


def kernels(exact: bool = False, asserts: bool = False) -> st.SearchStrategy[Kernel]:
    """Random kernels."""
    return st.builds(write, _step, _steps, st.just(exact), st.just(asserts))
