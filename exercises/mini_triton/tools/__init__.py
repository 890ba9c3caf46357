"""What host code uses beside kernels. (Given.)

tensor_descriptor.py   `TensorDescriptor`: an array with the shape of its blocks, as an argument of a kernel
"""
