"""Task 14.3: products by `mma.sync`. The judges are NumPy, the emulator, and NVIDIA's assembler."""

import re
from collections import Counter

import numpy as np
import pytest

from tests.oracles import assembler
from tests.support.m14_tensor_cores.multiplying import Product

COLUMNS = [(False, False), (False, True), (True, False), (True, True)]
"""Which matrices have contiguous columns."""
CAPABILITIES = {"fp16": 80, "bf16": 80, "fp32": 80, "i8": 80, "fp8e4nv": 89, "fp8e5": 89}
"""The types of factors, and the first GPUs whose tensor cores multiply them."""


def made(ptx: str) -> tuple[int, ...]:
    """How many instructions multiply, load four matrices, and load two."""
    counts = Counter(re.findall(r"\bmma\.sync|ldmatrix\S*\.x[124]", ptx))
    return counts["mma.sync"], *(counts[f"ldmatrix.sync.aligned.m8n8.x{count}"] for count in (4, 2))


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("type, capability", CAPABILITIES.items())
def test_types_and_axes(type: str, capability: int, columns: tuple[bool, bool]) -> None:
    """No lane waits for a bank while it loads a factor."""
    product = Product((32, 32, 64), type, columns, capability=capability)
    report = product.check(100)
    lines = product.code.ptx.splitlines()
    for number, (_, counts) in report.instructions.items():
        if re.search("ldmatrix|ld.shared", lines[number - 1]) and counts.bank_ways != counts.shared:
            product.fail("loads without bank conflicts", lines[number - 1].strip())


@pytest.mark.parametrize(
    "shape, type, warps, expected, because",
    [
        ((16, 8, 16), "fp16", 1, (1, 1, 1), "one instruction multiplies 16 x 16 by 16 x 8; two matrices suffice for b"),
        ((16, 8, 16), "fp16", 4, (1, 1, 1), "three of four warps hold copies"),
        ((16, 16, 16), "fp16", 1, (2, 2, 0), "four matrices of b serve two instructions"),
        ((32, 8, 16), "fp16", 1, (2, 2, 1), "both instructions share b's words"),
        ((16, 16, 128), "fp16", 1, (16, 16, 0), "8 steps, two instructions each"),
        ((64, 32, 32), "bf16", 2, (16, 8, 0), "each warp has 32 x 32 sums: 2 steps, 2 rows of 4 instructions"),
        ((32, 64, 64), "fp16", 4, (16, 12, 0), "each warp has 16 x 32 sums: 4 steps of 4 instructions"),
        ((32, 64, 64), "i8", 4, (8, 6, 0), "an instruction multiplies 32 columns by 32 rows"),
        ((16, 8, 64), "fp32", 1, (8, 8, 8), "an instruction multiplies 8 columns by 8 rows"),
        ((64, 64, 16), "fp32", 4, (16, 8, 0), "2 steps of 2 x 4 instructions"),
    ],
)
def test_fewest_instructions(
    shape: tuple[int, int, int], type: str, warps: int, expected: tuple[int, int, int], because: str
) -> None:
    product = Product(shape, type, (False, True), warps=warps)
    if (found := made(product.code.ptx)) != expected:
        words = "{} mma.sync, {} ldmatrix of four matrices, {} of two"
        product.fail(words.format(*expected), words.format(*found), because)
    report = product.check(3 * shape[2])
    if report.total.tensor_cores != 3 * warps * expected[0]:
        product.fail(f"{3 * expected[0]} products in each warp", f"{report.total.tensor_cores} in {warps} warps")


@pytest.mark.parametrize("shape", [(16, 8, 16), (64, 32, 32), (32, 128, 16)])
def test_sums_of_16_bits(shape: tuple[int, int, int]) -> None:
    Product(shape, "fp16", sums="fp16").check(64)


@pytest.mark.parametrize("type, capability", CAPABILITIES.items())
def test_the_assembler(type: str, capability: int) -> None:
    """It accepts the instructions: it is stricter than the emulator."""
    product = Product((32, 16, 32), type, capability=capability)
    if not (found := assembler.assemble(product.code.ptx, f"--gpu-name={product.code.target}")).cubin:
        product.fail("PTX that NVIDIA's assembler accepts", found.said)


@pytest.mark.parametrize("type", ["fp16", "bf16", "fp32"])
def test_rounding(type: str) -> None:
    """Products of 16-bit floats are exact, and each of `depth` additions loses less than the last bit of a sum.

    Of an fp32 number, the first 11 bits count.
    """
    product, depth = Product((32, 32, 32), type), 256
    x, y = (np.random.default_rng(depth).normal(size=shape) for shape in ((32, depth), (depth, 32)))
    got, (x, y) = product.launch(x, y)[1], (matrix.astype(product.dtype).astype(np.float64) for matrix in (x, y))
    most = (depth * 2.0**-23 + (2 * 2.0**-10 if type == "fp32" else 0)) * (abs(x) @ abs(y))
    wrong = np.argwhere(~(abs(got - x @ y) <= most))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        product.fail(f"sum {at} = {(x @ y)[at]}, within {most[at]:.1e}", f"{got[at]}, one of {len(wrong)} wrong sums")


@pytest.mark.parametrize("type, columns", [("fp16", (False, False)), ("bf16", (True, False)), ("fp32", (False, True))])
def test_infinity_and_nan(type: str, columns: tuple[bool, bool]) -> None:
    """They are in the sums of their row or column, and in no others."""
    product = Product((32, 32, 32), type, columns)
    x, y = product.inputs(32)
    x[3, 5], x[20, 31], y[17, 9] = np.inf, np.nan, -np.inf
    with np.errstate(invalid="ignore"):
        expected = x.astype(np.float32) @ y.astype(np.float32)
    product.compare(product.launch(x, y)[1], expected)
