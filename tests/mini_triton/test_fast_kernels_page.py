"""docs/fast_kernels.md: the tables of the instructions in loops. They need NVIDIA's assembler, no GPU."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernels.fast.attention import dq_kernel
from mini_triton.backends.threads.assembler import assembler, run, usage

from grader.course.curriculum import ROOT
from tests.corpus.cases import KERNELS
from tests.oracles import triton
from tests.support import sources

PAGE = (ROOT / "docs" / "fast_kernels.md").read_text(encoding="utf-8")
INTEGERS = "LEA|IMAD|IADD3|VIADD|ISETP"
TILES = {"BLOCK_M": 128, "num_warps": 8, "num_stages": 3}
HALF, WORD = np.float16, np.float32

pytestmark = [
    pytest.mark.skipif(not triton.available(), reason="real Triton is not installed"),
    pytest.mark.skipif(f"Triton {triton.version()}," not in PAGE, reason="another version of the assembler"),
]


def kernel_of(file: str, name: str) -> Any:
    """A kernel of the corpus."""
    path = KERNELS / file
    return sources.load(path.read_text(encoding="utf-8"), str(path))[name]


def columns(kernel: Any, rows: Sequence[str], folder: Path) -> list[tuple[int, ...]]:
    """The numbers of both compilers: of the instructions in each row, of all instructions, and of registers."""
    found = []
    for ptx in (kernel.generate("ptx", 90).ptx, kernel.lower("sm_90").asm["ptx"]):
        run(ptx, folder / "kernel.cubin", "--gpu-name=sm_90a")
        command = [str(assembler().with_name("nvdisasm")), "-c", str(folder / "kernel.cubin")]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (loop,) = re.findall(r"^(\.L_x_\d+):\n((?:(?!^\.L_x).*\n)*?.*HGMMA(?:.*\n)*?.*BRA `\(\1\))", text, re.MULTILINE)
        names = re.findall(r"^\s+/\*\w+\*/\s+(?:@\S+ )?([A-Z0-9]+)", loop[1], re.MULTILINE)
        counts = (sum(bool(re.fullmatch(row, name)) for name in names) for row in rows)
        found.append((*counts, len(names), usage(ptx, "sm_90a").registers))
    return found


def printed(number: int) -> list[tuple[int, ...]]:
    """The columns of a table of the page."""
    table = PAGE.split("| per iteration and warp |")[number].split("\n\n")[0]
    lines = re.findall(r"^\|[^|]*\|((?: \d+ \|)+)$", table, re.MULTILINE)
    return list(zip(*([int(cell) for cell in line.split("|")[:-1]] for line in lines), strict=True))


def test_the_loop_of_a_product(tmp_path: Path) -> None:
    kernel = kernel_of("products.py", "matmul_grouped")
    made = kernel.warmup(*[HALF] * 3, *[4096] * 4, 1, 4096, 1, 4096, 1, BLOCK_N=256, BLOCK_K=64, **TILES)
    rows = "HGMMA", "LDGSTS", "BAR", f"{INTEGERS}|SEL", "U.*"
    assert columns(made, rows, tmp_path) == printed(1)


def test_the_loops_of_attention(tmp_path: Path) -> None:
    options = {"CAUSAL": False, "BLOCK_N": 64, **TILES}
    forward = kernel_of("attention.py", "attention_forward").warmup(*[HALF] * 4, WORD, 0.125, 4096, D=128, **options)
    queries = dq_kernel.warmup(*[HALF] * 4, *[WORD] * 2, HALF, 0.125, 4096, D=64, EVEN=True, **options)
    rows = "HGMMA", "MUFU", "F(MUL|ADD|FMA|MNMX|2FP)", "SHFL", "F?SEL", "LDGSTS", "BAR", "WARPGROUP", INTEGERS, "U.*"
    assert [*columns(forward, rows, tmp_path), *columns(queries, rows, tmp_path)] == printed(2)
