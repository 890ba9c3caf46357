"""docs/profiling.md: what can be checked without a GPU. Its program runs, with a stand-in for Proton, on the CPU."""

import contextlib
import doctest
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from mini_triton.__main__ import main

from grader.course.curriculum import ROOT

PAGE = (ROOT / "docs" / "profiling.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"save this as `(.*?)`:\n\n```python\n(.*?)```", PAGE, re.DOTALL | re.IGNORECASE))


def test_the_program_counts_bytes_and_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    scopes: dict[str, dict[str, int]] = {}

    @contextlib.contextmanager
    def scope(name: str, metrics: dict[str, int]) -> Iterator[None]:
        scopes[name] = metrics
        yield

    proton = ModuleType("triton.profiler")
    proton.scope = scope  # type: ignore[attr-defined]
    triton = ModuleType("triton")
    triton.profiler = proton  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "triton", triton)
    monkeypatch.setitem(sys.modules, "triton.profiler", proton)
    small = FILES["profiled.py"].replace('"cuda"', '"cpu"').replace("8192", "32").replace("4096", "64")
    exec(compile(small, "profiled.py", "exec"), {})
    assert scopes == {
        "softmax": {"bytes": 2 * 32 * 64 * 4},
        "matmul": {"bytes": 3 * 64 * 64 * 2, "flops16": 2 * 64**3},
    }


def test_rates_follow_from_times() -> None:
    """The table's rates are the program's bytes and operations divided by its times."""
    softmax, product = (float(time) for time in re.findall(r"\| ([\d.]+) µs \| \d+ (?:GB|TFLOP)/s \| \d+ %", PAGE))
    rates = 2 * 8192 * 4096 * 4 / softmax / 1e3, 2 * 4096**3 / product / 1e6
    shares = round(100 * rates[0] / 4800), round(100 * rates[1] / 990)
    printed = re.findall(r"(\d+) (?:GB|TFLOP)/s \| (\d+) %", PAGE)
    assert np.allclose(rates, [float(rate) for rate, _ in printed], rtol=2e-3)
    assert list(shares) == [int(share) for _, share in printed]


def test_time_at_the_power_limit() -> None:
    """The time that the page quotes from the benchmarks stands in docs/fast_kernels.md."""
    fast = (ROOT / "docs" / "fast_kernels.md").read_text(encoding="utf-8")
    benchmark = re.search(r"\| matmul 4096³ float16 \| ([\d.]+) \|", fast)
    quoted = re.search(r"same product takes (\d+) µs", PAGE)
    assert benchmark and quoted and round(float(benchmark[1])) == int(quoted[1])


def test_prompt() -> None:
    pytest.importorskip("triton")
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "profiling.md", None, 0)
    assert examples.examples and not doctest.DocTestRunner().run(examples).failed


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    command = re.search(r"^\$ mini-triton (\S+) (\S+) (\S+) --signature \"([^\"]*)\"\n(.*?)```", PAGE, re.M | re.S)
    assert command
    monkeypatch.chdir(tmp_path)
    Path(command[2]).write_text(FILES[command[2]])
    assert main([command[1], command[2], command[3], "--signature", command[4]]) == 0
    assert capsys.readouterr().out == command[5]
