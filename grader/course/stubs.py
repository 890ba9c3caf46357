"""`exercises/` from `solutions/`: the learner's tree is the reference with the marked regions taken out.
Modules of the toolbox are not part of it.

The generated files are recorded in `exercises/.stubs.sha256`, in the format of `sha256sum`. A file that still
has its recorded hash may be generated again. Any other file is the learner's: it is overwritten only on request, and a
copy of it is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path

from grader.course import markers
from grader.course.curriculum import Curriculum
from grader.course.problems import Problem, UsageError

MANIFEST = ".stubs.sha256"


class WouldOverwrite(Exception):
    """Generating would lose a learner's work in the files `paths`."""

    def __init__(self, paths: list[Path]) -> None:
        names = ", ".join(str(path) for path in paths)
        super().__init__(f"changed since it was generated, so left alone: {names}")
        self.paths = paths


class BadMarkers(Exception):
    """The reference cannot be turned into stubs; `problems` says why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def stub_text(source: str, curriculum: Curriculum, solved: Collection[str] = ()) -> str:
    """The learner's version of a module of the reference, in which the tasks `solved` keep the reference's code."""
    lines = source.splitlines(keepends=True)
    for region in reversed(markers.regions(source)):
        if region.task not in solved:
            lines[region.start - 1 : region.end] = [_stub(region, curriculum)]
    return "".join(lines)


def filled(text: str, source: str, curriculum: Curriculum) -> str:
    """A learner's module, with the reference's code in place of each stub that is left."""
    lines = source.splitlines(keepends=True)
    for region in markers.regions(source):
        code = "".join(lines[region.code.start - 1 : region.code.stop - 1])
        text = text.replace(_stub(region, curriculum), code, 1)
    return text


def _stub(region: markers.Region, curriculum: Curriculum) -> str:
    first, *rest = region.instruction
    message = json.dumps(f"Task {region.task}: {curriculum.task(region.task).title}", ensure_ascii=False)
    raising = f"{region.indent}raise NotImplementedError({message})"
    return "".join(f"{line}\n" for line in (f"{region.indent}# Task {region.task}: {first}", *rest, raising))


def stub_of(curriculum: Curriculum, file: Path) -> str:
    """The learner's version of a file of the reference."""
    return stub_text(read(curriculum.original(file)), curriculum)


def generate(curriculum: Curriculum) -> dict[str, str]:
    """Every file of the learner's tree by its path in it, and its text. Raises `BadMarkers`."""
    files, problems = {}, []
    for module in curriculum.modules:
        file = curriculum.file_of(module)
        path = curriculum.original(file)
        source = read(path)
        found = markers.check(source, path, module, curriculum)
        if not path.exists():
            found = [Problem(path, 0, f"{module} is in the curriculum, but there is no such file")]
        problems += found
        if not found and not curriculum.is_tool(file):
            files[file.as_posix()] = stub_text(source, curriculum)
    if problems:
        raise BadMarkers(problems)
    assets = (file for file in curriculum.assets if not curriculum.is_tool(file))
    return files | {file.as_posix(): read(curriculum.solutions / file) for file in assets}


def write(curriculum: Curriculum, *, force: bool = False) -> list[Path]:
    """Bring `exercises/` up to date and return the files that changed.

    Raises `WouldOverwrite`, and writes nothing, if a learner's work would be lost. With `force`, it overwrites such
    files, and keeps copies under `.kata/backups/`.
    """
    root = curriculum.exercises
    wanted = generate(curriculum)
    known = recorded(root)
    changed = [root / name for name in _differences(root, wanted, known)]
    edited = [path for path in changed if _is_edited(path, known.get(path.relative_to(root).as_posix()))]
    if edited and not force:
        raise WouldOverwrite(edited)
    backup(curriculum, edited)
    for path in changed:
        text = wanted.get(path.relative_to(root).as_posix())
        if text is None:
            path.unlink()
            _remove_empty(path.parent, root)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    root.mkdir(exist_ok=True)
    # Last, so that a run cut short is simply continued by the next.
    (root / MANIFEST).write_text(manifest(wanted), encoding="utf-8", newline="\n")
    return changed


def check(curriculum: Curriculum, *, is_learners: bool = False) -> list[Problem]:
    """Every difference between `exercises/` and the stubs that `solutions/` generates.

    In a learner's tree, files that the learner has edited are right, as long as their stubs are recorded.
    """
    root = curriculum.exercises
    wanted = generate(curriculum)
    known = recorded(root)
    problems = []
    for name in _differences(root, wanted, known):
        is_stub_known = name in wanted and known.get(name) == digest(wanted[name])
        if is_learners and is_stub_known and _is_edited(root / name, known[name]):
            continue
        if name not in wanted:
            text = "is no longer generated"
        elif not (root / name).exists():
            text = "is missing"
        else:
            text = "is not what solutions/ generates"
        problems.append(Problem(root / name, 0, f"{text}: run `python -m grader stubs`"))
    if not problems and read(root / MANIFEST) != manifest(wanted):
        problems.append(Problem(root / MANIFEST, 0, "is out of date: run `python -m grader stubs`"))
    return problems


def backup(curriculum: Curriculum, paths: Iterable[Path]) -> Path | None:
    """Copy files of `exercises/` into a new folder of `.kata/backups/`; None if there are none."""
    paths = list(paths)
    if not paths:
        return None
    folder = curriculum.scratch / "backups" / datetime.now().strftime("%Y-%m-%d_%H-%M-%S.%f")
    for path in paths:
        copy = folder / path.relative_to(curriculum.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return folder


def read(path: Path) -> str:
    """A file's text with plain newlines, whatever newlines git or an editor wrote; empty if there is no such file.

    Bytes of a learner's file that are not UTF-8 are restored by `encode`. Raises `UsageError` for a folder or a pipe.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a regular file: move it away.")
    return path.read_bytes().decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n") if path.exists() else ""


def encode(text: str) -> bytes:
    """The bytes to write for a text that was read."""
    return text.encode("utf-8", "surrogateescape")


def _differences(root: Path, wanted: Mapping[str, str], known: Mapping[str, str]) -> list[str]:
    """Names of files to write, then of files generated once that are to go. An edited file does not go."""
    outdated = [name for name, text in wanted.items() if not (root / name).exists() or read(root / name) != text]
    gone = {name: digest for name, digest in known.items() if name not in wanted}
    return outdated + [name for name in gone if (root / name).exists() and not _is_edited(root / name, gone[name])]


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove the folders inside `root` that have become empty."""
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _is_edited(path: Path, known: str | None) -> bool:
    return path.exists() and digest(read(path)) != known


def digest(text: str) -> str:
    """The entry of the manifest for a text."""
    return hashlib.sha256(encode(text)).hexdigest()


def manifest(files: Mapping[str, str]) -> str:
    """The text of the manifest for generated files."""
    return "".join(f"{digest(text)}  {name}\n" for name, text in sorted(files.items()))


def recorded(root: Path) -> dict[str, str]:
    """The hashes of the files that were generated in a learner's tree, by name."""
    return parse_manifest(read(root / MANIFEST))


def parse_manifest(text: str) -> dict[str, str]:
    """The hashes in the text of a manifest, by name."""
    entries = (line.partition("  ") for line in text.splitlines())
    return {name: digest for digest, _, name in entries if name}
