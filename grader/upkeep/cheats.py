"""Submissions that try to get unearned points or to do harm. None may get a point or change the course.

They are listed in `tests/cheats/*.toml`. Most consist of one milestone's stubs, with the cheat's code in one module.
"""

from __future__ import annotations

import functools
import io
import json
import os
import random
import tarfile
import tempfile
import time
import tomllib
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.child.job import EXAMPLES
from grader.child.overlay import Impl
from grader.course import markers, stubs
from grader.course.curriculum import Curriculum, load
from grader.parent import submissions
from grader.parent.seal import Seal
from grader.parent.workfolder import workfolder
from grader.report.pace import Pace
from grader.report.verdicts import Report

SECONDS = 240.0  # time for one submission, on a busy machine
TRACE = "kata-cheat-was-here"  # the name of files that cheats try to write


@dataclass(frozen=True)
class Cheat:
    """One cheat. `{course}` and `{outside}` in its texts stand for folders that the cheat must not touch."""

    name: str
    path: Path
    milestone: int = 1
    module: str = "mini_triton/ir/types.py"
    solved: Sequence[str] = ()  # tasks that it solves: their points are earned
    fill: Impl = "reference"  # whose code for the earlier milestones; the learner's is in the submission, too
    seen: str = ""  # a remark for the person who reviews the submission, without which the cheat succeeds
    code: str = ""  # inserted before the module's own code
    at_end: bool = False  # whether `code` is inserted after the module's own code instead
    instead: Mapping[str, str] = field(default_factory=dict)  # texts of the stubs, and their replacements
    files: Mapping[str, str] | None = None  # a submission of these files only
    links: Mapping[str, str] = field(default_factory=dict)
    large: Mapping[str, int] = field(default_factory=dict)  # the sizes of files of zeros
    pipes: Sequence[str] = ()
    archive: str = ""
    many: int = 0  # the number of useless files
    twice: str = ""

    def write(self, folder: Path, curriculum: Curriculum, outside: Path) -> Path:
        """Make the submission in an empty folder; returns the submission."""

        def resolve(text: str) -> str:
            return text.replace("{course}", str(curriculum.root)).replace("{outside}", str(outside))

        files = {name: resolve(text).encode() for name, text in self.files.items()} if self.files is not None else {}
        if self.files is None and not (self.links or self.large or self.pipes or self.archive):
            first = 0 if self.fill == "learner" else self.milestone
            files = _stubs(range(first, self.milestone + 1), self.solved, curriculum)
            text = files[self.module].decode()
            for old, new in self.instead.items():
                text = text.replace(old, resolve(new))
            head, future, rest = text.partition("from __future__ import annotations\n")
            parts = (
                (head, future, rest, resolve(self.code)) if self.at_end else (head, future, resolve(self.code), rest)
            )
            files[self.module] = "\n".join(parts).encode()
        links = {name: resolve(target) for name, target in self.links.items()}
        large = {name: b"\0" * size for name, size in self.large.items()}
        if self.archive:
            return _archive(folder / f"work.{self.archive}", self, files | large, links)
        root = folder / "work"
        root.mkdir()
        for name, data in (files | large).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        for name, target in links.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            os.symlink(target, root / name)
        for name in self.pipes:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            os.mkfifo(root / name)
        return root


def list_cheats(curriculum: Curriculum) -> list[Cheat]:
    """All listed cheats."""
    found = []
    for path in sorted((curriculum.tests / "cheats").glob("*.toml")):
        table = tomllib.loads(stubs.read(path))
        snippets = table.get("snippets", {})
        for entry in table.get("cheat", []):
            code = "\n".join([*(snippets[name] for name in entry.pop("snippets", [])), entry.pop("code", "")])
            found.append(Cheat(path=path, code=code, **entry))
    return found


def run(words: Sequence[str], sample: int | None = None, seed: int = 0) -> bool:
    """Grade every cheat whose name has one of the words; print the result of each. True if none succeeds."""
    curriculum = load()
    cheats = [cheat for cheat in list_cheats(curriculum) if not words or any(word in cheat.name for word in words)]
    if sample is not None and sample < len(cheats):
        cheats = random.Random(seed).sample(cheats, sample)
    faults = 0
    seal = Seal(curriculum, bytecode=False)
    with Pace("cheats", len(cheats)) as pace:
        for number, cheat in enumerate(cheats):
            report, seconds, found = attempt(cheat, curriculum)
            pace.finish(number)
            earned = sum(task.earned for milestone in report.milestones for task in milestone.tasks)
            outcome = f"{report.score} points counted, {earned} for its tests, {seconds:.0f} s"
            print(f"{'FAULT ' if found else ''}{cheat.path.stem}: {cheat.name}: {outcome}", *found, sep="\n    ")
            faults += bool(found)
    if changed := seal.changed():
        print(f"The course has changed: {', '.join(changed[:9])}")
    print(f"Cheats without success: {len(cheats) - faults} of {len(cheats)}.")
    return not faults and not changed


def attempt(cheat: Cheat, curriculum: Curriculum) -> tuple[Report, float, list[str]]:
    """Grade one cheat. Returns the report, the time in seconds, and the forbidden effects of the cheat."""
    with workfolder("cheat-") as folder, tempfile.TemporaryDirectory(prefix="cheat-outside-") as outside:
        submission = cheat.write(folder, curriculum, Path(outside))
        before = set(_traces(curriculum))
        started = time.monotonic()
        report = submissions.grade(
            [f"milestone{cheat.milestone}"],
            submission,
            curriculum,
            fill=cheat.fill,
            device="cpu",
            seed=random.SystemRandom().randrange(1 << 32),
            examples=EXAMPLES,
        )
        seconds = time.monotonic() - started
        tasks = [task for milestone in report.milestones for task in milestone.tasks if task.id not in cheat.solved]
        points = [f"{task.points} points for {task.id}" for task in tasks if task.points]
        found = points + [f"it took more than {SECONDS:.0f} s"] * (seconds > SECONDS)
        found += [f"it wrote {path}" for path in (*Path(outside).iterdir(), *sorted(set(_traces(curriculum)) - before))]
        text = json.dumps(report.to_json(), ensure_ascii=False)
        secrets = _secrets(cheat.milestone, curriculum)
        found += [f"the report tells a line of the reference: {line}" for line in secrets if line in text]
        look_here = report.submission.look_here if report.submission else []
        found += [text for text in look_here if "changed meanwhile" in text]
        if cheat.seen and not any(f"{cheat.module}:" in text and cheat.seen in text for text in look_here):
            found.append(f"no remark says that {cheat.module} {cheat.seen}")
    return report, seconds, found


@functools.cache
def _secrets(first: int, curriculum: Curriculum) -> list[str]:
    """Long lines that learners write from a milestone on. Earlier code runs beside the submission, so it is public."""
    secrets = []
    for milestone in curriculum.milestones:
        for module in milestone.modules if milestone.number >= first else ():
            source = stubs.read(curriculum.source_of(module))
            lines = source.splitlines()
            secrets += [lines[n - 1].strip() for region in markers.regions(source) for n in region.code]
    return [line for line in secrets if len(line) > 40 and '"' not in line]


def _traces(curriculum: Curriculum) -> Iterator[Path]:
    shared = map(Path, ("/tmp", "/dev/shm", "/var/tmp"))
    for folder in (*shared, Path.home(), curriculum.root, curriculum.root.parent):
        yield from (path for path in (folder / TRACE, folder / f"{TRACE}.py") if path.exists())


def _stubs(milestones: Sequence[int], solved: Sequence[str], curriculum: Curriculum) -> dict[str, bytes]:
    """The modules of milestones, as stubs except for the solved tasks."""
    modules = (module for number in milestones for module in curriculum.milestone(number).modules)
    files = (file for file in map(curriculum.file_of, modules) if not curriculum.is_tool(file))
    texts = {file: stubs.stub_text(stubs.read(curriculum.solutions / file), curriculum, solved) for file in files}
    return {file.as_posix(): text.encode() for file, text in texts.items()}


def _archive(path: Path, cheat: Cheat, files: Mapping[str, bytes], links: Mapping[str, str]) -> Path:
    if cheat.archive in ("text", "damaged"):
        path = path.with_suffix(".zip")
        path.write_bytes(b"This is no archive.\n" if cheat.archive == "text" else b"PK\3\4" + bytes(range(256)) * 9)
        return path
    if cheat.archive == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
            for name, target in links.items():
                link = zipfile.ZipInfo(name)
                link.create_system, link.external_attr = 3, 0o120777 << 16
                archive.writestr(link, target)
            for number in range(cheat.many):
                archive.writestr(f"mini_triton/m{number}.txt", b"")
            with warnings.catch_warnings(action="ignore"):
                for name in [cheat.twice] * 2 if cheat.twice else []:
                    archive.writestr(name, b"X = 1\n")
        return path
    with tarfile.open(path, "w:gz" if cheat.archive == "tar.gz" else "w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        for name, target in links.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return path
