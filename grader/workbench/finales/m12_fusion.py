"""`torch.compile` turns PyTorch's operators into kernels of your own: fewer kernels, and less memory traffic."""

import torch
from mini_triton import fusion


def layer(x, weight):
    return torch.softmax(torch.relu(x) * weight, -1)


x, weight = torch.randn(64, 1000), torch.randn(1000)
print(fusion.explain(layer, x, weight))
torch.testing.assert_close(torch.compile(layer, backend=fusion.mini_triton)(x, weight), layer(x, weight))
print("The results are PyTorch's.")
