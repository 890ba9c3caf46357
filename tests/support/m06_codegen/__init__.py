"""Kernels as TTIR text, run over a grid and compared with an interpreter."""
