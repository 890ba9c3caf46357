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
_real: dict[str, ModuleType] = {}
"""Modules of real Triton, while ours have their names."""
_lock = threading.RLock()


def _is_installed() -> bool:
    return _substitute in sys.meta_path


def install() -> None:
    """From now on, `import triton` imports mini_triton."""
    if not _is_installed():
        _real.update(_take())
        sys.meta_path.insert(0, _substitute)


def remove() -> None:
    """From now on, `import triton` imports real Triton."""
    sys.meta_path.remove(_substitute)
    _take()
    sys.modules.update(_real)
    _real.clear()


def _take() -> dict[str, ModuleType]:
    """Remove the modules named `triton` and `triton.…`, and return them."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "triton"}


@contextmanager
def substituted() -> Iterator[None]:
    """A context in which `import triton` imports mini_triton."""
    if _is_installed():
        yield
        return
    install()
    try:
        yield
    finally:
        remove()


@contextmanager
def real_triton() -> Iterator[None]:
    """A context in which `import triton` imports real Triton."""
    with _lock:
        if not _is_installed():
            yield
            return
        ours = _take()
        remove()
        try:
            yield
        finally:
            install()
            sys.modules.update(ours)
