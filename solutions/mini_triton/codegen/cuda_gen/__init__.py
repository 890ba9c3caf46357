"""Code generation for Numba on GPUs: from a module of IR to the source of a kernel for one thread.

A program is a block of threads, and each tile is distributed over these threads. As on the CPU, the plan of
`numba_gen/plan.py` decides where values are computed: chains of elementwise operations run element by element. Each
array of the plan becomes registers. Elements reach other threads by shuffles, or through shared memory.

In reading order, with the task in each; files without a task are in `toolbox/`:

layout.py      which thread holds which element, in which register (10.6)
nest.py        one nest: a thread's elements, vectors, elements of other threads
reduction.py   reductions, by shuffles (10.6), and through shared memory
combining.py   scans, matrix products, histograms
atomics.py     atomic operations
program.py     the whole function: registers, shared memory, barriers
library.py     functions that generated code calls: scalars, and one of
                 instructions.py: vectors, shuffles and atomics on a GPU
                 simulated.py: the same functions in Numba's simulator (see simulation.py)
driver.py      NVIDIA's driver: load and launch machine code
kernel.py      a compiled kernel, on a GPU or in Numba's simulator
"""
