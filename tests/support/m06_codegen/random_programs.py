"""Random kernels for the tasks of code generation: of signed integers, and of what a task is about."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st
from mini_triton.ir.core import Module
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.printer import print_module

from tests.support import sources
from tests.support.m05_frontend import random_kernels
from tests.support.m05_frontend.random_kernels import CONTROL_FLOW, Kernel
from tests.support.m05_frontend.random_kernels import expressions as e
from tests.support.m05_frontend.random_kernels import statements as s
from tests.support.m05_frontend.random_kernels.launching import launch
from tests.support.m05_frontend.random_kernels.writing import Function, Grammar
from tests.support.m06_codegen.kernels import judge
from tests.support.m06_codegen.numpy_backend import Way

TIMES = 3  # as many programs as a kernel is drawn for: more ways to go
DTYPES = ("int32", "int8", "int64")
GIVEN = ("exact.exp2", "exact.erf", "exact.extern")
"""Functions of exact arithmetic that are not another task's."""


def split(k: Function) -> bool:
    """`v, w = tl.split(x)`."""
    results = e.write(k, e.TWO_RESULTS[0])
    if results:
        k.unpack(results[0].text, *results)
    return bool(results)


MOVED = tuple(form for form in e.FORMS if form.shape in "column row flat transposed pairs double wide".split())
COMBINED = tuple(form for form in e.FORMS if form.shape in ("reduced", "kept", "scalar") or form.texts == e.SCANS)
STRAIGHT = Grammar(
    (*(e.load, e.ARITHMETIC, e.COMPARISON, e.WHERE, e.new_block) * 2, *MOVED),
    (*(s.assign,) * 3, s.change, s.store, split),
    DTYPES,
)
REDUCTIONS = Grammar(
    (*(e.load, e.ARITHMETIC, e.COLUMN) * 2, *COMBINED), (*(s.assign,) * 3, s.change, s.unpacking), DTYPES
)
BRANCHES_AND_LOOPS = CONTROL_FLOW._replace(dtypes=DTYPES)


def kernels(grammar: Grammar) -> st.SearchStrategy[Kernel]:
    """Random kernels of this grammar, whose results have one right value."""
    return random_kernels.kernels(exact=True, grammar=grammar)


def needs_exact_arithmetic(module: Module) -> bool:
    """Whether an operation in it calls a function of task 6.12."""
    texts = [text for operation in module.walk() if operation.operands and (text := meaning(operation))]
    return any("exact." in text and not text.startswith(GIVEN) for text in texts)


def judge_random(kernel: Kernel, seed: int, mode: Way = "batched") -> None:
    """All programs leave in memory what the reference's interpreter does, one program after the other."""
    __tracebackhide__ = True
    asked = launch(kernel, seed, TIMES)
    module = sources.compiled(asked.kernel)  # type: ignore[arg-type]
    assume(not needs_exact_arithmetic(module))
    judge(print_module(module), asked.grid, asked.arguments, mode=mode)
