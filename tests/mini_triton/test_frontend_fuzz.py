"""The front end on random kernels, beside real Triton's. `pytest --examples 2000` draws that many."""

from __future__ import annotations

from hypothesis import given

from tests.strategies.kernels import Kernel, kernels
from tests.strategies.kernels.judging import judge


@given(kernel=kernels() | kernels(asserts=True))
def test_same_as_real_tritons(kernel: Kernel) -> None:
    """Real Triton accepts what we make of it, and finds in it the operations and values that its own has.

    Some kernels assert the types of their names, as the strategy knows them.
    """
    judge([kernel])
