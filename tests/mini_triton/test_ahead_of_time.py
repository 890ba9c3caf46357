"""The command lines of the ahead-of-time compiler and its linker, as a shell calls them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mini_triton.tools.compile import CompileArgs, capability_of_target, compile_kernel

from tests.oracles import triton
from tests.support.m10_gpu.c_programs import nvidias_headers, run_compiler

ROOT = Path(__file__).parents[2]
KERNEL = """import {triton} as triton
import {triton}.language as tl

from neighbor import SCALE


@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * SCALE, mask=at < n)


def not_a_kernel():
    pass
"""
NEIGHBOR = "import {triton}.language as tl\n\nSCALE: tl.constexpr = tl.constexpr(3)\n"


def write(folder: Path, compiler: str = "mini_triton") -> Path:
    """A kernel in a file, which imports its neighbor."""
    folder.joinpath("neighbor.py").write_text(NEIGHBOR.format(triton=compiler))
    folder.joinpath("kernel.py").write_text(KERNEL.format(triton=compiler))
    return folder / "kernel.py"


def run(folder: Path, tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A tool, as a shell in this folder calls it."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "solutions")}
    command = [sys.executable, "-m", f"mini_triton.tools.{tool}", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("compiler", ["mini_triton", "triton"])
def test_from_a_shell(tmp_path: Path, compiler: str) -> None:
    """Kernels may import real Triton: they are compiled from their source."""
    triton.version()
    write(tmp_path, compiler)
    common = [
        "kernel.py",
        "-n",
        "scale",
        "-t",
        "cuda:90:32",
        "-g",
        "(n + 127) / 128, 1, 1",
        "-w",
        "4",
        "-on",
        "by_three",
    ]
    for signature in ("*fp32:16, i32:16, 128", "*fp32, i32, 128"):
        done = run(tmp_path, "compile", *common, "-s", signature)
        assert not done.returncode, done.stderr
    headers = sorted(path.name for path in tmp_path.glob("by_three.*.h"))
    assert len(headers) == 2
    done = run(tmp_path, "link", *headers, "-o", "by_three")
    assert not done.returncode, done.stderr
    sources = [str(path) for path in sorted(tmp_path.glob("by_three*.c"))]
    assert len(sources) == 3
    for source in sources:
        run_compiler("-c", source, f"-I{nvidias_headers()}", "-o", f"{source}.o")


def test_targets() -> None:
    assert capability_of_target("cuda:90") == capability_of_target("cuda:90:32") == 90
    assert capability_of_target("cuda:120") == 120
    for target in ("sm_90", "cuda", "cuda:9", "cuda:90:64", "hip:gfx942:64", "cuda:90a", ""):
        with pytest.raises(ValueError, match="spelled like cuda:90"):
            capability_of_target(target)


@pytest.mark.parametrize(
    "grid, name, message",
    [
        ("1, q, 1", None, "names q; it can name x, n, BLOCK"),
        ("n / M, BLOCKS, 1", None, "names BLOCKS, M; it can name"),
        ("(unsigned) n / 64u, 1, 1", "by-three", "'by-three' cannot be the name of a function in C"),
    ],
)
def test_names_that_c_would_not_know(tmp_path: Path, grid: str, name: str | None, message: str) -> None:
    asked = CompileArgs(str(write(tmp_path)), "scale", "*fp32, i32, 128", grid, "cuda:90", out_name=name)
    with pytest.raises(ValueError, match=message):
        compile_kernel(asked)
    assert not list(tmp_path.glob("*.[ch]"))


@pytest.mark.parametrize(
    "kernel, signature, message",
    [
        ("nothing", "*fp32, i32, 128", "no kernel nothing"),
        ("not_a_kernel", "*fp32, i32, 128", "no kernel not_a_kernel"),
        ("scale", "*fp32, i32", r"3 parameters, x, n, BLOCK, but the signature has 2"),
        ("scale", "*fp32, i32, i32", "BLOCK"),
        ("scale", "*fp32, f32, 128", "no type 'f32'"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, kernel: str, signature: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile_kernel(CompileArgs(str(write(tmp_path)), kernel, signature, "1, 1, 1", "cuda:90"))
    assert not list(tmp_path.glob("*.[ch]"))
