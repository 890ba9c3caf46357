"""Your compiler turns PyTorch's operators into kernels, and kernels into the instructions of threads."""

import os

import torch

os.environ["MINI_TRITON_BACKEND"] = "ptx"

from mini_triton import fusion
from mini_triton.backends.page import sizes
from mini_triton.runtime.jit import JITFunction

OTHERS = ("numpy", "sass")  # NumPy has no part in this launch, nor has real Triton's machine code


def layer(x, weight):
    return torch.softmax(torch.relu(x) * weight, -1)


x, weight = torch.randn(64, 1000), torch.randn(1000)
print(fusion.explain(layer, x, weight), end="\n\n")
torch.testing.assert_close(torch.compile(layer, backend=fusion.mini_triton)(x, weight), layer(x, weight))
for function in fusion.programs[-1].run.__globals__.values():
    if isinstance(function, JITFunction):
        for kernel in function.kernels.values():
            print(*(line for line in sizes(kernel.asm) if not line.startswith(OTHERS)), sep="\n")
print("\nThe emulator ran the PTX, and the results are PyTorch's.")
