"""Hypothesis sets NumPy's random numbers before each test. This stand-in has none."""

from __future__ import annotations

from typing import Any


def seed(_: Any = None) -> None:
    pass


def get_state() -> None:
    pass


def set_state(_: Any) -> None:
    pass
