"""`python -m kernels` lists the programs in this folder. (Given.)"""

from __future__ import annotations

from kernels.demo import DEMOS

for name, demo in DEMOS.items():
    print(f"python -m kernels.{name:16}  {demo.__doc__}")
print("python -m kernels.bench             All kernels beside PyTorch and real Triton.")
