"""Kernels as Python source, compared with what real Triton's front end makes of them."""
