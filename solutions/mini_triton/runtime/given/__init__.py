"""Given parts of the runtime that you can skip.

warm.py       quick launches on a GPU, once a kernel has run there
reach.py      memory that kernels reach by addresses alone
tuples.py     tuples as arguments of a launch
bounds.py     what becomes of accesses out of bounds: an error, a list, or what a GPU does
resources.py  what a kernel needs of a CPU, in the terms of a GPU
"""
