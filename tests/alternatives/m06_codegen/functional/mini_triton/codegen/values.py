"""What the variables of generated code hold."""

from __future__ import annotations

from typing import Literal

from mini_triton.codegen.axes import PROGRAM, Axes, Varying, own_axes
from mini_triton.codegen.expressions import dtype_of
from mini_triton.codegen.pointers import origins
from mini_triton.codegen.writer import Writer
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import PointerType, Type, element_type, shape_of

ZERO = "np.int64(0)"
"""A pointer argument as such."""
Mode = Literal["plain", "batched", "fast"]
"""One program after the other; all of them at once; or so many that they fit a cache, with lazy positions and masks."""


class Values(Writer):
    """Texts for values, in the shapes in which they are wanted. `axes` says along which axes each varies."""

    def __init__(self, function: Operation, mode: Mode) -> None:
        super().__init__()
        self.function = function
        self.mode = mode
        self.axes = own_axes(function) if mode == "plain" else Varying(function).axes
        self.origins = origins(function)
        self.arrays = "lazy" if mode == "fast" else "np"
        self.active = ""  # the variable that says which programs take part, if not all do

    def varies(self, value: Value) -> bool:
        """Whether a value differs from program to program."""
        return PROGRAM in self.axes[value]

    def text(self, value: Value) -> str:
        """A value in an expression: a pointer is an offset from the argument that it leads into."""
        return ZERO if self.origins.get(value) is value else self.name(value)

    def shape(self, type: Type, axes: Axes) -> str:
        """The shape of the array that holds a value of `type` which varies along `axes`, as text: `(P, 64, 1)`."""
        if not axes:
            return "()"
        sizes = [str(size) if axis in axes else "1" for axis, size in enumerate(shape_of(type))]
        sizes = ["P", *sizes] if PROGRAM in axes else sizes
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"

    def spread(self, value: Value, axes: Axes) -> str:
        """A value in an array that varies along `axes`, which are its own or more."""
        return self.repeated(self.text(value), value.type, self.axes[value], axes)

    def repeated(self, text: str, type: Type, axes: Axes, more: Axes) -> str:
        """What varies along `axes`, repeated along `more`."""
        return text if axes == more else f"{self.arrays}.broadcast_to({text}, {self.shape(type, more)})"

    def full(self, value: Value, program: bool | None = None) -> str:
        """A value with all of its elements; with an axis for programs if it has one, or as `program` says."""
        dimensions = frozenset(range(len(shape_of(value.type))))
        program = self.varies(value) if program is None else program
        return self.spread(value, dimensions | ({PROGRAM} if program else frozenset()))

    def lifted(self, text: str, axes: Axes, rank: int) -> str:
        """A scalar, for use beside tensors of this rank."""
        if PROGRAM not in axes:
            return text
        return f"np.expand_dims({text}, {tuple(range(1, rank + 1))})" if rank else text

    def dtype(self, value: Value) -> str:
        """The NumPy dtype of its elements."""
        return dtype_of(value.type)


def is_pointer(value: Value) -> bool:
    """Whether it is a pointer or a tensor of pointers."""
    return isinstance(element_type(value.type), PointerType)
