"""Loads and stores at positions that are not stored: what must come of them, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mini_triton.codegen.library import memory
from mini_triton.ir.storage import Buffer, OutOfBounds

from tests.checks import described
from tests.support.m06_codegen.closeness import difference
from tests.support.m06_codegen.lazy_arrays import Access, Axis, elements


def judge_load(access: Access, other: np.ndarray | float | None, count: int, origin: int) -> None:
    """Load, and compare each element with what memory holds."""
    __tracebackhide__ = True
    around = elements((count + 16,), 101)
    buffer, before = Buffer("x", around[8 : 8 + count], origin), around.copy()
    options = {} if other is None else {"other": other}
    call = described(
        shown("load", access, count, origin, options), memory.load, buffer, access.affine(), access.mask(), **options
    )
    if bad := outside(access, count, origin):
        refused(call, bad[0])
        return
    got = call.succeeds("an array")
    expected = np.broadcast_to(0 if other is None else other, access.shape).astype(np.float64)
    for lane in access.lanes():
        if access.takes_part(lane):
            expected[lane] = before[8 + origin + access.offset(lane)]
    around[:] = -1.0  # memory may change later
    same("the result", call, np.broadcast_to(got, access.shape), np.broadcast_to(expected, access.shape))


def judge_store(access: Access, value: np.ndarray | float, count: int, origin: int) -> None:
    """Store; of several writes to one element any may be the last."""
    __tracebackhide__ = True
    around = elements((count + 16,), 1001)
    buffer, before = Buffer("x", around[8 : 8 + count], origin), around.copy()
    call = described(
        shown("store", access, count, origin, {"value": value}),
        memory.store,
        buffer,
        access.affine(),
        value,
        access.mask(),
    )
    if bad := outside(access, count, origin):
        refused(call, bad[0])
        same("memory", call, around, before)
        return
    call.succeeds("nothing")
    allowed: dict[int, set[float]] = {}
    for lane, written in zip(access.lanes(), np.broadcast_to(value, access.shape).flat, strict=True):
        if access.takes_part(lane):
            allowed.setdefault(8 + origin + access.offset(lane), set()).add(float(written))
    expected = before.copy()
    for place, several in allowed.items():
        expected[place] = around[place] if around[place] in several else min(several)
    same("memory", call, around, expected)


def outside(access: Access, count: int, origin: int) -> list[int]:
    """The offsets that are used and lead out of the buffer, in order."""
    used = [access.offset(lane) for lane in access.lanes() if access.takes_part(lane)]
    return [offset for offset in used if not 0 <= origin + offset < count]


def shown(name: str, access: Access, count: int, origin: int, options: dict[str, Any]) -> str:
    """A call in words."""
    words = "".join(f", {key}={np.array(value).tolist()}" for key, value in options.items())
    mask = access.mask()
    mask = mask.tolist() if isinstance(mask, np.ndarray) else mask
    return f"memory.{name}(Buffer of {count} elements, origin {origin}; {access.affine()}, mask={mask}{words})"


def refused(call: described, element: int) -> None:
    """The call raises `OutOfBounds` for this element."""
    __tracebackhide__ = True
    call.raises(OutOfBounds)
    with pytest.raises(OutOfBounds) as raised:
        call()
    named = described(f"The element that is named by {call}", getattr, raised.value, "element")
    named.returns(element, "the first lane that is used and leads outside")


def same(what: str, call: described, got: np.ndarray, expected: np.ndarray) -> None:
    """Element by element."""
    __tracebackhide__ = True
    if found := difference(got, expected):
        raise AssertionError(f"{call}: {what}\n{found}\n  all that was expected  {expected.tolist()}")


SHIFTED = Axis(4, 1, None, (1, 3)), Axis(6, 8, None, (2, 6))
WINDOWS = {
    "all": Access((Axis(4, 10), Axis(6)), masked=False),
    "a box": Access(SHIFTED, 4),
    "backwards": Access((Axis(4, -12, None, (0, 3)), Axis(6, -1)), 50),
    "starts": Access((Axis(4, 0, (3, 33, 13, 23), (1, 4)), Axis(6, 1, None, (0, 4)))),
    "starts along both": Access((Axis(4, 0, (0, 1, 2, 30)), Axis(6, 0, (0, 5, 10, 15, 20, 25), (1, 6)))),
    "rows": Access((Axis(4, 10), Axis(6, 1, None, (0, 5))), rows=(True, False, False, True)),
    "rows only": Access((Axis(4, 10), Axis(6)), masked=False, rows=(False, True, True, False)),
    "rows with starts": Access((Axis(4, 0, (3, 999, 13, 999)), Axis(6)), rows=(True, False, True, False)),
    "nothing": Access((Axis(4, 999, None, (0, 0)), Axis(6))),
    "no rows": Access((Axis(4, 999), Axis(6)), rows=(False,) * 4),
    "masked off": Access((Axis(4, -10, None, (0, 2)), Axis(6, 1, None, (0, 6))), 12),
    "repeated": Access((Axis(4, repeated=True), Axis(6, 2)), 3, masked=False),
}
