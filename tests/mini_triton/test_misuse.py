"""Mistakes of a first day: each message says what is wrong, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from mini_triton import sanitizer

MISUSES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a list is not memory": (
        lambda: sanitizer.uninitialized([1, 2]),
        *(TypeError, "[1, 2] is not memory: pass a NumPy array or a PyTorch tensor"),
    ),
}
"""By description: the misuse, its error, and the error's message or a part of it."""


@pytest.mark.parametrize("misuse, error, message", MISUSES.values(), ids=MISUSES.keys())
def test_misuse(misuse: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        misuse()
