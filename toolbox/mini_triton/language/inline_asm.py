"""Inline assembly in a kernel, which only GPUs can run. (Given.)

Source: `inline_asm_elementwise` in Triton's `python/triton/language/core.py`; NVIDIA's PTX ISA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mini_triton.ir.types import TensorType
from mini_triton.language.constexpr import unwrap
from mini_triton.language.context import builtin, current
from mini_triton.language.dtypes import dtype as dtype_class
from mini_triton.language.tensor import broadcast_together, tensor, to_tensor

__all__ = ["inline_asm_elementwise"]


@builtin
def inline_asm_elementwise(
    asm: str,
    constraints: str,
    args: Sequence[Any],
    dtype: dtype_class | Sequence[dtype_class],
    is_pure: bool,
    pack: int,
) -> Any:
    """Apply PTX code to groups of `pack` elements. The result is a tensor, or a tuple for a list of dtypes.

    `constraints` states the kind of register for each result and each operand, as in "=r,r,r".
    """
    dtypes = [unwrap(one) for one in ([dtype] if isinstance(dtype, dtype_class) else dtype)]
    operands = broadcast_together(*map(to_tensor, args)) if len(args) else []
    shape = operands[0].shape if operands else ()
    types = tuple(TensorType(shape, one.ir_type) if shape else one.ir_type for one in dtypes)
    operation = current().operation(
        "tt.elementwise_inline_asm",
        *(operand.handle for operand in operands),
        result=types,
        asm_string=asm,
        constraints=constraints,
        packed_element=pack,
        pure=is_pure,
    )
    results = tuple(map(tensor, operation.results, dtypes))
    return results[0] if isinstance(dtype, dtype_class) else results
