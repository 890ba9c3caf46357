"""Whether the course itself is unchanged: hashes of everything that judges, before and after."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from grader.course.curriculum import Curriculum

_JUDGES = ("grader", "tests", "solutions", "toolbox", "exercises", "pyproject.toml")


class Seal:
    """The course at one moment. With `bytecode` also Python's caches, which Python believes before the sources."""

    def __init__(self, curriculum: Curriculum, bytecode: bool) -> None:
        self.root = curriculum.root
        self.bytecode = bytecode
        self.hashes = self._hashes()

    @property
    def digest(self) -> str:
        """One hash for everything that judges; the learners' tree is not included."""
        files = sorted(item for item in self.hashes.items() if not item[0].startswith("exercises/"))
        return hashlib.sha256(repr(files).encode()).hexdigest()

    def changed(self) -> list[str]:
        """The files that have changed since then, as paths relative to the course."""
        now = self._hashes()
        return [path for path in sorted({*now, *self.hashes}) if now.get(path) != self.hashes.get(path)]

    def _hashes(self) -> dict[str, bytes]:
        return {path.relative_to(self.root).as_posix(): self._hash(path) for path in self._files()}

    def _files(self) -> Iterator[Path]:
        for name in _JUDGES:
            path = self.root / name
            yield from [path] if path.is_file() else (file for file in path.rglob("*") if self._counts(file))

    def _counts(self, file: Path) -> bool:
        return (self.bytecode or "__pycache__" not in file.parts) and (file.is_file() or file.is_symlink())

    @staticmethod
    def _hash(path: Path) -> bytes:
        if path.is_symlink():
            return b"link to " + str(path.readlink()).encode("utf-8", "surrogateescape")
        return hashlib.sha256(path.read_bytes()).digest()
