"""`mini-triton bench`: the launch of a user's file, by our back ends and by real Triton in another process."""

import importlib.util
import sys
from pathlib import Path

import pytest
from mini_triton.tools.bench import main

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="real Triton is not installed")

KERNEL = """
import numpy as np
import torch
import LIBRARY as triton
import LIBRARY.language as tl


@triton.jit
def add(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + VALUE, mask=at < n)


def added(x):
    out = x.clone()
    add[(triton.cdiv(x.numel(), 64),)](out, x.numel(), BLOCK=64)
    return out


x, y = torch.randn(100), np.ones(100, np.float32)
"""
CALLS = ("add[(2,)](x, 100, BLOCK=64)", "add[(2,)](y, 100, BLOCK=64)", "added(torch.rand(70))")


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINI_TRITON_BACKEND", "numpy")  # restored afterwards
    if "numba" in sys.modules:  # it refuses another number of threads once its threads run
        monkeypatch.setenv("NUMBA_NUM_THREADS", str(sys.modules["numba"].config.NUMBA_NUM_THREADS))


def run(folder: Path, call: str, library: str = "triton", value: str = "1.0") -> tuple[Path, list[str]]:
    file = folder / "kernels_of_a_user.py"
    file.write_text(KERNEL.replace("LIBRARY", library).replace("VALUE", value))
    return file, [str(file), "--launch", call]


@pytest.mark.parametrize(("call", "library"), [*[(call, "triton") for call in CALLS], (CALLS[0], "mini_triton")])
def test_all_agree(tmp_path: Path, call: str, library: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, arguments = run(tmp_path, call, library)
    assert main(arguments) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0][0] == "ms" and lines[1][:2] == ["Triton's", "interpreter"] and lines[1][-1] == "1"
    assert [line[:2] for line in lines[2:]] == [["mini_triton,", who] for who in ("NumPy", "Numba")][: len(lines) - 2]
    assert all(float(line[2]) > 0 and float(line[3]) > 0 for line in lines[2:])


def test_who_differs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The kernel adds another number if real Triton runs it."""
    file, arguments = run(tmp_path, CALLS[0], value="STEP")
    step = "STEP = tl.constexpr(1.0 if triton.jit.__module__.startswith('mini') else 2.0)"
    file.write_text(file.read_text().replace("@triton.jit", f"{step}\n\n\n@triton.jit"))
    assert main(arguments) == 1
    shown = capsys.readouterr().out
    times = [line.split()[2] for line in shown.splitlines() if line.startswith("  mini_triton")]
    assert "result 0" in shown
    assert {*times} == {"refused"} and "NumPy is refused: AssertionError" in shown


@pytest.mark.parametrize(
    ("call", "value", "message"),
    [
        ("added(x)", "nothing", "Triton's interpreter fails: InterpreterError: NameError"),
        ("incremented(y)", "1.0", "Pass tensors of PyTorch"),
    ],
)
def test_a_call_that_real_triton_cannot_run(
    tmp_path: Path, call: str, value: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason is one line, without the tracebacks of two processes."""
    file, arguments = run(tmp_path, call, value=value)
    file.write_text(f"{file.read_text()}\n\ndef incremented(x):\n    add[(2,)](x, 100, BLOCK=64)\n")
    assert main(arguments) == 1
    shown = capsys.readouterr()
    assert shown.out == "" and message in shown.err and "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("call", "message"), [("x", "a launch is a call"), ("missing(x)", "missing"), ("add[(1,)](", "SyntaxError")]
)
def test_wrong_usage(tmp_path: Path, call: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(run(tmp_path, call)[1])
    assert end.value.code == 2 and message in capsys.readouterr().err


def test_no_such_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([str(tmp_path / "nothing.py"), "--launch", "f()"])
    assert end.value.code == 2 and "there is no file" in capsys.readouterr().err
