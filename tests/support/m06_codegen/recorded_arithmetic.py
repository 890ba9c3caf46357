"""Functions of `exact` beside what real Triton's code computed on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from mini_triton import exact

from tests.oracles import values
from tests.oracles.elementwise import QUESTIONS
from tests.support.m06_codegen.exactness import DTYPES, judge

FUNCTIONS = "divsi divui remsi remui maxui minui shli shrsi shrui mulhiui maximumf minimumf maxnumf minnumf fma clampf"
CASTS = "truncf fp_to_fp sitofp uitofp fptosi fptoui"
NAMES = [
    name
    for name, question in QUESTIONS.items()
    if name.split()[0].split(".")[-1] in f"{FUNCTIONS} {CASTS}".split()
    if "i1" not in (*question.types, question.result)
    if name != "math.fma f64"  # which is given
    if name != "tt.fp_to_fp f8E5M2 -> bf16"  # Triton makes numbers of infinity and NaN
]
"""The questions about these functions that were put to a GPU."""


def judge_call(name: str) -> None:
    """Call the function that a question is about; ends the test where no answer is recorded."""
    __tracebackhide__ = True
    question = QUESTIONS[name]
    operation, *words = name.split()
    function = getattr(exact, operation.split(".")[-1])
    options: list[Any] = [DTYPES[question.result].type] if function.__name__ in CASTS.split() else []
    if operation == "tt.fp_to_fp":
        options.append(words[0] if words[0].startswith("rt") else "")
    if operation == "tt.clampf":
        options = [words[0]]
    operands = question.operands()
    with np.errstate(all="ignore"):
        function(*operands, *options)  # before there is no record, there may be no function
    computed = iter(values.answer(question).astype(object).tolist())
    judge(function, operands, lambda *_: next(computed), "a GPU computed that", options, DTYPES[question.result])
