"""Random kernels for the tasks of code generation, with signed integers and the operations of one task."""

from hypothesis import assume
from hypothesis import strategies as st
from mini_triton.ir.core import Module
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.printer import print_module

from tests.support import sources
from tests.support.m05_frontend import random_kernels
from tests.support.m05_frontend.random_kernels import Kernel, launch
from tests.support.m05_frontend.random_kernels import expressions as e
from tests.support.m05_frontend.random_kernels import statements as s
from tests.support.m05_frontend.random_kernels.writing import Grammar
from tests.support.m06_codegen.kernels import judge
from tests.support.m06_codegen.numpy_backend import Mode

TIMES = 2  # the factor by which the grid is enlarged, so that programs take more paths
DTYPES = ("int32", "int16", "int64")
GIVEN = ("exact.exp2", "exact.erf", "exact.extern")
"""Functions of exact arithmetic that the course gives."""


FORMS = {shape: [form for form in e.FORMS if form.shape == shape and not form.finite] for shape in e.SHAPES}
COMBINED = [*FORMS["reduced"], *FORMS["kept"], *FORMS["scalar"], *e.over_blocks(e.WIDE_INTEGERS, rounds=False)]
MOVED = [form for shape in ("column", "row", "flat", "transposed", "pairs", "wide") for form in FORMS[shape]]
STRAIGHT = Grammar(
    (*e.FORMS[:3] * 2, *(e.load, e.new_block) * 2, *MOVED), (*(s.assign,) * 3, s.change, s.store), DTYPES
)
REDUCTIONS = Grammar((*(e.load, e.ARITHMETIC, e.COLUMN) * 2, *COMBINED), (*(s.assign,) * 3, s.change), DTYPES)
BRANCHES_AND_LOOPS = Grammar(
    (*(e.load, e.ARITHMETIC) * 3, *e.FORMS[1:4]),
    (
        *(s.assign, s.change) * 2,
        *(s.swap, s.store, s.pointer, s.call, s.while_loop),
        *(s.for_loop, s.early_return) * 2,
        *(s.branch,) * 4,
    ),
    DTYPES,
)


def kernels(grammar: Grammar) -> st.SearchStrategy[Kernel]:
    """Random kernels of this grammar, whose results do not depend on rounding."""
    return random_kernels.kernels(exact=True, grammar=grammar)


def needs_exact_arithmetic(module: Module) -> bool:
    """Whether an operation of the kernel calls a function of task 6.12."""
    texts = [text for operation in module.walk() if operation.operands and (text := meaning(operation))]
    return any("exact." in text and not text.startswith(GIVEN) for text in texts)


def judge_random(kernel: Kernel, seed: int, mode: Mode = "batched") -> None:
    """Require that all programs leave the same memory as the reference's interpreter, which runs them one by one."""
    __tracebackhide__ = True
    asked = launch(kernel, seed, TIMES)
    module = sources.compiled(asked.kernel)  # type: ignore[arg-type]
    assume(not needs_exact_arithmetic(module))
    judge(print_module(module), asked.grid, asked.arguments, mode=mode)
