"""Kernels on which passes of real Triton have a visible effect: `docs/triton_beside_nvcc.md` names them.

`changed` returns the passes that change a kernel. As a command, this file compiles one kernel: `... matmul sm_90`.
"""

import functools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mini_triton as triton
import mini_triton.language as tl
import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
BEFORE = re.compile(r"// -----// IR Dump Before \w+(?: \(|: )([\w-]+)[^\n]*\n")
"""The line before a module in MLIR's output; it names the next pass."""
FIRST = "convert-triton-to-tritongpu"
"""The first pass of `make_ttgir`."""


@triton.jit
def tf32x3(out, x, y):
    """A product of fp32 matrices as three products of TF32 matrices."""
    row, column = tl.arange(0, 64)[:, None] * 64, tl.arange(0, 64)[None, :]
    product = tl.dot(tl.load(x + row + column), tl.load(y + row + column), input_precision="tf32x3")
    tl.store(out + row + column, product)


@triton.jit
def row_sums(out, x, n, BLOCK: tl.constexpr):
    """Sums of 64 rows, block by block."""
    row = tl.arange(0, 64)
    total = tl.zeros((64,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.sum(tl.load(x + row[:, None] * n + start + tl.arange(0, BLOCK)[None, :]), axis=1)
    tl.store(out + row, total)


@triton.jit
def invariant(out, x, n):
    """A loop that loads the same block in each iteration."""
    at = tl.arange(0, 1024)
    total = tl.zeros((1024,), tl.float32)
    for k in range(0, n):
        total += tl.load(x + at) * k
    tl.store(out + at, total)


@triton.jit
def persistent(out, a, b, n, tiles):
    """Products of several tiles per program, in two nested loops that are flattened into one."""
    at = tl.arange(0, 64)[:, None] * n + tl.arange(0, 64)[None, :]
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        total = tl.zeros((64, 64), tl.float32)
        for k in range(0, n, 64):
            total = tl.dot(tl.load(a + tile * 64 * n + at + k), tl.load(b + at + k * n), total)
        tl.store(out + tile * 64 * n + at, total.to(tl.float16))


@triton.jit
def product(out, a, b, n, WARP_ROLES: tl.constexpr):
    """A tile of a product; with WARP_ROLES, some warps load and others multiply."""
    at = tl.arange(0, 128)[:, None] * n + tl.arange(0, 128)[None, :]
    total = tl.zeros((128, 128), tl.float32)
    for k in tl.range(0, n, 128, warp_specialize=WARP_ROLES):
        total = tl.dot(tl.load(a + at + k), tl.load(b + at + k * n), total)
    tl.store(out + at, total.to(tl.float16))


def matmul() -> Any:
    from kernels.matmul import matmul_kernel

    tiles = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP": 8}
    strides = (4096, 1) * 3
    return matmul_kernel.warmup(*(HALF,) * 3, *(4096,) * 3, *strides, **tiles, ACTIVATION="", TOTAL=tl.float32)


def attention() -> Any:
    from kernels.flash_attention import forward_kernel

    arguments = (*(HALF,) * 4, np.float32, 0.1, 4096)
    return forward_kernel.warmup(*arguments, CAUSAL=True, D=64, BLOCK_M=128, BLOCK_N=64)


HALF = np.float16
KERNELS: dict[str, Callable[[], Any]] = {
    "matmul": matmul,
    "attention": attention,
    "tf32x3": lambda: tf32x3.warmup(*(np.float32,) * 3),
    "row_sums": lambda: row_sums.warmup(np.float32, np.float32, 4096, BLOCK=64),
    "invariant": lambda: invariant.warmup(np.float32, np.float32, 77),
    "persistent": lambda: persistent.warmup(*(HALF,) * 3, 4096, 64),
    "warp_roles": lambda: product.warmup(*(HALF,) * 3, 4096, WARP_ROLES=True),
    "cluster": lambda: product.warmup(*(HALF,) * 3, 4096, WARP_ROLES=False, num_ctas=2),
}


@functools.cache
def changed(kernel: str, target: str) -> set[str]:
    """The passes of `make_ttgir`, by their names in MLIR, that change a kernel's module."""
    command = [sys.executable, "-m", __name__, kernel, target]
    paths = [str(ROOT), str(ROOT / "solutions"), *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory(prefix="passes-") as cache:
        folders = {"TRITON_CACHE_DIR": cache, "MINI_TRITON_CACHE_DIR": cache}
        environment = os.environ | folders | {"MLIR_ENABLE_DUMP": "1", "PYTHONPATH": os.pathsep.join(paths)}
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    _, *parts = BEFORE.split(ran.stderr)
    names, modules = parts[::2], [normal(module) for module in parts[1::2]]
    steps = list(zip(names, modules, modules[1:], strict=False))[names.index(FIRST) :]
    return {name for name, before, after in steps if before != after}


def stop_after_ttgir(backend: Any = None, stages: dict[str, Callable[..., Any]] | None = None, *_: Any) -> Any:
    """Triton's hook that inspects stages: print what the last pass of `make_ttgir` returns, and end the process."""
    if stages is None:
        return "", ""  # added to the kernel's key and hash

    def end(module: Any, _: Any) -> None:
        print(f"// -----// IR Dump Before LLVM: llir\n{module}", file=sys.stderr, flush=True)
        sys.exit()

    stages["llir"] = end


def normal(module: str) -> list[str]:
    """The lines of a module without locations and without the numbers of values."""
    module = module.partition("// -----//")[0]
    lines = re.sub(r" loc\(.*?\)$", "", module, flags=re.MULTILINE).splitlines()
    return [re.sub(r"%\w+", "%", line) for line in lines if line.strip() and not line.startswith("#loc")]


if __name__ == "__main__":
    import triton as real

    real.knobs.runtime.add_stages_inspection_hook = stop_after_ttgir
    KERNELS[sys.argv[1]]().lower(sys.argv[2])
