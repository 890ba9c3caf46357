"""What `tl.device_print` shows, in Triton's words: `pid (1, 0, 0) idx (3) x: 0.5`. (Given.)"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mini_triton.codegen.library.lazy import Array, stored
from mini_triton.codegen.library.programs import OneProgram, Programs


def show(
    programs: Programs,
    prefix: str,
    values: Sequence[Array],
    signed: Sequence[bool],
    hexadecimal: bool,
    active: np.ndarray | None = None,
) -> None:
    """Print every element of the values, which have a leading axis for programs unless there is one program only.

    Programs come one after the other. `active` says which of them print at all.
    """
    arrays = [np.asarray(stored(value)) for value in values]
    if isinstance(programs, OneProgram):
        arrays = [array[None] for array in arrays]
    for lane in range(len(programs)) if active is None else np.flatnonzero(active):
        pid = f"pid {programs.place(int(lane))}"
        if not arrays:
            print(f"{pid}{prefix}")
        for number, (array, has_sign) in enumerate(zip(arrays, signed, strict=True)):
            operand = f"(operand {number}) " if len(arrays) > 1 else ""
            for index in np.ndindex(array.shape[1:]):
                where = f"idx ({', '.join(map(str, index))})"
                print(f"{pid} {where}{prefix}{operand}{shown(array[(lane, *index)], has_sign, hexadecimal)}")


def shown(element: np.generic, signed: bool, hexadecimal: bool) -> str:
    """One element; its bits if `hexadecimal`."""
    bits = element.view(f"u{element.itemsize}")
    if hexadecimal:
        return f"0x{int(bits):0{2 * element.itemsize}x}"
    return str(element if signed or element.dtype.kind != "i" else bits)
