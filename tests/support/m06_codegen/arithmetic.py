"""What elementwise operations mean, by NumPy: one function of arrays for each operation's name.

The IR's integers have no sign, NumPy's have one: arrays are signed, and operations that read unsigned numbers look at
the same bits as such. What a function returns is brought to the result's type afterwards, and so wraps around.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]


def unsigned(x: Any) -> Any:
    """The same bits, read as unsigned numbers."""
    return x.view(f"uint{8 * x.itemsize}")


def _of_unsigned(function: Function) -> Function:
    return lambda *operands: function(*map(unsigned, operands))


def _divided(x: Any, y: Any) -> Any:
    """The quotient, truncated toward zero."""
    return np.where((x < 0) == (y < 0), np.abs(x) // np.abs(y), -(np.abs(x) // np.abs(y)))


def _upper_half(x: Any, y: Any) -> Any:
    """The upper half of the product's bits: Python's integers have room for all."""
    product = unsigned(x).astype(object) * unsigned(y).astype(object)
    return np.asarray(product // 2 ** (8 * x.itemsize), unsigned(x).dtype)


BINARY: dict[str, Function] = {
    **dict.fromkeys(("arith.addi", "arith.addf", "tt.addptr"), np.add),
    **dict.fromkeys(("arith.subi", "arith.subf"), np.subtract),
    **dict.fromkeys(("arith.muli", "arith.mulf"), np.multiply),
    **dict.fromkeys(("arith.divf", "tt.precise_divf"), np.divide),
    "arith.divsi": _divided,
    "arith.divui": _of_unsigned(np.floor_divide),
    "arith.remsi": np.fmod,
    "arith.remui": _of_unsigned(np.remainder),
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.shli": np.left_shift,
    "arith.shrsi": np.right_shift,
    "arith.shrui": _of_unsigned(np.right_shift),
    **dict.fromkeys(("arith.maxsi", "arith.maximumf"), np.maximum),
    **dict.fromkeys(("arith.minsi", "arith.minimumf"), np.minimum),
    "arith.maxui": _of_unsigned(np.maximum),
    "arith.minui": _of_unsigned(np.minimum),
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "tt.mulhiui": _upper_half,
}
UNARY: dict[str, Function] = {
    **{f"math.{name}": getattr(np, name) for name in "exp exp2 log log2 sin cos sqrt floor ceil".split()},
    **dict.fromkeys(("math.absf", "math.absi"), np.abs),
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "arith.negf": np.negative,
    "arith.extf": np.array,
    "arith.truncf": np.array,
    "arith.sitofp": np.array,
    "arith.fptosi": np.trunc,
    "arith.extsi": lambda x: -x.astype(np.int8) if x.dtype == bool else x,
    **dict.fromkeys(("arith.extui", "arith.uitofp"), unsigned),
}
OPERATIONS = {**BINARY, **UNARY, "math.fma": lambda x, y, z: x * y + z, "arith.select": np.where}
