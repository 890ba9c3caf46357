"""The runtime: from a launch in Python to a kernel that runs.

options.py          what a launch may say beside its arguments: num_warps and such
arguments.py        arrays, tensors and numbers as kernels see them
binding.py          which argument goes to which parameter
specialization.py   what a kernel is compiled for: types, constants, multiples of 16
keys.py             what a compiled kernel depends on
cache.py            compiled kernels on disk
grids.py            how many programs
checks.py           launches that cannot work, and accesses out of bounds, in the user's words
inspection.py       the stages of a compilation, shown and dumped
compiler.py         all stages, from source to a compiled kernel
compiled.py         a compiled kernel
jit.py              `@jit` and `kernel[grid](...)`
"""
