"""mini_triton: a small but real Triton compiler."""
