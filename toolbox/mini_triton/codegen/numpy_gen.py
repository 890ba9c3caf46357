"""From IR to the source of a Python function that runs many programs at once.

    def vector_add(programs, x, y, out, n): ...

`programs` are the programs to run. A pointer is a `Buffer`, and any other argument is a NumPy scalar. Values of the
kernel become variables, if possible with the same names. An array has a leading program axis if its value varies
between programs.
"""

from __future__ import annotations

from collections.abc import Mapping

from mini_triton.analysis.pointers import Origins
from mini_triton.codegen import accesses, combining, control_flow, straight_line
from mini_triton.codegen.emitter import Emitter, Handler, Mode
from mini_triton.formats import FORMATS
from mini_triton.ir.core import Operation

HEADER = f"""\
import itertools

import numpy as np
from ml_dtypes import {", ".join(row.array for row in FORMATS if not row.native)}

from mini_triton import exact
from mini_triton.codegen.library import addresses, atomics, combine, lazy, memory


"""
HANDLERS: dict[str, Handler] = {
    "arith.constant": straight_line.constant,
    "ub.poison": straight_line.poison,
    "tt.get_program_id": straight_line.program_id,
    "tt.get_num_programs": straight_line.num_programs,
    "tt.make_range": straight_line.make_range,
    "tt.splat": straight_line.splat,
    "tt.unsplat": straight_line.unsplat,
    "tt.broadcast": straight_line.broadcast,
    "tt.expand_dims": straight_line.expand_dims,
    "tt.trans": straight_line.trans,
    "tt.reshape": straight_line.reshape,
    "tt.join": straight_line.join,
    "tt.cat": straight_line.cat,
    "tt.split": straight_line.split,
    "tt.gather": straight_line.gather,
    "tt.print": straight_line.print_values,
    "tt.assert": straight_line.assert_true,
    "llvm.intr.assume": straight_line.leave_out,
    "gpu.barrier": straight_line.leave_out,
    "tt.addptr": accesses.addptr,
    "tt.int_to_ptr": accesses.int_to_ptr,
    "tt.ptr_to_int": accesses.ptr_to_int,
    "tt.bitcast": accesses.bitcast,
    "arith.select": accesses.select,
    "tt.load": accesses.load,
    "tt.store": accesses.store,
    "tt.atomic_rmw": accesses.atomic_rmw,
    "tt.atomic_cas": accesses.atomic_cas,
    "tt.dot": combining.dot,
    "tt.elementwise_inline_asm": straight_line.refuse,
    "tt.dot_scaled": combining.dot_scaled,
    "tt.histogram": combining.histogram,
    "tt.reduce": combining.reduce,
    "tt.scan": combining.scan,
    "scf.if": control_flow.if_,
    "scf.for": control_flow.for_,
    "scf.while": control_flow.while_,
}
"""The handlers of operations. Any operation without a handler becomes the expression in its `meaning`."""


def generate(
    function: Operation, mode: Mode, leads: Origins, handlers: Mapping[str, Handler] = HANDLERS
) -> tuple[str, dict[int, Operation]]:
    """The source of a kernel, and the operation behind each line, by line number from 1.

    `leads` maps each pointer to its argument.
    """
    emit = Emitter(function, mode, leads, handlers)
    block = function.regions[0].block
    name = emit.fresh(str(function.attributes["sym_name"]))
    parameters = ", ".join(["programs", *map(emit.name, block.arguments)])
    emit.write("P = len(programs)")
    emit.block(block)
    first = HEADER.count("\n") + 2
    lines = {first + i: operation for i, operation in enumerate(emit.operations) if operation}
    return HEADER + "\n".join([f"def {name}({parameters}):", *emit.lines]) + "\n", lines
