"""Code generation: from a module of IR to a `NumpyKernel`, which runs a launch grid in NumPy.

Read `ir/interpreter.py` first (tasks 6.1, 6.2). It is the simple back end, and defines what every operation means.
`analysis/` finds what the generator must know: the axes along which values vary (6.4, 6.8), and waiting loops (6.9).

The files in reading order, with the tasks in each file:

emitter.py              turns operations into lines of Python, by a handler or by their meaning (6.5)
accesses.py             pointers, loads, stores, atomics (6.5, 6.7)
combining.py            reductions, scans, dot products (6.6)
control_flow.py         loops and branches in which programs diverge (6.7, 6.8)
kernel.py               the loop over the launch grid, in chunks (6.11)

library/memory.py       load and store through offsets and masks (6.3), as slices (6.11)
library/programs.py     the programs that a call runs (6.4)
library/combine.py      reduce, scan, dot for all programs at once (6.6)
library/atomics.py      atomic operations, in turns (6.9)
library/lazy/           positions and masks that are not stored (6.10)

../exact/               bit-exact arithmetic (6.12)

Given: numpy_gen.py, the table of handlers, in `toolbox/`.
"""

from mini_triton.codegen.kernel import NumpyKernel, compile_module

__all__ = ["NumpyKernel", "compile_module"]
