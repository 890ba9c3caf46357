"""One operation after the other becomes a line of source."""

from __future__ import annotations

import collections
import re

from mini_triton.codegen.axes import NONE
from mini_triton.codegen.expressions import dtype_of, expression
from mini_triton.codegen.values import Values
from mini_triton.ir.core import Block, Operation, OpResult, Value
from mini_triton.ir.ops.definition import definition

TERMINATORS = ("scf.yield", "scf.condition", "tt.return", "tt.reduce.return", "tt.scan.return")
REPEATING = (
    "tt.reduce",
    "tt.scan",
    "scf.for",
    "scf.while",
    "scf.if",
    "tt.split",
    "tt.reshape",
    "tt.unsplat",
    *TERMINATORS,
)
"""Operations that may write the text of an operand more than once, or later."""


class Emission(Values):
    """Writes straight-line code. A method `tt_load` writes the operation `tt.load`; subclasses have them."""

    def block(self, block: Block) -> None:
        """All operations of a block but its terminator, each under a comment with the line it comes from."""

        def write(operation: Operation) -> None:
            self.operation_now = operation
            self.comment(operation.loc)
            self.operation(operation)

        before = self.operation_now
        collections.deque(map(write, (o for o in block.operations if o.name not in TERMINATORS)), maxlen=0)
        self.operation_now = before

    def operation(self, operation: Operation) -> None:
        """One operation: by the method that has its name, or else as an expression.

        Raises `NotImplementedError` for an operation that there is neither for.
        """
        method = getattr(self, operation.name.replace(".", "_"), None)

        def elementwise(operation: Operation) -> None:
            text = expression(operation, [self.text(operand) for operand in operation.operands])
            if not text:
                raise NotImplementedError(f"no NumPy code for {operation.name}")
            self.assign(operation.results[0], text)

        (method or elementwise)(operation)

    def assign(self, value: Value, text: str) -> None:
        """Give a value a variable; or put its text where it is used, if that is once and near, and it has no name."""
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
        return user.parent is value.owner.parent and user.name not in REPEATING

    # --- what needs no operands

    def arith_constant(self, operation: Operation) -> None:
        value, dtype = operation.attributes["value"], dtype_of(operation.result.type)
        finite = not isinstance(value, float) or abs(value) < float("inf")
        self.constant(operation.result, f"{dtype}({value})" if finite else f'{dtype}("{value}")')

    def ub_poison(self, operation: Operation) -> None:
        """Any value will do."""
        self.constant(operation.result, f"{dtype_of(operation.result.type)}(0)")

    def constant(self, value: Value, text: str) -> None:
        """A number, or a tensor of it."""
        self.assign(value, self.repeated(text, value.type, NONE, self.axes[value]))

    def tt_get_program_id(self, operation: Operation) -> None:
        self.assign(operation.result, f"programs.id({'xyz'.index(str(operation.attributes['axis']))})")

    def tt_get_num_programs(self, operation: Operation) -> None:
        self.assign(operation.result, f"programs.count({'xyz'.index(str(operation.attributes['axis']))})")

    def tt_make_range(self, operation: Operation) -> None:
        bounds = f"{operation.attributes['start']}, {operation.attributes['end']}"
        lazy, stored = f"lazy.arange({bounds})", f"np.arange({bounds}, dtype=np.int32)"
        self.assign(operation.result, lazy if self.mode == "fast" else stored)

    # --- what the NumPy back end leaves out

    def tt_assert(self, operation: Operation) -> None:
        """Device assertions are off unless one debugs."""

    def llvm_intr_assume(self, operation: Operation) -> None:
        """A promise computes nothing."""

    def gpu_barrier(self, operation: Operation) -> None:
        """Each line is finished for all threads of a program before the next one begins."""
