"""Given parts of fusion that you can skip.

helpers.py            what generated kernels call where PyTorch differs from a plain operator
inductor_private.py   all that is asked of Inductor by private ways
"""
