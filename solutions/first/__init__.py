"""A compiler in one afternoon. It is self-contained: no file in this folder imports `mini_triton`.

slice          the compiler; this file contains every task of milestone 0
kernels        the kernel `add`, and space for your own kernels (given)
real_triton    the same kernel in real Triton (given, skip it)
__main__       the output of `python -m first` (given, skip it)
"""
