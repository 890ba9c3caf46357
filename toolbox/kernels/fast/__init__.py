"""The kernels of milestone 8 again, as fast as TTIR permits on a GPU. (Given.)

The kernels of milestone 8 are written for readability, and the kernels of this folder for speed. The differences are:

    layer_norm        the backward pass takes several rows at a time, and has enough programs for the sums
    matmul            one program per multiprocessor computes several tiles, which the copy engine loads and stores
    matmul_split_k    several programs share the K axis of a tile, and a second kernel adds up their sums
    matmul_int8       b is first transposed if it is not contiguous along K
    attention         fully visible tiles are not masked; the backward pass has no transpositions
    conv2d            channels come last, so that each tile loads contiguous memory

Each kernel is autotuned: the first call with new sizes tries configurations. Softmax and the forward pass of layer
normalization are missing, because we could not write faster kernels than those of milestone 8.
"""
