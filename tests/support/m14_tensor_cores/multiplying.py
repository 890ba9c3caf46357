"""A product of matrices with a loop, compiled for tensor cores, run on the emulator, and compared with NumPy.

Product((64, 32, 16), "fp16").check()
Product((64, 64, 64), "i8", columns=(False, True), capability=80, stages=3).check(depth=100)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import ml_dtypes
import numpy as np
from mini_triton.backends.threads.back_end import Code, compile_module
from mini_triton.emulator import emulate
from mini_triton.emulator.report import Report
from mini_triton.transforms.manager import optimize

from tests.checks import described
from tests.oracles.triton import Source
from tests.support import sources

KERNEL = """import triton
import triton.language as tl

@triton.jit
def product(out, x, y, DEPTH, X: tl.constexpr, Y: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    {of_x}
    {of_y}
    total = tl.zeros((M, N), {sum})
    for start in range(0, DEPTH, K):
        first = tl.load(px, mask=k[None, :] < DEPTH - start, other=0.0)
        second = tl.load(py, mask=k[:, None] < DEPTH - start, other=0.0)
        total = tl.dot(first, second, total, input_precision="tf32", out_dtype={sum})
        px += {step_x}
        py += {step_y}
    tl.store(out + m[:, None] * N + n[None, :], total)
"""
DTYPES = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp32": np.float32,
    "i8": np.int8,
    "fp8e4nv": ml_dtypes.float8_e4m3fn,
    "fp8e5": ml_dtypes.float8_e5m2,
}
LONGEST = 512
"""The most elements along the axis of the sums."""


@dataclass(frozen=True)
class Product:
    """Tiles of M x K and K x N elements; `columns` says which of the matrices have contiguous columns."""

    shape: Sequence[int]  # M, N, K
    type: str = "fp16"
    columns: tuple[bool, bool] = (False, False)
    sums: str = ""  # their type; by default fp32, or i32 for integers
    warps: int = 4
    capability: int = 80
    stages: int = 1

    @property
    def total(self) -> str:
        return self.sums or ("i32" if self.type == "i8" else "fp32")

    @cached_property
    def source(self) -> Source:
        m, n, k = self.shape
        dtype = {"fp32": "float32", "i32": "int32", "fp16": "float16"}[self.total]
        text = KERNEL.format(
            of_x="px = x + k[None, :] * X + m[:, None]" if self.columns[0] else "px = x + m[:, None] * X + k[None, :]",
            of_y="py = y + n[None, :] * Y + k[:, None]" if self.columns[1] else "py = y + k[:, None] * Y + n[None, :]",
            step_x="K * X" if self.columns[0] else "K",
            sum=f"tl.{dtype}",
            step_y="K" if self.columns[1] else "K * Y",
        )
        strides = {"X": m if self.columns[0] else LONGEST, "Y": LONGEST if self.columns[1] else n}
        constants = strides | {"M": m, "N": n, "K": k}
        signature = {"out": f"*{self.total}", "x": f"*{self.type}", "y": f"*{self.type}", "DEPTH": "i32"}
        return Source(
            text, "product", signature | dict.fromkeys(constants, "constexpr"), constants, ("out", "x", "y", "DEPTH")
        )

    @cached_property
    def code(self) -> Code:
        """The compiled kernel."""
        module = sources.compiled(self.source)
        optimize(module)
        call = described(str(self), compile_module, module, self.warps, self.capability, self.stages)
        return call.succeeds("PTX")

    def inputs(self, depth: int) -> list[np.ndarray]:
        """Two matrices with small elements, so that most sums are exact."""
        m, n, _ = self.shape
        random = np.random.default_rng(m + n + depth)
        return [random.integers(-4, 5, shape).astype(self.dtype) for shape in ((m, depth), (depth, n))]

    @property
    def dtype(self) -> Any:
        """The type of the factors."""
        return DTYPES[self.type]

    def launch(self, x: np.ndarray, y: np.ndarray) -> tuple[Report, np.ndarray]:
        """The report of a launch, and the product of two matrices."""
        m, n, _ = self.shape
        depth = len(y)
        stored = [np.zeros((LONGEST, m) if self.columns[0] else (m, LONGEST), self.dtype)]
        stored.append(np.zeros((n, LONGEST) if self.columns[1] else (LONGEST, n), self.dtype))
        (stored[0].T if self.columns[0] else stored[0])[:, :depth] = x
        (stored[1].T if self.columns[1] else stored[1])[:depth] = y
        out = np.full((m, n), 77, {"fp32": np.float32, "i32": np.int32, "fp16": np.float16}[self.total])
        return emulate(self.code.ptx, (1, 1, 1), [out, *stored, depth], shared=self.code.shared), out

    def run(self, depth: int) -> tuple[Report, np.ndarray, np.ndarray]:
        """The report of a launch, the product, and NumPy's product."""
        x, y = self.inputs(depth)
        report, out = self.launch(x, y)
        return report, out, (x.astype(np.float64) @ y.astype(np.float64)).astype(out.dtype)

    def check(self, depth: int | None = None) -> Report:
        """Require the right product, without an error that the emulator finds. `depth` is K by default."""
        __tracebackhide__ = True
        report, got, expected = self.run(self.shape[2] if depth is None else depth)
        if report.errors:
            self.fail("a launch without errors", str(report.errors[0]))
        self.compare(got, expected)
        return report

    def compare(self, got: np.ndarray, expected: np.ndarray) -> None:
        """Require equal sums; NaN equals NaN."""
        __tracebackhide__ = True
        wrong = np.argwhere((got != expected) & ~(np.isnan(got) & np.isnan(expected)))
        if len(wrong):
            at = tuple(wrong[0].tolist())
            self.fail(f"sum {at} = {expected[at]}", f"{got[at]}, one of {len(wrong)} wrong sums")

    def fail(self, expected: str, got: str, because: str = "") -> NoReturn:
        """Fail with the product."""
        __tracebackhide__ = True
        described(str(self), lambda: None).fail(expected, got, because)
