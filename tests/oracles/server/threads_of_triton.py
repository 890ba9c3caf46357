"""Judges of milestone 13: real Triton's linear layouts, and NVIDIA's assembler. Imports Triton."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from triton import knobs
from triton._C.libtriton import gluon_ir
from triton.experimental.gluon.language import BlockedLayout

from tests.oracles.server.frontend import context


def linear(sizes: list[int], lanes: list[int], warps: list[int], order: list[int], shape: list[int]) -> dict[str, Any]:
    """The vectors of a blocked layout for a tensor of this shape: of the bits of registers, lanes and warps."""
    builder = gluon_ir.GluonOpBuilder(context())
    layout = BlockedLayout(sizes, lanes, warps, order)
    found = builder.to_linear_layout(layout._to_ir(builder), shape)
    return {"registers": found.reg_bases, "lanes": found.lane_bases, "warps": found.warp_bases}


def assemble(ptx: str, target: str) -> dict[str, Any]:
    """Why NVIDIA's assembler refuses a text; "" if it accepts it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.ptx")
        file.write_text(ptx)
        command = [knobs.nvidia.ptxas.path, f"--gpu-name={target}", str(file), "-o", str(file.with_suffix(".cubin"))]
        ran = subprocess.run(command, capture_output=True, text=True)
    return {"refusal": ran.stderr.replace(folder, "") if ran.returncode else ""}
