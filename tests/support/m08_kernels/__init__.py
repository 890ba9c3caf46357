"""Inputs, host calls and tolerances for the kernels."""
