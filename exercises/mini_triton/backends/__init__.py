"""Back ends for GPUs: TTIR text to machine code, by real Triton, and its launch."""
