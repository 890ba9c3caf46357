"""Launches that are timed: kernels of the corpus on sizes of real work.

Everyone gets the same arguments, each as copies of their own. `by_hand` and `by_torch` compute the same without a
kernel, by the functions that bear a workload's `idea`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench import ROOT

Arguments = dict[str, Any]
HEADS = {"BLOCK_M": 64, "BLOCK_N": 32, "D": 64}


@dataclass(frozen=True)
class Workload:
    """A kernel, and how it is launched."""

    idea: str
    size: str
    file: str  # below tests/corpus/kernels/
    kernel: str
    grid: Sequence[int]
    draw: Callable[[np.random.Generator], Arguments]  # arrays and numbers, by parameter
    constants: Mapping[str, Any]
    outputs: Sequence[str] = ("out",)
    tolerance: float = 1e-4  # of the largest result
    target: bool = False  # one of those whose ratios are promised

    @property
    def name(self) -> str:
        return f"{self.idea.replace('_', ' ')} {self.size}"

    @property
    def path(self) -> Path:
        """Where the kernel is."""
        return ROOT / "tests" / "corpus" / "kernels" / f"{self.file}.py"

    def arguments(self) -> Arguments:
        """New ones, the same each time."""
        return self.draw(np.random.default_rng(zlib.crc32(self.name.encode())))

    def bytes(self) -> int:
        """How much memory the arguments take."""
        return sum(value.nbytes for value in self.arguments().values() if isinstance(value, np.ndarray))


def normal(random: np.random.Generator, *shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Numbers around 0."""
    return random.standard_normal(shape, np.float32).astype(dtype, copy=False)


def blocks(n: int, size: int) -> int:
    """How many blocks n elements need."""
    return -(-n // size)


def power(n: int) -> int:
    """The smallest power of two that is no smaller."""
    return 1 << (n - 1).bit_length()


def vector_add(n: int) -> Workload:
    def draw(random: np.random.Generator) -> Arguments:
        return {"x": normal(random, n), "y": normal(random, n), "out": np.zeros(n, np.float32), "n": n}

    size = f"2^{n.bit_length() - 1}"
    return Workload("vector_add", size, "by_hand", "add_kernel", (blocks(n, 1024),), draw, {"BLOCK": 1024})


def softmax(rows: int, columns: int) -> Workload:
    def draw(random: np.random.Generator) -> Arguments:
        x = normal(random, rows, columns)
        return {"out": np.zeros_like(x), "x": x, "stride": columns, "columns": columns}

    constants = {"BLOCK": power(columns)}
    return Workload("softmax", f"{rows}x{columns}", "softmax", "softmax_row", (rows,), draw, constants)


def matmul(n: int, dtype: Any = np.float32) -> Workload:
    def draw(random: np.random.Generator) -> Arguments:
        matrices = {"a": normal(random, n, n, dtype=dtype), "b": normal(random, n, n, dtype=dtype)}
        return matrices | {"c": np.zeros((n, n), dtype)} | dict.fromkeys(("M", "N", "K"), n) | strides

    strides = dict.fromkeys(("stride_am", "stride_bk", "stride_cm"), n)
    strides |= dict.fromkeys(("stride_ak", "stride_bn", "stride_cn"), 1)
    constants = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
    size, grid = f"{n}^3{kind(dtype)}", (blocks(n, 64), blocks(n, 64))
    workload = Workload("matmul", size, "by_hand", "matmul_kernel", grid, draw, constants, ("c",))
    return replace(workload, tolerance=tolerance(dtype))


def layer_norm(rows: int, columns: int) -> Workload:
    def draw(random: np.random.Generator) -> Arguments:
        x = normal(random, rows, columns)
        parameters = {"weight": normal(random, columns), "bias": normal(random, columns)}
        found = {"mean_out": np.zeros(rows, np.float32), "rstd_out": np.zeros(rows, np.float32)}
        numbers = {"stride": columns, "columns": columns, "eps": 1e-5}
        return {"out": np.zeros_like(x), "x": x} | parameters | found | numbers

    size, outputs = f"{rows}x{columns}", ("out", "mean_out", "rstd_out")
    constants = {"BLOCK": min(power(columns), 1024)}
    return Workload("layer_norm", size, "normalisation", "layer_norm_forward", (rows,), draw, constants, outputs)


def attention(heads: int, length: int, causal: bool, dtype: Any = np.float32) -> Workload:
    def draw(random: np.random.Generator) -> Arguments:
        tensors = {name: normal(random, heads, length, 64, dtype=dtype) for name in ("q", "k", "v")}
        results = {"out": np.zeros_like(tensors["q"]), "lse": np.zeros((heads, length), np.float32)}
        return tensors | results | {"scale": 0.125, "length": length}

    idea = "causal_attention" if causal else "attention"
    size, grid = f"{heads}x{length}x64{kind(dtype)}", (blocks(length, 64), heads)
    constants = {"CAUSAL": causal} | HEADS
    workload = Workload(idea, size, "attention", "attention_forward", grid, draw, constants)
    return replace(workload, tolerance=tolerance(dtype))


def conv2d(images: int, channels: int, out_channels: int, side: int) -> Workload:
    """Of 3 by 3, with a border of zeros."""

    def draw(random: np.random.Generator) -> Arguments:
        x, w = normal(random, images, channels, side, side), normal(random, out_channels, channels, 3, 3)
        out = np.zeros((images, out_channels, side, side), np.float32)
        sizes = {"C": channels, "H": side, "W": side, "K": out_channels, "P": side, "Q": side}
        return {"out": out, "x": x, "w": w} | sizes | {"stride": 1, "padding": 1}

    size = f"{images}x{channels}->{out_channels}x{side}x{side}x3x3"
    grid = (images * out_channels, blocks(side**2, 1024))
    constants = {"R": 3, "S": 3, "BLOCK": 1024}
    return Workload("conv2d", size, "products", "conv2d_direct", grid, draw, constants)


def rms_norm(rows: int, columns: int) -> Workload:
    def draw(random: np.random.Generator) -> Arguments:
        x, weight = normal(random, rows, columns), normal(random, columns)
        return {"out": np.zeros_like(x), "x": x, "weight": weight, "stride": columns, "columns": columns, "eps": 1e-6}

    size, constants = f"{rows}x{columns}", {"BLOCK": power(columns)}
    return Workload("rms_norm", size, "normalisation", "rms_norm", (rows,), draw, constants)


def group_norm(groups: int, columns: int) -> Workload:
    def draw(random: np.random.Generator) -> Arguments:
        x = normal(random, groups, columns)
        return {"out": np.zeros_like(x), "x": x, "size": columns, "eps": 1e-5}

    size, constants = f"{groups}x{columns}", {"BLOCK": power(columns)}
    return Workload("group_norm", size, "normalisation", "group_norm", (groups,), draw, constants)


def adam(n: int) -> Workload:
    def draw(random: np.random.Generator) -> Arguments:
        arrays = {"p": normal(random, n), "g": normal(random, n), "m": normal(random, n), "v": normal(random, n) ** 2}
        return arrays | {"n": n, "rate": 0.01, "step": 3.0}

    size, constants = f"2^{n.bit_length() - 1}", {"BETA1": 0.9, "BETA2": 0.999, "BLOCK": 1024}
    file, grid = "normalisation", (blocks(n, 1024),)
    return Workload("adam", size, file, "adam", grid, draw, constants, ("p", "m", "v"))


def rotary(rows: int) -> Workload:
    def draw(random: np.random.Generator) -> Arguments:
        x, angles = normal(random, rows, 64, 2), normal(random, rows, 64)
        return {"out": np.zeros_like(x), "x": x, "cosines": np.cos(angles), "sines": np.sin(angles)}

    return Workload("rotary", f"{rows}x128", "shapes", "rotary", (rows,), draw, {"HALF": 64})


def gather_rows(rows: int, columns: int) -> Workload:
    def draw(random: np.random.Generator) -> Arguments:
        table, ids = normal(random, 10_000, columns), random.integers(0, 10_000, rows, np.int32)
        return {"out": np.zeros((rows, columns), np.float32), "table": table, "ids": ids, "n": rows, "width": columns}

    size, constants = f"{rows}x{columns}", {"PADDING": 0, "BLOCK": power(columns)}
    return Workload("gather_rows", size, "memory", "gather_rows", (rows,), draw, constants)


def kind(dtype: Any) -> str:
    """What tells a workload from the same in fp32."""
    return "" if dtype is np.float32 else " fp16"


def tolerance(dtype: Any) -> float:
    """How far results may differ that are rounded to this dtype."""
    return 1e-4 if dtype is np.float32 else 1e-2


TARGETS = [
    vector_add(2**20),
    softmax(4096, 781),
    softmax(1024, 1024),
    matmul(512),
    layer_norm(1024, 1024),
    attention(4, 512, causal=False),
    attention(4, 512, causal=True),
    conv2d(2, 8, 16, 32),
]
"""Those whose ratios are promised."""

OTHERS = [
    vector_add(2**12),
    vector_add(2**16),
    vector_add(2**22),
    softmax(128, 1024),
    matmul(128),
    matmul(512, np.float16),
    layer_norm(128, 512),
    attention(4, 128, causal=False),
    attention(4, 128, causal=True),
    attention(4, 512, causal=False, dtype=np.float16),
    attention(4, 512, causal=True, dtype=np.float16),
    conv2d(1, 3, 8, 16),
    rms_norm(1024, 1024),
    group_norm(16, 1000),
    adam(2**18),
    rotary(1024),
    gather_rows(1024, 768),
]
WORKLOADS = [*(replace(workload, target=True) for workload in TARGETS), *OTHERS]
