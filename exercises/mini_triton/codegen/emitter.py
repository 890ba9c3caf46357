"""Turns operations into lines of Python, one after the other, and knows how the value of each variable is held.

`axes.py` says along which axes a value varies. Its variable holds an array with a size along these axes, 1 along the
others, and a leading axis for programs if it differs between them; NumPy's broadcasting does the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

from mini_triton.codegen.axes import ALL_PROGRAMS, NONE, PROGRAM, Axes, Varying
from mini_triton.codegen.pointers import Origins
from mini_triton.codegen.writer import Writer
from mini_triton.ir.core import Block, Operation, OpResult, Value
from mini_triton.ir.interpreter import TERMINATORS
from mini_triton.ir.ops.definition import definition
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.storage import dtype_text
from mini_triton.ir.types import PointerType, Type, element_type, shape_of

ZERO = "np.int64(0)"
"""The offset of a pointer argument from itself."""
Mode = Literal["batched", "fast"]
"""How positions and masks are held: as arrays, or as lazy descriptions of arrays."""
Handler = Callable[["Emitter", Operation], None]
"""Writes the lines of one operation."""
REPEATING = ("tt.reduce", "tt.scan", "scf.for", "scf.while", "scf.if", "tt.split", "tt.reshape", "tt.unsplat")
"""Operations whose handlers may write the text of an operand more than once, or later."""


class Emitter(Writer):
    """Writes the body of the generated function. `handlers` has a function for each operation that needs one."""

    def __init__(self, function: Operation, mode: Mode, leads: Origins, handlers: Mapping[str, Handler]) -> None:
        super().__init__()
        self.handlers = handlers
        self.axes = Varying(function).axes
        self.origins = leads
        self.arrays = "lazy" if mode == "fast" else "np"
        self.active = ""  # the variable with the mask of the programs that take part; empty if all of them do

    # --- operations

    def block(self, block: Block) -> None:
        """Write all operations of a block but its terminator, each under a comment with the line it comes from."""
        before = self.operation_now
        for operation in block.operations:
            if operation.name not in TERMINATORS:
                self.operation_now = operation
                self.comment(operation.loc)
                self.operation(operation)
        self.operation_now = before

    def operation(self, operation: Operation) -> None:
        """Write one operation: by its handler if it has one, else as an assignment of an expression.

        Raises `NotImplementedError`, which names the operation, if it has neither a handler nor a meaning.
        """
        # Task 6.5: `%z = arith.addf %x, %y` becomes `z = x + y`. Given: `self.handlers` (name to handler),
        # `meaning(operation)` (the template `{0} + {1}`, or None), `self.expression`, `self.assign`.
        raise NotImplementedError("Task 6.5: Straight-line code")

    def expression(self, operation: Operation, template: str) -> str:
        """The text of an elementwise operation: `x + y` for the template `{0} + {1}`."""
        texts = [self.text(operand) for operand in operation.operands]
        # Task 6.5: A template may have `{0}`, `{1}`, ... for an operand, `{operands}` for all with commas between
        # them, `{dtype}` for the result's `dtype_text`, and names of attributes, of which `rounding` may be absent:
        # then it is "". It is a format string of Python's `str.format`.
        raise NotImplementedError("Task 6.5: Straight-line code")

    def assign(self, value: Value, text: str) -> None:
        """Give a value a variable; or paste its text where it is used, if it is used once, nearby, and has no name."""
        if re.fullmatch(r"[\w.]+(\((\d*|True|False)\))?", text):  # a variable, a number, the program's id
            self.names[value] = text
        elif self.is_used_here_once(value):
            self.names[value] = f"({text})"
        else:
            self.write(f"{self.name(value)} = {text}")

    def is_used_here_once(self, value: Value) -> bool:
        """Whether the text of a nameless value may move to the only operation that uses it."""
        assert isinstance(value, OpResult)
        declared = definition(value.owner.name)
        if value.name or len(value.uses) != 1 or declared is None or not declared.pure:
            return False
        user = value.uses[0].user
        return user.parent is value.owner.parent and user.name not in (*REPEATING, *TERMINATORS)

    # --- values

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
        return self.repeat(self.text(value), value.type, self.axes[value], axes)

    def repeat(self, text: str, type: Type, axes: Axes, more: Axes) -> str:
        """The text of an array that varies along `axes`, repeated so that it varies along `more`."""
        return text if axes == more else f"{self.arrays}.broadcast_to({text}, {self.shape(type, more)})"

    def full(self, value: Value, program: bool | None = None) -> str:
        """A value with all of its elements; with an axis for programs if it has one, or as `program` says."""
        dimensions = frozenset(range(len(shape_of(value.type))))
        program = self.varies(value) if program is None else program
        return self.spread(value, dimensions | (ALL_PROGRAMS if program else NONE))

    def lift(self, text: str, axes: Axes, rank: int) -> str:
        """The text of a scalar for use beside tensors of this rank."""
        # Task 6.5: Beside a tensor of rank 1, `pid`, which holds one number for each program, is `pid[:, None]`; `n`,
        # which does not vary, is `n`.
        raise NotImplementedError("Task 6.5: Straight-line code")


def is_pointer(value: Value) -> bool:
    """Whether it is a pointer or a tensor of pointers."""
    return isinstance(element_type(value.type), PointerType)
