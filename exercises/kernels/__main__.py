"""`python -m kernels` lists the demos. (Given.)"""

from __future__ import annotations

from kernels.demo import DEMOS

for name, demo in DEMOS.items():
    print(f"python -m kernels.{name:16}  {demo.__doc__}")
