"""Hints to the compiler, printing and assertions. (Given.)

Source: `multiple_of`, `assume`, `device_print` and similar functions in Triton's `semantic.py`.
"""

from __future__ import annotations

from typing import Any

from mini_triton.errors import CompileTimeAssertionFailure
from mini_triton.ir.core import Attribute, BlockArgument, OpResult, Value
from mini_triton.language.context import builtin, current, is_debugging
from mini_triton.language.dtypes import int1
from mini_triton.language.tensor import bitwise, invert, tensor, to_tensor

__all__ = [
    *("multiple_of", "max_contiguous", "max_constancy", "assume", "debug_barrier"),
    *("static_assert", "static_print", "device_print", "device_assert"),
]


def annotated(value: Value) -> dict[str, Attribute]:
    """The attributes that hold promises about a value."""
    if isinstance(value, OpResult):
        return value.owner.attributes
    assert isinstance(value, BlockArgument)
    return value.attributes


def _promise(name: str, x: tensor, values: Any) -> tensor:
    """Record a promise about `x`, with one number for each dimension, in its attributes (`annotated`)."""
    values = values if isinstance(values, tuple | list) else (values,)
    for i, value in enumerate(values):
        if not isinstance(value, int):
            raise TypeError(f"values element {i} must have type `constexpr[int]`, got {value!r}")
    if len(values) != (len(x.shape) or name == "tt.divisibility"):
        raise ValueError(f"Shape of input does not match the length of values: {x!r} and {list(values)}")
    annotated(x.handle)[name] = tuple(values)
    return x


@builtin
def multiple_of(input: tensor, values: Any) -> tensor:
    """A promise: the first of each group of consecutive values is a multiple of this number."""
    return _promise("tt.divisibility", input, values)


@builtin
def max_contiguous(input: tensor, values: Any) -> tensor:
    """A promise: each group of this many elements has consecutive values."""
    return _promise("tt.contiguity", input, values)


@builtin
def max_constancy(input: tensor, values: Any) -> tensor:
    """A promise: each group of this many elements has equal values."""
    return _promise("tt.constancy", input, values)


@builtin
def assume(cond: Any) -> None:
    """A promise: the condition is true."""
    condition = to_tensor(cond)
    if condition.type != int1:
        raise TypeError(f"tl.assume takes a boolean scalar, not {condition!r}")
    current().operation("llvm.intr.assume", condition.handle)


@builtin
def debug_barrier() -> None:
    """A barrier: all threads of the program wait for one another."""
    current().operation("gpu.barrier")


@builtin
def static_print(*values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False) -> None:
    """Print while the kernel is compiled."""
    print(*values, sep=sep, end=end, file=file, flush=flush)


@builtin
def static_assert(cond: Any, msg: str = "") -> None:
    """Raise `CompileTimeAssertionFailure` unless the condition, which must be known at compile time, holds."""
    if isinstance(cond, tensor):
        raise TypeError(
            "Assertion condition could not be determined at compile-time. "
            "Make sure that it depends only on `constexpr` values"
        )
    if not cond:
        raise CompileTimeAssertionFailure(str(msg) or "the condition of tl.static_assert does not hold")


@builtin
def device_print(prefix: str, *args: Any, hex: bool = False) -> None:
    """Print values of the running kernel, after a text that is known at compile time."""
    if not isinstance(prefix, str) or not prefix.isascii():
        raise TypeError(  # the message begins as Triton's
            f"{prefix} is not string: the first argument of device_print must be a text of ASCII characters, "
            'as in `tl.device_print("x", x)`'
        )
    values = [to_tensor(arg) for arg in args]
    if values:
        prefix = f"{prefix.removesuffix(' ').removesuffix(':')}: "
    if len(prefix) > 2 and not prefix.startswith(" "):
        prefix = f" {prefix}"
    signed = tuple(int(getattr(value.dtype, "signed", False)) for value in values)
    current().operation("tt.print", *(value.handle for value in values), prefix=prefix, hex=bool(hex), isSigned=signed)


@builtin
def device_assert(cond: Any, msg: str = "", mask: Any = None) -> None:
    """Stop the running kernel if the condition is false for an element whose mask is true.

    The assertion is only in kernels that are compiled for debugging, by `@jit(debug=True)`, `kernel[grid](...,
    debug=True)`, or the environment variable `MINI_TRITON_DEBUG=1`.
    """
    if not is_debugging():
        return
    condition = to_tensor(cond)
    if condition.dtype != int1:
        raise TypeError(f"tl.device_assert takes a boolean, not {condition!r}: compare it with something")
    if not isinstance(msg, str):
        raise TypeError(f"tl.device_assert takes a text as its message, not {msg!r}")
    if mask is not None:
        condition = bitwise("arith.ori", condition, invert(to_tensor(mask)))
    current().operation("tt.assert", condition.handle, message=msg)
