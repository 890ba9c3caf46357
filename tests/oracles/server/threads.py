"""Find out on a GPU which thread holds which element of a tensor, and record it for the layouts of milestone 10.

A kernel of real Triton stores, for each element, the number of the thread that holds the element. TTGIR contains the
tensor's layout. Imports Triton and torch. `python -m tests.oracles.record --threads` makes the records.
"""

import json
import re
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

SHAPES = (
    (32,), (128,), (512,), (1024,), (16, 16), (32, 32), (64, 8), (8, 64), (2, 256), (256, 2), (8, 8), (64, 1), (1, 64),
)  # fmt: skip
WARPS = (1, 2, 4, 8)


@triton.jit
def line_kernel(out, step, N: tl.constexpr):
    at = tl.arange(0, N) * step
    thread = tl.inline_asm_elementwise("mov.u32 $0, %tid.x;", "=r,r", [at], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(out + at, thread.to(out.dtype.element_ty))


@triton.jit
def plane_kernel(out, row, column, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * row + tl.arange(0, N)[None, :] * column
    thread = tl.inline_asm_elementwise("mov.u32 $0, %tid.x;", "=r,r", [at], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(out + at, thread.to(out.dtype.element_ty))


def record(folder: Path) -> list[str]:
    """Write `threads.json`: the layout's definition, the tensor's shape, and the thread of each element."""
    entries: dict[str, Any] = {}
    for shape in SHAPES:
        for warps in WARPS:
            for dtype in (torch.int32, torch.int16):  # 16 bytes are 4 elements, or 8
                for across in (False, True)[: len(shape)]:
                    if entry := asked(shape, warps, dtype, across):
                        entries[json.dumps([entry["layout"], shape])] = entry
    lines = [json.dumps(entry) for entry in entries.values()]
    head = json.dumps({"triton": triton.__version__, "gpu": torch.cuda.get_device_name()})
    (folder / "threads.json").write_text(f'{{"machine": {head}, "tensors": [\n' + ",\n".join(lines) + "\n]}\n")
    print(f"threads.json: {len(lines)} tensors")
    return []


def asked(shape: tuple[int, ...], warps: int, dtype: torch.dtype, across: bool) -> dict[str, Any] | None:
    """The answer for a tensor in row-major order, or `across` in column-major order; None if there is none."""
    out = torch.full(shape[::-1] if across else shape, -1, dtype=dtype, device="cuda")
    seen = out.T if across else out
    if len(shape) == 1:
        kernel = line_kernel[(1,)](out, 1, N=shape[0], num_warps=warps)
    else:
        kernel = plane_kernel[(1,)](out, *seen.stride(), M=shape[0], N=shape[1], num_warps=warps)
    text = kernel.asm["ttgir"]
    (stored,) = re.findall(r"tt\.store \S+, (%\w+)", text)
    narrowed = re.findall(rf"{stored} = arith\.trunci (%\w+)", text)
    names = re.findall(rf"{[stored, *narrowed][-1]} = tt\.elementwise_inline_asm .* -> tensor<[^#>]*, (#\w+)>", text)
    if len(names) != 1:
        return None  # the tensor is converted, or computed twice, before the store
    (name,) = names
    (layout,) = re.findall(rf"^{name} = .*$", text, re.MULTILINE)
    return {"layout": layout, "shape": shape, "threads": seen.cpu().flatten().tolist()}
