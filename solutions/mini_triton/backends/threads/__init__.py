"""The back end for threads: from tensors to the registers of a GPU's threads, and to PTX.

MINI_TRITON_BACKEND=ptx runs kernels by this back end: on a GPU's tensors through NVIDIA's assembler and driver, on
arrays in CPU memory through the emulator. In reading order; given files without a task are in `toolbox/`, except for
`instructions.py` and `back_end.py`:

    instructions.py    instructions of a thread, as data
    emitter.py         instructions of a thread, as they are collected
    ptx.py             instructions as text
    by_hand.py         a vector addition by hand
    layouts.py         which register of which thread holds which element
    choice.py          which layout each tensor has
    threads.py         from operations to instructions: registers on demand
    shapes.py          ranges, constants, and operations that move elements
    elementwise.py     arithmetic, comparisons
    casts.py           conversions of numbers
    functions.py       exp, log, sin, erf
    dead_code.py       instructions that nothing needs
    words.py           neighbors in memory as words
    memory.py          loads, stores, atomic operations
    control.py         loops and branches
    barriers.py        barriers
    reductions.py      reductions: registers, shuffles, shared memory
    swizzles.py        places in shared memory without bank conflicts
    conversions.py     from one layout to another
    scans.py           scans
    lookups.py         gathers, histograms
    products.py        matrix products
    fragments.py       which lane holds which element of a product by tensor cores
    arrangements.py    which products tensor cores compute, and how warps share them
    tiles.py           matrices in shared memory
    tensor_cores.py    products by single warps
    copies.py          copies that run ahead of products
    copy_engine.py     copies of whole tiles by Hopper's copy engine
    invariants.py      divisions leave loops
    persistent.py      copies for a program's next tile
    warp_groups.py     products by four warps together
    printing.py        tl.device_print
    assembly.py        a kernel's own PTX
    scaled.py          products in the microscaling formats
    narrowing.py       shorter comparisons
    bases.py           one address for the pointers of a loop
    uniforms.py        what all threads have in common
    offsets.py         constant distances of addresses
    hoisting.py        addresses in loops
    sharing.py         registers that several products have
    listing.py         layouts as text
    back_end.py        kernels: compile, run on the emulator
    assembler.py       machine code
    launch.py          run on a GPU
    driver.py          NVIDIA's driver
"""
