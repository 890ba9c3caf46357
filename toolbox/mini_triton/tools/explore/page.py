"""The page: our template, style sheet and script, and the data about one kernel, in a single file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from mini_triton.emulator.report import Counts, Report
from mini_triton.runtime.pipeline import STAGES
from mini_triton.tools.compile import capability_of_target
from mini_triton.tools.explore.highlight import highlight
from mini_triton.tools.explore.lowering import Lowering, Texts
from mini_triton.tools.explore.memory import describe_accesses
from mini_triton.tools.explore.relations import Line, Place, numbers_of
from mini_triton.tools.explore.stages import (
    Column,
    Ours,
    Step,
    differences,
    our_columns,
    run_ours,
    source_of,
    tritons_columns,
)
from mini_triton.tools.explore.subject import Subject


def write_page(about: dict[str, Any]) -> str:
    """The page about a kernel, as HTML, from the result of `describe_kernel`."""
    data = json.dumps(about, separators=(",", ":")).replace("<", "\\u003c")
    parts = {name: (Path(__file__).with_name(f"page.{name}")).read_text(encoding="utf-8") for name in ("css", "js")}
    page = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    for name, text in {"title": escape(about["kernel"]), **parts, "data": data}.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    return page


def compile_everything(subject: Subject, lowering: Lowering, target: str) -> tuple[Ours, Texts]:
    """All stages: our own, and real Triton's for a target."""
    capability = capability_of_target(target)
    compilation = replace(subject.compilation, capability=capability)
    types, options = list(compilation.inputs.values()), vars(compilation.options)
    ours = run_ours(compilation, lambda ttir: lowering.ask(compilation.name, ttir, types, capability, options))
    return ours, lowering.answer() if ours.module else {"": "Real Triton needs the result of the stage passes."}


def describe_kernel(
    subject: Subject, ours: Ours, tritons: Texts, target: str, report: Report | None = None
) -> dict[str, Any]:
    """The data that the page shows, in the format of its script. "error" says why the kernel does not compile.

    With the emulator's report on a launch, the lines of the PTX have costs.
    """
    compilation = subject.compilation
    places = {place for step in ours.steps[:1] for line in step.lines for place in line.places}
    source = source_of(compilation.kernel, places)
    numbers = {line.place: number for number, line in enumerate(source) if line.place}
    quotable = {line.place: line.text.strip() for line in source if line.place}
    columns = [describe_column(column, numbers) for column in our_columns(ours, quotable)]
    columns += [describe_column(column, numbers, report) for column in tritons_columns(tritons)]
    return {
        "kernel": compilation.name,
        "error": ours.error,
        "signature": [
            {"name": name, "type": type, "value": repr(compilation.constants[name]) if type == "constexpr" else ""}
            for name, type in compilation.signature.items()
        ],
        "divisible": [name for name, argument in compilation.arguments.items() if argument.divisible],
        "target": target,
        "warps": compilation.options.num_warps,
        "grid": subject.grid,
        "source": {
            "numbers": [line.number for line in source],
            "html": highlight("py", [line.text if line.number else f"# {line.text}" for line in source]),
        },
        "columns": columns,
        "passes": describe_passes(ours, numbers),
        "memory": describe_memory(subject, ours, tritons, numbers),
    }


def describe_column(column: Column, numbers: dict[Place, int], report: Report | None = None) -> dict[str, Any]:
    """A column in the format of the script."""
    texts = {"name": column.name, "title": column.title, "about": column.about, "reason": column.reason}
    costs = {"costs": list(costs_of(column.lines, report))} if report and column.name == "ptx" else {}
    return texts | rendered(column.suffix, column.lines, numbers) | costs


def costs_of(lines: Sequence[Line], report: Report) -> Iterator[list[Any]]:
    """For each line of the PTX, its costs, its findings, and whether one of them is an error."""
    for line in lines:
        found = [finding for finding in report.findings if finding.ptx_line == line.number]
        _, c = report.instructions.get(line.number, (None, Counts()))
        sectors = f"{c.sectors}/{c.least_sectors}" if c.sectors else ""
        ways = f"{c.bank_ways / c.shared:.1f}" if c.shared else ""
        kinds, texts = ", ".join(finding.kind for finding in found), "\n\n".join(map(str, found))
        yield [[str(c.instructions or ""), sectors, ways], kinds, texts, any(finding.is_error for finding in found)]


def rendered(suffix: str, lines: Sequence[Line], numbers: dict[Place, int]) -> dict[str, Any]:
    """Lines as HTML, with the numbers of their source lines."""
    return {
        "html": highlight(suffix, [line.text for line in lines]),
        "from": [numbers_of(line, numbers) for line in lines],
    }


def describe_passes(ours: Ours, numbers: dict[Place, int]) -> dict[str, Any]:
    """The steps of the passes. Lines that occur in several steps are sent once."""
    table: dict[Line, int] = {}
    steps = []
    before: Step | None = None
    for step in ours.steps:
        rows = differences(before.lines if before else step.lines, step.lines)
        steps.append({
            "name": step.name,
            "rows": [[mark, table.setdefault(line, len(table))] for mark, line in rows],
            "idle": [{"name": ran.name, "missing": ran.missing} for ran in step.idle],
        })  # fmt: skip
        before = step
    about = next(stage.adds for stage in STAGES if stage.name == "passes")
    reason = ours.reasons.get("passes", "")
    return {"steps": steps, "about": about, "reason": reason, **rendered("ttir", [*table], numbers)}


def describe_memory(subject: Subject, ours: Ours, tritons: Texts, numbers: dict[Place, int]) -> dict[str, Any]:
    """The memory accesses, or the reason why there is nothing to show."""
    if subject.grid is None:
        return {"reason": "Which elements are touched depends on the arguments: use --launch instead of --signature."}
    if ours.module is None or ours.program is None:
        return {"reason": "This column runs the NumPy code, which is missing."}
    try:
        accesses = describe_accesses(subject, ours.module, ours.program, tritons.get("ttgir", ""))
    except Exception as error:  # a half-written compiler may raise anything
        return {"reason": f"{type(error).__name__}: {error}"}
    for access in accesses:
        place = access.pop("line")
        access["from"] = [numbers[tuple(place)]] if place and tuple(place) in numbers else []
    return {"accesses": accesses}
