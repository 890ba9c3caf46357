"""What the variables of generated code hold."""

from __future__ import annotations

from mini_triton.codegen.axes import PROGRAM, Axes, varying_axes
from mini_triton.codegen.expressions import dtype_of
from mini_triton.codegen.pointers import origins
from mini_triton.codegen.writer import Writer
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import PointerType, Type, element_type, shape_of


class Values(Writer):
    """Texts for values, in the shapes in which they are wanted. `axes` says along which axes each varies."""

    def __init__(self, function: Operation, batched: bool) -> None:
        super().__init__()
        self.function = function
        self.axes = varying_axes(function, batched)
        self.origins = origins(function)
        self.active = ""  # the variable that says which programs take part, if not all do

    def varies(self, value: Value) -> bool:
        """Whether a value differs from program to program."""
        return PROGRAM in self.axes[value]

    def text(self, value: Value) -> str:
        """A value in an expression: a pointer is an offset from the argument that it leads into."""
        return "np.int64(0)" if self.origins.get(value) is value else self.name(value)

    def shape(self, type: Type, axes: Axes) -> str:
        """The shape of the array that holds a value of `type` which varies along `axes`."""
        # [task 6.3] Text: `(P, 64, 1)` for a 64x32 tensor that varies along its first axis and from program to program.
        # A value that varies along no axis is a scalar, `()`. A tuple with one element needs its comma.
        if not axes:
            return "()"
        sizes = [str(size) if axis in axes else "1" for axis, size in enumerate(shape_of(type))]
        sizes = ["P", *sizes] if PROGRAM in axes else sizes
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
        # [end]

    def spread(self, value: Value, axes: Axes) -> str:
        """A value in an array that varies along `axes`, which are more than its own."""
        if self.axes[value] == axes:
            return self.text(value)
        return f"lazy.broadcast_to({self.text(value)}, {self.shape(value.type, axes)})"

    def full(self, value: Value, program: bool | None = None) -> str:
        """A value with all of its elements; with an axis for programs if it has one, or as `program` says."""
        dimensions = frozenset(range(len(shape_of(value.type))))
        program = self.varies(value) if program is None else program
        return self.spread(value, dimensions | ({PROGRAM} if program else frozenset()))

    def lifted(self, text: str, axes: Axes, rank: int) -> str:
        """A scalar, for use beside tensors of this rank."""
        # [task 6.3] One number for each program must be laid along the first of `rank + 1` axes: `pid[:, None]`. One number
        # for all programs needs nothing.
        return f"{text}[:{', None' * rank}]" if PROGRAM in axes and rank else text
        # [end]

    def dtype(self, value: Value) -> str:
        """The NumPy dtype of its elements."""
        return dtype_of(value.type)


def is_pointer(value: Value) -> bool:
    """Whether it is a pointer or a tensor of pointers."""
    return isinstance(element_type(value.type), PointerType)
