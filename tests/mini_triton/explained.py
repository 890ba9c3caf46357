"""Where our front end and real Triton's make different modules of a kernel of the corpus, and why that is right."""

from __future__ import annotations

from typing import NamedTuple


class Explained(NamedTuple):
    """A difference, exactly as the test finds it, and the reason for it."""

    difference: str
    reason: str


RETURN = "what follows an early return is in the other branch of an scf.if; Triton jumps, by cf.cond_br"
NEGATION = "-x is -0.0 - x, which is right for zeros, too; until version 3.7 Triton has 0.0 - x"
BARRIER = "Triton 3.6 knows gpu.barrier only; later versions read it, but print their own"
UNROLLED = "Triton unrolls the loop before this stage: a TTIR file is compiled from the next stage on"
LATER = "Triton's own passes on TTIR, which a TTIR file does not go through, change the order of its operations"

DIFFERENT_OPERATIONS = {
    "layer_norm_backward_lock": Explained("gpu.barrier 0 → 1, ttg.barrier 1 → 0", BARRIER),
    "compare_and_swap": Explained("gpu.barrier 0 → 1, ttg.barrier 1 → 0", BARRIER),
    "last_block_sums": Explained("gpu.barrier 0 → 1, ttg.barrier 1 → 0", BARRIER),
    "branch_results": Explained("arith.constant 12 → 13", NEGATION),
    "arguments": Explained("arith.constant 5 → 6", NEGATION),
    "early_exits": Explained("cf.cond_br 3 → 0, scf.if 1 → 4, scf.yield 1 → 7, tt.return 4 → 1", RETURN),
    "helper_returns": Explained("cf.br 1 → 0, cf.cond_br 2 → 0, scf.if 1 → 3, scf.yield 2 → 6", RETURN),
}
DIFFERENT_CODE = {
    "dropout_matrix": Explained("ld.global 4 → 2, st.global 3 → 1", UNROLLED),
    "compact": Explained("ld.shared 9 → 8, st.shared 9 → 8, shared 2048 → 1024", LATER),
}
