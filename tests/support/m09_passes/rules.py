"""Rules of arithmetic, put to the test: a module that the rule fits, and numbers to run it on.

found = instance(rule("arith.addi(x, 0)", "x"), random.Random(1))     # (module, arguments), or None
"""

from __future__ import annotations

import random
from typing import Any

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Module, Region, Value
from mini_triton.ir.interpreter import Program
from mini_triton.ir.ops.definition import create
from mini_triton.ir.storage import numpy_dtype
from mini_triton.ir.types import F16, F32, F64, I1, I8, I32, I64, FloatType, FunctionType, IntegerType, Type
from mini_triton.transforms.rewriting import Pattern, Rule, parse

FLOATS = (F16, F32, F64)
INTEGERS = (I1, I8, I32, I64)
SPECIAL = (0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), 2.5, 1e-7, 6e4, 2.0**-24)
WIDENING = ("arith.extsi", "arith.extui", "arith.extf")
NARROWING = ("arith.trunci", "arith.truncf")


class Maker:
    """Builds what a pattern describes, with operands of one random type, or of several below casts."""

    def __init__(self, draw: random.Random, types: tuple[Type, ...]) -> None:
        self.draw = draw
        self.types = types
        self.type = draw.choice(types)
        self.block = Block()
        self.builder = Builder()
        self.values: dict[str, Value] = {}

    def make(self, pattern: Any, type: Type) -> Value:
        """The value of this type that a pattern describes. Raises `ValueError` if it cannot have the type."""
        if isinstance(pattern, str):
            if pattern not in self.values:
                constant = pattern.isupper()
                self.values[pattern] = (
                    self.builder.constant(self.number(type), type) if constant else self.block.add_argument(type)
                )
            if self.values[pattern].type != type:
                raise ValueError(f"{pattern} cannot have two types")
            return self.values[pattern]
        if not isinstance(pattern, Pattern):
            return self.builder.constant(bool(pattern % 2) if type == I1 else pattern, type)
        operands = zip(pattern.operands, self.operand_types(pattern, type), strict=True)
        made = [self.make(*operand) for operand in operands]
        result = type if pattern.name in (*WIDENING, *NARROWING) else ()
        return self.builder.create(pattern.name, *made, result=result, **pattern.attributes)

    def operand_types(self, pattern: Pattern, type: Type) -> list[Type]:
        """The types of an operation's operands, if this is its result's."""
        if pattern.name in (*WIDENING, *NARROWING):
            assert isinstance(type, IntegerType | FloatType)
            wider = pattern.name in NARROWING
            fitting = [t for t in self.types if t != type and (t.width > type.width) == wider]  # type: ignore[union-attr]
            if not fitting:
                raise ValueError(f"there is nothing to make {type} of")
            return [self.draw.choice(fitting)]
        if pattern.name == "arith.cmpi":
            return [self.type] * 2
        if pattern.name == "arith.select":
            return [I1, type, type]
        return [type] * len(pattern.operands)

    def number(self, type: Type) -> Any:
        """A random number, often one at which things go wrong."""
        if isinstance(type, FloatType):
            return self.draw.choice(SPECIAL)
        assert isinstance(type, IntegerType)
        if type == I1:
            return self.draw.random() < 0.5
        least = -(2 ** (type.width - 1))
        return self.draw.choice([0, 1, -1, 2, 7, least, -least - 1, self.draw.randrange(least, -least)])


def instance(rule: Rule, draw: random.Random) -> tuple[Module, list[Any]] | None:
    """A module of one function that returns what the rule's pattern describes, and arguments for it."""
    pattern = parse(rule.name.partition(" -> ")[0])
    assert isinstance(pattern, Pattern)
    floats = any(word in rule.name for word in ("addf", "subf", "mulf", "divf", "negf", "extf", "truncf"))
    maker = Maker(draw, FLOATS if floats else INTEGERS)
    try:
        with maker.builder.at_end(maker.block):
            made = maker.make(pattern, I1 if pattern.name == "arith.cmpi" else maker.type)
            maker.builder.operation("tt.return", made)
    except ValueError:
        return None
    types = tuple(argument.type for argument in maker.block.arguments)
    type = FunctionType(types, (made.type,))
    function = create("tt.func", sym_name="rule", function_type=type, regions=[Region([maker.block])])
    return Module([function]), [numpy_dtype(type).type(maker.number(type)) for type in types]


def returned(module: Module, arguments: list[Any]) -> Any:
    """What the function of such a module returns."""
    (value,) = Program().run(module.body.operations[0].regions[0].block, *arguments)
    return value
