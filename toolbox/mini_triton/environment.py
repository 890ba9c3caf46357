"""The names of environment variables that several packages read, and their readers. (Given.)"""

from __future__ import annotations

import os
from collections.abc import Collection

OFF, ON = ("0", "false", "no", "off"), ("1", "true", "yes", "on")
"""The values of variables that turn something on."""
PRINT = "MINI_TRITON_PRINT"
PRINTED = ("stages", "passes", "backend")
"""The variable that requests output, and its values."""
BOUNDS = "MINI_TRITON_BOUNDS"
SANITIZE = "MINI_TRITON_SANITIZE"
CACHE_PROGRAMS = "MINI_TRITON_CACHE_PROGRAMS"
CACHE_AUTOTUNING = "MINI_TRITON_CACHE_AUTOTUNING"
PRINT_AUTOTUNING = "MINI_TRITON_PRINT_AUTOTUNING"


def choice(variable: str, values: Collection[str], default: str = "") -> str:
    """The value of an environment variable, in lower case; `default` if the variable is empty or not set.

    Raises `ValueError` for any value that is not in `values`.
    """
    found = os.environ.get(variable)
    if not found:
        return default
    if found.lower() not in values:
        raise ValueError(f"{variable} must be one of {', '.join(values)}, not {found!r}")
    return found.lower()


def is_set(variable: str) -> bool:
    """Whether an environment variable is set to a true value."""
    return choice(variable, (*ON, *OFF)) in ON


def is_printed(what: str) -> bool:
    """Whether output of this kind, one of `PRINTED`, is requested."""
    return choice(PRINT, PRINTED) == what
