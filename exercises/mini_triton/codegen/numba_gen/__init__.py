"""Code generation for Numba: a module of IR goes in, the source of a Python function comes out, which runs one program.

The NumPy back end runs many programs at once, an operation at a time: each makes a whole tile. Numba compiles loops, so
here a chain of operations is one loop nest, and what lies between them is a scalar.

In reading order, with the task in each:

plan.py            which elements an element is computed from (10.5); which values need arrays, which nests there are
nest.py            one nest: scalars, level by level (10.5); what guards its accesses (10.5)
scalars.py         elementwise operations, casts, narrow floats
program.py         the whole function, and its launch: `prange` over the programs
combining.py       reductions, scans, dot products, histograms, atomics
control_flow.py    loops and branches
straight_line.py   scalars that are more than an expression

What generated code calls, which needs Numba: library.py (single numbers, exp and its like), rows.py (arrays on the
stack, sums in NumPy's order), blas.py (matrix products). kernel.py runs it.
"""
