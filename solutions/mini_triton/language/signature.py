"""Types as a launch spells them: `"*fp32"` a pointer, `"*kfp32"` one that refuses stores, `"i32"`, `"u8"`, `"fp16"`.
(Given.)

Source: Triton's `python/triton/compiler/code_generator.py` (`str_to_ty`).
"""

from __future__ import annotations

from mini_triton.formats import FORMATS
from mini_triton.language.dtypes import DTYPES, dtype, int1, pointer_type

SPELLINGS = {row.signature: DTYPES[row.name] for row in FORMATS} | {"i1": int1}


def parse_type(spelling: str) -> dtype | pointer_type:
    """The type of an argument. Raises `ValueError` for an unknown spelling."""
    if spelling.startswith("*"):
        const = spelling.startswith("*k")
        element = parse_type(spelling.removeprefix("*k" if const else "*"))
        assert isinstance(element, dtype)
        return pointer_type(element, const)
    if spelling not in SPELLINGS:
        raise ValueError(f"there is no type {spelling!r}, only {', '.join(SPELLINGS)}, and * before one for a pointer")
    return SPELLINGS[spelling]
