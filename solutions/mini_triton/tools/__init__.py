"""Tools beside the compiler.

compile.py             compile a kernel ahead of time, to C: `mini-triton compile`
link.py                link compiled variants of a kernel into one C function: `mini-triton link`
variant.py             a kernel for one signature, as C declares it

Given, in `toolbox/`:

run.py                 run a program that imports Triton, unchanged: `mini-triton run`
cuda.py                such programs on a machine without a GPU: CUDA tensors become CPU tensors
hooks.py               what a run changes in PyTorch
loading.py             the kernels in a user's file
bench.py               time a launch, beside real Triton: `mini-triton bench`
bisect.py              find the pass that breaks a kernel
coalescing.py          the width of a kernel's loads and stores on a GPU
blame.py               why an access is not wider: the argument, constant or operation to blame
explore/               a page that shows a kernel at every stage: `mini-triton explore`
tensor_descriptor.py   `TensorDescriptor`: an array with the shape of its blocks, as an argument of a kernel
templates.py           templates of the C files
"""
