"""docs/fast_kernels.md: the table of the instructions in the loop of a product. It needs NVIDIA's assembler, no GPU."""

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mini_triton.backends.threads.assembler import assembler, run, usage

from grader.course.curriculum import ROOT
from tests.corpus.cases import KERNELS
from tests.oracles import triton
from tests.support import sources

PAGE = (ROOT / "docs" / "fast_kernels.md").read_text(encoding="utf-8")
VECTOR = ("LEA", "IMAD", "IADD3", "VIADD", "ISETP", "SEL")


def counted(ptx: str, folder: Path) -> list[int]:
    """The numbers of a column of the table."""
    run(ptx, folder / "kernel.cubin", "--gpu-name=sm_90a")
    command = [str(assembler().with_name("nvdisasm")), "-c", str(folder / "kernel.cubin")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (loop,) = re.findall(r"^(\.L_x_\d+):\n((?:(?!^\.L_x).*\n)*?.*HGMMA(?:.*\n)*?.*BRA `\(\1\))", text, re.MULTILINE)
    found = Counter(re.findall(r"^\s+/\*\w+\*/\s+(?:@\S+ )?([A-Z0-9]+)", loop[1], re.MULTILINE))
    uniform = sum(number for name, number in found.items() if name.startswith("U"))
    few = [found[name] for name in ("HGMMA", "LDGSTS", "BAR")]
    return [*few, sum(found[name] for name in VECTOR), uniform, found.total(), usage(ptx, "sm_90a").registers]


@pytest.mark.skipif(not triton.available(), reason="real Triton is not installed")
def test_the_loop_of_a_product(tmp_path: Path) -> None:
    if f"Triton {triton.version()}," not in PAGE:
        pytest.skip("another version of the assembler")
    path = KERNELS / "products.py"
    kernel: Any = sources.load(path.read_text(encoding="utf-8"), str(path))["matmul_grouped"]
    tiles = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3}
    made = kernel.warmup(*[np.float16] * 3, *[4096] * 4, 1, 4096, 1, 4096, 1, **tiles)
    _, _, table = PAGE.partition("| per iteration and warp |")
    printed = [tuple(map(int, row)) for row in re.findall(r"^\|.*\| (\d+) \| (\d+) \|$", table, re.MULTILINE)]
    columns = (made.generate("ptx", 90).ptx, made.lower("sm_90").asm["ptx"])
    assert list(zip(*(counted(ptx, tmp_path) for ptx in columns), strict=True)) == printed
