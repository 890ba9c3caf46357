"""The output of `tl.device_print`, in Triton's format: `pid (1, 0, 0) idx (3) x: 0.5`. (Given.)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def show(ids: Sequence[int], attributes: Mapping[str, Any], values: Sequence[Any]) -> None:
    """Print the elements of one program's values, one by one; without values, print only the prefix."""
    prefix, start = attributes["prefix"], f"pid ({', '.join(map(str, ids))})"
    if not values:
        print(f"{start}{prefix}")
    for number, (value, signed) in enumerate(zip(values, attributes.get("isSigned") or (), strict=False)):
        which = f"(operand {number}) " if len(values) > 1 else ""
        array = np.asarray(value)
        for index in np.ndindex(array.shape):
            text = spell(array[index], bool(signed), bool(attributes["hex"]))
            print(f"{start} idx ({', '.join(map(str, index))}){prefix}{which}{text}")


def spell(element: Any, signed: bool, hexadecimal: bool) -> str:
    """The text of one element, or of its bits if `hexadecimal`."""
    bits = element.view(f"u{element.itemsize}")
    if hexadecimal:
        return f"0x{int(bits):0{2 * element.itemsize}x}"
    return str(element if signed or element.dtype.kind != "i" else bits)
