"""The smallest pass."""

from __future__ import annotations

from mini_triton.ir.core import Module


def do_nothing(module: Module) -> None:
    """Leave the module as it is."""
