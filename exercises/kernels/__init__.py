"""Kernels: what the compiler is for."""
