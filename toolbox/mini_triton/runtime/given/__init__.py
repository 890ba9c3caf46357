"""Given parts of the runtime that you can skip.

warm.py       fast launches that resemble an earlier launch
reach.py      memory that kernels reach only by addresses
tuples.py     tuples as arguments of a launch
bounds.py     out-of-bounds accesses: an error, a list, or a GPU's behavior
table.py      out-of-bounds accesses of a whole run
resources.py  a kernel's resources on a CPU, in a GPU's terms
"""
