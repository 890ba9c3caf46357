"""Given parts of the runtime that you can skip.

warm.py       quick launches on a GPU, once a kernel has run there
reach.py      memory that kernels reach by addresses alone
tuples.py     tuples as arguments of a launch
bounds.py     out-of-bounds accesses: an error, a list, or a GPU's behaviour
resources.py  what a kernel needs of a CPU, in the terms of a GPU
"""
