"""Arrays that are not stored: positions, and the masks made from them.

Most offsets of a kernel are `start + i * stride`, and most masks say where such a number is below a limit. As long as
they are, nothing is computed element by element: a load is a slice, and a mask is a box in the array.

`Affine` and `Box` take the place of NumPy arrays. An operation whose result cannot be lazy gives a plain array.

    array.py     what all lazy arrays have in common
    box.py       masks that are true in a box
    affine.py    integers that lie at equal distances

Triton asks the same question of its IR at compile time: `lib/Analysis/AxisInfo.cpp`.
"""

from mini_triton.codegen.library.lazy.affine import Affine, arange
from mini_triton.codegen.library.lazy.array import Array, Lazy, broadcast_to, rows, stored, together
from mini_triton.codegen.library.lazy.box import Box, where

__all__ = ["Affine", "Array", "Box", "Lazy", "arange", "broadcast_to", "rows", "stored", "together", "where"]
