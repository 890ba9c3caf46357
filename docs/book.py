"""What the book repeats from elsewhere: `python -m docs.book` writes it, and `--check` only compares.

Below each task's heading: its stub and its minutes. In `glossary.md`: all tables of words. In `questions.md`: all key
questions. In the README and on the start page: the milestones and the routes, with their hours.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.course import chapters, curriculum
from grader.course.curriculum import ROOT, Curriculum, Task
from grader.learner import finale

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
    yield DOCS / "glossary.md", chapters.glossary(course)
    yield DOCS / "questions.md", chapters.questions(course)
    yield ROOT / "README.md", with_tables(read(ROOT / "README.md"), course, "docs/")
    yield DOCS / "index.md", with_tables(read(DOCS / "index.md"), course, "")


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def hours(course: Curriculum, tasks: Sequence[Task]) -> tuple[str, str]:
    """The hours that tasks, and reading about them, take, to the nearest half: `2½`."""
    reading = sum(chapters.reading(milestone.directory, tasks) for milestone in course.milestones)
    times = (round(minutes / 30) for minutes in (sum(task.minutes for task in tasks), reading))
    doing, learning = (f"{halves // 2 or ''}{'½' * (halves % 2)}" for halves in times)
    return doing, learning


def with_stubs(text: str, course: Curriculum) -> str:
    """A chapter with the line below each task's heading."""
    optional = course.optional

    def line(found: re.Match[str]) -> str:
        task = course.task(found[1])
        files = stubs(task.id, course)
        links = ", ".join(f"[`{file.removeprefix('mini_triton/')}`](../exercises/{file})" for file in files)
        return f"{found[0]}*Stub: {links}. About {task.minutes} minutes{', optional' * (task in optional)}.*\n\n"

    return HEADING.sub(line, STUB.sub("", text))


def stubs(task: str, course: Curriculum) -> list[str]:
    """The files in which a learner writes a task."""
    modules = course.milestone(int(task.partition(".")[0])).modules
    files = [course.file_of(module) for module in modules]
    return [file.as_posix() for file in files if f"# [task {task}]" in read(course.original(file))]


def with_tables(text: str, course: Curriculum, folder: str) -> str:
    """A page with the tables of milestones and of routes, each between two marks."""
    for name, lines in {"milestones": milestones(course, folder), "routes": routes(course)}.items():
        table = "\n".join(lines)
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", rf"\g<1>\n{table}\n\n\g<2>", text, flags=re.DOTALL)
    return text


def milestones(course: Curriculum, folder: str) -> Iterator[str]:
    """What each milestone builds, and its hours."""
    yield from ("| | milestone | what you build | hours of tasks | of reading |", "|--:|---|---|--:|--:|")
    for milestone in course.milestones:
        link = f"[{milestone.title}]({folder}{chapters.parts(milestone.directory)[0].name})"
        times = " | ".join(hours(course, milestone.tasks))
        yield f"| {milestone.number} | {link} | {milestone.summary.removesuffix('.')} | {times} |"
    yield f"| | all | | {' | '.join(hours(course, course.tasks))} |"


def routes(course: Curriculum) -> Iterator[str]:
    """The tasks of each route by milestone, its hours, and its result."""
    ways = {route: course.along(route).tasks for route in course.routes}
    yield f"| | {' | '.join(f'`{route.key}`' for route in ways)} |"
    yield "|---|" + "---|" * len(ways)
    for milestone in course.milestones:
        taken = [[task for task in milestone.tasks if task in tasks] for tasks in ways.values()]
        cells = [
            "all" if len(tasks) == len(milestone.tasks) else ", ".join(task.id for task in tasks) for tasks in taken
        ]
        yield f"| {milestone.title} | {' | '.join(cells)} |"
    for name, times in zip(
        ("tasks", "reading"), zip(*(hours(course, tasks) for tasks in ways.values()), strict=True), strict=True
    ):
        yield f"| hours of {name} | {' | '.join(times)} |"
    yield ""
    for route in ways:
        yield f"* `{route.key}`: {finale.sentence_of(finale.file_of(course, route))}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
