"""A sanitizer: kernels run on the CPU, and errors that a GPU would pass over silently are reported. (Given.)

    MINI_TRITON_SANITIZE=1                      look for everything
    MINI_TRITON_SANITIZE=races,division         look for these
    x = sanitizer.uninitialized(torch.empty(n)) memory that is not written yet

Programs run at once, with coarse checks. If these suspect anything, the programs run again, one by one, and exactly.

In reading order: `reports.py` (what is found), `plan.py` (what is known of a kernel), `memory.py` (and of memory);
`shadows.py` (which values must not matter), `program.py` (one program, run exactly); `doubts.py` (which loads to
suspect), `watch.py` (all programs, with checks); `launch.py`.

Sources: MemorySanitizer (Stepanov and Serebryany, 2015) for values that must not matter; compute-sanitizer's initcheck
and racecheck, and Triton-Viz's sanitizer, for the kinds of errors.
"""

from __future__ import annotations

import importlib
from typing import Any

EXPORTS = {
    **dict.fromkeys(("KINDS", "Report", "SanitizerError", "collect"), "reports"),
    **dict.fromkeys(("initialized", "uninitialized"), "memory"),
}
"""The names that programs import from here, and their modules, which are loaded at first use."""


def __getattr__(name: str) -> Any:
    if name not in EXPORTS:
        raise AttributeError(f"mini_triton.sanitizer has no {name}")
    return getattr(importlib.import_module(f"{__name__}.{EXPORTS[name]}"), name)
