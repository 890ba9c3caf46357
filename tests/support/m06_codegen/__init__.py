"""Kernels run over a grid, and what the reference's interpreter makes of them."""
