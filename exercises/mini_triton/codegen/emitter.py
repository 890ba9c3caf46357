"""Turns operations into lines of Python one by one, and tracks the representation of each value.

`axes.py` finds the axes along which a value varies. The value's array has full size along these axes, size 1 along all
other axes, and a leading program axis if the value varies between programs. NumPy broadcasts such arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

from mini_triton.analysis.axes import ALL_PROGRAMS, NONE, PROGRAM, Axes, Varying
from mini_triton.analysis.pointers import Origins, waiting_loops
from mini_triton.codegen.writer import Writer
from mini_triton.ir.core import Block, Operation, OpResult, Value
from mini_triton.ir.interpreter import TERMINATORS
from mini_triton.ir.ops.definition import traits
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.storage import dtype_text
from mini_triton.ir.types import Type, shape_of

ZERO = "np.int64(0)"
"""The offset of a pointer argument from itself."""
Mode = Literal["batched", "fast"]
"""How positions and masks are represented: as arrays ("batched"), or as lazy descriptions of arrays ("fast")."""
Handler = Callable[["Emitter", Operation], None]
"""A function that writes the lines of one operation."""
REPEATING = ("tt.split", "tt.reshape", "tt.unsplat")
"""Operations without regions whose handlers may write an operand's source more than once, or after other lines."""


class Emitter(Writer):
    """Writes the body of the generated function. `handlers` maps names of operations to handlers."""

    def __init__(self, function: Operation, mode: Mode, leads: Origins, handlers: Mapping[str, Handler]) -> None:
        super().__init__()
        self.handlers = handlers
        self.axes = Varying(function).axes
        self.origins = leads
        self.arrays = "lazy" if mode == "fast" else "np"
        self.waiting = waiting_loops(function, leads) if mode == "fast" else []
        self.active = ""  # the variable that holds the mask of active programs; empty if all are active

    # --- operations

    def block(self, block: Block) -> None:
        """Write all operations of a block except its terminator, each below a comment with its source line."""
        before = self.operation_now
        for operation in block.operations:
            if operation.name not in TERMINATORS:
                self.operation_now = operation
                self.comment(operation.loc)
                self.operation(operation)
        self.operation_now = before

    def operation(self, operation: Operation) -> None:
        """Write one operation: with its handler if it has one, otherwise as an assignment of an expression.

        Raises `NotImplementedError`, with the operation's name, if the operation has neither a handler nor a meaning.
        """
        # Task 6.5: `self.handlers` maps an operation's name to its handler, which takes the emitter and the operation.
        raise NotImplementedError("Task 6.5: Straight-line code")

    def expression(self, operation: Operation, template: str) -> str:
        """The source of an elementwise operation: `x + y` for the template `{0} + {1}`. (Given.)

        A template also names `{operands}`, separated by commas, the result's `{dtype}`, and attributes: `{rounding}`.
        """
        texts = [self.text(operand) for operand in operation.operands]
        words = {"rounding": "", **operation.attributes, "operands": ", ".join(texts)}
        return template.format(*texts, dtype=dtype_text(operation.result.type), **words)

    def assign(self, value: Value, text: str) -> None:
        """Make `text` the source of `value`.

        Writes the line `x = text` only if `text` is not a name, a number or a program's id, and if the value has a name
        or several uses. In all other cases, `self.text(value)` returns `text` itself, and no line is written.
        """
        if re.fullmatch(r"[\w.]+(\((\d*|True|False)\))?", text):  # a variable, a number, the program's id
            self.names[value] = text
        elif self.is_used_here_once(value):
            self.names[value] = f"({text})"
        else:
            self.write(f"{self.name(value)} = {text}")

    def is_used_here_once(self, value: Value) -> bool:
        """Whether a value has no name and only one use, to which its source may move."""
        assert isinstance(value, OpResult)
        if value.name or len(value.uses) != 1 or not traits(value.owner).pure:
            return False
        user = value.uses[0].user
        return user.parent is value.owner.parent and not user.regions and user.name not in (*REPEATING, *TERMINATORS)

    # --- values

    def varies(self, value: Value) -> bool:
        """Whether a value differs from program to program."""
        return PROGRAM in self.axes[value]

    def text(self, value: Value) -> str:
        """The source of a value in an expression. A pointer is an offset from its argument."""
        return ZERO if self.origins.get(value) is value else self.name(value)

    def shape(self, type: Type, axes: Axes) -> str:
        """The source of the shape of the array for a value of `type` that varies along `axes`: `(P, 64, 1)`."""
        if not axes:
            return "()"
        sizes = [str(size) if axis in axes else "1" for axis, size in enumerate(shape_of(type))]
        sizes = ["P", *sizes] if PROGRAM in axes else sizes
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"

    def spread(self, value: Value, axes: Axes) -> str:
        """The source of a value, repeated so that it varies along `axes`, which include the axes of the value."""
        return self.repeat(self.text(value), value.type, self.axes[value], axes)

    def repeat(self, text: str, type: Type, axes: Axes, more: Axes) -> str:
        """The source of an array that varies along `axes`, repeated so that it varies along `more`."""
        return text if axes == more else f"{self.arrays}.broadcast_to({text}, {self.shape(type, more)})"

    def full(self, value: Value, program: bool | None = None) -> str:
        """The source of a value with all its elements.

        It has a program axis if `program` is true; by default, if the value varies between programs.
        """
        dimensions = frozenset(range(len(shape_of(value.type))))
        program = self.varies(value) if program is None else program
        return self.spread(value, dimensions | (ALL_PROGRAMS if program else NONE))

    def lift(self, text: str, axes: Axes, rank: int) -> str:
        """The source of a scalar `text`, which varies along `axes`, in an expression with tensors of rank `rank`."""
        # Task 6.5: NumPy must pair the program axis of `text`, if there is one, with the program axes of the tensors,
        # and with no other axis. Return `text` itself if nothing needs to change.
        raise NotImplementedError("Task 6.5: Straight-line code")
