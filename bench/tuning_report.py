"""What `bench.tuning` measured: a table, a page, a picture; as JSON to draw them again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from rich.table import Table


@dataclass(frozen=True)
class Result:
    """Milliseconds by who took them: "tuned" are ours, "own back end" ours without real Triton, "plain" those of
    milestone 8, "Triton", "torch", ..."""

    name: str
    milliseconds: Mapping[str, float]
    choices: Mapping[str, Mapping[str, Any]]  # the configuration of each kernel
    tried: Mapping[str, str]  # the fastest configurations of each, in words
    operations: float
    bytes: float
    goal: float  # what torch / tuned should be at least; 0 for none

    def ratio(self, side: str) -> float | None:
        """How many times as long as ours another side takes."""
        return self.milliseconds[side] / self.milliseconds["tuned"] if side in self.milliseconds else None


def table(results: Sequence[Result]) -> Table:
    """A line for each problem."""
    sides = list(dict.fromkeys(side for result in results for side in result.milliseconds))
    others = [side for side in sides if side != "tuned"]
    shown = Table("kernel", *(f"{side}, ms" for side in sides), *(f"{side} / tuned" for side in others), "rate", "goal")
    for result in results:
        times = [f"{result.milliseconds[side]:.4f}" if side in result.milliseconds else "" for side in sides]
        ratios = ["" if (ratio := result.ratio(side)) is None else f"{ratio:.2f}" for side in others]
        met = (result.ratio("torch") or 0) >= result.goal
        goal = f"{result.goal:.1f} {'met' if met else '[red]missed[/red]'}" if result.goal else ""
        shown.add_row(result.name, *times, *ratios, rate(result), goal)
    means = [[ratio for result in results if (ratio := result.ratio(side)) is not None] for side in others]
    shown.add_section()
    shown.add_row("geometric mean", *("" for _ in sides), *(f"{geometric_mean(mean):.2f}" for mean in means), "", "")
    return shown


def markdown(machine: str, results: Sequence[Result]) -> str:
    """The same for a page: microseconds of ours, and how many times as long others take."""
    others = list(dict.fromkeys(side for result in results for side in result.milliseconds if side != "tuned"))
    lines = [
        f"Machine: {machine}. Each column after *rate* shows the time of another kernel divided by the time of ours:",
        "",
        f"| kernel | ours, µs | rate | {' | '.join(others)} |",
        f"|---|--:|--:|{'--:|' * len(others)}",
    ]
    for result in results:
        ratios = ["" if (ratio := result.ratio(side)) is None else f"{ratio:.2f}" for side in others]
        ours = f"{result.milliseconds['tuned'] * 1e3:.1f} | {rate(result)}"
        lines.append(f"| {result.name} | {ours} | {' | '.join(ratios)} |")
    return "\n".join(lines) + "\n"


def rate(result: Result) -> str:
    """Operations a second where there are many for each byte, otherwise bytes a second."""
    if result.operations / result.bytes > 50:
        return f"{result.operations / result.milliseconds['tuned'] / 1e9:.0f} TFLOP/s"
    return f"{result.bytes / result.milliseconds['tuned'] / 1e6:.0f} GB/s"


def save(path: Path, machine: str, results: Sequence[Result]) -> None:
    """Keep everything as JSON."""
    path.write_text(json.dumps({"machine": machine, "results": list(map(asdict, results))}, indent=1), encoding="utf-8")


def load(path: Path) -> tuple[str, list[Result]]:
    """The machine and its results, of JSON."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    return kept["machine"], [Result(**result) for result in kept["results"]]
