"""Code generation: a module of IR goes in, a `NumpyKernel` comes out, which runs a launch grid with NumPy.

The plain back end, which says what every operation means, is `ir/interpreter.py` (tasks 6.1, 6.2): read it first.

In reading order, with the tasks in each:

axes.py                 along which axes a value varies: the programs', and its own (6.4, 6.8)
emitter.py              operations become lines of Python, by a handler or by their meaning (6.5)
accesses.py             pointers, loads, stores, atomics (6.5, 6.7)
combining.py            reductions, scans, dot products (6.6)
control_flow.py         loops and branches that programs take differently (6.7, 6.8)
pointers.py             which argument a pointer leads into (given); which loops wait for other programs (6.9)
kernel.py               the loop over the launch grid, in chunks (6.11)

library/memory.py       load and store through offsets and masks (6.3), as slices (6.11)
library/programs.py     which programs a call runs (6.4)
library/combine.py      reduce, scan, dot for all programs at once (6.6)
library/atomics.py      lanes that take turns (6.9)
library/lazy/           positions and masks that are not stored (6.10)

Given and worth reading: numpy_gen.py, the table of handlers; ../exact/, arithmetic to the last bit (6.12).
Given, to skip: writer.py, text; straight_line.py, constants and tiles; library/addresses.py, pointers of unknown
origin; library/lenient.py, accesses out of bounds that are ignored; ../exact/libdevice.py, NVIDIA's device library.
"""

from mini_triton.codegen.kernel import NumpyKernel, compile_module

__all__ = ["NumpyKernel", "compile_module"]
