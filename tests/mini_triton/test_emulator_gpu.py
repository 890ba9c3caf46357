"""The comparison of the emulator with a GPU, with the emulator itself in the place of the GPU."""

import json
from pathlib import Path

import numpy as np
import pytest
from mini_triton.emulator import emulate

from bench import emulator_gpu
from bench.by_driver import Addresses, Job, assemble
from tests.oracles import triton as real


def stand_in(job: Job) -> list[np.ndarray] | str:
    """A GPU that agrees with the emulator. It uses the bytes of parameters, as the driver does."""
    values = [v.copy() if isinstance(v, np.ndarray) else v for v in (*job.arguments, *job.hidden)]
    for n, value in enumerate(values):
        if isinstance(value, Addresses):
            values[n] = np.array([values[other].ctypes.data for other in value.of], np.int64)
    given = []
    for parameter, raw, value in zip(job.kernel.parameters, job.numbers(), values, strict=False):
        if raw is None:
            given.append(value)
        else:
            kind = parameter.type
            given.append(np.frombuffer(raw, kind.value)[0] if kind.is_float else int.from_bytes(raw, "little"))
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    emulate(job.ptx, job.grid, given[: len(job.arguments)], shared=job.shared, check=False, reachable=arrays)
    return arrays


def broken(job: Job) -> list[np.ndarray] | str:
    """A GPU that gives one other result, and refuses some launches."""
    after = stand_in(job)
    assert not isinstance(after, str)
    if job.grid[0] == 8:
        return "RuntimeError: no"
    for array in after:
        array.view(np.uint8)[len(array.view(np.uint8)) // 2] ^= 0x40
    return after


CASES = ["softmax_row", "pointer_kinds", "matmul_kernel", "adam"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    real.version()
    few = {text: form for n, (text, form) in enumerate(emulator_gpu.forms.FORMS.items()) if n % 100 == 0}
    monkeypatch.setattr(emulator_gpu.forms, "FORMS", few)
    monkeypatch.setattr(emulator_gpu, "WORKERS", 2)
    monkeypatch.setattr(emulator_gpu, "COMPILED", emulator_gpu.COMPILED[:1])


def test_a_gpu_that_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--to", str(tmp_path), "--only", "instructions", "--only", "launches", "--cases", *CASES]
    assert emulator_gpu.main(command, stand_in) == 0, capsys.readouterr().out
    rows = json.loads((tmp_path / "launches.json").read_text())["launches"]
    assert {row["verdict"] for row in rows} == {"equal"}
    assert {row["case"] for row in rows if row["whole"]} == {"matmul_kernel"}
    assert len(rows) == 3 + 1 + 4 + 3
    answers = emulator_gpu.forms.recorded(tmp_path / "ptx_instructions.npz")
    assert answers.keys() == emulator_gpu.forms.FORMS.keys()
    for text, form in emulator_gpu.forms.FORMS.items():
        assert not form.wrong(form.emulated(), answers[text]).any()


def test_a_gpu_that_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path="": None)
    assert emulator_gpu.main(["--to", str(tmp_path), "--cases", "softmax_row", "adam"], broken) == 1
    shown = capsys.readouterr().out
    assert "differ, first [" in shown and "no" in shown
    assert "counters: not run" in shown
    rows = json.loads((tmp_path / "launches.json").read_text())["launches"]
    assert {row["verdict"] for row in rows} == {"different"}
    assert len(json.loads((tmp_path / "instructions.json").read_text())["different"]) >= 5


def test_launches_without_time_are_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--to", str(tmp_path), "--only", "launches", "--cases", "adam", "--seconds", "0"]
    assert emulator_gpu.main(command, stand_in) == 1
    assert "not run" in capsys.readouterr().out


PROFILER = """#!/bin/sh
[ "$1" = --query-metrics ] && echo "smsp__inst_executed  Counter" && exit
printf '"Kernel Name","smsp__inst_executed.sum"\\n"","inst"\\n"k","1,024"\\n' > "$5"
"""


def test_counters(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ncu").write_text(PROFILER)
    (tmp_path / "ncu").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(emulator_gpu, "COUNTED", ["add_kernel"])
    assert emulator_gpu.main(["--to", str(tmp_path), "--only", "counters"], stand_in) == 0, capsys.readouterr().out
    (row,) = json.loads((tmp_path / "counters.json").read_text())["kernels"]
    assert row["gpu"] == {"smsp__inst_executed": 1024} and row["emulator"]["sectors"] == 3 * 4080 * 4 // 32
    (tmp_path / "ncu").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "counters.csv").unlink()
    assert emulator_gpu.main(["--to", str(tmp_path), "--only", "counters"], stand_in) == 1
    assert "0 of 1 launches were profiled" in capsys.readouterr().out


def test_machine_code() -> None:
    form = next(iter(emulator_gpu.forms.FORMS.values()))
    assert assemble(form.program())[:4] == b"\x7fELF"
    assert "error" in str(assemble(form.program().replace("ret;", "teleport;")))


def test_the_table_of_the_profiler() -> None:
    text = '==PROF==\n"ID","Kernel Name","a.sum","b.sum"\n"","","sector",""\n"0","k","1,024","7"\n"1","k","2",""\n'
    assert emulator_gpu.counters(text) == [{"a": 1024, "b": 7}, {"a": 2}]
