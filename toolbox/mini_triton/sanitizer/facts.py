"""Facts about a kernel before it runs: which arguments it reads and writes, and which results are offsets. (Given.)"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from mini_triton.analysis.flow import reached, sources_of
from mini_triton.analysis.pointers import Origins, needed, origins, stored_to, waiting_loops
from mini_triton.ir.core import Block, Module, Operation, OpResult, Value
from mini_triton.ir.ops.definition import definitions, traits
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import numpy_dtype
from mini_triton.transforms.manager import without_descriptors

ARITHMETIC = {"arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.shli": np.left_shift}
"""Operations that may wrap around."""
DIVISIONS = tuple(name for name, declared in definitions().items() if declared.divides)
OFFSETS = (
    *(name for name, declared in definitions().items() if declared.moves),
    *(*ARITHMETIC, "arith.extsi", "arith.select", "arith.minsi", "arith.maxsi", "tt.addptr", "tt.gather"),
    *("arith.divsi", "arith.remsi", "arith.ceildivsi", "arith.floordivsi", "tt.int_to_ptr", "tt.ptr_to_int"),
)
"""Operations whose results are wrong offsets if the operands have wrapped around.

Other operations, such as the unsigned remainder, are typical of hash functions, in which integers are meant to
wrap around.
"""


class KernelFacts:
    """A kernel, the argument that each pointer leads into, and the arguments that are accessed."""

    def __init__(self, module: Module) -> None:
        self.module = module
        (function,) = module.body.operations
        self.function = function
        self.name = str(function.attributes["sym_name"])
        self.block: Block = function.regions[0].block
        self.leads: Origins = origins(function)
        accesses = [operation for operation in function.walk() if traits(operation).accesses]
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
def facts_of(ttir: str) -> KernelFacts:
    """The facts about the kernel in a module's text."""
    return KernelFacts(without_descriptors(parse_module(ttir)))


def offsets_of(function: Operation) -> set[Value]:
    """The values from which the addresses of accesses are computed."""

    def sources(value: Value) -> Sequence[Value]:
        if not isinstance(value, OpResult) or traits(value.owner).flow:
            return sources_of(value)
        if value.owner.name not in OFFSETS:
            return ()
        return value.owner.operands[value.owner.name == "arith.select" :]

    return reached((o.operands[0] for o in function.walk() if traits(o).accesses), sources)
