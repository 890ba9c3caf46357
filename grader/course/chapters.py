"""Where the book explains a task. A long chapter has parts: `docs/m09_passes_1_rules.md` and so on."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from grader.course.curriculum import ROOT, Curriculum, Task

WORDS = 100
"""An estimate of the words, including code, that a learner reads in a minute."""


def parts(directory: str, root: Path = ROOT) -> list[Path]:
    """The files of a milestone's chapter, in order; empty if there is none."""
    return sorted((root / "docs").glob(f"{directory}*.md"))


def part_of(directory: str, task: str, root: Path = ROOT) -> str:
    """The file with a task's section, and the section's line: `docs/m09_passes_2_programs.md:42`.

    The chapter's first file if no file has such a section.
    """
    files = parts(directory, root)
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith(("## ", "**")) and task in re.findall(r"\d+\.\d+", line):
                return f"docs/{file.name}:{number}"
    return f"docs/{files[0].name if files else directory + '.md'}"


def reading(directory: str, tasks: Collection[Task], root: Path = ROOT) -> float:
    """Minutes to read the sections on these tasks, and the general sections of the same files."""
    ids, words = {task.id for task in tasks}, 0
    for file in parts(directory, root):
        sections = re.split(r"^(?=## )", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        subjects = [found[1] if (found := re.match(r"## (\d+\.\d+) ", section)) else "" for section in sections]
        if ids & set(subjects):
            read = (section for section, task in zip(sections, subjects, strict=True) if task in {"", *ids})
            words += sum(len(section.split()) for section in read)
    return words / WORDS


def title(file: Path) -> str:
    """A chapter's heading: `Milestone 9 (passes), part 2: passes over whole functions`."""
    return file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def glossary(course: Curriculum) -> str:
    """All terms that chapters define, in alphabetical order; each meaning with its milestone."""
    meanings: dict[str, list[str]] = {}
    for milestone in course.milestones:
        for file in parts(milestone.directory, course.root):
            words = file.read_text(encoding="utf-8").partition("\n## Words\n")[2].partition("\n## ")[0]
            for terms, meaning in re.findall(r"^\| (\*[^|]*\*) \| (.*) \|$", words, re.MULTILINE):
                meanings.setdefault(terms, []).append(f"{meaning} ([{milestone.number}]({file.name}#words))")
    alphabetical = sorted(meanings, key=lambda terms: terms.strip("*").lower())
    lines = [f"| {terms} | {'<br>'.join(meanings[terms])} |" for terms in alphabetical]
    head = [
        "# Glossary",
        "",
        "These are the terms that the chapters define; each entry links to its milestone.",
        "",
        "| | |",
        "|---|---|",
    ]
    return "\n".join([*head, *lines, ""])


def questions(course: Curriculum) -> str:
    """All key questions, by chapter, with folded answers."""
    found = ["# Key questions", "Answer a question in your own words before you unfold it."]
    for milestone in course.milestones:
        for file in parts(milestone.directory, course.root):
            section = file.read_text(encoding="utf-8").partition("\n## Key questions\n")[2].partition("\n## ")[0]
            if folded := re.findall(r"<details>.*?</details>", section, re.DOTALL):
                found += [f"## [{title(file)}]({file.name})", *folded]
    return "\n\n".join(found) + "\n"
