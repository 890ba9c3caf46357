"""The back end for Numba on GPUs: the corpus and random kernels give the NumPy back end's results.

With a GPU all of them run there. Without one, a few run in Numba's simulator, and sources of all are generated.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from mini_triton.codegen import compile_module  # noqa: E402
from mini_triton.codegen.cuda_gen.program import generate, unsupported  # noqa: E402
from mini_triton.ir.core import Module  # noqa: E402

from tests.corpus import CASES  # noqa: E402
from tests.corpus.cases import Case  # noqa: E402
from tests.corpus.inputs import buffers, inputs  # noqa: E402
from tests.oracles import values  # noqa: E402
from tests.oracles.triton import Source  # noqa: E402
from tests.support import sources  # noqa: E402
from tests.support.m05_frontend.random_kernels import launch, write  # noqa: E402
from tests.support.m06_codegen import closeness, numpy_backend  # noqa: E402
from tests.support.m10_gpu import threads  # noqa: E402

SIMULATED = ("reduce_axes", "carried_kinds", "segmented_sum", "concatenated", "matmul_grouped_strided", "compact")
"""Kernels of the corpus that are quick in the simulator, and cover most operations."""
RACES = ("early_exits_2",)
"""Programs store different numbers to one element: on a GPU, any of them may be the last."""
REFUSED = 9  # cases of the corpus that are not claimed, at most
BATCHES, BATCH = 16, 30
"""Random kernels on a GPU."""


def module_of(case: Case) -> Module:
    return sources.compiled(case.source(), str(case.path))


def test_most_of_the_corpus_is_claimed() -> None:
    refused = {str(case): reasons for case in CASES if (reasons := unsupported(module_of(case)))}
    assert len(refused) <= REFUSED, refused


@pytest.mark.parametrize("case", CASES, ids=str)
def test_corpus(case: Case) -> None:
    """With several warps on a GPU; what is not claimed is refused with a reason."""
    on_gpu = threads.has_gpu()
    if not on_gpu and str(case) not in SIMULATED:
        pytest.skip("slow in the simulator")
    module = module_of(case)
    if unsupported(module):
        pytest.skip(unsupported(module)[0])
    if on_gpu and str(case) in RACES:
        pytest.skip("its programs race")
    arguments, hidden = inputs(case, values.SEED)
    expected = reference(module, case.grid, arguments, hidden)
    for warps in (1, 4, 8) if on_gpu else (1,):
        got, source = threads.run(module, case.grid, arguments, hidden, warps)
        for (name, mine), (_, right) in zip(buffers(case, got), buffers(case, expected), strict=True):
            found = closeness.difference(mine, right, closeness.rounding(module))
            assert not found, f"{name} of {case}, {warps} warps: {found}\n{source}"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_kernels(batch: int) -> None:
    """Random kernels of the generator of milestone 5."""
    on_gpu = threads.has_gpu()
    if not on_gpu and batch:
        pytest.skip("slow in the simulator")
    for number in range(BATCH if on_gpu else 4):
        kernel = write(random.Random(batch * 1000 + number), exact=True)
        asked = launch(kernel, number)
        assert isinstance(asked.kernel, Source)
        module = sources.compiled(asked.kernel)
        if unsupported(module):
            continue
        expected = reference(module, asked.grid, asked.arguments)
        got, source = threads.run(module, asked.grid, asked.arguments, warps=4 if on_gpu else 1)
        for mine, right in zip(got, expected, strict=True):
            if isinstance(mine, np.ndarray):
                found = closeness.difference(mine, right, closeness.rounding(module))
                assert not found, f"kernel {number} of batch {batch}: {found}\n{kernel.source}\n{source}"


def reference(module: Module, grid: Any, arguments: Any, hidden: Any = ()) -> list[Any]:
    """The result of the NumPy back end."""
    chunk = 1 if compile_module(module).chunk == 1 else 0
    return numpy_backend.run(module, grid, arguments, hidden, "fast", chunk)


LARGER = """
import triton
import triton.language as tl

@triton.jit
def larger(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + N + i, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 2 * N + i, tl.maximum(a, b))
    tl.store(out + 3 * N + i, tl.minimum(a, b))
"""


def test_the_larger_and_the_smaller_of_zeros() -> None:
    """The result has the sign that NumPy's back end gives it."""
    signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "N": "constexpr"}
    module = sources.compiled(Source(LARGER, "larger", signature, {"N": 16}))
    numbers = np.array([0.0, -0.0, 1.0, -1.0], np.float32)
    arguments = [np.repeat(numbers, 4), np.tile(numbers, 4), np.zeros(64, np.float32)]
    expected, (got, source) = reference(module, (1,), arguments), threads.run(module, (1,), arguments)
    assert got[2].tobytes() == expected[2].tobytes(), f"{got[2]}, not {expected[2]}\n{source}"


def test_what_is_not_claimed_is_named() -> None:
    refused = [unsupported(module_of(case)) for case in CASES]
    assert any("libdevice" in reason for reasons in refused for reason in reasons)


def test_sources_are_plain() -> None:
    (case,) = (case for case in CASES if str(case) == "add_kernel")
    source = generate(module_of(case))
    assert "load_4(" in source and "store_4(" in source, f"16 bytes at once:\n{source}"
