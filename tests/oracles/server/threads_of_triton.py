"""Judges of milestones 13 and 14: real Triton's linear layouts, and NVIDIA's assembler. Imports Triton."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from triton import knobs
from triton._C.libtriton import gluon_ir
from triton.experimental.gluon.language import (
    BlockedLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    NVMMASharedLayout,
)

from tests.oracles.server.frontend import context


def linear(sizes: list[int], lanes: list[int], warps: list[int], order: list[int], shape: list[int]) -> dict[str, Any]:
    """The vectors of a blocked layout for a tensor of this shape: of the bits of registers, lanes and warps."""
    return vectors(BlockedLayout(sizes, lanes, warps, order), shape)


def vectors(layout: Any, shape: list[int]) -> dict[str, Any]:
    """The vectors of a layout of registers."""
    found = linear_layout(layout, shape)
    return {"registers": found.reg_bases, "lanes": found.lane_bases, "warps": found.warp_bases}


def linear_layout(layout: Any, shape: list[int]) -> Any:
    builder = gluon_ir.GluonOpBuilder(context())
    return builder.to_linear_layout(layout._to_ir(builder), shape)


def fragment(version: int, warps: list[int], columns: int, shape: list[int], operand: int, size: int) -> dict[str, Any]:
    """The vectors of a product's layout, or of its factor 0 or 1 with elements of `size` bytes.

    Version 2 is `mma.sync`, version 3 is `wgmma` with so many columns.
    """
    product = NVMMADistributedLayout([version, 0], warps, [16, columns] if version == 2 else [16, columns, 32 // size])
    return vectors(DotOperandLayout(operand, product, 4 // size) if operand >= 0 else product, shape)


def swizzled(shape: list[int], size: int, row: int, fast: int) -> dict[str, Any]:
    """The indices of the elements at offsets 1, 2, 4, ... of a tile whose rows have `row` bytes."""
    layout = NVMMASharedLayout(row, 8 * size, 2, transposed=fast == 0)
    return {"indices": linear_layout(layout, shape).offset_bases}


def assemble(ptx: str, target: str) -> dict[str, Any]:
    """Why NVIDIA's assembler refuses a text; "" if it accepts it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.ptx")
        file.write_text(ptx)
        command = [knobs.nvidia.ptxas.path, f"--gpu-name={target}", str(file), "-o", str(file.with_suffix(".cubin"))]
        ran = subprocess.run(command, capture_output=True, text=True)
    return {"refusal": ran.stderr.replace(folder, "") if ran.returncode else ""}
