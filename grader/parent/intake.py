"""The graded part of a submission: a private, read-only copy of its modules.

A submission is a folder, a fork, a zip or a tar archive. It never runs in place; links are not followed. Modules
that it lacks, or has untouched from another version of the course, become the course's own stubs.

A process with limits reads the submission and parses its modules once, so the grader may parse them afterwards.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from grader.course import stubs, syntax
from grader.course.curriculum import Curriculum
from grader.parent import limited
from grader.report.wording import visible_line

FILE, FILES, TOTAL = 200_000, 400, 4 << 20  # bytes of a module, modules, bytes of all of them
ENTRIES, UNPACKED = 50_000, 256 << 20  # limits for a whole archive or folder
_ODD = "is not a regular file"
_NOT_PACKAGES = ("solutions", "toolbox", "tests", ".git", ".kata", "__pycache__", "site-packages")


class Nothing(Exception):
    """The submission contains nothing to grade; the text gives the reason."""


@dataclass(frozen=True)
class Entry:
    """A file of a submission, not read yet."""

    path: PurePosixPath
    why_not: str  # the reason to refuse it, such as "is a link"; "" for a regular file
    size: int
    read: Callable[[], bytes]


@dataclass
class Intake:
    """A submission as it is judged."""

    root: Path  # the copy's folder
    name: str
    sha256: str = ""  # hash of the names and contents of all copied files
    files: list[str] = field(default_factory=list)
    left_out: list[str] = field(
        default_factory=list
    )  # files that look like modules but were not copied, each with the reason
    recorded: dict[str, str] = field(default_factory=dict)  # the hashes of the stubs with which the learner began
    added: list[str] = field(default_factory=list)  # stubs that replace missing files
    outdated: list[str] = field(default_factory=list)  # files based on stubs of another version of the course


def take_in(submission: Path, folder: Path, curriculum: Curriculum) -> Intake:
    """Copy the modules of a submission into `folder`. Raises `Nothing`."""
    packages = sorted({module.partition(".")[0] for module in curriculum.modules})
    try:
        taken = limited.call(f"{__name__}:take", str(submission), str(folder), packages)
    except limited.Exceeded as step:
        text = f"{submission.name} takes too much time or memory to read, at {step}."
        raise Nothing(visible_line(text)) from None
    if "nothing" in taken:
        raise Nothing(visible_line(taken["nothing"]))
    intake = Intake(folder, visible_line(submission.name), **taken)
    _add_stubs(intake, curriculum)
    return intake


def take(submission: str, folder: str, packages: Collection[str], begin: Callable[[str], object]) -> dict[str, Any]:
    """The fields of an `Intake` after copying, or the reason for `nothing`; `begin` gets the name of each step."""
    path = Path(submission)
    try:
        intake = _take_in(path, Path(folder), packages, begin)
    except Nothing as reason:
        return {"nothing": str(reason)}
    except Exception as error:  # decoders raise errors of many classes for damaged archives
        return {"nothing": f"{path.name} cannot be read: {type(error).__name__}: {error}"}
    names = ("sha256", "files", "left_out", "recorded")
    return {name: getattr(intake, name) for name in names}


def _add_stubs(intake: Intake, curriculum: Curriculum) -> None:
    """Update the stubs that the learner has not touched, and note work on outdated stubs."""
    ours = stubs.recorded(curriculum.exercises)
    files = [curriculum.file_of(module) for module in curriculum.modules]
    for name in (str(file) for file in files if not curriculum.is_tool(file)):
        file = intake.root / name
        theirs = intake.recorded.get(name, ours.get(name))
        if name in intake.files and (theirs == ours.get(name) or stubs.digest(stubs.read(file)) != theirs):
            intake.outdated += [name] * (theirs != ours.get(name))
            continue
        intake.added.append(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(stubs.stub_of(curriculum, Path(name)), encoding="utf-8", newline="\n")
        file.chmod(0o444)


def _take_in(submission: Path, folder: Path, packages: Collection[str], begin: Callable[[str], object]) -> Intake:
    intake = Intake(folder, submission.name)
    taken: dict[PurePosixPath, bytes] = {}
    root: PurePosixPath | None = None
    for root_of_entry, entry in _modules(submission, packages):
        root = root_of_entry
        path = entry.path.relative_to(root)
        if path.name == stubs.MANIFEST:
            intake.recorded = stubs.parse_manifest(entry.read().decode("utf-8", "replace"))
            continue
        why = entry.why_not or _why_not(path, entry, taken)
        data = b"" if why else entry.read()
        why = why or ("is too large" if len(data) > FILE else "")
        if why:
            intake.left_out.append(visible_line(f"{path} {why}"))
            continue
        taken[path] = data
        if len(taken) > FILES or sum(map(len, taken.values())) > TOTAL:
            raise Nothing(f"{submission.name} has more modules, or larger ones, than one learner's work could have.")
    if not taken:
        neither = " nor ".join(f"{name}/" for name in sorted(packages))
        why = "; ".join(intake.left_out[:3]) or f"it contains neither {neither}"
        raise Nothing(f"{submission.name} holds no module of the course: {why}.")
    digest = hashlib.sha256()
    for path, data in sorted(taken.items()):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(0o444)
        begin(str(path))
        try:
            syntax.parse(data)
        except MemoryError:
            raise Nothing(f"{path} takes too much memory to parse.") from None
        except (SyntaxError, ValueError, RecursionError):
            pass  # its import will name the error
        digest.update(f"{path}\0{len(data)}\0".encode() + data)
        intake.files.append(str(path))
    intake.sha256 = digest.hexdigest()
    return intake


def _why_not(path: PurePosixPath, entry: Entry, taken: Collection[PurePosixPath]) -> str:
    if not all(part.isidentifier() for part in path.with_suffix("").parts):
        return "is not a module's name"
    if path in taken:
        return "occurs twice"
    return "is too large" if entry.size > FILE else ""


def _modules(submission: Path, packages: Collection[str]) -> Iterator[tuple[PurePosixPath, Entry]]:
    """The files below the submitted packages that end in `.py`, with the folder that holds the packages.

    That folder is the submission itself, or `exercises/` in it, or one of these two folders one level down, as in the
    archive of a fork.
    """
    found = []
    manifests = {}
    for number, entry in enumerate(_entries(submission)):
        if number > ENTRIES:
            raise Nothing(f"{submission.name} has more than {ENTRIES} entries.")
        if _root(entry.path, packages) is not None and (entry.path.suffix == ".py" or entry.why_not):
            found.append(entry)
        elif entry.path.name == stubs.MANIFEST and not entry.why_not:
            manifests[entry.path.parent] = entry
        elif entry.why_not and entry.path.name == "exercises":
            raise Nothing(f"{submission.name} holds no module of the course: {entry.path} {entry.why_not}.")
    roots = {root for entry in found if (root := _root(entry.path, packages)) is not None}
    ranked = sorted(roots, key=lambda root: ("exercises" not in root.parts, len(root.parts), str(root)))
    if ranked and ranked[0] in manifests:
        yield ranked[0], manifests[ranked[0]]
    for entry in found:
        if _root(entry.path, packages) == ranked[0]:
            yield ranked[0], entry


def _root(path: PurePosixPath, packages: Collection[str]) -> PurePosixPath | None:
    """The folder that holds the package that a file is in; None for a file elsewhere."""
    for depth, part in enumerate(path.parts[:4]):
        if part in _NOT_PACKAGES:
            return None
        if part in packages:
            above = path.parts[:depth]
            inside = above[1:] if above and above[0] != "exercises" else above
            return PurePosixPath(*above) if inside in ((), ("exercises",)) else None
    return None


def _entries(submission: Path) -> Iterator[Entry]:
    if submission.is_dir():
        yield from _folder(submission, PurePosixPath())
    elif zipfile.is_zipfile(submission):
        yield from _zip(submission)
    else:
        yield from _tar(submission)


def _folder(folder: Path, path: PurePosixPath) -> Iterator[Entry]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            here = path / entry.name
            if entry.is_symlink():
                yield Entry(here, "is a link", 0, bytes)
            elif entry.is_dir():
                if entry.name not in _NOT_PACKAGES:
                    yield from _folder(Path(entry.path), here)
            elif entry.is_file():
                yield Entry(here, "", entry.stat().st_size, _reader(Path(entry.path)))
            else:
                yield Entry(here, _ODD, 0, bytes)


def _reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(file, "rb") as opened:
            return opened.read(FILE + 1)

    return read


def _zip(archive: Path) -> Iterator[Entry]:
    file = zipfile.ZipFile(archive)  # stays open: entries are read later
    for member in file.infolist():
        kind = stat.S_IFMT(member.external_attr >> 16)
        why = "is a link" if kind == stat.S_IFLNK else "is encrypted" if member.flag_bits & 1 else ""
        if not member.is_dir():
            yield Entry(_inside(member.filename), why, member.file_size, partial(_unzip, file, member))


def _unzip(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with file.open(member) as opened:
        return opened.read(FILE + 1)


def _tar(archive: Path) -> Iterator[Entry]:
    with archive.open("rb") as file:
        unpacked = _Limited(_unpacked(file))
        with tarfile.open(fileobj=unpacked, mode="r|") as tar:
            for member in tar:
                if member.isdir():
                    continue
                path = _inside(member.name)
                if member.isreg():
                    wanted = (path.suffix == ".py" or path.name == stubs.MANIFEST) and member.size <= FILE
                    data = tar.extractfile(member) if wanted else None
                    yield Entry(path, "", member.size, partial(bytes, data.read() if data else b""))
                else:
                    yield Entry(path, "is a link" if member.issym() or member.islnk() else _ODD, 0, bytes)


def _unpacked(file: io.BufferedReader) -> io.BufferedIOBase:
    start = file.peek(6)
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if start.startswith(b"BZh"):
        return bz2.BZ2File(file)
    return lzma.LZMAFile(file) if start.startswith(b"\xfd7zXZ\0") else file


class _Limited(io.RawIOBase):
    """A stream that raises an error if a small archive unpacks to too many bytes."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self.stream = stream
        self.left = UNPACKED

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(min(size, 1 << 20) if size >= 0 else 1 << 20)
        self.left -= len(data)
        if self.left < 0:
            raise Nothing(f"The archive unpacks to more than {UNPACKED >> 20} MiB.")
        return data


def _inside(name: str) -> PurePosixPath:
    """A member's path; one that leads outside is not a module."""
    path = PurePosixPath(name.replace("\\", "/"))
    parts = [part for part in path.parts if part != "."]
    return PurePosixPath("outside") if path.is_absolute() or ".." in parts else PurePosixPath(*parts)
