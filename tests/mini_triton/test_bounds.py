"""Accesses out of bounds: what the error says of storage, and launches that list them, or go on as on a GPU."""

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import mini_triton
import mini_triton.language as tl
import numpy as np
import pytest
from mini_triton.compat.reinterpret import reinterpret
from mini_triton.environment import BOUNDS, SANITIZE
from mini_triton.runtime import table
from mini_triton.runtime.bounds import BoundsWarning, allocation
from mini_triton.runtime.checks import AccessError

from tests.support.sources import load

KERNELS = """
import triton
import triton.language as tl

@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=-1)
    tl.store(out + at, values, mask=at < n)

@triton.jit
def count(out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(out + at, 1, mask=at < n)
    tl.atomic_cas(out + n, 0, 7)

@triton.jit
def follow(addresses, out, BLOCK: tl.constexpr):
    x = tl.load(addresses).to(tl.pointer_type(tl.float64))
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))
"""
FILE = "kernels_out_of_bounds.py"
kernels = load(KERNELS, FILE)
x, matrix = np.arange(8.0), np.arange(64.0).reshape(8, 8)


def listed(name: str, grid: int, *arguments: Any, **constants: Any) -> str:
    """The list that a launch warns with; "" if it does not."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        kernels[name][(grid,)](*arguments, **constants)
    assert all(warning.category is BoundsWarning for warning in found)
    assert all(warning.filename == __file__ for warning in found), "the warning should point to the launch"
    return "\n".join(str(warning.message) for warning in found)


# --- the error


@pytest.mark.parametrize(
    "argument, facts",
    [
        (np.broadcast_to(x[:1], (32,)), ["x[1]", "storage of x has 1 element:", "shape is (32,)", "strides are (0,)"]),
        (matrix[:, :3], ["x[3] is in a gap of the slice", "has 59 elements", "shape is (8, 3)", "strides are (8, 1)"]),
        (matrix[:2].T, ["x[16]", "has 16 elements", "shape is (8, 2)", "strides are (1, 8)"]),
        (x[::-1], ["x[1]", "has 8 elements", "strides are (-1,)"]),
    ],
    ids=["expanded", "slice", "transposed", "reversed"],
)
def test_the_storage_of_an_argument(argument: np.ndarray, facts: list[str]) -> None:
    with pytest.raises(AccessError) as caught:
        kernels["copy"][(4,)](argument, np.zeros(32), 32, BLOCK=8)
    missing = [fact for fact in (*facts, f"{FILE}:8", "tl.load(x + at") if fact not in str(caught.value)]
    assert not missing, f"{missing} in\n{caught.value}"


def test_the_storage_of_a_tensor() -> None:
    torch = pytest.importorskip("torch")
    gradient = torch.ones(1).expand(16)
    with pytest.raises(AccessError, match=r"storage of x has 1 element: its shape is \(16,\), its strides are \(0,\)"):
        kernels["copy"][(1,)](gradient, np.zeros(16, np.float32), 16, BLOCK=16)


def test_the_storage_of_a_reinterpreted_array(monkeypatch: pytest.MonkeyPatch) -> None:
    bits, out = np.zeros((5, 4), np.uint8), np.zeros(32, np.float32)
    whole, part = (reinterpret(array, tl.int8) for array in (bits, bits[:, :2]))
    with pytest.raises(AccessError, match=r"x\[20\] is out of bounds; x has 20 elements"):
        kernels["copy"][(4,)](whole, out, 32, BLOCK=8)
    with pytest.raises(AccessError, match=r"its shape is \(5, 2\), its strides are \(4, 1\)"):
        kernels["copy"][(4,)](part, out, 32, BLOCK=8)
    monkeypatch.setenv(BOUNDS, "warn")
    assert "reads x[20] and 11 more" in listed("copy", 4, whole, out, 32, BLOCK=8)
    assert "its strides are (4, 1)" in listed("copy", 4, part, out, 32, BLOCK=8)


def test_ordinary_arguments_need_no_more_words() -> None:
    with pytest.raises(AccessError) as caught:
        kernels["copy"][(2,)](x, np.zeros(16), 16, BLOCK=8)
    assert "the storage of" not in str(caught.value) and len(str(caught.value).splitlines()) == 5


# --- the list


def test_each_line_is_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOUNDS, "warn")
    out = np.zeros(20)
    text = listed("copy", 4, x, out, 32, BLOCK=8)
    assert f"{FILE}:8: reads x[8] and 23 more" in text and "first by program (1, 0, 0)" in text
    assert f"{FILE}:9: writes out[20] and 11 more" in text and "first by program (2, 0, 0)" in text
    assert text.count(": reads ") == text.count(": writes ") == 1, text
    assert (out == [*x, *[-1] * 12]).all(), f"loads outside give `other`, and stores outside nothing: {out}"


def test_what_is_inside_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOUNDS, "warn")
    out = np.zeros(8)
    assert listed("copy", 1, x, out, 8, BLOCK=8) == "" and (out == x).all()


def test_atomics_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOUNDS, "warn")
    out = np.zeros(5, np.int32)
    text = listed("count", 2, out, 7, BLOCK=8)
    assert f"{FILE}:14: writes out[5] and 3 more" in text and f"{FILE}:15: writes out[7] and 1 more" in text
    assert out.tolist() == [2] * 5


def test_addresses_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOUNDS, "warn")
    out = np.ones(4)
    assert "in no argument" in listed("follow", 1, np.array([64]), out, BLOCK=4)
    assert not out.any()
    listed("follow", 1, np.array([matrix.ctypes.data]), out, BLOCK=4)


# --- the table of a run


def tabulated(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of the table that a program prints when it ends."""
    table.show()
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("sanitized", ["", "races"])
def test_a_place_has_one_row(sanitized: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv(BOUNDS, "report")
    monkeypatch.setenv(SANITIZE, sanitized)
    out = np.zeros(20)
    for n in (32, 24, 4):
        assert listed("copy", 4, x, out, n, BLOCK=8) == ""
    kernels["copy"][(4,)](np.arange(32.0), out, 32, BLOCK=8)
    title, header, *rows = tabulated(capsys)
    assert title == "out of bounds, at 2 places:" and header.split() == ["launches", "elements", "place"]
    (first, second) = (row.split(maxsplit=2) for row in rows if " first by program " in row)
    assert first[:2] == ["2", "40"] and first[2].startswith(f"{FILE}:8: reads x[8]; x has 8 elements")
    assert second[:2] == ["3", "28"] and second[2].endswith("first by program (2, 0, 0)")
    assert (out == np.arange(20)).all()
    assert tabulated(capsys) == []


def test_a_program_ends_with_the_table(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        KERNELS + "\nimport numpy as np\ncopy[(2,)](np.zeros(8), np.zeros(16), 16, BLOCK=8)\nprint('end')\n"
    )
    source = Path(str(mini_triton.__file__)).parents[1]
    env = {"PYTHONPATH": str(source), BOUNDS: "report", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    (tmp_path / "triton.py").write_text(
        "import sys, mini_triton, mini_triton.language\nsys.modules['triton'] = mini_triton\n"
        "sys.modules['triton.language'] = mini_triton.language\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env, check=True)
    assert done.stdout == "end\n" and done.stderr.startswith("out of bounds, at 1 place:")


# --- as a GPU would


def test_the_storage_behind_a_view_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOUNDS, "off")
    for view, expected in (
        (matrix[:, :3], range(16)),
        (matrix[2:4, :3], range(16, 32)),
        (matrix[7:], [*range(56, 64), *[-1] * 8]),
        (matrix.T[1:, 1:], range(9, 25)),
        (np.broadcast_to(matrix[0, :1], (16,)), range(16)),
    ):
        out = np.zeros(16)
        assert listed("copy", 2, view, out, 16, BLOCK=8) == ""
        assert out.tolist() == list(expected)


def test_nothing_outside_of_the_allocation_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOUNDS, "off")
    out = np.zeros(24)
    kernels["copy"][(4,)](np.arange(32.0), out[4:6], 32, BLOCK=8)
    assert out.tolist() == [0] * 4 + list(range(20))


def test_the_storage_of_a_tensor_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setenv(BOUNDS, "off")
    for dtype in (torch.float32, torch.bfloat16):
        base, out = torch.arange(32).to(dtype), torch.zeros(32, dtype=dtype)
        kernels["copy"][(1,)](base[3:5], out, 16, BLOCK=16)
        assert torch.equal(out[:16], base[3:19])


def test_allocations() -> None:
    assert allocation(x[2:4]).nbytes == x.nbytes
    assert allocation(np.lib.stride_tricks.as_strided(x[2:], (2, 2), (8, 8))).nbytes == x.nbytes
    assert allocation(np.zeros(0)).nbytes == 0
    torch = pytest.importorskip("torch")
    assert allocation(torch.zeros(40)[7:].numpy()[1:]).nbytes == 160


def test_another_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOUNDS, "never")
    with pytest.raises(ValueError, match="error, warn, report, off"):
        kernels["copy"][(1,)](x, np.zeros(8), 8, BLOCK=8)
