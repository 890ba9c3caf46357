"""docs/triton_beside_cuda.md: its kernels in Triton and in CUDA C compute the same, and compile to what the page says.

Without a GPU, the CUDA C runs as C++, with a real thread for each thread of a block; `nvcc`, if there is one, compiles
it to PTX.
"""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mini_triton.__main__ import main
from mini_triton.backends.occupancy import GPUS

from grader.course.curriculum import ROOT
from tests.support.sources import load

PAGE = (ROOT / "docs" / "triton_beside_cuda.md").read_text(encoding="utf-8")
CUDA = re.findall(r"```cuda\n(.*?)```", PAGE, re.DOTALL)
TRITON = dict(re.findall(r"Save this as `(.*?)`:\n\n```python\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = re.findall(
    r"^\$ mini-triton (\S+) (\S+) (\S+) --signature \"([^\"]*)\"\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL
)
BLOCKS_AS_THREADS = Path(__file__).with_name("blocks_as_threads.cpp")


def kernels_of(name: str) -> dict[str, Any]:
    return load(TRITON[name].replace("mini_triton", "triton"), name)


@pytest.fixture(scope="module")
def cuda(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The page's CUDA C as a library of C++; launches (`<<<`) are left out."""
    folder = tmp_path_factory.mktemp("cuda")
    kernels = "".join(block.partition("void launch_")[0] for block in CUDA)
    (folder / "kernels.cuh").write_text(kernels)
    compiler = shutil.which("g++") or pytest.skip("there is no g++")
    options = ["-std=c++20", "-O1", "-pthread", "-shared", "-fPIC", f"-I{folder}"]
    subprocess.run([compiler, *options, BLOCKS_AS_THREADS, "-o", "kernels.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "kernels.so"))


def address(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize("n", [1, 256, 1000, 2049])
def test_add(n: int, cuda: ctypes.CDLL) -> None:
    x, y = np.random.default_rng(n).standard_normal((2, n), np.float32)
    theirs, ours = np.zeros_like(x), np.zeros_like(x)
    cuda.run_add(address(x), address(y), address(theirs), n)
    kernels_of("add.py")["launch_add"](x, y, ours, n)
    np.testing.assert_array_equal(theirs, x + y)
    np.testing.assert_array_equal(ours, x + y)


@pytest.mark.parametrize("rows, columns", [(1, 1), (32, 32), (31, 65), (70, 33)])
def test_transpose(rows: int, columns: int, cuda: ctypes.CDLL) -> None:
    x = np.random.default_rng(rows).standard_normal((rows, columns), np.float32)
    theirs, ours = np.zeros_like(x.T, order="C"), np.zeros_like(x.T, order="C")
    cuda.run_transpose(address(x), address(theirs), rows, columns)
    kernels_of("transpose.py")["launch_transpose"](x, ours, rows, columns)
    np.testing.assert_array_equal(theirs, x.T)
    np.testing.assert_array_equal(ours, x.T)


def test_nvcc_compiles_the_page(tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc") or pytest.skip("there is no nvcc")
    (tmp_path / "page.cu").write_text("".join(CUDA))
    subprocess.run([nvcc, "-arch=sm_90", "-ptx", "page.cu"], cwd=tmp_path, check=True)
    add, transpose = (tmp_path / "page.ptx").read_text().split(".entry")[1:]
    assert re.findall(r"(?:ld|st)\.global\S*", add) == ["ld.global.f32"] * 2 + ["st.global.f32"]  # 4 bytes each
    assert transpose.count("bar.sync") == 1 and "[4224]" in transpose  # 32 * 33 * 4 bytes of shared memory


def test_our_kernels_compile_to_what_the_page_says() -> None:
    pytest.importorskip("triton")
    x = np.zeros((64, 64), np.float32)
    add = kernels_of("add.py")["add"].warmup(x, x, x, 4096, BLOCK=1024, grid=(1,)).lower("sm_90").asm["ptx"]
    transpose = kernels_of("transpose.py")["transpose"].warmup(x, x, 64, 64, BLOCK=32, grid=(1, 1)).lower("sm_90")
    ptx = transpose.asm["ptx"]
    assert set(re.findall(r"(?:ld|st)\.global\S*", add + ptx)) == {"ld.global.v4.b32", "st.global.v4.b32"}
    assert (transpose.kernel.shared, ptx.count("bar.sync")) == (4096, 1)
    assert "st.shared" in ptx and "ld.shared" in ptx


@pytest.mark.parametrize("command, file, kernel, signature, output", COMMANDS)
def test_commands(
    command: str, file: str, kernel: str, signature: str, output: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(TRITON[file])
    assert main([command, file, kernel, "--signature", signature]) == 0
    assert capsys.readouterr().out == output


def test_sizes_of_multiprocessors() -> None:
    """The two GPUs of the table in docs/the_gpu.md; `test_11_6` compares `GPUS` with NVIDIA's calculator."""
    gpus = [GPUS["sm_90"], GPUS["sm_89"]]
    table = (ROOT / "docs" / "the_gpu.md").read_text(encoding="utf-8")
    lines = [line.split(" | ") for line in re.findall(r"^\| (.*) \|$", table, re.MULTILINE)]
    rows = {cells[0]: [cell.split()[0] for cell in cells[-2:]] for cells in lines}
    assert [int(cell) for cell in rows["warps per SM, at most"]] == [gpu.warps for gpu in gpus]
    assert [int(cell) * 1024 for cell in rows["shared memory per SM, at most"]] == [gpu.shared for gpu in gpus]
