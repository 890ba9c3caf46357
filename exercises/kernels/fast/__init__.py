"""Kernels of milestone 8 again, as fast as TTIR lets them be on a GPU. (Given.)

The kernels of milestone 8 are written to be read; these are written to be fast. What they do differently:

    layer_norm   the backward pass loads the next rows while it computes these
    matmul       no masks where K is whole; bytes whose K is not contiguous are transposed first
    attention    blocks that are seen as a whole are not masked; the backward pass transposes nothing
    conv2d       channels last: what a tile loads is contiguous

Each is autotuned: the first call with new sizes tries configurations. Softmax and the forward pass of layer
normalisation are not here: those of milestone 8 are as fast as memory.
"""
