"""Code generation: IR to Python source that runs a whole launch grid with NumPy.

axes.py           along which axes a value varies: the programs', and its own
pointers.py       which argument a pointer leads into
writer.py         source text: lines, names, comments
values.py         what the variables hold, and in which shapes
expressions.py    operations that are one expression
emission.py       one operation after the other becomes a line
shapes.py         operations that move elements
accesses.py       pointers, loads, stores, atomics
combining.py      reductions, scans, dot products
control_flow.py   loops and branches, which programs may take differently
printing.py       device_print
numpy_gen.py      the whole function
waiting.py        loops that wait for other programs
kernel.py         running it over a launch grid
library/          what generated code calls
"""

from mini_triton.codegen.kernel import NumpyKernel, compile_module

__all__ = ["NumpyKernel", "compile_module"]
