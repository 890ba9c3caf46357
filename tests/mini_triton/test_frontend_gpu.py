"""The front end on a GPU: kernels of the corpus, compiled from our modules and by real Triton, compute the same.

Both run on the same inputs, drawn afresh in each run, and must agree in every bit of every buffer. Where programs add
floats to the same place in any order, two runs of the very same code differ, so only nearly all bits count.
"""

from __future__ import annotations

import random

import pytest
from mini_triton.ir.printer import print_module

from tests import oracles
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.oracles import gpu, triton
from tests.strategies import sources

SEED = random.SystemRandom().randrange(2**31)
NEARLY = {"rtol": 2e-2, "atol": 2e-2}  # of sums of some hundred numbers; fp16 ones among them


@pytest.fixture(autouse=True)
def _needs_gpu(device: str) -> None:
    if device != "cuda" or not gpu.available():
        oracles.unavailable("no CUDA GPU")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_results(case: Case) -> None:
    import torch

    from tests.corpus.inputs import inputs

    if not case.exists(triton.version()):
        oracles.unavailable(f"Triton {triton.version()} does not have this any more")
    arguments, hidden = inputs(case, SEED)
    text = print_module(sources.compiled(case.source(), str(case.path)))
    ours = gpu.launch(text, case.grid, *arguments, hidden=hidden, **case.options)
    theirs = gpu.launch_source(case.source(), case.grid, *arguments, hidden=hidden)
    buffers = [i for i, value in enumerate([*arguments, *hidden]) if isinstance(value, torch.Tensor)]
    names = [name for name, kind in case.source().signature.items() if kind != "constexpr"]
    assert any(not _same(theirs[i], [*arguments, *hidden][i]) for i in buffers), f"{case} writes nothing"
    for i in buffers:
        name = names[i] if i < len(names) else f"hidden buffer {i - len(names)}"
        what = f"{name} of {case}, launched with seed {SEED}"
        if case.inexact and theirs[i].is_floating_point():
            torch.testing.assert_close(ours[i].double(), theirs[i].double(), **NEARLY, equal_nan=True)
        else:
            different = (ours[i].view(torch.uint8) != theirs[i].view(torch.uint8)).nonzero()
            assert not len(different), (
                f"{what} differs from real Triton's in {len(different)} bytes, the first one in element "
                f"{int(different[0]) // ours[i].itemsize}\n{ours[i]}\n{theirs[i]}"
            )


def _same(a: object, b: object) -> bool:
    import torch

    assert isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)
    return torch.equal(a.view(torch.uint8), b.view(torch.uint8))
