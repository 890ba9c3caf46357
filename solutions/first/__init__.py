"""A compiler in one afternoon. It is self-contained: nothing here imports `mini_triton`.

slice          the compiler; this file contains every task of milestone 0
kernels        the kernel that it compiles, and space for your own (given)
real_triton    the same kernel in real Triton (given, skip it)
__main__       the output of `python -m first` (given, skip it)
"""
