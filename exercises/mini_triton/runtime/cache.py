"""Compiled kernels on disk, for the next process.

A file per kernel, named by its key. Several processes may read and write the same files at any time, be killed in the
middle of it, or find a disk full. So a file is written under another name and renamed, which happens at once or not
at all; and an entry is used only if its checksum matches.

Source: `FileCacheManager` in Triton's `python/triton/runtime/cache.py`.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

DIRECTORY = "MINI_TRITON_CACHE_DIR"
ALWAYS_COMPILE = "MINI_TRITON_ALWAYS_COMPILE"

FORMAT = "3"
"""The version of the entries' format."""

Entry = dict[str, Any]
"""The data of a kernel, by name: strings, lists of strings, numbers."""


def directory() -> Path:
    """Where compiled kernels are kept: `MINI_TRITON_CACHE_DIR`, or a folder in the user's cache. (Given.)"""
    if chosen := os.environ.get(DIRECTORY):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mini_triton")


def store(key: str, entry: Entry) -> None:
    """Keep an entry under a key, in place of an older one. Warns if that is not possible."""
    # Task 7.4: Whenever another process reads, and wherever this one is killed, there is the old file or the whole new
    # one. The folder may be missing. An `OSError` becomes a `warnings.warn` with its message, and no other file stays.
    # Given: `path_of`, `pack` (bytes of an entry), Python's `tempfile` and `os.replace`.
    raise NotImplementedError("Task 7.4: Kernels on disk")


def load(key: str) -> Entry | None:
    """The entry with this key, or None if there is none. Warns of a damaged file, and returns None."""
    # Task 7.4: A file that cannot be read counts as damaged, one that does not exist does not. The warning has the
    # path. Given: `unpack`, which raises `ValueError` for damaged bytes.
    raise NotImplementedError("Task 7.4: Kernels on disk")


def path_of(key: str) -> Path:
    """The file of a key. (Given.)"""
    return directory() / f"{key}.json"


def pack(entry: Entry) -> bytes:
    """An entry as the content of a file: a checksum in the first line, JSON in the second. (Given.)"""
    content = json.dumps(entry).encode()
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def unpack(content: bytes) -> Entry:
    """The entry that a file's content was made from. Raises `ValueError` if not every byte is as it was. (Given.)"""
    checksum, _, entry = content.partition(b"\n")
    if hashlib.sha256(entry).hexdigest().encode() != checksum:
        raise ValueError("the checksum does not fit")
    return json.loads(entry)
