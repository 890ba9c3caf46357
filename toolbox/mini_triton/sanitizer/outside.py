"""Explain an out-of-bounds access: the mask that allows it, and whether the loaded value matters. (Given.)

    `t > 0` allows t up to 127; the mask does not use seqlen, which is 100
    the value matters: it is stored to out[100] at kernels.py:9

The program that made the access runs again, with exact checks, on copies of the memory that it writes. If it does not
make the same access, because other programs have changed what it reads, there is no explanation.
"""

from __future__ import annotations

import ast
import linecache
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from mini_triton.analysis.flow import reached
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.definition import operand_of, traits
from mini_triton.ir.storage import Buffer, OutOfBounds
from mini_triton.sanitizer.facts import KernelFacts, place
from mini_triton.sanitizer.launch import as_declared
from mini_triton.sanitizer.memory import Memory
from mini_triton.sanitizer.program import Launch, OutOfBudget, TracedProgram
from mini_triton.sanitizer.reports import Ids
from mini_triton.sanitizer.shadows import Traced

OPERATIONS = 20_000
"""An explanation may take so many operations: less than a second for tiles of usual sizes."""
SHOWN = 3
"""The most parts of a mask that an explanation names."""
NOUNS = {"tt.load": "load", "tt.store": "store"}
COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


def explain(facts: KernelFacts, grid: Ids, arguments: Sequence[Any], error: OutOfBounds) -> list[str]:
    """Sentences about an access that a launch with these buffers and numbers made; the list may be empty."""
    if (
        facts.waiting
        or error.program is None
        or any(operation.name == "tt.print" for operation in facts.function.walk())
    ):
        return []
    found: list[tuple[Operation, list[str]]] = []

    def note(program: TracedProgram, operation: Operation, now: OutOfBounds, lanes: int) -> bool:
        same = (now.buffer.name, now.element, place(operation)) == (error.buffer.name, error.element, error.place)
        if same and not found:
            found.append((operation, explain_mask(program, operation, now)))
        return bool(found) and operation is found[0][0]

    given = dict(zip(facts.block.arguments, arguments, strict=True))
    given = {key: as_declared(key.type, own(value, key.name in facts.stored)) for key, value in given.items()}
    buffers: dict[Value, Buffer] = {key: value for key, value in given.items() if isinstance(value, Buffer)}
    memory = Memory(list(buffers.values()), frozenset())
    launch = Launch(facts, grid, buffers, memory, memory.kinds, budget=OPERATIONS, on_outside=note)
    x, y, z = error.program
    program = TracedProgram(launch, x + grid[0] * (y + grid[1] * z))
    is_complete = True
    try:
        with np.errstate(all="ignore"):
            values = (value.address(0) if isinstance(value, Buffer) else value for value in given.values())
            program.run(facts.block, *map(Traced, values))
    except (OutOfBounds, OutOfBudget):
        is_complete = False
    if not found:
        return []
    ((operation, sentences),) = found
    uses = [report for (_, origin, *_), report in launch.found.items() if origin is operation]
    if uses:
        sentences.append(f"the value matters: {uses[0].use}, at {uses[0].used_at}")
    elif operation.name == "tt.load" and is_complete:
        sentences.append("the value does not matter: it reaches no store of this program")
    return sentences


def own(value: Any, is_stored: bool) -> Any:
    """An argument; a copy if it is memory that the kernel writes."""
    return replace(value, data=value.data.copy()) if is_stored and isinstance(value, Buffer) else value


def explain_mask(program: TracedProgram, operation: Operation, error: OutOfBounds) -> list[str]:
    """A sentence about the mask that allows an access, or none if the source does not show the mask's comparisons."""
    if "mask" not in traits(operation).schema.operands:
        return []
    mask = operand_of(operation, "mask")
    if mask is None or all(part.name == "arith.constant" for part in parts_of(mask)):
        return [f"the {NOUNS.get(operation.name, 'atomic operation')} has no mask"]
    parts = [text for part in parts_of(mask) if (text := describe(program, part, error.element < 0))]
    if not parts:
        return []
    unused = unused_size(program, mask, error)
    return ["; ".join([*parts[:SHOWN], *([f"the mask does not use {unused}"] if unused else [])])]


def parts_of(mask: Value) -> Iterator[Operation]:
    """The operations whose results all have to be true."""
    if isinstance(mask, OpResult):
        if mask.owner.name == "arith.andi" or (traits(mask.owner).moves and len(mask.owner.operands) == 1):
            for operand in mask.owner.operands:
                yield from parts_of(operand)
        else:
            yield mask.owner


def describe(program: TracedProgram, part: Operation, is_low: bool) -> str:
    """What a comparison of a mask allows: "`at < n` allows at up to 31; n is 32"; "" if the source does not show it."""
    compared = comparison_at(part)
    if compared is None:
        return ""
    text, sides = compared
    holds, facts = np.asarray(program.values[part.result].value), []
    for side, operand in zip(sides, part.operands, strict=True):
        value = np.broadcast_to(program.values[operand].value, holds.shape)[holds]
        if not value.size or not any(isinstance(node, ast.Name) for node in ast.walk(side)):
            continue
        low, high, name = value.min(), value.max(), ast.unparse(side)
        if low == high:
            facts.append(f"{name} is {low}")
        else:
            here = " in this program" if math.prod(program.launch.grid) > 1 else ""
            facts.insert(0, f"allows {name} {f'down to {low}' if is_low else f'up to {high}'}{here}")
    if not facts or not facts[0].startswith("allows"):
        facts = [f"is true: {', '.join(facts)}"] if facts else ["is true"]
    return f"`{text}` {'; '.join(facts)}"


def comparison_at(part: Operation) -> tuple[str, list[ast.expr]] | None:
    """The source of a comparison, and its two sides; None if the operation is not the one that the source shows."""
    if part.name not in ("arith.cmpi", "arith.cmpf") or not part.loc:
        return None
    node = comparisons("".join(linecache.getlines(part.loc.file))).get((part.loc.line, part.loc.column))
    if node is None or len(node.ops) != 1:
        return None
    predicate = COMPARISONS.get(type(node.ops[0]), "-")
    is_same = str(part.attributes["predicate"]).endswith(predicate)
    return (ast.unparse(node), [node.left, *node.comparators]) if is_same else None


@lru_cache(16)
def comparisons(source: str) -> dict[tuple[int, int], ast.Compare]:
    """The comparisons in a file's text, by line and column."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return {}
    return {(node.lineno, node.col_offset): node for node in ast.walk(tree) if isinstance(node, ast.Compare)}


def unused_size(program: TracedProgram, mask: Value, error: OutOfBounds) -> str:
    """The only number among the arguments that is a size of the accessed array and that the mask does not depend on."""
    shape, arguments = error.buffer.shape or (), program.launch.facts.block.arguments
    numbers = {
        a: int(program.values[a].value) for a in arguments if np.asarray(program.values[a].value).dtype.kind == "i"
    }
    sizes = {*shape, math.prod(shape)} - {0, 1}
    equal = [a for a, number in numbers.items() if number in sizes and a not in program.launch.buffers]
    needed = reached([mask])
    if any(value not in arguments and (not isinstance(value, OpResult) or value.owner.regions) for value in needed):
        return ""  # control flow may depend on anything
    names = [f"{a.name}, which is {numbers[a]}" for a in equal if a not in needed]
    return names[0] if len(names) == len(equal) == 1 else ""
