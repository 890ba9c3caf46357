"""You have written the kernels of a transformer, in a language that you built. This one computes attention."""

from kernels.demo import run

run("flash_attention")
