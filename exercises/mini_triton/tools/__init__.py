"""Tools beside the compiler.

compile.py             compile a kernel ahead of time, to C: `python -m mini_triton.tools.compile`
link.py                several such variants of a kernel behind one C function: `python -m mini_triton.tools.link`
variant.py             a kernel for one signature, as C sees it

Given:

bisect.py              which pass breaks a kernel
coalescing.py          which loads and stores a GPU does with wide instructions
blame.py               why it does not do the others so: the argument, constant or operation to blame
explore/               a page that shows a kernel at every stage: `python -m mini_triton.tools.explore`
tensor_descriptor.py   `TensorDescriptor`: an array with the shape of its blocks, as an argument of a kernel
given/                 the texts of the C files
"""
