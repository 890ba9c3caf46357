"""What host code uses beside kernels. (Given.)

coalescing.py          which loads and stores a GPU does with wide instructions, and why not the others
tensor_descriptor.py   `TensorDescriptor`: an array with the shape of its blocks, as an argument of a kernel
"""
