"""Kernels as Python source, compiled and compared with real Triton's front end."""
