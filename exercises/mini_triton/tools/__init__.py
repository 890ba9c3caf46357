"""What host code uses beside kernels. (Given.)

bisect.py              which pass breaks a kernel
coalescing.py          which loads and stores a GPU does with wide instructions
blame.py               why it does not do the others so: the argument, constant or operation to blame
tensor_descriptor.py   `TensorDescriptor`: an array with the shape of its blocks, as an argument of a kernel
"""
