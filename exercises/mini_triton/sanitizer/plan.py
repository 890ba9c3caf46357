"""A kernel, prepared for being run many times: what computes each operation, and which results are offsets. (Given.)"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from mini_triton.codegen.axes import flow
from mini_triton.codegen.combining import UFUNCS
from mini_triton.codegen.library import combine
from mini_triton.codegen.pointers import Origins, origins
from mini_triton.ir.core import Block, Operation, OpResult, Value
from mini_triton.ir.interpreter import PURE, TERMINATORS, compile_expression
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import dtype_text, numpy_dtype

ACCESSES = ("tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas")
ARITHMETIC = {"arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.shli": np.left_shift}
"""What may wrap around."""
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
"""Operations whose results are wrong offsets if the operands have wrapped around. Others, such as the remainder without
a sign, are what hash functions use: there integers are meant to wrap around."""


class Step:
    """An operation, and the function that computes it; None if a method of a program does.

    `wide` is the ufunc that computes an offset of less than 64 bits exactly, in 64 bits; None for all else.
    """

    def __init__(self, operation: Operation, offsets: Collection[Value]) -> None:
        self.operation = operation
        self.name = operation.name
        self.operands: Sequence[Value] = operation.operands
        self.results: Sequence[Value] = operation.results
        self.divides = operation.name in DIVISIONS
        narrow = any(result in offsets and numpy_dtype(result.type).itemsize < 8 for result in operation.results)
        self.wide = ARITHMETIC.get(operation.name) if narrow else None
        self.place = f"{operation.loc.file}:{operation.loc.line}" if operation.loc else ""
        self.function = function_of(operation)

    @cached_property
    def constant(self) -> Any:
        """The result of an operation without operands."""
        assert self.function is not None
        (result,) = self.function()
        return result

    @cached_property
    def combination(self) -> np.ufunc | None:
        """The ufunc that the region of a reduction is, if it is one."""
        block = self.operation.regions[0].block
        first = block.operations[0]
        if len(block.operations) == 2 and first.name in UFUNCS and set(first.operands) == set(block.arguments):
            ufunc: np.ufunc = getattr(np, UFUNCS[first.name].removeprefix("np."))
            return ufunc
        return None


def function_of(operation: Operation) -> Callable[..., Sequence[Any]] | None:
    """What computes the results from the operands; None if they depend on more."""
    text = meaning(operation)
    if text is not None:
        attributes = tuple(operation.attributes.items())
        compute = compile_expression(text, len(operation.operands), dtype_text(operation.result.type), attributes)
        return lambda *operands: (compute(*operands),)
    if operation.name == "tt.dot":
        return lambda a, b, c: (combine.dot(a, b, c),)
    return partial(PURE[operation.name], operation) if operation.name in PURE else None


class Plan:
    """A kernel: its steps by blocks, and the argument that each pointer leads into."""

    def __init__(self, function: Operation) -> None:
        self.name = str(function.attributes["sym_name"])
        self.block: Block = function.regions[0].block
        self.leads: Origins = origins(function)
        offsets = offsets_of(function)
        self.steps: Mapping[Block, list[Step]] = {
            block: [Step(operation, offsets) for operation in block.operations if operation.name not in TERMINATORS]
            for operation in (function, *function.walk())
            for region in operation.regions
            for block in region.blocks
        }


@lru_cache(256)
def plan_of(ttir: str) -> Plan:
    """The plan for the kernel in a module's text."""
    (function,) = parse_module(ttir).body.operations
    return Plan(function)


def offsets_of(function: Operation) -> set[Value]:
    """The integers that pointers are made of."""
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
