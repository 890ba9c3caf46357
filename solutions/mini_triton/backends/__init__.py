"""The back end for GPUs: real Triton compiles a module's text to machine code, which we launch.

The back end takes TTIR as text, the types of a kernel's parameters, a target such as sm_90, and options. It returns the
text of real Triton's stages (TTGIR, LLVM IR, PTX), a cubin, and a kernel that runs on CUDA tensors. Only the launch
needs a GPU.

Yours, in reading order, with their tasks:

    handoff.py      pass TTIR to real Triton (10.1)
    launch.py       launch machine code on the GPU that holds the tensors (10.2)
    layouts.py      TTGIR: which thread holds which element (10.3)
    ptx.py          PTX: the width of memory accesses (10.3)
    occupancy.py    how many warps a multiprocessor can hold, and what limits them (11.6)

Given and worth reading, in `toolbox/`: `triton_api.py` (every use of real Triton, versions 3.6 to 3.9).
"""

from mini_triton.compat.driver import backends as backends
