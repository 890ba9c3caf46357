"""The page about a kernel's stages agrees with the texts of the stages."""

import functools
import re
from typing import Any
from unittest import mock

import numpy as np
import pytest
from mini_triton.backends import triton_api
from mini_triton.backends.layouts import Blocked
from mini_triton.backends.page import picture, sass_accesses, write_page
from mini_triton.backends.ptx import accesses

from tests.oracles import triton


@functools.cache
def product(target: str) -> Any:
    """The matrix product of milestone 8, lowered for a GPU."""
    from kernels.compiler import tl
    from kernels.matmul import matmul_kernel

    if not triton.available():
        triton.version()  # ends the test as unavailable
    halves, strides = [np.float16] * 3, [1024, 1] * 3
    tiles = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP": 8}
    constants = {"ACTIVATION": "", "TOTAL": tl.float32, "num_warps": 8}
    kernel: Any = matmul_kernel.warmup(*halves, 1024, 1024, 1024, *strides, **tiles, **constants)
    kernel.lower(target)
    return kernel


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_a_page_of_a_kernel(target: str) -> None:
    kernel = product(target)
    page = write_page(kernel, target)
    assert page.startswith(f"matmul_kernel for {target}: a program has 8 warps of 32 threads\n")
    lines = re.findall(r"^(\w+) +\d+ (?:lines|operations|instructions) ", page, re.M)
    assert lines == ["source", "ttir", "passes", "numpy", "ttgir", "llir", "ptx", "sass"]
    copies = accesses(kernel.asm["ptx"])["copy", 16]
    assert f"PTX   {copies} copies of 16" in page and f"SASS  {copies} copies of 16" in page
    assert f"{kernel.lower(target).kernel.shared} bytes per program" in page
    assert "#blocked, 64x64 elements: pieces of 1x8" in page
    assert max(map(len, page.splitlines())) <= 100


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_machine_code_has_the_accesses_of_ptx(target: str) -> None:
    asm = product(target).asm
    assert sass_accesses(asm["sass"]) == accesses(asm["ptx"])


def test_pictures() -> None:
    layout = Blocked((1, 2), (4, 8), (2, 1), (1, 0))
    first, columns, *rows = picture("#blocked", layout, (16, 4))
    assert first == "#blocked, 16x4 elements: pieces of 1x2, 2 per thread, the same in 4 threads"
    assert columns.split() == ["column", "0", "2"]
    assert [row.split() for row in rows[:5]] == [
        ["row", str(row), str(8 * row), str(8 * row + 1)] for row in range(4)
    ] + [["row", "4", "32", "33"]]
    assert rows[-1].strip() == "…" and len(rows) == 9


def test_machine_code_is_taken_apart_when_it_is_asked_for() -> None:
    from kernels.vector_add import add_kernel

    if not triton.available():
        triton.version()  # ends the test as unavailable
    add_kernel.kernels.clear()  # another test may have asked already
    kernel: Any = add_kernel.warmup(*[np.float32] * 3, 1024, BLOCK=1024)
    with pytest.raises(KeyError, match="nothing"):
        kernel.asm["nothing"]
    assert "ptx" not in kernel.asm and ".target sm_90" in kernel.asm["ptx"]
    for target in ("sm_80", "sm_90"):
        lowered = kernel.lower(target)
        assert "sass" not in kernel.asm
        assert kernel.asm["sass"] == triton_api.disassemble(lowered.asm["cubin"]) != ""
        assert {"source", "ttir", "numpy", "ttgir", "llir", "ptx", "cubin"} < set(kernel.asm)
    kernel.lower()  # forgets it
    with mock.patch.object(triton_api.subprocess, "run", side_effect=OSError):
        page = write_page(kernel)
    assert kernel.asm["sass"] == "" and not re.search("sass", page, re.I) and "PTX" in page
