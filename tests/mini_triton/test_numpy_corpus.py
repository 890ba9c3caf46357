"""The interpreter and the NumPy back end on the corpus, compared with compiled Triton's recorded results on a GPU.

Kernels are compiled by our front end, and taken from real Triton's, as recorded.
"""

import functools
import signal
import sys
from collections.abc import Iterator

import pytest
from mini_triton.codegen import compile_module
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module

from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.corpus.inputs import buffers, inputs
from tests.oracles import modules, values
from tests.support import sources
from tests.support.m06_codegen import closeness, numpy_backend
from tests.support.m06_codegen.numpy_backend import Mode

SECONDS = 20  # that a launch may take, of which most take some milliseconds

modes = pytest.mark.parametrize("mode", numpy_backend.MODES)
cases = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    """Programs that wait for each other forever are a failure."""
    if sys.platform == "win32":
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"still running after {SECONDS} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)


@modes
@cases
def test_our_module(case: Case, mode: Mode) -> None:
    judge(case, compiled(case), mode)


@modes
@cases
def test_real_tritons_module(case: Case, mode: Mode) -> None:
    judge(case, parse_module(modules.text(case)), mode)


@functools.cache
def compiled(case: Case) -> Module:
    """A case, compiled by our front end."""
    return sources.compiled(case.source(), str(case.path))


def judge(case: Case, module: Module, mode: Mode) -> None:
    """Check all buffers."""
    __tracebackhide__ = True
    expected = values.corpus(case)
    arguments, hidden = inputs(case, values.SEED)
    chunk = 1 if compile_module(module).chunk == 1 else 0  # programs that wait for each other cannot run at once
    got = dict(buffers(case, numpy_backend.run(module, case.grid, arguments, hidden, mode, chunk)))
    rounding = closeness.rounding(module)
    for name in expected:
        closeness.check(f"{name} of {case}", got[name], expected[name], rounding)
