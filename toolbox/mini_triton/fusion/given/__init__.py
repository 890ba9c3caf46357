"""Given parts of fusion that you can skip.

helpers.py            functions that kernels call where PyTorch differs from a plain operator
inductor_private.py   everything that relies on Inductor's private interfaces
"""
