"""Triton's names of modules: `mini_triton.compiler.errors` replaces `triton.compiler.errors`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from mini_triton.compat.missing import explain_module

ALIASES = {
    "backends.compiler": "compat.compiler",
    "compiler": "compat.compiler",
    "compiler.compiler": "compat.compiler",
    "compiler.errors": "errors",
    "knobs": "compat.knobs",
    "language.core": "language.core",
    "language.standard": "language.standard",
    "language.target_info": "language.target_info",
    "language.extra.cuda.libdevice": "language.extra.libdevice",
    "runtime.autotuner": "tuning.autotuner",
    "runtime.driver": "compat.driver",
    "runtime.errors": "errors",
}
"""Triton's name of each module, and ours. Both are relative to the package."""


class Aliases(MetaPathFinder, Loader):
    """Finds our module by Triton's name, below the package `mini_triton` or `triton`."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.specs: dict[ModuleType, ModuleSpec | None] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        ours = self.ours(name)
        if ours in (None, name):  # the module is not Triton's, or the usual finders find it
            return None
        if reason := explain_module(name):
            raise ModuleNotFoundError(reason, name=name)
        return ModuleSpec(name, self) if importlib.util.find_spec(ours) else None

    def ours(self, name: str) -> str | None:
        """The name of our module; None if Triton has no module of this name."""
        package, _, relative = name.partition(".")
        if package != self.package:
            return None
        return f"mini_triton.{ALIASES.get(relative, relative)}".rstrip(".")

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.ours(spec.name) or "")
        self.specs[module] = module.__spec__  # which the import system replaces
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.specs.pop(module)


def install() -> None:
    """Make modules importable by Triton's names."""
    sys.meta_path.append(Aliases("mini_triton"))
