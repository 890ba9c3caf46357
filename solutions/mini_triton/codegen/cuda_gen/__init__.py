"""Code generation for Numba on GPUs: a module of IR goes in, the source of a kernel for one thread comes out.

A program is a block of threads, and a tile is spread over them. What is computed where is decided as for the CPU, in
`numba_gen/plan.py`: chains of elementwise operations are computed element by element. An array of that plan becomes
registers here, and elements reach other threads by shuffles, and through shared memory.

In reading order, with the task in each:

layout.py      which thread holds which element, in which register (10.6)
nest.py        one nest: a thread's elements; vectors; elements of other threads
reduction.py   reductions, by shuffles (10.6), and through shared memory
combining.py   scans, matrix products, histograms
atomics.py     atomic operations
program.py     the whole function: registers, shared memory, barriers
library.py     what generated code calls: single numbers, and either of
                 instructions.py: vectors, shuffles, atomics of a GPU
                 simulated.py: the same in Numba's simulator (simulation.py tells which)
driver.py      NVIDIA's driver: machine code is loaded and launched
kernel.py      a compiled kernel: on a GPU, or in Numba's simulator
"""
