"""The front end on a GPU: kernels of the corpus, compiled from our modules and by real Triton, compute the same.

Both run on the same inputs, drawn afresh in each run, and must agree in every bit of every buffer. Where floats
are not added in the same order, only nearly all bits count.
"""

import random

import numpy as np
import pytest
from mini_triton.ir.printer import print_module

from tests import oracles
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.corpus.inputs import buffers, inputs
from tests.oracles import gpu
from tests.support import sources

SEED = random.SystemRandom().randrange(2**31)
IN_ANY_ORDER = ("layer_norm_backward_lock", "atomic_floats")  # programs add to the same place in any order
NEARLY = 2e-2  # of the largest number: sums of some hundred, fp16 ones among them


@pytest.fixture(autouse=True)
def _needs_gpu(device: str) -> None:
    if device != "cuda" or not gpu.available():
        oracles.unavailable("no CUDA GPU")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_results(case: Case) -> None:
    arguments, hidden = inputs(case, SEED)
    text = print_module(sources.compiled(case.source(), str(case.path)))
    ours = dict(buffers(case, gpu.launch(text, case.grid, *arguments, hidden=hidden)))
    theirs = dict(buffers(case, gpu.launch(case.source(), case.grid, *arguments, hidden=hidden)))
    before = dict(buffers(case, [*arguments, *hidden]))
    assert any(theirs[name].tobytes() != before[name].tobytes() for name in theirs), f"{case} writes nothing"
    for name, expected in theirs.items():
        what = f"{name} of {case}, launched with seed {SEED}"
        if str(case) in IN_ANY_ORDER and expected.dtype.name.startswith(("float", "bfloat")):
            mine, wide = ours[name].astype(float), expected.astype(float)
            largest = np.abs(wide[np.isfinite(wide)]).max(initial=1.0)
            np.testing.assert_allclose(mine, wide, rtol=NEARLY, atol=NEARLY * largest, err_msg=what)
        else:
            different = np.flatnonzero(ours[name].view(np.uint8) != expected.view(np.uint8))
            assert not len(different), (
                f"{what} differs from real Triton's in {len(different)} bytes, the first one in element "
                f"{different[0] // expected.itemsize}\n{ours[name]}\n{expected}"
            )
