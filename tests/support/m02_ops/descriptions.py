"""IR as plain data, from which a test makes both: text for real Triton, and operations of the code under test.

    Op("arith.addi", ("x", "y"), (("sum", "i32"),))         "%sum = arith.addi %x, %y : i32"

Values are known by name, so a name is used once in a module; types are written as MLIR spells them. The text is
always the generic form, put together here and not by the printer, which is itself under test.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mini_triton.errors import Loc
from mini_triton.ir import core
from mini_triton.ir.types import FunctionType, TensorType, Type

from tests.support.type_names import scalar

Typed = tuple[str, str]  # a value's name and its type


class Attribute(NamedTuple):
    """What an attribute is: the value in our IR (None if it has none there), and its text."""

    value: Any
    text: str


class Block(NamedTuple):
    arguments: tuple[Typed, ...] = ()
    operations: tuple[Op, ...] = ()


class Op(NamedTuple):
    name: str
    operands: tuple[str, ...] = ()
    results: tuple[Typed, ...] = ()
    attributes: Mapping[str, Attribute] = {}
    regions: tuple[tuple[Block, ...], ...] = ()

    def walk(self) -> Iterator[Op]:
        """This operation and all inside it."""
        yield self
        for block in itertools.chain(*self.regions):
            for op in block.operations:
                yield from op.walk()


# --- the parts of a module


def integer(value: int, width: int = 32) -> Attribute:
    """An integer attribute."""
    return Attribute(value, f"{value} : i{width}")


def word(value: str, number: int, width: int = 32) -> Attribute:
    """An enum's word and the number that stands for it."""
    return Attribute(value, f"{number} : i{width}")


def array(values: Iterable[int]) -> Attribute:
    """An array of integers, such as the order of a transpose."""
    values = tuple(values)
    return Attribute(values, f"array<i32{': ' if values else ''}{', '.join(map(str, values))}>")


def flag(value: bool) -> Attribute:
    return Attribute(value, str(value).lower())


def string(value: str) -> Attribute:
    """A string, with every byte of it as two hex digits."""
    return Attribute(value, '"' + "".join(f"\\{byte:02X}" for byte in value.encode()) + '"')


def segments(*present: bool) -> Attribute:
    """Which operands are there, of an operation with several optional ones. Only the text says so."""
    return array(map(int, present))._replace(value=None)


def constant(name: str, type: str, value: int = 1) -> Op:
    """A constant of any type of numbers, in every element. Half of `value` if it is a float."""
    tensor, element = type.startswith("tensor<"), type.removesuffix(">").rpartition("x")[2]
    number = bool(value) if element == "i1" else value if element.startswith("i") else value / 2
    text = str(number).lower()
    typed = f"dense<{text}> : {type}" if tensor else text if element == "i1" else f"{text} : {type}"
    return Op("arith.constant", (), ((name, type),), {"value": Attribute(number, typed)})


def function(
    parameters: Iterable[Typed], operations: Iterable[Op], *, name: str = "kernel", results: tuple[str, ...] = ()
) -> Op:
    """A `tt.func`; its last operation should be a `tt.return`."""
    parameters = tuple(parameters)
    inputs = tuple(type for _, type in parameters)
    attributes = {
        "sym_name": Attribute(name, f'"{name}"'),
        "function_type": Attribute((inputs, results), _signature(inputs, results)),
    }
    return Op("tt.func", (), (), attributes, ((Block(parameters, tuple(operations)),),))


def module(*functions: Op) -> Op:
    """A `builtin.module` of functions."""
    return Op("builtin.module", regions=((Block((), functions),),))


RETURN = Op("tt.return")


# --- as text


def types_of(root: Op) -> dict[str, str]:
    """The type of every value in `root`."""
    types: dict[str, str] = {}
    for op in root.walk():
        types.update(op.results)
        for block in itertools.chain(*op.regions):
            types.update(block.arguments)
    return types


def text(root: Op) -> str:
    """The generic form of `root`."""
    return _text(root, types_of(root), "")


def kernel_text(module: Op) -> str:
    """What the first function of a module does, if it has one."""
    types = types_of(module)
    blocks = [function.regions[0][0] for function in module.regions[0][0].operations[:1]]
    lines = [f"    {_text(op, types, '    ')}" for block in blocks for op in block.operations]
    return "\n".join(lines or ["    (nothing)"])


def _text(op: Op, types: Mapping[str, str], indent: str) -> str:
    results = ", ".join(f"%{name}" for name, _ in op.results)
    operands = ", ".join(f"%{name}" for name in op.operands)
    regions = ", ".join(_region_text(region, types, indent) for region in op.regions)
    attributes = ", ".join(f"{name} = {attribute.text}" for name, attribute in op.attributes.items())
    signature = _signature([types[name] for name in op.operands], [type for _, type in op.results])
    parts = [f"{results} =" if results else "", f'"{op.name}"({operands})', f"({regions})" if regions else ""]
    return " ".join(part for part in [*parts, f"{{{attributes}}}" if attributes else "", ":", signature] if part)


def _signature(inputs: Sequence[str], results: Sequence[str]) -> str:
    given = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(inputs)}) -> {given}"


def _region_text(region: tuple[Block, ...], types: Mapping[str, str], indent: str) -> str:
    lines = ["{"]
    for i, block in enumerate(region):
        arguments = ", ".join(f"%{name}: {type}" for name, type in block.arguments)
        lines.append(f"{indent}^bb{i}({arguments}):" if arguments else f"{indent}^bb{i}:")
        lines += [f"{indent}  {_text(op, types, indent + '  ')}" for op in block.operations]
    return "\n".join([*lines, f"{indent}}}"])


# --- as operations


def type_of(spelling: str) -> Type:
    """The type that is spelled so: `tensor<4x2x!tt.ptr<f32>>`."""
    if not spelling.startswith("tensor<"):
        return scalar(spelling)
    *shape, element = spelling.removeprefix("tensor<").removesuffix(">").split("x")
    return TensorType(tuple(map(int, shape)), scalar(element))


def tensor(shape: Iterable[int], element: str) -> str:
    """The spelling of a tensor, or of a scalar if the shape is empty."""
    dimensions = "".join(f"{size}x" for size in shape)
    return f"tensor<{dimensions}{element}>" if dimensions else element


class Builder:
    """Builds operations. Line n of `kernel.py` is where the n-th of them comes from."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self.types = types
        self.values: dict[str, core.Value] = {}
        self.later: dict[str, core.Value] = {}  # stand for values that are used before they are defined
        self.lines = itertools.count(1)

    def operation(self, op: Op) -> core.Operation:
        """`op`, without asking any type rule whether it is right."""
        loc = Loc("kernel.py", next(self.lines))
        operands = [self.value(name) for name in op.operands]
        regions = [self.region(region) for region in op.regions]
        results = [type_of(type) for _, type in op.results]
        built = core.Operation(op.name, operands, results, attribute_values(op), regions, loc)
        for (name, _), result in zip(op.results, built.results, strict=True):
            self.define(name, result)
        return built

    def region(self, blocks: Iterable[Block]) -> core.Region:
        """Blocks with all that is in them."""
        region = core.Region()
        for block in blocks:
            built = region.append(core.Block([type_of(type) for _, type in block.arguments]))
            for (name, _), argument in zip(block.arguments, built.arguments, strict=True):
                self.define(name, argument)
            for op in block.operations:
                built.append(self.operation(op))
        return region

    def define(self, name: str, value: core.Value) -> None:
        value.name = name
        self.values[name] = value
        if name in self.later:
            self.later.pop(name).replace_all_uses_with(value)

    def value(self, name: str) -> core.Value:
        if name in self.values:
            return self.values[name]
        return self.later.setdefault(name, core.Value(type_of(self.types[name])))


def build(root: Op) -> core.Operation:
    """`root` in our IR, right or wrong."""
    return Builder(types_of(root)).operation(root)


def attribute_values(op: Op) -> dict[str, Any]:
    """The attributes of an operation in our IR."""
    return {name: _value(name, attribute) for name, attribute in op.attributes.items() if attribute.value is not None}


def _value(name: str, attribute: Attribute) -> Any:
    if name == "function_type":
        inputs, results = attribute.value
        return FunctionType(tuple(map(type_of, inputs)), tuple(map(type_of, results)))
    return attribute.value
