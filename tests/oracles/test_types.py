"""Assumptions of the graded tests of milestone 1, which must be true of NumPy and of real Triton's parser."""

import itertools

import numpy as np
import pytest

from tests.oracles import questions, records, triton
from tests.support.type_names import NUMBERS


@pytest.mark.parametrize("sizes", [{1: 1, 2: 2, 4: 4}, {1: 1, 2: 6, 4: 3}])
@pytest.mark.parametrize("trailing", [(), (5,), (1, 7, 2)])
def test_triton_broadcasts_as_numpy_does(sizes: dict[int, int], trailing: tuple[int, ...]) -> None:
    """Shapes broadcast alike, also with other sizes, and with more dimensions at the end of both shapes."""
    for lhs, rhs in itertools.product(questions.SHAPES, repeat=2):
        answer = records.broadcast(lhs, rhs)
        resized = [(*(sizes[dim] for dim in shape), *trailing) for shape in (lhs, rhs)]
        if answer.ok:
            assert np.broadcast_shapes(*resized) == (*(sizes[dim] for dim in answer.value), *trailing)
        else:
            with pytest.raises(ValueError):
                np.broadcast_shapes(*resized)


def test_triton_reads_the_spellings() -> None:
    types = [
        *NUMBERS,
        *(f"!tt.ptr<{name}>" for name in NUMBERS),
        "tensor<1024x!tt.ptr<bf16>>",
        "tensor<2x1x16xf8E4M3FN>",
    ]
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    answer = triton.accepts(f"module {{ tt.func @f({arguments}) {{ tt.return }} }}")
    assert answer, answer.diagnostic
    for type in types:
        assert f": {type}" in answer.text
