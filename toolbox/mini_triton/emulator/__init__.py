"""A GPU on a laptop: the emulator runs PTX with NumPy, and finds what no result shows. (Given.)

    from mini_triton.emulator import emulate
    print(emulate(ptx, (64,), [x, y, out, 1000]))      # findings, and what each line of the kernel costs

`mini-triton emulate` prints such a report. The text may come from real Triton, from this course's back ends, or from
nvcc. In reading order:

    types.py          PTX's types: bits as numbers, and back
    parser.py         text as instructions, with the Python line of each
    memory.py         global, shared and local memory; bounds
    tensor_maps.py    how an array lies in memory, for the copy engine
    arguments.py      arguments as bytes of parameters, and as memory
    machine.py        registers, operands, and the loop that executes instructions
    schedule.py       which lanes run next: branches, barriers, polling
    arithmetic.py     a row for each instruction that computes with registers
    conversions.py    cvt
    moves.py          loads, stores, atomic operations, branches
    warps.py          shuffles, votes, barriers
    tensor_cores.py   ldmatrix, mma, wgmma
    asynchronous.py   cp.async; work that threads wait for
    mbarriers.py      mbarriers
    copy_engine.py    bulk copies and tensor maps (TMA)
    shadow.py         races in shared memory
    checker.py        bank conflicts, sectors, hints
    report.py         findings, and counts by line
    launch.py         `emulate`: batches of CTAs
    back_end.py       MINI_TRITON_BACKEND=emulator

To add an instruction, add a row to `ROWS` in `arithmetic.py`; or, if lanes talk to each other or to memory, a function
with `@executes` as in `warps.py`; or one with `@instruction`, which prepares the step of an instruction that must be
fast. Then add a form to `tests/support/emulator/forms.py`, and record it on a GPU.
"""

from mini_triton.emulator.launch import emulate as emulate
from mini_triton.emulator.parser import PtxError as PtxError
from mini_triton.emulator.report import Report as Report
