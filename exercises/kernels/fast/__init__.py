"""Kernels of milestone 8 again, as fast as TTIR lets them be on a GPU. (Given.)

The kernels of milestone 8 are written to be read; these are written to be fast. What they do differently:

    layer_norm    the backward pass takes several rows at a time, and has enough programs for the sums
    matmul_int8   b is transposed first where its K is not contiguous
    attention     blocks that are seen as a whole are not masked; the backward pass transposes nothing
    conv2d        channels last: what a tile loads is contiguous

Each is autotuned: the first call with new sizes tries configurations. Softmax, the forward pass of layer normalisation,
and products of 16 bits are not here: those of milestone 8 are as fast as what we could write.
"""
