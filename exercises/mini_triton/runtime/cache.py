"""Compiled kernels on disk, for the next process.

Each kernel has a file, named by its key. Several processes may read and write the same files at any time, may be killed
while doing so, or may find the disk full. A reader finds a complete file or none. It uses an entry only if the checksum
matches.

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

from mini_triton.runtime.files import FileCacheManager as FileCacheManager  # users look for these here
from mini_triton.runtime.files import get_cache_manager as get_cache_manager
from mini_triton.runtime.files import triton_key as triton_key

DIRECTORY = "MINI_TRITON_CACHE_DIR"
ALWAYS_COMPILE = "MINI_TRITON_ALWAYS_COMPILE"

FORMAT = "3"
"""The version of the entries' format."""

Entry = dict[str, Any]
"""The data of a kernel, by name: strings, lists of strings, numbers."""


def directory() -> Path:
    """The folder of compiled kernels: `MINI_TRITON_CACHE_DIR`, or a folder in the user's cache. (Given.)"""
    if chosen := os.environ.get(DIRECTORY):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mini_triton")


def store(key: str, entry: Entry) -> None:
    """Store an entry under a key, replacing an older entry. Warns if the entry cannot be stored."""
    # Task 7.4: At any time, even if this process is killed, other processes must find either the old file or the
    # complete new one. The folder may be missing. Turn an `OSError` into a warning with the same message
    # (`warnings.warn`), and leave no other file behind. Given: `path_of`; `pack`, which returns an entry as bytes.
    raise NotImplementedError("Task 7.4: Kernels on disk")


def load(key: str) -> Entry | None:
    """The entry with this key; None if there is none. For a damaged file, warns and returns None."""
    # Task 7.4: A file that exists but cannot be read counts as damaged. The warning names the path. Given: `unpack`,
    # which raises `ValueError` for damaged bytes.
    raise NotImplementedError("Task 7.4: Kernels on disk")


def path_of(key: str) -> Path:
    """The file of a key. (Given.)"""
    return directory() / f"{key}.json"


def pack(entry: Entry) -> bytes:
    """An entry as the content of a file: a checksum in the first line, JSON in the second. (Given.)"""
    content = json.dumps(entry).encode()
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def unpack(content: bytes) -> Entry:
    """The entry in a file's content. Raises `ValueError` if any byte has changed. (Given.)"""
    checksum, _, entry = content.partition(b"\n")
    if hashlib.sha256(entry).hexdigest().encode() != checksum:
        raise ValueError("the checksum does not match")
    return json.loads(entry)
