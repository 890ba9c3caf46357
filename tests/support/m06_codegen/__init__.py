"""Kernels run over a grid, compared with the reference's interpreter."""
