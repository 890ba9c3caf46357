"""From IR to the source of a Python function that runs many programs at once.

    def vector_add(programs, x, y, out, n): ...

`programs` are those to run; a pointer is a `Buffer`, any other argument a NumPy scalar. Every value of the kernel
becomes a variable of the same name. If it differs from program to program, it has a leading axis, a place for each.
"""

from __future__ import annotations

from mini_triton.codegen.combining import Combining
from mini_triton.codegen.control_flow import ControlFlow
from mini_triton.codegen.printing import Printing
from mini_triton.codegen.shapes import Shapes
from mini_triton.formats import FORMATS
from mini_triton.ir.core import Operation

HEADER = f"""\
import itertools

import numpy as np
from ml_dtypes import {", ".join(row.array for row in FORMATS if not row.native)}

from mini_triton.codegen.library import addresses, atomics, combine, exact, lazy, loops, memory, printing


"""


class NumpyGenerator(Shapes, Combining, ControlFlow, Printing):
    """Writes the function for a kernel. If the mode is "plain", the function runs one program."""

    def source(self) -> str:
        """The whole source text. The function is the last one in it."""
        block = self.function.regions[0].block
        name = self.fresh(str(self.function.attributes["sym_name"]))
        parameters = ", ".join(["programs", *map(self.name, block.arguments)])
        self.write("P = len(programs)")
        self.block(block)
        return HEADER + "\n".join([f"def {name}({parameters}):", *self.lines]) + "\n"

    def line_table(self) -> dict[int, Operation]:
        """The operation that each line of the source is for; lines count from 1."""
        first = HEADER.count("\n") + 2
        return {first + i: operation for i, operation in enumerate(self.operations) if operation}
