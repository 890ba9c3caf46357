"""Kernels of the corpus as the learner's PTX."""

import functools

from mini_triton.backends.threads.back_end import Code, compile_module
from mini_triton.emulator.report import Report
from mini_triton.ir.parser import parse_module
from mini_triton.transforms.manager import optimize

from tests.corpus.cases import Case
from tests.oracles import modules
from tests.support.emulator import judge, launch


@functools.cache
def code_of(case: Case, warps: int = 4) -> Code:
    """A kernel, compiled for sm_90."""
    module = parse_module(modules.text(case))
    optimize(module)
    return compile_module(module, warps, 90)


def judge_kernel(case: Case, warps: int = 4) -> Report:
    """Launch a kernel on the emulator, which must find no error; the results must be those of a GPU."""
    code = code_of(case, warps)
    report, after = launch(case, code.ptx, code.shared)
    judge(case, after)
    assert not report.errors, "\n".join(map(str, report.errors))
    return report
