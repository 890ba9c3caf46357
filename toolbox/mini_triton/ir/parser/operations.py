"""Parsing operations: names, regions and the generic form, which all operations share. (Given.)

`forms.py` parses the pretty forms. `create` makes every operation, so the type rules run while the text is parsed.
Wrong text raises a `CompilationError` that states its location and what was expected.

Source: MLIR's language reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mini_triton.errors import Loc, VerificationError
from mini_triton.ir.assembly import ignored_attributes
from mini_triton.ir.attributes import Keyword, annotation
from mini_triton.ir.core import Attribute, Block, Module, Operation, Region, Value
from mini_triton.ir.ops.definition import OpDefinition, create, definition, spell
from mini_triton.ir.parser import forms
from mini_triton.ir.parser.attributes import Argument, AttributeParser, Constant, Location, Parsed
from mini_triton.ir.parser.lexer import Token
from mini_triton.ir.parser.literals import unquoted
from mini_triton.ir.types import FunctionType, Type
from mini_triton.ir.verifier import verify_after

BOOKKEEPING = {"arg_attrs", "res_attrs", "operandSegmentSizes", "resultSegmentSizes", "op_bundle_sizes"}
"""Attributes of generic forms that tell how to read operands or arguments. The IR does not need them."""


def parse_module(text: str, file: str = "<ttir>") -> Module:
    """Parse a module, with or without `module { }` around its functions. Errors name `file`.

    Operations get their locations from the text. The module is verified. Raises `CompilationError`.
    """
    parser = Parser(text, file)
    try:
        module = parser.module()
    except RecursionError:
        raise parser.error("the text is nested too deeply") from None
    verify_after("parser", module)
    return module


class Operand(NamedTuple):
    """A use of a value, and the token that names the value."""

    token: Token
    value: Value


class Parser(AttributeParser):
    """Parses operations, and maps names in the text to the values defined so far."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self._values: dict[str, tuple[Value, ...]] = {}
        self._locations: list[tuple[Operation, Location]] = []
        self._aliases: dict[str, Location] = {}

    def module(self) -> Module:
        """Parse the whole text."""
        operations = []
        while self.token.kind != "end":
            if self.token.kind == "alias":
                self._alias()
            else:
                operations.append(self.operation())
        self._set_locations()
        match operations:
            case [Module() as module]:
                return module
        if any(isinstance(operation, Module) for operation in operations):
            raise self.error("expected a single module, found more operations")
        return Module(operations)

    # --- locations

    def _alias(self) -> None:
        """`#loc1 = loc(...)`. All other aliases name attributes that the IR does not keep."""
        name = self.advance().text
        self.expect("=")
        if self.at("loc"):
            self._aliases[name] = self.location()
        else:
            self.attribute()

    def _set_locations(self) -> None:
        """Resolve locations, now that all aliases are known, including those at the end of the text."""
        for operation, location in self._locations:
            operation.loc = self._innermost(location)

    def _innermost(self, location: Location, inside: Location = ()) -> Loc | None:
        """The first source location in a location, or in one of its aliases; `inside` lists the aliases on the way."""
        for place in location:
            found = place if isinstance(place, Loc) else None
            if isinstance(place, str) and place not in inside:
                found = self._innermost(self._aliases.get(place, ()), (*inside, place))
            if found:
                return found
        return None

    # --- values

    def define(self, token: Token, values: Sequence[Value]) -> None:
        """Name values after `token`, unless the name is a number."""
        name = token.text[1:]
        if "#" in name:
            raise self.error(f"a value cannot be given the name {token.text}", token)
        if token.text in self._values:
            raise self.error(f"{token.text} is defined already", token)
        for value in values:
            value.name = "" if name.isdigit() else name
        self._values[token.text] = tuple(values)

    def operand(self) -> Operand:
        """The use of a value: `%x`, or `%x#1` for one of several results."""
        token = self.expect_kind("value", "a value such as %x")
        name, _, index = token.text.partition("#")
        values = self._values.get(name)
        if values is None:
            raise self.error(f"{name} is not defined here", token)
        number = int(index or 0)
        if number >= len(values):
            raise self.error(f"{name} has {len(values)} results, so there is no {name}#{number}", token)
        return Operand(token, values[number])

    def operands(self) -> list[Operand]:
        """Any number of values, separated by commas."""
        if self.token.kind != "value":
            return []
        found = [self.operand()]
        while self.accept(","):
            found.append(self.operand())
        return found

    def check_types(self, operands: Sequence[Operand], types: Sequence[Type], token: Token) -> None:
        """Check that the types in the text are those of the operands."""
        if len(operands) != len(types):
            raise self.error(f"{len(operands)} operands cannot have {len(types)} types", token)
        for (use, value), type in zip(operands, types, strict=True):
            if value.type != type:
                raise self.error(f"{use.text} is {value.type}, not {type}", use)

    # --- operations, blocks and regions

    def operation(self) -> Operation:
        """One operation in either form, between the names of its results and its location."""
        names = self._result_names()
        start = self.token
        if start.kind == "string":
            operation = self._generic()
        elif start.kind == "word":
            operation = forms.read(self, self.advance())
        else:
            raise self.unexpected("an operation")
        if names and sum(count for _, count in names) != len(operation.results):
            raise self.error(f"{operation.name} has {len(operation.results)} results", start)
        index = 0
        for token, count in names:
            self.define(token, operation.results[index : index + count])
            index += count
        if self.at("loc"):
            self._locations.append((operation, self.location()))
        return operation

    def _result_names(self) -> list[tuple[Token, int]]:
        """`%x = `, `%x:2 = `, `%x, %y = `: names, and the number of results of each."""
        names: list[tuple[Token, int]] = []
        while self.token.kind == "value":
            token = self.advance()
            names.append((token, self.integer() if self.accept(":") else 1))
            if not self.accept(","):
                self.expect("=")
                break
        return names

    def region(self, arguments: Sequence[Argument] | None = None, *, function: bool = False) -> Region:
        """`{ blocks }`; `arguments` are those of the first block, if the operation has already named them.

        Names defined inside are not visible outside, and names from outside are not visible inside a function.
        """
        outer = self._values
        self._values = {} if function else dict(outer)
        region = Region() if arguments is None else Region([self._block(arguments)])
        self.expect("{")
        while not self.accept("}"):
            if self.token.kind == "label":
                region.append(self._labeled_block())
            elif not region.blocks:
                region.append(Block())
            else:
                region.blocks[-1].append(self.operation())
        self._values = outer
        if function:
            _drop_dead_blocks(region)
        return region

    def _labeled_block(self) -> Block:
        """`^bb0(%x: f32, %y: f32):`, without its operations."""
        self.advance()
        arguments = self.arguments() if self.at("(") else []
        self.expect(":")
        return self._block(arguments)

    def _block(self, arguments: Sequence[Argument]) -> Block:
        block = Block()
        for token, type, attributes in arguments:
            argument = block.add_argument(type)
            argument.attributes = representable(attributes)
            self.define(token, [argument])
        return block

    # --- the generic form

    def _generic(self) -> Operation:
        """`"name"(%operands) <{attributes}> ({ regions }) {attributes} : (types) -> types`."""
        start = self.advance()
        declared = self.declared(unquoted(start.text), start)
        operands = self.separated(self.operand, "(", ")")
        constant = declared.name == "arith.constant"
        parsed: dict[str, Parsed] = {}
        if self.accept("<"):
            parsed |= self.attribute_dict(constant)
            self.expect(">")
        regions = self._generic_regions(declared, start) if self.at("(") else []
        if self.at("{"):
            parsed |= self.attribute_dict(constant)
        self.expect(":")
        signature = self.function_type()
        self.check_types(operands, signature.inputs, start)
        if declared.name == "builtin.module":
            return self.module_around(regions[0] if regions else Region(), start)
        if "operandSegmentSizes" not in declared.schema.attributes:
            self._check_segments(parsed, operands, start)
        value = parsed.pop("value", None) if constant else None
        attributes = self.checked(declared, parsed, start)
        if isinstance(value, Constant):
            attributes["value"] = value.value
            if signature.results != (value.type,):
                raise self.error(f"the value has type {value.type}, not {spell(signature.results)}", start)
        operation = self.create(start, declared, operands, attributes, signature.results, regions)
        self.check_results(operation, signature.results, start)
        if declared.name == "tt.func":
            self._set_argument_attributes(operation, parsed.get("arg_attrs"), start)
        return operation

    def _generic_regions(self, declared: OpDefinition, start: Token) -> list[Region]:
        regions = self.separated(lambda: self.region(function=declared.name == "tt.func"), "(", ")")
        if not declared.schema.takes_regions:
            raise self.error(f"{declared.name} has no regions", start)
        return regions

    def _check_segments(self, parsed: Mapping[str, Parsed], operands: Sequence[Operand], start: Token) -> None:
        """Check that only the last operands are absent, because the IR cannot represent gaps."""
        sizes = parsed.get("operandSegmentSizes", (1,) * len(operands))
        present = len(operands)
        if not isinstance(sizes, tuple) or sizes != (1,) * present + (0,) * (len(sizes) - present):
            raise self.error(f"operandSegmentSizes {sizes} does not fit {present} operands without a gap", start)

    def _set_argument_attributes(self, function: Operation, dicts: Parsed, start: Token) -> None:
        arguments = function.regions[0].block.arguments
        if dicts is None:
            return
        if not isinstance(dicts, list) or len(dicts) != len(arguments) or not all(isinstance(d, dict) for d in dicts):
            raise self.error(f"arg_attrs must be {len(arguments)} dictionaries", start)
        for argument, attributes in zip(arguments, dicts, strict=True):
            argument.attributes = representable(attributes)

    # --- making operations

    def declared(self, name: str, token: Token) -> OpDefinition:
        """The declaration of an operation."""
        if name.startswith("cf."):
            raise self.error(f"unstructured control flow, such as {name}, is not supported", token)
        declared = definition(name)
        if declared is None:
            raise self.error(f"there is no operation {name}", token)
        return declared

    def checked(self, declared: OpDefinition, parsed: Mapping[str, Parsed], start: Token) -> dict[str, Attribute]:
        """The attributes of an operation, as its type rule takes them, without attributes that the IR ignores."""
        own = {name: value for name, value in parsed.items() if name in declared.schema.attributes}
        others = {name: value for name, value in parsed.items() if name not in own}
        for name in others:
            dropped = name in BOOKKEEPING or name in ignored_attributes(declared.assembly or "")
            if "." not in name and not dropped:
                raise self.error(f"{declared.name} has no attribute {name}", start)
        attributes: dict[str, Attribute] = {}
        for name, value in own.items():
            base, extra = annotation(declared.hints.get(name))
            if isinstance(extra, Keyword) and type(value) is int and value in extra.numbers.values():
                value = extra.word(value)
            known = value in extra.numbers if isinstance(extra, Keyword) else is_representable(value)
            if type(value) is not base or not known:
                raise self.error(f"{value!r} is not a valid {name} of {declared.name}", start)
            attributes[name] = value
        return attributes | {name: value for name, value in representable(others).items() if "." in name}

    def create(
        self,
        start: Token,
        declared: OpDefinition,
        operands: Sequence[Operand] = (),
        attributes: Mapping[str, Any] | None = None,
        results: tuple[Type, ...] = (),
        regions: Iterable[Region] = (),
    ) -> Operation:
        """Make the operation whose text began at `start`; `results` are the result types, if the text contains them."""
        values = [operand.value for operand in operands]
        if declared.schema.needs_result and len(results) != 1:
            raise self.error(f"{declared.name} has one result, not {len(results)}", start)
        try:
            return create(declared.name, *values, result=results, regions=regions, **(attributes or {}))
        except VerificationError as error:
            raise self.error(error.message, start, VerificationError) from None

    def check_results(self, operation: Operation, types: Sequence[Type], start: Token) -> None:
        """Check that the types in the text are those of the results."""
        actual = tuple(result.type for result in operation.results)
        if actual != tuple(types):
            raise self.error(f"{operation.name} has results {spell(actual)}, not {spell(types)}", start)

    def module_around(self, region: Region, start: Token) -> Module:
        """The module that contains this region."""
        module = Module()
        if len(region.blocks) > 1:
            raise self.error("a module has one block", start)
        if region.blocks:
            module.regions[0] = region
            region.parent = module
        return module


def _drop_dead_blocks(region: Region) -> None:
    """Remove all blocks except the first: no branch leads to them, because branches are not supported.

    Real Triton's front end generates such blocks from code after a `return`.
    """
    for block in reversed(region.blocks[1:]):
        for operation in reversed(block.operations):
            operation.erase()
    del region.blocks[1:]


def is_representable(value: Parsed) -> bool:
    """Whether the IR can represent an attribute: integers must have 32 bits, and only constants may be floats."""
    if isinstance(value, tuple):
        return all(type(item) is int and is_representable(item) for item in value)
    if isinstance(value, int):
        return -(1 << 31) <= value < 1 << 31
    return isinstance(value, str | FunctionType)


def representable(attributes: Mapping[str, Parsed]) -> dict[str, Attribute]:
    """The attributes that the IR can represent. No rule declares the others, and MLIR permits discarding them."""
    return {name: value for name, value in attributes.items() if is_representable(value)}
