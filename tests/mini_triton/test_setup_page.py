"""What docs/setup.md says about GPUs: the instructions that each compute capability gets, and AMD's GPUs."""

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kernels.matmul import matmul_kernel
from mini_triton import language as tl
from mini_triton.backends.launch import capability_here

from grader.course.curriculum import ROOT

PAGE = (ROOT / "docs" / "setup.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+\.\d[\d., ]*) \| [^|]* \| ([^|]*) \| ([^|]*) \|$", PAGE, re.MULTILINE)
TARGETS = [
    (f"sm_{capability.replace('.', '')}", fp16, fp8) for many, fp16, fp8 in ROWS for capability in many.split(", ")
]
INSTRUCTIONS = ("wgmma", "tcgen05.mma", "mma.sync")


def instruction(target: str, dtype: Any) -> str:
    """The kind of instruction with which a product of matrices of this dtype multiplies; "" without tensor cores."""
    a, c = np.zeros((256, 256), dtype), np.zeros((256, 256), np.float32)
    compiled = matmul_kernel.warmup(
        *(a, a, c, 256, 256, 256, 256, 1, 256, 1, 256, 1),
        **dict(BLOCK_M=64, BLOCK_N=32, BLOCK_K=32, GROUP=8, ACTIVATION="", TOTAL=tl.float32, grid=(4,)),
    )
    ptx = compiled.lower(target).asm["ptx"]
    return next((name for name in INSTRUCTIONS if re.search(rf"\b{re.escape(name)}", ptx)), "")


def test_the_page_has_a_table() -> None:
    assert [target for target, _, _ in TARGETS] == [f"sm_{c}" for c in (70, 75, 80, 86, 89, 90, 100, 120)]


@pytest.mark.parametrize("target, fp16, fp8", TARGETS)
def test_each_capability_gets_the_instruction_of_the_table(target: str, fp16: str, fp8: str) -> None:
    pytest.importorskip("triton")
    found = instruction(target, np.float16)
    assert f"`{found}`" in fp16 if found else "without tensor cores" in fp16
    assert instruction(target, ml_dtypes.bfloat16) == found
    if "raises" in fp8:
        with pytest.raises(RuntimeError, match="sm_89"):
            instruction(target, ml_dtypes.float8_e4m3fn)
    else:
        assert f"`{instruction(target, ml_dtypes.float8_e4m3fn)}`" in fp8
        assert f"`{instruction(target, ml_dtypes.float8_e5m2)}`" in fp8


def test_a_launch_on_a_gpu_of_amd_names_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.version, "hip", "7.2")
    with pytest.raises(RuntimeError, match="this PyTorch is for AMD's"):
        capability_here(0)
