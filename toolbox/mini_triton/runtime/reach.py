"""Memory that kernels reach only by addresses.

A kernel may load a pointer from memory, as a grouped matrix product does. A GPU follows any address. Here, a kernel
accesses only memory that it was given, so the arrays behind such addresses must be declared:

    with mini_triton.reachable(a, b):
        kernel[grid](addresses, ...)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from mini_triton.ir.storage import Buffer

_known: ContextVar[tuple[Buffer, ...]] = ContextVar("reachable", default=())


@contextmanager
def reachable(*arrays: Any) -> Iterator[None]:
    """Let kernels that are launched inside the `with` follow addresses into these arrays and tensors."""
    more = tuple(Buffer.of(f"reachable {number}", array) for number, array in enumerate(arrays))
    token = _known.set(_known.get() + more)
    try:
        yield
    finally:
        _known.reset(token)


def known() -> tuple[Buffer, ...]:
    """The memory of all arrays that are reachable now."""
    return _known.get()
