"""A stand-in for a GPU."""
