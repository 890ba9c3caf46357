"""The whole course from one tree: every milestone is the learner's, and builds on the learner's earlier ones.

The graded trees are a copy of the reference, and trees with all milestones in other styles (`tests/alternatives/`).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path

from grader.course.curriculum import Curriculum, load
from grader.parent.grading import Grading, Settings
from grader.parent.runner import run_all
from grader.report.verdicts import Verdict
from grader.upkeep.alternatives import Alternative, are_sound, describe_failures, list_alternatives


def run() -> bool:
    """Print each tree's points and failures; True if nothing fails."""
    curriculum = load()
    if not are_sound(list_alternatives(curriculum), curriculum):
        return False
    return all([grade_tree(curriculum, name, styles) for name, styles in list_trees(curriculum)])


def list_trees(curriculum: Curriculum) -> list[tuple[str, Sequence[Alternative]]]:
    """The names of trees, and the styles in them: the first of each milestone, the second of each, ..."""
    styles = list_alternatives(curriculum)
    columns = zip_longest(*([s for s in styles if s.milestone == milestone] for milestone in curriculum.milestones))
    chosen = [[style for style in column if style] for column in columns]
    return [("the reference", ()), *((", ".join(style.name for style in column), column) for column in chosen)]


def grade_tree(curriculum: Curriculum, name: str, styles: Sequence[Alternative]) -> bool:
    """Grade all milestones from a tree; True if nothing fails."""
    with write_tree(curriculum, styles) as root:
        settings = Settings(learner_root=root, fill="learner")
        gradings = [Grading(curriculum, list(milestone.tasks), settings) for milestone in curriculum.milestones]
        run_all(gradings, name)
        wrong = [line for grading in gradings for line in describe_failures(grading, root)]
    verdicts = [result.verdict for grading in gradings for result in grading.results.values()]
    unjudged = verdicts.count(Verdict.UNAVAILABLE)
    judges = f", {unjudged} without a judge on this machine" if unjudged else ""
    print(f"{name}: {verdicts.count(Verdict.PASS)} of {len(verdicts)} tests pass{judges}.")
    for line in wrong:
        print(f"  {line}")
    return not wrong


@contextmanager
def write_tree(curriculum: Curriculum, styles: Sequence[Alternative]) -> Iterator[Path]:
    """A learner's tree with the modules of these styles, and the reference's where they bring none."""
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        root = Path(folder).resolve()
        shutil.copytree(curriculum.solutions, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for style in styles:
            style.write(root, curriculum)
        yield root
