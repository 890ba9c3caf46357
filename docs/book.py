"""What the book repeats from elsewhere: `python -m docs.book` writes it, and `--check` only compares.

Below each task's heading: its stub and its minutes. In `glossary.md`: all tables of words. In `questions.md`: all key
questions. In the README and on the start page: the milestones with their hours.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from grader.course import chapters, curriculum
from grader.course.curriculum import ROOT, Curriculum, Task

DOCS = ROOT / "docs"
HEADING = re.compile(r"^## (\d+\.\d+) .*\n\n", re.MULTILINE)
STUB = re.compile(r"^\*Stub: .*\*\n\n", re.MULTILINE)


def main(arguments: list[str]) -> int:
    """Write what differs; with `--check`, 1 if anything does."""
    differ = [(file, text) for file, text in pages(curriculum.load()) if not file.exists() or read(file) != text]
    if "--check" not in arguments:
        for file, text in differ:
            file.write_text(text, encoding="utf-8")
    print("\n".join(str(file.relative_to(ROOT)) for file, _ in differ) or "nothing differs")
    return int("--check" in arguments and bool(differ))


def pages(course: Curriculum) -> Iterator[tuple[Path, str]]:
    """Every page that this command writes, as it should be."""
    for milestone in course.milestones:
        for file in chapters.parts(milestone.directory):
            yield file, with_stubs(read(file), course)
    yield DOCS / "glossary.md", glossary(course)
    yield DOCS / "questions.md", questions(course)
    yield ROOT / "README.md", with_table(read(ROOT / "README.md"), course, "docs/")
    yield DOCS / "index.md", with_table(read(DOCS / "index.md"), course, "")


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def title(file: Path) -> str:
    """A chapter's heading: `Milestone 9 (passes), part 2: passes over whole functions`."""
    return read(file).partition("\n")[0].removeprefix("# ")


def hours(*tasks: Task) -> str:
    """The hours that tasks take, to the nearest half: `2½`."""
    halves = round(sum(task.minutes for task in tasks) / 30)
    return f"{halves // 2}{'½' * (halves % 2)}"


def with_stubs(text: str, course: Curriculum) -> str:
    """A chapter with the line below each task's heading."""
    files = {task.id: stubs(task.id, course) for task in course.tasks}
    minutes = {task.id: task.minutes for task in course.tasks}

    def line(found: re.Match[str]) -> str:
        links = ", ".join(f"[`{file.removeprefix('mini_triton/')}`](../exercises/{file})" for file in files[found[1]])
        return f"{found[0]}*Stub: {links}. About {minutes[found[1]]} minutes.*\n\n"

    return HEADING.sub(line, STUB.sub("", text))


def stubs(task: str, course: Curriculum) -> list[str]:
    """The files in which a learner writes a task."""
    modules = course.milestone(int(task.partition(".")[0])).modules
    files = [course.file_of(module) for module in modules]
    return [file.as_posix() for file in files if f"# [task {task}]" in read(course.solutions / file)]


def glossary(course: Curriculum) -> str:
    """All terms that chapters define, in alphabetical order; each meaning with its milestone."""
    meanings: dict[str, list[str]] = {}
    for milestone in course.milestones:
        for file in chapters.parts(milestone.directory):
            words = read(file).partition("\n## Words\n")[2].partition("\n## ")[0]
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
    parts = ["# Key questions", "Answer a question in your own words before you unfold it."]
    for milestone in course.milestones:
        for file in chapters.parts(milestone.directory):
            section = read(file).partition("\n## Key questions\n")[2].partition("\n## ")[0]
            if folded := re.findall(r"<details>.*?</details>", section, re.DOTALL):
                parts += [f"## [{title(file)}]({file.name})", *folded]
    return "\n\n".join(parts) + "\n"


def with_table(text: str, course: Curriculum, folder: str) -> str:
    """A page with the table of milestones between two marks."""
    rows = ["| | milestone | what you build | hours |", "|--:|---|---|--:|"]
    for milestone in course.milestones:
        link = f"[{milestone.title}]({folder}{chapters.parts(milestone.directory)[0].name})"
        rows.append(
            f"| {milestone.number} | {link} | {milestone.summary.removesuffix('.')} | {hours(*milestone.tasks)} |"
        )
    rows.append(f"| | all | | {hours(*course.tasks)} |")
    table = "\n".join(rows)
    return re.sub(r"(<!-- milestones -->\n).*?(<!-- end -->)", rf"\g<1>\n{table}\n\n\g<2>", text, flags=re.DOTALL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
