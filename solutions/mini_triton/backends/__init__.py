"""The back end for GPUs: a module's text becomes machine code, by real Triton, and is launched.

In: TTIR as text, the types of a kernel's parameters, a target such as sm_90, options. Out: the texts of real Triton's
stages (TTGIR, LLVM IR, PTX), a cubin, and a kernel that runs on CUDA tensors. No GPU is needed up to the launch.

Yours, in reading order, with their tasks:

    handoff.py      TTIR handed to real Triton (10.1)
    launch.py       machine code launched on the GPU that has the tensors (10.2)
    layouts.py      TTGIR: which thread holds which element (10.3)
    ptx.py          PTX: how memory is accessed (10.3)

Given and worth reading: `triton_api.py` (all that is asked of real Triton, versions 3.6 to 3.9). To skip: `given/` (the
page about a kernel).
"""
