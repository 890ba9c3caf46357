"""Instructions of one thread as data: virtual registers, operands, guards.

An instruction's opcode is PTX's, such as `add.s32`. Its result's kind follows from the opcode. The printer in `ptx.py`
turns instructions into text; nothing reads text back.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

from mini_triton.errors import CompilationError, Loc
from mini_triton.ir.core import Operation
from mini_triton.ir.types import FloatType, PointerType, Type, element_type


class Register(NamedTuple):
    """A virtual register: kind "pred", "b16", "b32" or "b64", and a number."""

    kind: str
    number: int


class Address(NamedTuple):
    """A place in memory: a register and a constant number of bytes."""

    base: Register
    offset: int = 0


class Room(NamedTuple):
    """The bytes of shared memory that an instruction accesses.

    Instructions with the same `group` access different bytes, or the same bytes in the same thread.
    """

    start: int
    stop: int
    writes: bool
    group: int


Vector = tuple[Register, ...]
Operand = Register | Address | int | str | Vector
"""A string is a special register, a label, a symbol, or a float's bits; a tuple is a vector of registers."""


@dataclass(slots=True)
class Instruction:
    """One instruction; "label" marks a place in the code. With a `guard`, only threads in which it is true run it."""

    opcode: str
    results: tuple[Register, ...] = ()
    operands: tuple[Operand, ...] = ()
    guard: Register | None = None
    negated: bool = False  # run it where the guard is false
    place: Loc | None = None
    room: Room | None = None

    @property
    def has_effect(self) -> bool:
        """Whether it does more than compute its results."""
        return not self.results or self.opcode.startswith(("atom", "shfl")) or "volatile" in self.opcode

    @property
    def reads(self) -> list[Register]:
        """The registers that it reads."""
        found = [self.guard] if self.guard else []
        for operand in self.operands:
            if isinstance(operand, Register):
                found.append(operand)
            elif isinstance(operand, Address):
                found.append(operand.base)
            elif not isinstance(operand, int | str):
                found.extend(operand)
        return found


class Unsupported(CompilationError):
    """An operation that this back end does not compile."""

    def __init__(self, operation: Operation, why: str = "") -> None:
        what = f"{operation.name} {why}".rstrip()
        super().__init__(f"the back end ptx does not compile {what}", operation.loc)


KINDS = {1: "pred", 8: "b16", 16: "b16", 32: "b32", 64: "b64"}


def width_of(type: Type) -> int:
    """The bits of an element."""
    element = element_type(type)
    return 64 if isinstance(element, PointerType) else element.width


def kind_of(type: Type) -> str:
    """The kind of a register for an element. An 8-bit element uses the lower half; the upper half is undefined."""
    return KINDS[width_of(type)]


def size_of(type: Type) -> int:
    """The bytes of an element in memory."""
    return max(1, width_of(type) // 8)


def is_float(type: Type) -> bool:
    return isinstance(element_type(type), FloatType)


@functools.cache
def result_kind(opcode: str) -> str:
    """The kind of an opcode's result: of the last type in it, except where two types differ."""
    name, *parts = opcode.split(".")
    if name in ("setp", "testp"):
        return "pred"
    type = parts[-2] if name == "cvt" else parts[-1]
    if type == "pred":
        return type
    bits = 16 if type in ("e4m3x2", "e5m2x2") else 32 if type == "f16x2" else int("".join(filter(str.isdigit, type)))
    return KINDS[2 * bits if "wide" in parts else bits]
