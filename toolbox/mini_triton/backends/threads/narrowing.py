"""A rewrite of TTIR for threads: comparisons of 32 bits instead of 64. (Given.)

Labels are 64-bit numbers, and indices of columns are 32-bit numbers, so `columns == label` compares 64 bits for each
column. Whether the label has only 32 bits is the same question for all columns.

Source: `foldICmpWithZextOrSext` in LLVM's `InstCombineCompares.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.types import TensorType, Type
from mini_triton.transforms.rewriting import Rewriter, rewrite, rule


def compare_narrow(rewriter: Rewriter, operation: Operation, x: Value, y: Value) -> Value:
    """Compare `x` with the lower bits of a number `y`, and require that the upper bits only repeat the sign.

    A range has no negative elements, so it is compared with -1 if the upper bits do not: one comparison an element.
    """

    def splat(value: Value, like: Type) -> Value:
        assert isinstance(like, TensorType)
        return rewriter.create("tt.splat", value, result=like)

    assert isinstance(x.type, TensorType)
    low = rewriter.create("arith.trunci", y, result=x.type.element)
    fits = rewriter.create("arith.cmpi", rewriter.create("arith.extsi", low, result=y.type), y, predicate="eq")
    if isinstance(x, OpResult) and x.owner.name == "tt.make_range":
        never = rewriter.create("arith.constant", result=low.type, value=-1)
        low = rewriter.create("arith.select", fits, low, never)
        return rewriter.create("arith.cmpi", x, splat(low, x.type), predicate="eq")
    same = rewriter.create("arith.cmpi", x, splat(low, x.type), predicate="eq")
    return rewriter.create("arith.andi", same, splat(fits, operation.result.type))


RULES = (rule("arith.cmpi.eq(arith.extsi(x), tt.splat(y))", compare_narrow),)


def narrow(module: Operation) -> None:
    """Apply the rewrite to all operations of a module."""
    rewrite(module, RULES)
