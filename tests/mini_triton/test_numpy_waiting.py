"""Programs that wait for one another run one after the other, in whichever part of a loop they look at memory."""

from __future__ import annotations

import numpy as np
import pytest
from mini_triton.codegen import compile_module

from tests.corpus import CASES
from tests.oracles.triton import Source
from tests.support import sources
from tests.support.m06_codegen import numpy_backend

HEAD = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef kernel(flags, out):\n"
FIRST = "    pid = tl.program_id(0)\n"
SET = "    tl.store(out + pid, seen)\n    tl.store(flags + pid + 1, seen * 2)\n"
LOOPS = {
    "in the condition": "    while tl.load(flags + pid) == 0:\n        pass\n    seen = tl.load(flags + pid)\n",
    "in the body": "    seen = tl.load(flags + pid)\n    while seen == 0:\n        seen = tl.load(flags + pid)\n",
    "by an atomic in the body": "    seen = 0\n    while seen == 0:\n        seen = tl.atomic_add(flags + pid, 0)\n",
    "in the body of the body": (
        "    seen = 0\n    while seen == 0:\n        for i in range(3):\n            seen = tl.load(flags + pid)\n"
    ),
}


@pytest.mark.parametrize("where", LOOPS)
def test_a_chain_of_programs(where: str) -> None:
    """Each waits for a number from the one before it, and hands on twice as much."""
    module = sources.compiled(Source(HEAD + FIRST + LOOPS[where] + SET, "kernel", {"flags": "*i32", "out": "*i32"}, {}))
    assert compile_module(module).chunk == 1
    flags, out = np.array([1, 0, 0, 0, 0, 0], np.int32), np.zeros(5, np.int32)
    _, out = numpy_backend.run(module, (5,), [flags, out], mode="fast")
    assert out.tolist() == [1, 2, 4, 8, 16]


@pytest.mark.parametrize("name", ["binary_search", "while_newton", "while_nested"])
def test_loops_that_read_what_nobody_writes(name: str) -> None:
    """They end by themselves, so that all programs may run at once."""
    (case,) = (case for case in CASES if str(case) == name)
    assert compile_module(sources.compiled(case.source())).chunk > 1
