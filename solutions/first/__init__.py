"""A compiler in one afternoon, which stands alone: nothing here imports `mini_triton`.

    slice          the compiler: every task of milestone 0 is in this one file
    kernels        the kernel that it compiles, and room for yours (given)
    real_triton    the same kernel in real Triton's hands (given, skip it)
    __main__       what `python -m first` shows (given, skip it)
"""
