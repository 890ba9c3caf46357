"""The number of threads in NumPy's matrix products. (Given.)

OpenBLAS shares all but the smallest products among all cores. If another program uses one of the cores, the other
threads wait for the one that lost its core: a product that takes 0.3 ms then takes 30 ms.
"""

from __future__ import annotations

import functools
import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from mini_triton.ir.core import Operation
from mini_triton.ir.types import shape_of

LEAST, SMALL = 2**18, 2**24
"""Multiplications in products of 64×64 and 256×256 matrices.

OpenBLAS itself runs products up to the first size on one thread. One core multiplies matrices of the second size in
about a third of a millisecond.
"""


def largest_product(function: Operation) -> int:
    """The number of multiplications in the largest `tt.dot` of a function; 0 without products."""
    products = [o for o in function.walk() if o.name in ("tt.dot", "tt.dot_scaled")]
    shapes = [(*shape_of(o.results[0].type), shape_of(o.operands[0].type)[-1]) for o in products]
    return max(map(math.prod, shapes), default=0)


def threads_for(work: int) -> AbstractContextManager[Any]:
    """A context in which products of at most `SMALL` multiplications run on one thread, if threadpoolctl is here."""
    control = controller() if LEAST < work <= SMALL else None
    return control.limit(limits=1) if control else nullcontext()


@functools.cache
def controller() -> Any:
    """The control over NumPy's BLAS: looking for the library takes milliseconds, and setting a limit microseconds."""
    try:
        from threadpoolctl import ThreadpoolController
    except ModuleNotFoundError:
        return None
    return ThreadpoolController().select(user_api="blas")
