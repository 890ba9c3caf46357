"""The given parts of comparisons: the problems of all kernels, steps, peers in other processes, and the table."""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kernels
import numpy as np
import pytest
import torch
from kernels import bench, problems
from mini_triton.tuning.comparison import Call, Row, Traffic, traffic
from mini_triton.tuning.peers import Elsewhere, steps_of
from mini_triton.tuning.tables import table
from rich.console import Console


@pytest.mark.parametrize("number", range(len(problems.builders("cpu"))))
def test_everyone_solves_every_problem(number: int) -> None:
    problem = problems.builders("cpu")[number]("cpu")
    expected = problem.torch()
    for who in ("ours", "steps"):
        for choice in problem.choices if who == "ours" else ({},):
            got = getattr(problem, who)(**choice)
            pairs = zip(listed(got), listed(expected), strict=True)
            for result, wanted in pairs:
                problem.close(result, wanted)
                with pytest.raises(AssertionError):
                    problem.close(result * 1.5, wanted)


def listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def test_each_kernel_is_in_a_problem() -> None:
    """Problems exist for the kernels of 8.1 to 8.15, each once launched."""
    launched = set()
    for build in problems.builders("cpu"):
        launched |= {step.name for step in steps_of(build("cpu").ours)}
    named = {
        line.split("(")[0].split()[1]
        for module in (kernels, problems)  # the learner's kernels, and the toolbox's
        for file in Path(str(module.__file__)).parent.glob("*.py")
        for line in kernels_of(file)
    }
    assert launched == named


def kernels_of(file: Path) -> Iterator[str]:
    """The kernels' definitions in a file of milestone 8."""
    if file.stem not in ("by_hand", "quantized"):
        yield from (line for line in file.read_text().splitlines() if line.startswith("def ") and "_kernel(" in line)


def test_a_problem_refuses_other_shares_of_zeros() -> None:
    problem = problems.dropping(12, "cpu")
    right = problem.torch()
    with pytest.raises(AssertionError):
        problem.close(torch.where(torch.arange(right.numel()) % 4 == 0, right, 0.0), right)
    with pytest.raises(AssertionError):
        problem.close(right[:10], right)


STEPS = {
    "a view": (lambda x: x.t()[1:, None], 0, 0),
    "a copy": (lambda x: x.t().contiguous(), 1, 2 * 48),
    "a reshape that copies": (lambda x: x.t().reshape(-1), 1, 2 * 48),
    "in place": (lambda x: x.mul_(2), 1, 2 * 48),
    "a fill": (lambda x: x.zero_(), 1, 48),
    "out=": (lambda x: torch.add(x, x, out=torch.empty(3, 4)), 1, 2 * 48),
    "an allocation": (lambda x: torch.empty_like(x), 0, 0),
    "a row to all rows": (lambda x: x + x[:1], 1, 48 + 16 + 48),
    "an expanded operand": (lambda x: x + x[:1].expand(3, 4), 1, 48 + 16 + 48),
}


@pytest.mark.parametrize("what", STEPS)
def test_steps_of_pytorch(what: str) -> None:
    call, launches, moved = STEPS[what]
    x = torch.ones(3, 4)
    assert traffic(steps_of(lambda: call(x))) == Traffic(launches, moved)


def where_am_i(name: str) -> Call:
    """The value of an environment variable, as numbers."""
    return Call(lambda: np.frombuffer(os.environ.get(name, "").encode(), np.uint8))


def test_a_peer_in_another_process() -> None:
    other = Elsewhere(A_VARIABLE="over there")
    try:
        peer = other.peer("they", where_am_i, "A_VARIABLE")
        assert bytes(peer.solve()[0]) == b"over there" and peer.time() > 0 and peer.steps is None
        assert "A_VARIABLE" not in os.environ
    finally:
        other.close()


def printed(shown: Any) -> list[list[str]]:
    console = Console(width=160, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(shown)
    return [line.split() for line in console.export_text().splitlines()]


def test_the_table() -> None:
    rows = [
        Row("add", {"torch": 4.0, "ours": 2.0}, {"ours": Traffic(1, 12_000)}, {"Triton": "AssertionError: wrong"}),
        Row("long", {"torch": 1234.5, "ours": 2469.0, "Triton": 2.469}, {"ours": Traffic(13, 800)}),
    ]
    assert printed(table(rows, ["torch", "ours", "Triton"])) == [
        ["launches", "kB", "ms", "ms", "ms", "gain", "gain"],
        ["ours", "ours", "torch", "ours", "Triton", "torch", "Triton"],
        ["add", "1", "12", "4", "2", "refused", "2"],
        ["long", "13", "1", "1234", "2469", "2.47", "0.5", "0.001"],
        ["geometric", "mean", "1", "0.001"],
    ]


@pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="real Triton is not installed")
def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", os.environ.copy())
    bench.main(["--only", "add"])
    shown = capsys.readouterr().out
    printed, line = (line.split() for line in shown.splitlines() if "add 2^16" in line)
    assert printed[-1] == "ms", "each row is printed when it is ready, and all of them at the end"
    assert "Triton: its interpreter" in shown and "refused" not in shown
    assert line[2:4] == ["1/1/1", "786/786/786"] and len(line) == 11
