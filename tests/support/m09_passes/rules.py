"""Tests of rules: a function that a rule matches, and arguments with which to run it.

found = instance(rule("arith.addi(x, 0)", "x"), random.Random(1))     # (module, arguments), or None
before = outcome(*found)
"""

import functools
import math
import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from mini_triton.errors import VerificationError
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Module, Operation, Region, Value
from mini_triton.ir.interpreter import Program
from mini_triton.ir.ops.definition import create, definition
from mini_triton.ir.ops.elementwise import TABLE
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.storage import Buffer, OutOfBounds, numpy_dtype
from mini_triton.ir.types import (
    BF16,
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    FloatType,
    FunctionType,
    IntegerType,
    PointerType,
    Scalar,
    TensorType,
    Type,
    element_type,
    shape_of,
    with_element,
)
from mini_triton.transforms.rewriting import Match, Pattern, Rule, parse

FLOATS: tuple[Scalar, ...] = (F16, BF16, F32, F64)
INTEGERS: tuple[Scalar, ...] = (I1, I8, I16, I32, I64)
POINTERS: tuple[Scalar, ...] = (PointerType(F32), PointerType(I32), PointerType(I8))
ELEMENTS: tuple[Scalar, ...] = (*INTEGERS, *FLOATS, *POINTERS)
SHAPES = ((), (), (), (4,), (2, 4), (2, 2), (4, 1), (1, 4, 2), (2, 4, 2), (2, 2, 2), (1,))
TILE = (16, 16)
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 2.5, -0.3, 1e-7, 6e4, 2.0**-24)
TIES = {32: (2**30 + 2**22 + 1,), 64: (2**30 + 2**22 + 1, 2**54 + 2**30 + 1, 2**54 + 2**46 + 1)}
"""Integers, by width, that one rounding rounds up. Two roundings round them down, because the first makes a tie."""
FLOAT_TIES = (1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-24 + 2.0**-50)
"""Floats like these integers: from f64 through f32 to f16, and to bf16. The last one is between two numbers of f32."""
CASTS = tuple(name for name in TABLE if name.endswith(("cast", "extf", "extsi", "extui", "fp"))) + (
    *("arith.truncf", "arith.trunci", "arith.fptosi", "arith.fptoui", "tt.int_to_ptr", "tt.ptr_to_int"),
)
PREDICATES = {
    "arith.cmpi": ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"),
    "arith.cmpf": ("oeq", "one", "olt", "ole", "ogt", "oge", "une", "ult", "uge", "ord", "uno"),
}
MEMORY = 64  # the number of elements that each pointer can reach


class Misfit(Exception):
    """An operation cannot have the requested type."""


class Maker:
    """Builds what a pattern describes, from root to leaves; types and attributes are random where they are free.

    Names are parameters of the function, capitals random constants. `harmless` leaves out large and special numbers.
    """

    def __init__(self, draw: random.Random, harmless: bool = False) -> None:
        self.draw = draw
        self.harmless = harmless
        self.block = Block()
        self.builder = Builder()
        self.values: Match = {}

    def function(self, pattern: Pattern, type: Type | None) -> Module:
        """A module whose only function returns what the pattern describes. Raises `Misfit`."""
        with self.builder.at_end(self.block):
            root = self.operation(pattern, type)
            self.builder.operation("tt.return", *root.results)
        arguments = tuple(argument.type for argument in self.block.arguments)
        results = tuple(result.type for result in root.results)
        region = Region([self.block])
        signature = FunctionType(arguments, results)
        return Module([create("tt.func", sym_name="example", function_type=signature, regions=[region])])

    def operation(self, pattern: Pattern, type: Type | None) -> Operation:
        """The operation that a pattern describes, with a result of this type."""
        attributes: dict[str, Any] = dict(pattern.attributes)
        types = self.operand_types(pattern, type, attributes)
        declared = definition(pattern.name)
        assert declared, f"there is no operation {pattern.name}"
        operands = [self.make(*operand) for operand in zip(pattern.operands, types, strict=True)]
        result = type if type is not None and declared.schema.needs_result else ()
        try:
            made = self.builder.operation(pattern.name, *operands, result=result, **attributes)
        except VerificationError as error:
            raise Misfit(str(error)) from error
        if type is not None and made.results[0].type != type:
            raise Misfit(f"{pattern.name} is a {made.results[0].type}, not a {type}")
        return made

    def make(self, pattern: Any, type: Type) -> Value:
        """The value of this type that a pattern describes."""
        if isinstance(pattern, Pattern):
            return self.operation(pattern, type).results[0]
        if isinstance(pattern, str):
            if pattern not in self.values:
                constant = pattern.isupper()
                self.values[pattern] = self.constant(self.number(type), type) if constant else self.parameter(type)
            if self.values[pattern].type != type:
                raise Misfit(f"{pattern} cannot have two types")
            return self.values[pattern]
        if isinstance(pattern, bool) and element_type(type) != I1:
            raise Misfit(f"{pattern} is a boolean")
        return self.constant(bool(pattern % 2) if element_type(type) == I1 else pattern, type)

    def parameter(self, type: Type) -> Value:
        """A parameter of the function."""
        return self.block.add_argument(type, f"x{len(self.block.arguments)}")

    def constant(self, number: Any, type: Type) -> Value:
        """A constant, if there is one of this type."""
        if isinstance(element_type(type), FloatType) != isinstance(number, float):
            raise Misfit(f"{number} is not of type {type}")
        try:
            return self.builder.constant(number, type)
        except (TypeError, ValueError) as error:
            raise Misfit(str(error)) from error

    def number(self, type: Type) -> Any:
        """A random number for a constant, often an edge case."""
        element = element_type(type)
        if isinstance(element, PointerType):
            raise Misfit("there are no constant pointers")
        return numbers(element, (), self.draw, self.harmless).item()

    def operand_types(self, pattern: Pattern, type: Type | None, attributes: dict[str, Any]) -> list[Type]:
        """Types for the operands of an operation with a result of this type. Add the attributes that it needs."""
        shape = shape_of(type) if type is not None else self.draw.choice(SHAPES)
        if pattern.name in CASTS:
            assert type is not None
            return [self.uncast(pattern.name, type)]
        match pattern.name:
            case "arith.cmpi" | "arith.cmpf":
                attributes.setdefault("predicate", self.draw.choice(PREDICATES[pattern.name]))
                known = [self.values[name].type for name in map(str, pattern.operands) if name in self.values]
                elements = FLOATS if pattern.name == "arith.cmpf" else INTEGERS
                return [known[0] if known else typed(self.draw.choice(elements), shape)] * 2
            case "arith.select":
                assert type is not None
                return [self.draw.choice((I1, with_element(type, I1))), type, type]
            case "tt.addptr":
                assert type is not None
                return [type, with_element(type, self.draw.choice((I8, I32, I64)))]
            case "tt.load" | "tt.store":
                value = type or typed(self.draw.choice((F32, I32, I8)), shape)
                pointer = typed(PointerType(element_type(value)), shape)
                mask = with_element(value, I1)
                types = [pointer, mask, value] if pattern.name == "tt.load" else [pointer, value, mask]
                return types[: len(pattern.operands)]
            case "tt.dot":
                if shape != TILE or type is None:
                    raise Misfit("a product has two dimensions")
                return [with_element(type, I8 if element_type(type) == I32 else element_type(type))] * 2 + [type]
            case _:
                if type is None:
                    raise Misfit(f"{pattern.name} has no results")
                moved = self.moved(pattern.name, element_type(type), shape, attributes)
                return [moved or type] * len(pattern.operands)

    def uncast(self, name: str, type: Type) -> Type:
        """A type that a cast converts to this type."""
        declared = definition(name)
        assert declared
        fitting = []
        for candidate in (typed(element, shape_of(type)) for element in ELEMENTS):
            with suppress(TypeError):
                declared.result_types([candidate], {}, (type,))
                fitting.append(candidate)
        if not fitting:
            raise Misfit(f"no {name} makes a {type}")
        return self.draw.choice(fitting)

    def moved(self, name: str, element: Scalar, shape: tuple[int, ...], attributes: dict[str, Any]) -> Type | None:
        """The type whose elements are moved into this shape; None if the operation moves none."""
        source: tuple[int, ...]
        match name:
            case "tt.splat":
                source = ()
            case "tt.unsplat":
                source = (1,)
            case "tt.broadcast":
                source = tuple(self.draw.choice((1, size)) for size in shape)
            case "tt.reshape":
                source = self.draw.choice([other for other in SHAPES if math.prod(other) == math.prod(shape)])
            case "tt.expand_dims":
                axes = [axis for axis, size in enumerate(shape) if size == 1]
                if not axes:
                    raise Misfit("no axis has size 1")
                attributes["axis"] = axis = self.draw.choice(axes)
                source = (*shape[:axis], *shape[axis + 1 :])
            case "tt.trans":
                order = self.draw.sample(range(len(shape)), len(shape))
                attributes["order"] = tuple(order)
                source = tuple(shape[order.index(axis)] for axis in range(len(shape)))
            case "tt.join":
                source = shape[:-1]
            case "tt.split":
                source = (*shape, 2)
            case _:
                return None
        if name != "tt.splat" and not source:
            raise Misfit("it takes a tensor")
        return typed(element, source)


def typed(element: Scalar, shape: tuple[int, ...]) -> Type:
    """The type with this element type and this shape."""
    return TensorType(shape, element) if shape else element


def numbers(scalar: Scalar, shape: tuple[int, ...], draw: random.Random, harmless: bool = False) -> Any:
    """An array, or a NumPy scalar, of random numbers, which include edge cases."""
    count = math.prod(shape)
    found: list[Any] = []
    if isinstance(scalar, FloatType):
        for _ in range(count):
            ordinary = [draw.gauss(0, spread) for spread in (1, 3, 9, 99)] * 2
            found.append(float(draw.randint(1, 8)) if harmless else draw.choice((*SPECIAL, *FLOAT_TIES, *ordinary)))
    elif scalar == I1:
        found = [draw.random() < 0.5 for _ in range(count)]
    else:
        assert isinstance(scalar, IntegerType)
        least = -(2 ** (scalar.width - 1))
        ends = (0, 1, -1, 2, 7, least, least + 1, -least - 1, *TIES.get(scalar.width, (3,)) * 2)
        found = [
            draw.randint(1, 8) if harmless else draw.choice((*ends, draw.randrange(least, -least)))
            for _ in range(count)
        ]
    return np.array(found).astype(numpy_dtype(scalar)).reshape(shape)[()]


def given_to(types: Iterable[Type], draw: random.Random, harmless: bool = False) -> list[Any]:
    """Arguments for parameters of these types. For pointers, each argument has its own memory."""
    return [
        Pointers(type, draw)
        if isinstance(element_type(type), PointerType)
        else numbers(element_type(type), shape_of(type), draw, harmless)
        for type in types
    ]


class Pointers:
    """Pointers to random elements of a memory, no two of which are the same."""

    def __init__(self, type: Type, draw: random.Random) -> None:
        dtype = numpy_dtype(pointee(type))
        shape = shape_of(type)
        self.memory = (np.arange(MEMORY) + 1).astype(dtype)
        self.elements = np.array(draw.sample(range(MEMORY), math.prod(shape))).reshape(shape)

    def addresses(self) -> Any:
        """The pointers in the interpreter's form."""
        return Buffer.of("", self.memory).address(self.elements)[()]

    def __repr__(self) -> str:
        return f"pointers to the elements {self.elements.tolist()} of 1, 2, 3, ..."


def outcome(module: Module, arguments: Sequence[Any]) -> list[Any] | None:
    """The results of a module's function, and the memory after it; None if an access is out of bounds."""
    memories = [argument.memory for argument in arguments if isinstance(argument, Pointers)]
    kept = [memory.copy() for memory in memories]
    buffers = [Buffer.of("", memory) for memory in memories]
    values = [argument.addresses() if isinstance(argument, Pointers) else argument for argument in arguments]
    try:
        returned = Program(buffers).run(module.body.operations[0].regions[0].block, *values)
        return [*map(np.array, returned), *(memory.copy() for memory in memories)]
    except OutOfBounds:
        return None
    finally:
        for memory, before in zip(memories, kept, strict=True):
            memory[:] = before


def same(expected: Sequence[np.ndarray], got: Sequence[np.ndarray]) -> bool:
    """Whether two outcomes agree in every bit; all NaNs are equal."""
    return all(bits(old) == bits(new) for old, new in zip(expected, got, strict=True))


def bits(array: np.ndarray) -> tuple[Any, ...]:
    """The dtype, the shape and the bits of an array, in which all NaNs become the same."""
    if array.dtype.kind not in "biu":
        array = np.where(np.isnan(array), np.array(math.nan, array.dtype), array)
    return array.dtype, array.shape, array.tobytes()


def instance(rule: Rule, draw: random.Random) -> tuple[Module, list[Any]] | None:
    """A module of one function that returns what the rule's pattern describes, and arguments for it."""
    assert rule.pattern is not None
    harmless = "tt.dot" in rule.name  # its terms are added in any order
    maker = Maker(draw, harmless)
    try:
        module = maker.function(rule.pattern, root_type(rule.pattern, draw))
    except Misfit:
        return None
    return module, given_to([argument.type for argument in maker.block.arguments], draw, harmless)


def root_type(pattern: Pattern, draw: random.Random) -> Type | None:
    """A type that the result of a pattern may have; None if it has no result."""
    if pattern.name == "tt.store":
        return None
    if "tt.dot" in str(pattern):
        return TensorType(TILE, F32 if "addf" in pattern.name else I32)
    if pattern.name in PREDICATES:
        return typed(I1, draw.choice(SHAPES))
    return typed(draw.choice(elements_of(pattern.name, len(pattern.operands))), draw.choice(SHAPES))


@functools.cache
def elements_of(name: str, count: int) -> Sequence[Scalar]:
    """The element types of the operands of an elementwise operation; all element types for other operations."""
    declared = definition(name)
    assert declared, f"there is no operation {name}"
    if name == "tt.addptr":
        return POINTERS
    found = []
    for element in ELEMENTS:
        with suppress(TypeError):
            declared.result_types([element] * count, {})
            found.append(element)
    return found if name in TABLE and found else ELEMENTS


def snippet(pattern: str, type: Type) -> Module:
    """The function of a pattern whose root, like all free operands, is of this type."""
    root = parse(pattern)
    assert isinstance(root, Pattern)
    return Maker(random.Random(1)).function(root, type)
