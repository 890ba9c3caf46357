"""The name `triton`: whether `import triton` imports this compiler or real Triton.

    with substituted():
        import triton  # mini_triton

Real Triton stays reachable: `real_triton` restores its modules while they are needed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import ModuleType

from mini_triton.compat.aliases import Aliases


class OurDistribution(Distribution):
    """The answer to `importlib.metadata.version("triton")`: the version whose language we implement."""

    def read_text(self, filename: str) -> str | None:
        from mini_triton import __version__

        return f"Metadata-Version: 2.1\nName: triton\nVersion: {__version__}\n" if filename == "METADATA" else None

    def locate_file(self, path: object) -> Path:
        return Path(__file__).parents[2] / str(path)


class Substitute(Aliases, DistributionFinder):
    """Finds our modules by the names of Triton's."""

    def find_distributions(self, context: DistributionFinder.Context | None = None) -> Iterable[Distribution]:
        return [OurDistribution()] if context and context.name == self.package else []


_substitute = Substitute("triton")
_installed = False
_users = 0
"""The number of threads that use real Triton at this moment."""
_hidden: dict[str, ModuleType] = {}
"""Modules of the other compiler: real Triton's, while ours have their names, and the reverse."""
_lock = threading.Lock()


def install() -> None:
    """From now on, `import triton` imports mini_triton."""
    _update(installed=True)


def remove() -> None:
    """From now on, `import triton` imports real Triton."""
    _update(installed=False)


@contextmanager
def substituted() -> Iterator[None]:
    """A context in which `import triton` imports mini_triton."""
    if _installed:
        yield
        return
    install()
    try:
        yield
    finally:
        remove()


@contextmanager
def real_triton() -> Iterator[None]:
    """A context in which `import triton` imports real Triton, in all threads, until the last thread leaves it."""
    _update(users=1)
    try:
        yield
    finally:
        _update(users=-1)


def _update(installed: bool | None = None, users: int = 0) -> None:
    """Change who needs which compiler, and exchange the modules if `triton` names the wrong one."""
    global _installed, _users
    with _lock:
        _installed = _installed if installed is None else installed
        _users += users
        ours = _installed and not _users
        if ours == (_substitute in sys.meta_path):
            return
        shown = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "triton"}
        for name in shown:
            del sys.modules[name]
        sys.modules.update(_hidden)
        _hidden.clear()
        _hidden.update(shown)
        if ours:
            sys.meta_path.insert(0, _substitute)
        else:
            sys.meta_path.remove(_substitute)
