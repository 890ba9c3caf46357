"""Arrays that are not stored: positions, and the masks made from them.

Most offsets of a kernel are `start + i * stride`, and most masks compare such an offset with a limit. For such offsets
and masks, nothing is computed element by element: a load is a slice, and a mask is a box in the array.

`Affine` and `Box` replace NumPy arrays. An operation whose result cannot be lazy returns a plain array.

    array.py      the base of all lazy arrays
    box.py        masks that are true in a box
    patched.py    masks that are a box, except in a few rows
    affine.py     equally spaced integers
    where.py      choices by such masks

The files `array.py`, `patched.py` and `where.py` are given, in `toolbox/mini_triton/codegen/library/lazy/`.

Triton performs a similar analysis at compile time: `lib/Analysis/AxisInfo.cpp`.
"""

from mini_triton.codegen.library.lazy.affine import Affine, arange
from mini_triton.codegen.library.lazy.array import Array, Lazy, broadcast_to, rows, stored, together
from mini_triton.codegen.library.lazy.box import Box
from mini_triton.codegen.library.lazy.patched import Patched
from mini_triton.codegen.library.lazy.where import where

__all__ = ["Affine", "Array", "Box", "Lazy", "Patched", "arange", "broadcast_to", "rows", "stored", "together", "where"]
