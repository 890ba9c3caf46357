"""The ranges of loops. (Given.)

Most loops need only `for i in range(n)`. `tl.range` also takes options, which tell the compiler how to treat the loop.
A loop over `tl.static_range` is unrolled: the compiler visits the body once for each number, which is a compile-time
value.

Source: `range` and `static_range` in Triton's `python/triton/language/core.py`.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from mini_triton.language.constexpr import constexpr, unwrap

__all__ = ["range", "static_range"]


class range:
    """Numbers from `start` up to, but not including, `stop`, for a loop that the kernel runs.

    `attributes` are those of the loop's operation, with Triton's names. `disable_licm` is ignored, because it does not
    change results.
    """

    def __init__(
        self,
        arg1: Any,
        arg2: Any = None,
        step: Any = None,
        num_stages: Any = None,
        loop_unroll_factor: Any = None,
        disallow_acc_multi_buffer: Any = False,
        flatten: Any = False,
        warp_specialize: Any = False,
        disable_licm: Any = False,
    ) -> None:
        self.start, self.stop = _bounds(arg1, arg2)
        self.step = 1 if unwrap(step) is None else step
        flags = {
            "tt.num_stages": num_stages,
            "tt.loop_unroll_factor": loop_unroll_factor,
            "tt.disallow_acc_multi_buffer": disallow_acc_multi_buffer,
            "tt.flatten": flatten,
            "tt.warp_specialize": warp_specialize,
        }
        self.attributes = {name: value for name, value in ((n, unwrap(v)) for n, v in flags.items()) if value}

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("tl.range is for the loops of @jit functions: Python cannot iterate over it")


class static_range:
    """Numbers known at compile time."""

    def __init__(self, arg1: Any, arg2: Any = None, step: Any = None) -> None:
        self.start, self.stop = map(unwrap, _bounds(arg1, arg2))
        self.step = 1 if unwrap(step) is None else unwrap(step)
        for name, value in vars(self).items():
            if not isinstance(value, int):
                raise TypeError(f"{value!r} used as tl.static_range {name} value is not a constexpr")

    def __iter__(self) -> Iterator[constexpr]:
        return map(constexpr, builtins.range(self.start, self.stop, self.step))


def _bounds(arg1: Any, arg2: Any) -> tuple[Any, Any]:
    """`(stop)` counts from 0, `(start, stop)` from `start`."""
    return (0, arg1) if unwrap(arg2) is None else (arg1, arg2)
