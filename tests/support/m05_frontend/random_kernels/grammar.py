"""What a kernel may consist of, and how often: the first of each table is the simplest."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.m05_frontend.random_kernels import (
    assignments,
    control,
    functions,
    helpers,
    memory,
    operators,
    reductions,
    shapes,
)
from tests.support.m05_frontend.random_kernels.kernel import Kernel
from tests.support.m05_frontend.random_kernels.program import Program
from tests.support.m05_frontend.random_kernels.writer import Function, Grammar

GRAMMAR = Grammar(
    expressions=(
        *(memory.load,) * 6,
        *(operators.arithmetic,) * 5,
        *(operators.argument,) * 2,
        *(operators.comparison,) * 2,
        *(operators.bitwise,) * 2,
        *(operators.shift,) * 2,
        *(operators.division,) * 4,
        *(operators.negation,) * 2,
        *(operators.indexing,) * 2,
        *(functions.math,) * 8,
        *(functions.several,) * 6,
        *(functions.larger,) * 3,
        *(functions.where,) * 3,
        *(functions.cast,) * 4,
        *(functions.bitcast,) * 2,
        *(shapes.reshape,) * 2,
        *(shapes.transpose,) * 3,
        *(shapes.join,) * 2,
        *(shapes.expand,) * 5,
        *(shapes.new_block,) * 2,
        *(reductions.reduced,) * 5,
        *(reductions.scanned,) * 2,
        *(control.ternary,) * 2,
    ),
    statements=(
        *(assignments.assign,) * 16,
        *(assignments.change,) * 4,
        assignments.replaced,
        *(assignments.swap,) * 2,
        *(memory.store,) * 2,
        *(memory.pointer,) * 3,
        memory.atomic,
        *(shapes.split,) * 4,
        *(reductions.with_index,) * 2,
        *(helpers.call,) * 3,
        *(control.for_loop,) * 4,
        *(control.while_loop,) * 2,
        *(control.branch,) * 4,
        control.early_return,
    ),
)


def write(start: bytes, steps: Sequence[bytes], exact: bool = False, asserts: bool = False) -> Kernel:
    """The kernel that a recipe stands for."""
    program = Program(start, steps, exact, asserts)
    k = Function(program, GRAMMAR)
    with program.step():
        assignments.first(k)
    while program.steps:
        with program.step():
            k.statement()
    assignments.finish(k)
    return program.kernel(k.written())
