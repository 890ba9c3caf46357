"""How much passes leave of a module: ours, and real Triton's."""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module

from tests.oracles import triton

MAKE_TTIR = ("inliner", "canonicalizer", "combine", "reorder_broadcast", "cse", "symbol_dce")
"""Real Triton's passes on TTIR, but for unrolling."""
EVERYTHING = (*MAKE_TTIR, "sccp", "licm", "triton_licm", "loop_aware_cse", "canonicalizer", "cse")
"""And then those of MLIR and of later stages that could leave less."""
IN_A_LOOP = 10  # times that an operation in a loop counts


def count(operation: Operation, weight: int = 1) -> int:
    """The operations in a module: those in loops many times, `scf.yield` without values not at all."""
    inner = weight * IN_A_LOOP if operation.name in ("scf.for", "scf.while") else weight
    found = 0 if operation.name in ("builtin.module", "tt.func") else weight
    if operation.name == "scf.yield" and not operation.operands:
        found = 0
    for region in operation.regions:
        for block in region.blocks:
            found += sum(count(inside, inner) for inside in block.operations)
    return found


def left_by_theirs(text: str, passes: Sequence[str] = EVERYTHING) -> int:
    """What real Triton's passes leave of a module."""
    return count(parse_module(triton.canonical(text, passes)))
