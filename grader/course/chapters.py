"""Where the book explains a task. A long chapter has parts: `docs/m09_passes_1_rules.md` and so on."""

from __future__ import annotations

import re
from pathlib import Path

from grader.course.curriculum import ROOT


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
