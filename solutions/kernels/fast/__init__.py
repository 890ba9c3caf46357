"""The kernels of milestone 8 again, as fast as TTIR permits on a GPU. (Given.)

The kernels of milestone 8 are written for readability, and the kernels of this folder for speed. The differences are:

    layer_norm    the backward pass takes several rows at a time, and has enough programs for the sums
    matmul_int8   b is first transposed if it is not contiguous along K
    attention     no mask on fully visible blocks; no transpositions in the backward pass
    conv2d        channels last, so that each tile loads contiguous memory

Each kernel is autotuned: the first call with new sizes tries configurations. Softmax, the forward pass of layer
normalisation, and 16-bit products are missing, because we could not write kernels faster than those of milestone 8.
"""
