"""Types as a launch spells them: `"*fp32"` a pointer, `"*kfp32"` one that refuses stores, `"i32"`, `"u8"`, `"fp16"`.
(Given.)

Source: Triton's `python/triton/compiler/code_generator.py` (`str_to_ty`).
"""

from __future__ import annotations

from mini_triton.language.dtypes import DTYPES, dtype, pointer_type

SPELLINGS = {
    **{d.name: d for d in DTYPES.values() if d.is_floating()},
    **{d.name.replace("uint", "u").replace("int", "i"): d for d in DTYPES.values() if d.is_int()},
    "u1": DTYPES["int1"],
}


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
