"""Triton's names of modules: `mini_triton.compiler.errors` replaces `triton.compiler.errors`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ALIASES = {
    "compiler": "given.compiler",
    "compiler.compiler": "given.compiler",
    "compiler.errors": "errors",
    "knobs": "given.knobs",
    "language.core": "language.given.core",
    "language.standard": "language.given.standard",
    "language.target_info": "language.given.target_info",
    "language.extra.cuda.libdevice": "language.extra.libdevice",
    "runtime.autotuner": "tuning.autotuner",
    "runtime.driver": "given.driver",
    "runtime.errors": "errors",
}
"""Triton's name of each module, and ours. Both are relative to `mini_triton`."""


class Aliases(MetaPathFinder, Loader):
    """Finds our module by Triton's name."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        known = name.startswith("mini_triton.") and name.removeprefix("mini_triton.") in ALIASES
        return ModuleSpec(name, self) if known else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(f"mini_triton.{ALIASES[spec.name.removeprefix('mini_triton.')]}")
        self.spec = module.__spec__  # which the import system replaces
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


def install() -> None:
    """Make modules importable by Triton's names."""
    sys.meta_path.append(Aliases())
