"""The operations that our passes and real Triton's passes leave in a module."""

from collections.abc import Sequence

from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module

from tests.oracles import triton

MAKE_TTIR = ("inliner", "canonicalizer", "combine", "reorder_broadcast", "cse", "symbol_dce")
"""Real Triton's passes on TTIR, except for unrolling."""
EVERYTHING = (*MAKE_TTIR, "sccp", "licm", "triton_licm", "loop_aware_cse", "canonicalizer", "cse")
"""Real Triton's passes on TTIR, then passes of MLIR and of later stages that might erase more."""
IN_A_LOOP = 10  # the weight of an operation in a loop


def count(operation: Operation, weight: int = 1) -> int:
    """The number of operations in a module. One in a loop counts more; `scf.yield` without values does not count."""
    inner = weight * IN_A_LOOP if operation.name in ("scf.for", "scf.while") else weight
    found = 0 if operation.name in ("builtin.module", "tt.func") else weight
    if operation.name == "scf.yield" and not operation.operands:
        found = 0
    for region in operation.regions:
        for block in region.blocks:
            found += sum(count(inside, inner) for inside in block.operations)
    return found


def left_by_theirs(text: str, passes: Sequence[str] = EVERYTHING) -> int:
    """The number of operations that real Triton's passes leave."""
    return count(parse_module(triton.canonical(text, passes)))
