"""Submissions and learners: the submissions in a folder, the learners on a list, and who is late."""

from __future__ import annotations

import csv
import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from grader.parent.intake import ENTRIES
from grader.parent.workfolder import TooDeep, walk
from grader.report.wording import visible_line

_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
_KEYS = ("submission", "username", "login", "id", "name", "email")  # columns that may name a learner, the best first


class BadRoster(Exception):
    """The list of learners cannot be used; the text gives the reason."""


@dataclass(frozen=True)
class Handed:
    """The submission of one learner."""

    name: str  # the folder's or archive's name, without the suffix
    path: Path
    when: datetime
    folder: str  # the learner's own folder in the results, `learners/anna`


@dataclass(frozen=True)
class Learner:
    """A row of the list: the key that names a submission, and the other columns."""

    key: str
    label: str


def find(folder: Path, besides: Sequence[Path] = ()) -> list[Handed]:
    """All submissions of a folder: every folder and every file in it that is not hidden, by name."""
    names: dict[str, list[Path]] = {}
    folders: set[str] = set()
    skipped = {path.resolve() for path in besides}
    for path in sorted(folder.iterdir()):
        if not path.name.startswith((".", "__MACOSX")) and path.resolve() not in skipped:
            names.setdefault(_name(path), []).append(path)
    named = [(name if len(paths) == 1 else path.name, path) for name, paths in names.items() for path in paths]
    found = []
    for name, path in sorted(named, key=lambda pair: (pair[0] != _safe(pair[0]), pair)):  # others must not take theirs
        folder_name = _safe(name)
        while folder_name.casefold() in folders:
            folder_name += f"-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]}"
        folders.add(folder_name.casefold())
        found.append(Handed(visible_line(name), path, _when(path), f"learners/{folder_name}"))
    return sorted(found, key=lambda one: one.name)


def read(path: Path) -> list[Learner]:
    """The learners in a CSV file with a header. Raises `BadRoster`."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadRoster(f"{path} cannot be read: {error}") from None
    columns = {column.strip().lower(): column for column in (rows[0] if rows else {}) if column}
    keys = [columns[key] for key in _KEYS if key in columns]
    if not keys:
        raise BadRoster(f"{path} needs a header with one of the columns {', '.join(_KEYS)}.")
    label = columns.get("name", keys[0])
    return [Learner(row[keys[0]].strip(), (row[label] or "").strip()) for row in rows if (row[keys[0]] or "").strip()]


def match(learners: Sequence[Learner], handed: Sequence[Handed]) -> dict[str, Learner]:
    """The learner of each submission, by the submission's folder; each learner has one submission at most.

    A submission has the learner's name, or, as GitHub and learning platforms call it, `assignment-name` or `name_more`.
    If several submissions claim a learner in this way, the one with the commonest assignment counts; of several such
    submissions, none.
    """
    known = {_plain(learner.key): learner for learner in learners}
    found = {one.folder: known[name] for one in handed if (name := _plain(one.name)) in known}
    exact = {_plain(learner.key) for learner in found.values()}
    claims: dict[str, list[tuple[str, Handed]]] = {}
    for one in handed:
        name = _plain(one.name)
        ends = [key for key in known if name.endswith(f"-{key}") or name.startswith(f"{key}_")]
        if one.folder not in found and ends and (key := max(ends, key=len)) not in exact:
            claims.setdefault(key, []).append((name.replace(key, "", 1), one))
    common = Counter(rest for claimed in claims.values() for rest, _ in claimed)
    for key, claimed in claims.items():
        most = max(common[rest] for rest, _ in claimed)
        best = [one for rest, one in claimed if common[rest] == most]
        found |= {one.folder: known[key] for one in best if len(best) == 1}
    return found


def moment(text: str) -> datetime:
    """A deadline such as `2026-11-22 18:00`, in local time unless it names another. Raises `ValueError`."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        raise ValueError(f"--deadline takes a time such as 2026-11-22 18:00, not {text!r}.") from None


def lateness(when: datetime, deadline: datetime | None) -> str:
    """The delay of a submission, such as `2 d 3 h late`; "" if it is in time."""
    if deadline is None or when <= deadline:
        return ""
    minutes = max(1, round((when - deadline).total_seconds() / 60))
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [f"{number} {unit}" for number, unit in ((days, "d"), (hours, "h"), (rest, "min")) if number]
    return f"{' '.join(parts[:2])} late"


def _name(path: Path) -> str:
    lower = path.name.lower()
    ending = max((end for end in _ARCHIVES if lower.endswith(end)), key=len, default="")
    return path.name[: len(path.name) - len(ending)] or path.name


def _when(path: Path) -> datetime:
    """The time of a submission: the archive's time, or the time of the last change to a Python file."""
    times = [os.lstat(path).st_mtime]
    if path.is_dir() and not path.is_symlink():
        with suppress(TooDeep, OSError):
            files = [entry for entry in islice(walk(path), ENTRIES) if entry.name.endswith(".py")]
            times = [file.stat(follow_symlinks=False).st_mtime for file in files if "/.git/" not in file.path] or times
    return datetime.fromtimestamp(max(times), UTC)


def _safe(name: str) -> str:
    """A name that every file system accepts."""
    return re.sub(r'[\x00-\x1f<>:"/\\|?*\ud800-\udfff]', "_", name).strip(". ") or "_"


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip().casefold()
