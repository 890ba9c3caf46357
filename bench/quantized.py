"""How fast linear layers with quantized weights are on a GPU, beside PyTorch's product of fp16 matrices.

    python -m bench.quantized

Each kernel is tuned first. The caches are cleared before each run, because a model's weights do not fit in them. The
time of the 8-bit kernels contains the quantization of x.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from kernels.quantized import LARGEST, linear_8bit, linear_int4, pack, quantize, tuned_8bit, tuned_int4
from mini_triton.testing import do_bench
from rich.console import Console
from rich.table import Table

ROWS = (1, 16, 64, 256, 4096)
SIZE = 8192  # the weight is SIZE by SIZE


def layers(weight: torch.Tensor) -> dict[str, Callable[[torch.Tensor], torch.Tensor]]:
    """The layers by name, each with its own copy of the weight; PyTorch's comes first."""
    packed, scales = pack(weight)
    found: dict[str, Any] = {
        "torch fp16": lambda x: x @ weight.T,
        "int4": lambda x: linear_int4(x, packed, scales, kernel=tuned_int4),
    }
    for dtype in LARGEST:
        values, factors = quantize(weight, dtype)
        found[dtype] = lambda x, values=values, factors=factors: linear_8bit(x, values, factors, kernel=tuned_8bit)
    return found


def main() -> None:
    """Print microseconds per layer, and the norm of its error relative to the norm of PyTorch's result."""
    torch.manual_seed(0)
    weight = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.float16)
    found = layers(weight)
    table = Table("rows of x", *found, title=f"{torch.cuda.get_device_name()}: µs (error)")
    for rows in ROWS:
        x = torch.randn(rows, SIZE, device="cuda", dtype=torch.float16)
        exact = found["torch fp16"](x)
        cells = []
        for layer in found.values():
            error = (layer(x) - exact).norm() / exact.norm()
            time = do_bench(partial(layer, x), return_mode="median")
            cells.append(f"{time * 1e3:.1f} ({error:.1%})")
        table.add_row(str(rows), *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
