"""Other people's files beside compiled kernels, `triton.runtime.cache`: libraries build and keep their own there.

Source: `FileCacheManager` and `triton_key` in Triton's `python/triton/runtime/cache.py`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


class FileCacheManager:
    """The files that belong to one key."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        from mini_triton.runtime import cache, inspection  # `cache` exports this class

        self.key = key
        root = inspection.dump_directory() if dump else cache.directory() / ("override" if override else "")
        self.cache_dir = str(root / key)
        os.makedirs(self.cache_dir, exist_ok=True)

    def _make_path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename: str) -> bool:
        return os.path.exists(self._make_path(filename))

    def get_file(self, filename: str) -> str | None:
        """The path of a file; None if there is no such file."""
        return self._make_path(filename) if self.has_file(filename) else None

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        """Write a file, which other processes see complete or not at all, and return its path."""
        path = self._make_path(filename)
        with tempfile.NamedTemporaryFile(dir=self.cache_dir, delete=False) as file:
            file.write(data if isinstance(data, bytes) else str(data).encode())
        os.replace(file.name, path)
        return path

    def put_group(self, filename: str, group: Mapping[str, str]) -> str:
        """Record the paths of files that belong together, by name."""
        return self.put(json.dumps({"child_paths": dict(group)}), f"__grp__{filename}")

    def get_group(self, filename: str) -> dict[str, str] | None:
        """The paths of those files of a group that exist; None if there is no such group."""
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        group: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8"))["child_paths"]
        return {name: file for name, file in group.items() if os.path.exists(file)}


def get_cache_manager(key: str) -> FileCacheManager:
    """The files of a key."""
    return FileCacheManager(key)


def triton_key() -> str:
    """A text that changes with the compiler."""
    from mini_triton.runtime.keys import versions

    return "-".join(versions())
