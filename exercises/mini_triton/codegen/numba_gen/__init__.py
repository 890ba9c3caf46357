"""Code generation for Numba: from a module of IR to the source of a Python function that runs one program.

The NumPy back end runs many programs at once, one operation at a time, and each operation computes a whole tile. Numba
compiles loops, so a chain of operations becomes one loop nest, with scalars as intermediate results.

In reading order, with the task in each; files without a task are in `toolbox/`:

expressions.py     expressions of generated code as data, and the table that prints them
polynomials.py     indices and addresses as polynomials
statements.py      statements of generated code as data, and the table that prints them
plan.py            the operands of each element (10.5); values that need arrays; loop nests
nest.py            one nest: scalars, level by level (10.5); the guards of its accesses (10.5)
roots.py           one nest: what it writes; its innermost loop in two parts
scalars.py         elementwise operations, casts, narrow floats
program.py         the whole function, and its launch: `prange` over the programs
combining.py       reductions, scans, dot products, histograms, atomics
control_flow.py    loops and branches
straight_line.py   scalar operations that take more than one expression

Generated code calls functions that need Numba: library.py (scalars, functions like exp), rows.py (arrays on the stack,
sums in NumPy's order) and products.py (matrix products). kernel.py runs the generated code; launcher.py launches it in
less time for tensors like those of an earlier launch.
"""
