"""Options that are not the defaults."""

from typing import Any

from mini_triton.runtime.options import DEFAULTS

OTHER_OPTIONS: dict[str, Any] = {
    **{name: not value if isinstance(value, bool) else 8 for name, value in vars(DEFAULTS).items()},
    "backend": "numba",
}
"""For each option that a kernel may depend on, a value that is not its default."""
del OTHER_OPTIONS["extern_libs"]  # has only one value
