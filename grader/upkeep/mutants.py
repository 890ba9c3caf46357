"""Mutants: the reference with one small change where a learner writes. The tests of its task must catch each.

No test can catch a mutant that computes the same: `tests/mutants/equivalent.toml` lists these, with the reason.
"""

from __future__ import annotations

import difflib
import json
import tomllib
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from grader.course import markers, stubs
from grader.course.curriculum import Curriculum, load
from grader.upkeep import trials
from grader.upkeep.mutating import Edit, Source, edits
from grader.upkeep.trials import Outcome


@dataclass(frozen=True)
class Mutant:
    """One edit of a module of the reference."""

    task: str
    module: str
    path: Path  # relative to the course
    source: str
    edit: Edit

    def text(self, curriculum: Curriculum) -> str:
        """The changed module."""
        return self.edit.apply(self.source)

    @property
    def line(self) -> int:
        """The first line that changes."""
        return self.source.count("\n", 0, self.edit.start) + 1

    @property
    def key(self) -> tuple[str, str, str]:
        """Its identity, independent of line numbers: the task, and the lines before and after the edit."""
        start = self.source.rfind("\n", 0, self.edit.start) + 1
        end = self.source.find("\n", self.edit.end)
        before = self.source[start:end]
        after = Edit(self.edit.start - start, self.edit.end - start, self.edit.text).apply(before)
        return self.task, _dedent(before), _dedent(after)

    def diff(self) -> str:
        """The change as a unified diff, under a line that an editor can jump to."""
        name = self.path.as_posix()
        after = self.edit.apply(self.source)
        lines = difflib.unified_diff(self.source.splitlines(), after.splitlines(), name, name, lineterm="")
        return "\n".join([f"{name}:{self.line}: task {self.task}: no test of the task notices.", *lines])


@dataclass(frozen=True)
class Equivalent:
    """A mutant that computes the same as the reference."""

    task: str
    before: str
    after: str
    reason: str
    path: Path
    line: int

    @property
    def key(self) -> tuple[str, str, str]:
        return self.task, self.before, self.after


def list_equivalents(curriculum: Curriculum) -> list[Equivalent]:
    """Everything in `tests/mutants/equivalent.toml`."""
    path = curriculum.tests / "mutants" / "equivalent.toml"
    text = stubs.read(path)
    headers = [number for number, line in enumerate(text.splitlines(), 1) if line == "[[equivalent]]"]
    entries = tomllib.loads(text).get("equivalent", [])
    return [Equivalent(**entry, path=path, line=line) for entry, line in zip(entries, headers, strict=True)]


def list_mutants(ids: Collection[str], curriculum: Curriculum) -> dict[str, list[Mutant]]:
    """All changes of the code of these tasks, by task. Some of them change nothing: see `is_real`."""
    found: dict[str, list[Mutant]] = {id: [] for id in ids}
    for module in curriculum.modules:
        path = curriculum.source_of(module)
        source = Source(stubs.read(path))
        for region in markers.regions(source.text):
            if region.task in found:
                relative = path.relative_to(curriculum.root)
                found[region.task] += [
                    Mutant(region.task, module, relative, source.text, edit) for edit in edits(source, region.code)
                ]
    return found


def is_real(mutant: Mutant) -> bool:
    """Whether the mutant is valid Python, and compiles to other bytecode than the reference."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return _program(mutant.edit.apply(mutant.source)) != _program_of_reference(mutant.source)
        except SyntaxError:
            return False


def run(
    targets: Sequence[str], sample: int | None = None, seed: int = 0, trust: bool = False, report: Path | None = None
) -> bool:
    """Print the mutants that survive as diffs, then a table; True if none does.

    With `trust`, the reference is not graded first. `report` gets the survivors as JSON.
    """
    curriculum = load()
    ids = [task.id for task in curriculum.resolve(targets)]
    broken = set() if trust else trials.find_broken(ids, curriculum)
    of_tasks = list_mutants([id for id in ids if id not in broken], curriculum)
    drawn = trials.draw(of_tasks, sample, seed, is_real)
    known = {equivalent.key for equivalent in list_equivalents(curriculum)}
    tried = [mutant for mutant in drawn if mutant.key not in known]
    counts = Counter((_milestone(mutant), "equivalent") for mutant in drawn if mutant.key in known)
    survivors = []
    for mutant, outcome in trials.judge_all("mutants", tried, curriculum):
        counts[_milestone(mutant), outcome] += 1
        if outcome is Outcome.SURVIVED:
            survivors.append(mutant)
            print(f"{mutant.diff()}\n", flush=True)
    print("\n".join(_table(counts)))
    if report:
        survivors.sort(key=lambda mutant: (mutant.path, mutant.line, mutant.key))
        report.write_text(json.dumps([_as_json(mutant) for mutant in survivors], indent=2) + "\n", encoding="utf-8")
    return not broken and not survivors


def _milestone(mutant: Mutant) -> str:
    return f"milestone{mutant.task.partition('.')[0]}"


def _table(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """A line for each milestone and one for all: how many mutants were caught, and how many survived."""
    columns = [*Outcome, "equivalent"]
    yield f"{'':12} {'mutants':>10}" + "".join(f"{column:>11}" for column in columns) + f"{'%':>7}"
    names = sorted({name for name, _ in counts}, key=lambda name: int(name.removeprefix("milestone")))
    for title, members in [*((name, [name]) for name in names), ("all", names)]:
        row = {column: sum(counts[name, column] for name in members) for column in columns}
        judged = row[Outcome.CAUGHT] + row[Outcome.SURVIVED]
        share = f"{row[Outcome.CAUGHT] / judged:7.1%}" if judged else f"{'-':>7}"
        yield f"{title:12} {sum(row.values()):>10}" + "".join(f"{row[column]:>11}" for column in columns) + share


def _as_json(mutant: Mutant) -> dict[str, Any]:
    _, before, after = mutant.key
    place = {"path": mutant.path.as_posix(), "line": mutant.line}
    return {"task": mutant.task, **place, "before": before, "after": after, "diff": mutant.diff()}


def _dedent(lines: str) -> str:
    return "\n".join(line.strip() for line in lines.splitlines())


@lru_cache
def _program_of_reference(source: str) -> Any:
    return _program(source)


def _program(source: str) -> Any:
    return _comparable(compile(source, "", "exec"))


def _comparable(code: CodeType) -> Any:
    """The behavior of a code object, without its line numbers."""
    constants = [_comparable(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
