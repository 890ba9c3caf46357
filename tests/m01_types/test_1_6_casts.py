"""Task 1.6: the operations that lead from one dtype to another, for every pair of dtypes."""

import itertools
from collections.abc import Collection

import pytest
from mini_triton.language.dtypes import DTYPES, cast_steps, dtype, float32

from tests.checks import calling
from tests.oracles import questions, records

FP8 = ("fp8e5", "fp8e4nv", *questions.LIKE)
DTYPE_NAMES = (*questions.DTYPES, *questions.LIKE)
FLOATS = [name for name in questions.FLOATS if name not in FP8]
INTEGERS = [name for name in questions.INTEGERS if name != "int1"]


def agree(sources: Collection[str], targets: Collection[str]) -> None:
    """Compare with real Triton's recorded casts, for every source and every target."""
    for source, target in itertools.product(sources, targets):
        asked = questions.like(source), questions.like(target)
        answer = records.cast_ops(*asked)
        if asked[0] == asked[1] or not answer.common:
            continue  # no cast is needed, or Triton's versions differ
        call = calling(cast_steps, DTYPES[source], DTYPES[target])
        if answer.ok:
            # If only the signedness differs, real Triton bitcasts a type to itself; MLIR then removes this cast.
            ops = [op.name for op in answer.value if op.name != "arith.bitcast"]
            because = f"real Triton casts {source} to {target} with {' and '.join(ops) or 'no operation at all'}"
            call.returns(steps(ops, DTYPES[target]), because)
        else:
            call.raises(TypeError, source, target, because="real Triton has no such cast")


def steps(ops: list[str], target: dtype) -> list[tuple[str, dtype]]:
    """The steps in the form that `cast_steps` returns. The first of two steps casts to fp32."""
    return [(op, target if i == len(ops) else float32) for i, op in enumerate(ops, 1)]


GROUPS = {
    "float to float": (FLOATS, FLOATS),
    "float to integer": (FLOATS, INTEGERS),
    "integer to float": ([*INTEGERS, "int1"], FLOATS),
    "integer to integer": ([*INTEGERS, "int1"], INTEGERS),
    "anything to int1": ([*INTEGERS, *FLOATS], ["int1"]),
    "from fp8": (FP8, DTYPE_NAMES),
    "to fp8": (DTYPE_NAMES, FP8),
}


@pytest.mark.parametrize("group", GROUPS)
def test_casts(group: str) -> None:
    agree(*GROUPS[group])
