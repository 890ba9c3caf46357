"""Kernels for the compiler. The functions of each module take arrays and return arrays: torch tensors or NumPy arrays.

The modules, in reading order:

    compiler         mini_triton or real Triton, chosen by an environment variable (given, worth reading)
    host             checks of arguments, memory for results (given)
    by_hand          3.7: two kernels without a front end
    vector_add       8.1: tiles and masks
    softmax          8.2, 8.3: a row in one tile, or online
    matmul           8.4, 8.5: which program computes which tile; a loop along K
    dropout          8.6: random numbers from a seed
    layer_norm       8.7 to 8.9: forward, sums in two stages, backward
    flash_attention  8.10 to 8.13: forward, causal, backward for queries and for keys
    conv2d           8.14, 8.15: direct, and as a matrix product
    modules          8.16: functions with gradients, and PyTorch modules

In `toolbox/`, given:

    fast             kernels of milestone 8 once more, optimized for speed
    quantized        linear layers with weights of 4 and 8 bits
    demo             the output of `python -m kernels.softmax`; `python -m kernels` lists all demos
    problems, bench  11.8: all kernels beside PyTorch and real Triton, `python -m kernels.bench`
"""

from pathlib import Path

if __path__:  # empty while grading, because the grader finds every module
    __path__.append(str(Path(__file__).parents[2] / "toolbox" / "kernels"))
