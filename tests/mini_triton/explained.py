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
BLOCK = "block pointers are lowered to plain pointers and masks: later versions of Triton have none"
HINTS = "a hint about a helper's parameter is put on what it was called with; Triton has no place for it"
UNROLLED = "Triton unrolls the loop before this stage: a TTIR file is compiled from the next stage on"
LATER = "Triton's own passes on TTIR, which a TTIR file does not go through, change the order of its operations"

DIFFERENT_OPERATIONS = {
    "layer_norm_backward_lock": Explained("gpu.barrier 0 → 1, ttg.barrier 1 → 0", BARRIER),
    "compare_and_swap": Explained("gpu.barrier 0 → 1, ttg.barrier 1 → 0", BARRIER),
    "last_block_sums": Explained("gpu.barrier 0 → 1, ttg.barrier 1 → 0", BARRIER),
    "branch_results": Explained("arith.constant 12 → 13", NEGATION),
    "arguments": Explained("arith.constant 5 → 6", NEGATION),
    "early_return": Explained("cf.cond_br 1 → 0, scf.if 0 → 1, scf.yield 0 → 2, tt.return 2 → 1", RETURN),
    "early_exits": Explained("cf.cond_br 3 → 0, scf.if 1 → 4, scf.yield 1 → 7, tt.return 4 → 1", RETURN),
    "helper_returns": Explained("cf.br 1 → 0, cf.cond_br 2 → 0, scf.if 1 → 3, scf.yield 2 → 6", RETURN),
    "block_copy": Explained(
        "arith.addi 0 → 2, arith.andi 0 → 6, arith.cmpi 0 → 8, arith.constant 2 → 4, arith.extsi 2 → 5, "
        "arith.muli 2 → 4, tt.addptr 0 → 4, tt.broadcast 0 → 8, tt.expand_dims 0 → 4, tt.make_range 0 → 1, "
        "tt.make_tensor_ptr 2 → 0, tt.splat 0 → 8",
        BLOCK,
    ),
    "block_row_sums": Explained(
        "arith.addi 0 → 4, arith.andi 0 → 4, arith.cmpi 0 → 6, arith.constant 4 → 9, arith.extsi 2 → 5, "
        "arith.muli 1 → 2, tt.addptr 0 → 3, tt.advance 1 → 0, tt.broadcast 0 → 4, tt.expand_dims 0 → 2, "
        "tt.make_range 0 → 2, tt.make_tensor_ptr 2 → 0, tt.splat 0 → 9",
        BLOCK,
    ),
    "block_matmul": Explained(
        "arith.addi 0 → 8, arith.andi 0 → 9, arith.cmpi 0 → 12, arith.constant 5 → 12, arith.extsi 6 → 11, "
        "arith.muli 2 → 5, tt.addptr 0 → 6, tt.advance 2 → 0, tt.broadcast 0 → 12, tt.expand_dims 0 → 6, "
        "tt.make_range 0 → 3, tt.make_tensor_ptr 3 → 0, tt.splat 0 → 18",
        BLOCK,
    ),
}
DIFFERENT_VALUES = {
    "attention_staged_causal": Explained(
        "  in        the pointer of tt.store\n"
        "  expected  %1 = arith.muli %0, %c64_i32 : i32\n"
        "              %0 = tt.get_program_id x : i32\n"
        "              %c64_i32 = arith.constant 64 : i32\n"
        "  got       %1 = arith.muli %0, %c64_i32 {tt.divisibility = dense<64> : tensor<1xi32>} : i32\n"
        "              %0 = tt.get_program_id x : i32\n"
        "              %c64_i32 = arith.constant 64 : i32",
        HINTS,
    ),
}
DIFFERENT_CODE = {
    "dropout_matrix": Explained("ld.global 4 → 2, st.global 3 → 1", UNROLLED),
    "compact": Explained("ld.shared 9 → 8, st.shared 9 → 8, shared 2048 → 1024", LATER),
}
