"""The compiler while some milestones are not solved yet, in one folder to import it from."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from grader.course import stubs
from grader.course.curriculum import load


def unsolved(milestones: Iterable[int], folder: Path) -> Path:
    """Copy the reference and the toolbox into `folder`, with the modules of some milestones as stubs."""
    curriculum = load()
    for tree in (curriculum.solutions, curriculum.toolbox):
        shutil.copytree(tree, folder, dirs_exist_ok=True)  # with Python's caches, which spare compiling
    for number in milestones:
        for file in map(curriculum.file_of, curriculum.milestone(number).modules):
            (folder / file).write_text(stubs.stub_of(curriculum, file), encoding="utf-8")
    return folder
