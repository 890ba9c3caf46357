"""A sanitizer: runs kernels on the CPU, and reports errors that a GPU would silently ignore. (Given.)

    MINI_TRITON_SANITIZE=1                      look for all kinds of defects
    MINI_TRITON_SANITIZE=races,division         look for these kinds of defects

    x = sanitizer.uninitialized(torch.empty(n)) memory that is not written yet

Programs run at once, with coarse checks. If a check suspects a defect, the programs run again one by one, with exact
checks.

The files in reading order: `reports.py` (findings), `facts.py` (about a kernel), `memory.py` (facts about memory);
`shadows.py` (values that must not matter), `program.py` (one program, with exact checks); `doubts.py` (suspect loads),
`at_once.py` (all programs, with coarse checks); `launch.py` (launches); `allocations.py` (new memory).

Sources: MemorySanitizer (Stepanov and Serebryany, 2015) for values that must not matter; compute-sanitizer's initcheck
and racecheck, and Triton-Viz's sanitizer, for the kinds of errors.
"""

from mini_triton.sanitizer.allocations import track_allocations as track_allocations
from mini_triton.sanitizer.memory import initialized as initialized
from mini_triton.sanitizer.memory import uninitialized as uninitialized
from mini_triton.sanitizer.reports import KINDS as KINDS
from mini_triton.sanitizer.reports import Report as Report
from mini_triton.sanitizer.reports import SanitizerError as SanitizerError
from mini_triton.sanitizer.reports import collect as collect
