"""Real Triton's recorded answers: the shared memory that the matrix product of milestone 8 needs for its tiles.

    tiles.load()[0]    # Product("sm_90", 2, 64, 128, 64, 3, 4, 73728)

Products whose result needs more shared memory than their operands, for a change of layout, are left out. Record the
answers again by

    python -m tests.oracles.tiles [--check]
"""

import ast
import itertools
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.oracles import tables, triton

KERNEL = Path(__file__).parents[2] / "solutions" / "kernels" / "matmul.py"
DTYPES = ("fp16", "bf16", "fp32")
TARGETS = ("sm_80", "sm_90")
MANY = 60  # the number of products
FIRST = (("fp16", 128, 256, 64, 3, 8),)


class Product(NamedTuple):
    """A product of tiles, and the bytes of shared memory that it needs."""

    target: str
    dtype: str
    rows: int
    columns: int
    inner: int
    stages: int
    warps: int
    shared: int

    @property
    def itemsize(self) -> int:
        return 4 if self.dtype == "fp32" else 2

    @property
    def capability(self) -> int:
        return int(self.target.removeprefix("sm_"))


def load() -> list[Product]:
    """All answers."""
    return [Product(*row) for row in tables.load("tiles")["answers"]]


def questions() -> Iterator[tuple[str, int, int, int, int, int]]:
    """Dtype, tiles, stages and warps of products whose operands decide how much shared memory they need."""
    sides = (32, 64, 128)
    every = list(itertools.product(DTYPES, sides, sides, (32, 64, 128), (2, 3, 4, 5), (4, 8)))
    random.Random(0).shuffle(every)
    deciding = [q for q in every if decide(*q)]
    yield from FIRST
    yield from deciding[:MANY]


def decide(dtype: str, rows: int, columns: int, inner: int, stages: int, warps: int) -> bool:
    """Whether the operands need at least as much memory as the result, and at most as much as a GPU has."""
    itemsize = 4 if dtype == "fp32" else 2
    pair = (rows + columns) * inner * itemsize
    return pair * (stages - 1) >= rows * columns * 4 and pair * stages <= 232448 and rows * columns >= warps * 256


def ask() -> list[Product]:
    """The answers of the installed Triton."""
    asked = [(target, *question) for target in TARGETS for question in questions()]
    made = triton.frontends([source(*question) for question in asked], lower=True)
    for question, answer in zip(asked, made, strict=True):
        assert answer.compiled, f"{question}: {answer.diagnostic or answer.compiled.diagnostic}"
    return [Product(*question, answer.compiled.shared) for question, answer in zip(asked, made, strict=True)]


def source(target: str, dtype: str, rows: int, columns: int, inner: int, stages: int, warps: int) -> triton.Source:
    """The kernel for matrices of 4096 by 4096."""
    text = KERNEL.read_text(encoding="utf-8")
    kernels = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.decorator_list]
    bodies = [
        f"@triton.jit\n{ast.unparse(ast.FunctionDef(**{**vars(node), 'decorator_list': []}))}" for node in kernels
    ]
    numbers = ("M", "N", "K", "stride_am", "stride_bk", "stride_cm")
    ones = ("stride_ak", "stride_bn", "stride_cn")
    tiles = {"BLOCK_M": rows, "BLOCK_N": columns, "BLOCK_K": inner, "GROUP": 8}
    constants = {**dict.fromkeys(ones, 1), **tiles, "ACTIVATION": "", "TOTAL": triton.Code("tl.float32")}
    parameters = [argument.arg for argument in kernels[-1].args.args]
    types = dict.fromkeys("abc", f"*{dtype}") | dict.fromkeys(numbers, "i32")
    return triton.Source(
        "\n\n\n".join(["import triton\nimport triton.language as tl", *bodies]) + "\n",
        kernels[-1].name,
        {name: types.get(name, "constexpr") for name in parameters},
        constants,
        tuple(types),
        target,
        {"num_stages": stages, "num_warps": warps},
    )


if __name__ == "__main__":
    sys.exit(tables.record("tiles", answers=ask()))
