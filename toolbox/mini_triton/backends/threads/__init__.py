"""The back end for threads: from tensors to the registers of a GPU's threads, and to PTX. (Given.)

MINI_TRITON_BACKEND=ptx runs kernels by this back end: on a GPU's tensors through NVIDIA's assembler and driver, on
arrays in CPU memory through the emulator. In reading order:

    layouts.py         which register of which thread holds which element
    choice.py          which layout each tensor has
    instructions.py    instructions of a thread, as data
    emitter.py         instructions of a thread, as they are collected
    threads.py         from operations to instructions: registers on demand
    elementwise.py     arithmetic, comparisons
    casts.py           conversions of numbers
    functions.py       exp, log, sin, erf
    shapes.py          ranges, constants, and operations that move elements
    words.py           neighbors in memory as words
    memory.py          loads, stores, atomic operations
    swizzles.py        places in shared memory without bank conflicts
    conversions.py     from one layout to another
    reductions.py      reductions: registers, shuffles, shared memory
    scans.py           scans
    products.py        matrix products
    lookups.py         gathers, histograms
    control.py         loops and branches
    printing.py        tl.device_print
    assembly.py        a kernel's own PTX
    barriers.py        barriers; dead instructions
    ptx.py             instructions as text
    back_end.py        kernels: compile, run on the emulator
    launch.py          assemble, run on a GPU
"""
