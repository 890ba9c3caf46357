"""From IR to Numba."""
