"""A folder for one process, which is gone afterwards whatever the process left in it."""

from __future__ import annotations

import errno
import glob
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ENTRIES, BYTES = 20_000, 1 << 30


@contextmanager
def workfolder(prefix: str = "kata-") -> Iterator[Path]:
    """A new folder that only this user may enter."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=_memory())).resolve()
    try:
        yield folder
    finally:
        with suppress(RecursionError):  # folders in folders, thousands deep
            shutil.rmtree(folder, ignore_errors=True)
        if folder.exists() and os.name == "posix":
            subprocess.run(["chmod", "-R", "u+rwx", str(folder)], capture_output=True)
            subprocess.run(["rm", "-rf", str(folder)], capture_output=True)


def _memory() -> str | None:
    """A folder in memory, if there is room: oracles write many small files. None: the folder for temporary files."""
    with suppress(OSError):
        if shutil.disk_usage("/dev/shm").free > 4 * BYTES and os.access("/dev/shm", os.W_OK):
            return "/dev/shm"
    return None


def _unlinked(folder: Path) -> int:
    """The total size of deleted files that are still open."""
    size = 0
    for descriptor in glob.iglob("/proc/[0-9]*/fd/*"):
        with suppress(OSError):
            name = os.readlink(descriptor)
            if name.startswith(f"{folder}{os.sep}") and name.endswith(" (deleted)"):
                size += os.stat(descriptor).st_blocks * 512
    return size


def is_too_large(folder: Path) -> bool:
    """Whether a process is filling the disk."""
    size = _unlinked(folder)
    try:
        for number, entry in enumerate(walk(folder)):
            with suppress(OSError):
                size += entry.stat(follow_symlinks=False).st_blocks * 512
            if number >= ENTRIES or size > BYTES:
                return True
    except TooDeep:
        return True
    return False


class TooDeep(Exception):
    """Folders in folders, whose path is longer than the system allows."""


def walk(folder: Path) -> Iterator[os.DirEntry[str]]:
    """All files and folders below a folder. Links are not followed. Raises `TooDeep`."""
    pending = [str(folder)]
    while pending:  # `os.walk` would call itself for folders in folders, thousands deep
        try:
            with os.scandir(pending.pop()) as found:
                entries = list(found)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise TooDeep from None
            continue  # it is gone, or closed to us
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            yield entry
