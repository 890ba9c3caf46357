"""Facts about a kernel before it runs: which arguments it reads and writes, and which results are offsets. (Given.)"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from mini_triton.codegen.axes import flow
from mini_triton.codegen.pointers import Origins, needed, origins, stored_to, waiting_loops
from mini_triton.ir.core import Block, Module, Operation, OpResult, Value
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import numpy_dtype, pointee

ACCESSES = ("tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas")
ARITHMETIC = {"arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.shli": np.left_shift}
"""Operations that may wrap around."""
DIVISIONS = tuple(f"arith.{name}" for name in "divsi divui remsi remui ceildivsi ceildivui floordivsi".split())
MOVES = (
    *("tt.splat", "tt.unsplat", "tt.broadcast", "tt.reshape", "tt.expand_dims", "tt.trans"),
    *("tt.join", "tt.split", "tt.cat"),
)
"""Operations whose results are elements of the operands."""
OFFSETS = (
    *(*ARITHMETIC, *MOVES, "arith.extsi", "arith.select", "arith.minsi", "arith.maxsi", "tt.addptr", "tt.gather"),
    *("arith.divsi", "arith.remsi", "arith.ceildivsi", "arith.floordivsi", "tt.int_to_ptr", "tt.ptr_to_int"),
)
"""Operations whose results are wrong offsets if the operands have wrapped around.

Other operations, such as the unsigned remainder, are typical of hash functions, in which integers are meant to
wrap around.
"""


class Plan:
    """A kernel, the argument that each pointer leads into, and the arguments that are accessed."""

    def __init__(self, module: Module) -> None:
        self.module = module
        (function,) = module.body.operations
        self.function = function
        self.name = str(function.attributes["sym_name"])
        self.block: Block = function.regions[0].block
        self.leads: Origins = origins(function)
        accesses = [operation for operation in function.walk() if operation.name in ACCESSES]
        self.stored = stored_to(function, self.leads)
        self.written = self.arguments(o for o in accesses if o.name == "tt.store")
        self.read = self.arguments(o for o in accesses if o.name != "tt.store")
        self.loaded = self.arguments(o for o in accesses if any(result.uses for result in o.results))
        self.offsets = frozenset(offsets_of(function))
        self.waiting = frozenset(waiting_loops(function, self.leads))
        # Loads that synchronize: volatile loads, and those that a loop waits for.
        polls = {operation for loop in self.waiting for operation in needed(loop) if operation.name == "tt.load"}
        self.polls = polls.union(o for o in accesses if o.attributes.get("isVolatile"))
        self.elsewhere = {operation.name for operation in accesses if self.leads_elsewhere(operation)}

    def exact(self, operation: Operation) -> np.ufunc | None:
        """The ufunc that computes an offset of less than 64 bits exactly, in 64 bits; None for all other operations."""
        narrow = operation.name in ARITHMETIC and numpy_dtype(operation.result.type).itemsize < 8
        return ARITHMETIC[operation.name] if narrow and operation.result in self.offsets else None

    def arguments(self, accesses: Iterable[Operation]) -> set[str]:
        """The names of arguments that are accessed."""
        return {argument.name for operation in accesses if (argument := self.leads[operation.operands[0]])}

    def leads_elsewhere(self, operation: Operation) -> bool:
        """Whether an access uses an address, or reads the argument's memory as elements of a different dtype."""
        pointer = operation.operands[0]
        argument = self.leads[pointer]
        return argument is None or numpy_dtype(pointee(pointer.type)) != numpy_dtype(pointee(argument.type))


def place(operation: Operation) -> str:
    """The line of the kernel that an operation comes from, "file:line"."""
    return f"{operation.loc.file}:{operation.loc.line}" if operation.loc else ""


@lru_cache(256)
def plan_of(ttir: str) -> Plan:
    """The plan for the kernel in a module's text."""
    return Plan(parse_module(ttir))


def offsets_of(function: Operation) -> set[Value]:
    """The values from which the addresses of accesses are computed."""
    sources: dict[Value, list[Value]] = {}
    left: list[Value] = []
    for operation in function.walk():
        if operation.name in ACCESSES:
            left.append(operation.operands[0])
        for value, values in flow(operation):
            sources.setdefault(value, []).extend(values)
    found: set[Value] = set()
    while left:
        value = left.pop()
        if value in found:
            continue
        found.add(value)
        left += sources.get(value, ())
        if isinstance(value, OpResult) and value.owner.name in OFFSETS:
            left += value.owner.operands[value.owner.name == "arith.select" :]
    return found
