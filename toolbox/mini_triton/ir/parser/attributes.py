"""The parts of the text around operations: types, attributes and locations. (Given.)"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from mini_triton.errors import Loc
from mini_triton.ir.parser.lexer import Cursor, Token
from mini_triton.ir.parser.literals import TENSOR, parse_number, shape_in, type_named, unquoted
from mini_triton.ir.types import F64, I1, I64, MAX_NUMEL, FunctionType, TensorType, Type, element_type

Parsed = Any
"""A parsed attribute: an `Attribute`, a list or dict of them, or None for an attribute that the IR does not keep."""

Location = tuple[Loc | str, ...]
"""A parsed location: locations and aliases of locations, the innermost first."""


class Literal(NamedTuple):
    """A number as written. Its type follows later in the text and determines its value."""

    text: str
    token: Token


class Constant(NamedTuple):
    """A number, or a tensor with this number in every element."""

    value: bool | int | float
    type: Type


class Argument(NamedTuple):
    """A future block argument: the token of its name, its type and its attributes."""

    token: Token
    type: Type
    attributes: dict[str, Parsed] = {}


class AttributeParser(Cursor):
    """Reads types, attributes and locations."""

    # --- types

    def type(self) -> Type:
        """Any type of a value."""
        token = self.token
        if token.kind not in ("type", "word"):
            raise self.unexpected("a type")
        self.advance()
        return self.named(token.text, token)

    def named(self, text: str, token: Token) -> Type:
        """The type with this spelling; errors are located at `token`."""
        try:
            return type_named(text)
        except (TypeError, ValueError) as error:
            raise self.error(str(error), token) from None

    def elided_type(self, name: str) -> Type:
        """A type without its name: `<f32>` for `!tt.ptr<f32>`."""
        start = self.expect("<")
        text = ""
        while not self.at(">") and self.token.kind != "end":
            text += self.advance().text
        self.expect(">")
        return self.named(f"{name}<{text}>", start)

    def types(self) -> tuple[Type, ...]:
        """One or more types, separated by commas."""
        found = [self.type()]
        while self.accept(","):
            found.append(self.type())
        return tuple(found)

    def result_types(self) -> tuple[Type, ...]:
        """The types to the right of an arrow: `f32`, `(f32, i32)` or `()`."""
        return tuple(self.separated(self.type, "(", ")")) if self.at("(") else (self.type(),)

    def function_type(self) -> FunctionType:
        """`(f32, i32) -> f32`."""
        if not self.at("("):
            raise self.unexpected("(")
        inputs = self.result_types()
        self.expect("->")
        return FunctionType(inputs, self.result_types())

    def arguments(self) -> list[Argument]:
        """`(%x: f32, %p: !tt.ptr<f32> {tt.divisibility = 16 : i32})`. Their locations are dropped."""
        return self.separated(self._argument, "(", ")")

    def _argument(self) -> Argument:
        token = self.expect_kind("value", "an argument such as %x")
        argument = Argument(token, self._type_after_colon(), self.optional_dict())
        if self.at("loc"):
            self.location()
        return argument

    # --- numbers

    def integer(self) -> int:
        """A small decimal integer, such as a number of results or a line number."""
        token = self.expect_kind("number", "an integer")
        if not token.text.isdigit() or len(token.text) > 9:
            raise self.error(f"expected a small integer, found {token.text}", token)
        return int(token.text)

    def literal(self) -> Literal:
        """`5`, `-1.5`, `0x7F` or `true`."""
        token = self.token
        sign = "-" if self.accept("-") else ""
        if not sign and token.text in ("true", "false"):
            return Literal(self.advance().text, token)
        return Literal(sign + self.expect_kind("number", "a number").text, token)

    def number_in(self, literal: Literal, type: Type) -> bool | int | float:
        """The value that a literal has as a number of this type."""
        try:
            return parse_number(literal.text, type)
        except ValueError as error:
            raise self.error(str(error), literal.token) from None

    def constant(self) -> Constant:
        """The value of an `arith.constant`: `5 : i32`, `true`, `dense<0.0> : tensor<8xf32>`."""
        token = self.token
        if not self.at("dense"):
            literal = self.literal()
            type = I1 if literal.text in ("true", "false") else self._type_after_colon()
            return Constant(self.number_in(literal, type), type)
        literals = self._dense()
        type = self._type_after_colon()
        if not isinstance(type, TensorType):
            raise self.error(f"dense<...> makes a tensor, not {type}", token)
        if len({literal.text for literal in literals}) != 1 or len(literals) not in (1, type.numel):
            raise self.error(f"a constant of type {type} has one number, the same for all elements", token)
        return Constant(self.number_in(literals[0], element_type(type)), type)

    def _type_after_colon(self) -> Type:
        self.expect(":")
        return self.type()

    def _dense(self) -> list[Literal]:
        """`dense<...>`: one number for all elements, or a (nested) list of all numbers, which may be empty."""
        self.expect("dense")
        self.expect("<")
        literals = [] if self.at(">") else self._literals()
        self.expect(">")
        return literals

    def _literals(self) -> list[Literal]:
        if not self.at("["):
            return [self.literal()]
        return [literal for literals in self.separated(self._literals, "[", "]") for literal in literals]

    # --- attributes

    def attribute_dict(self, constant: bool = False) -> dict[str, Parsed]:
        """`{axis = 0 : i32, tt.flatten}`; with `constant`, the attribute `value` is parsed as a `Constant`."""
        found: dict[str, Parsed] = {}

        def entry() -> None:
            if self.token.kind not in ("word", "string"):
                raise self.unexpected("an attribute's name")
            token = self.advance()
            name = unquoted(token.text) if token.kind == "string" else token.text
            if name in found:
                raise self.error(f"attribute {name} occurs twice", token)
            read = self.constant if constant and name == "value" else self.attribute
            found[name] = read() if self.accept("=") else True

        self.separated(entry, "{", "}")
        return found

    def optional_dict(self) -> dict[str, Parsed]:
        """An attribute dictionary, if one comes next."""
        return self.attribute_dict() if self.at("{") else {}

    def attribute(self) -> Parsed:
        """The value of any attribute."""
        token = self.token
        if token.kind == "number" or token.text in ("-", "true", "false"):
            return self._number_attribute()
        match token.text:
            case "unit":
                self.advance()
                return True
            case "dense":
                return self._dense_attribute()
            case "array":
                return self._array_attribute()
            case "[":
                return self.separated(self.attribute, "[", "]")
            case "{":
                return self.attribute_dict()
            case "(":
                return self.function_type()
            case "loc":
                self.location()
                return None
        match token.kind:
            case "string":
                return unquoted(self.advance().text)
            case "symbol":
                return self.symbol()
            case "alias":  # of a dialect: #tt.cache_policy<...>
                self.advance()
                return self.skip_angles()
            case "type" | "word":
                self.type()
                return None
        raise self.unexpected("an attribute")

    def symbol(self) -> str:
        """`@name` or `@"any name"`."""
        text = self.expect_kind("symbol", "a symbol").text[1:]
        return unquoted(text) if text.startswith('"') else text

    def _number_attribute(self) -> bool | int | float:
        literal = self.literal()
        if literal.text in ("true", "false"):
            return literal.text == "true"
        default = F64 if "." in literal.text else I64
        return self.number_in(literal, self.type() if self.accept(":") else default)

    def _dense_attribute(self) -> tuple[bool | int | float, ...]:
        """`dense<[16, 1]> : tensor<2xi32>`. Its type may have a shape that `TensorType` rejects."""
        literals = self._dense()
        self.expect(":")
        token = self.expect_kind("type", "a tensor type")
        match = TENSOR.fullmatch(token.text)
        if match is None:
            raise self.unexpected("a tensor type")
        try:
            size, element = math.prod(shape_in(match)), type_named(match["element"])
        except (TypeError, ValueError) as error:
            raise self.error(str(error), token) from None
        numbers = tuple(self.number_in(literal, element) for literal in literals)
        if len(numbers) not in (1, size) or size > MAX_NUMEL:
            raise self.error(f"{len(numbers)} numbers do not fill {token.text}", token)
        return numbers if len(numbers) == size else numbers * size

    def _array_attribute(self) -> tuple[bool | int | float, ...]:
        """`array<i32: 1, 0>`, `array<i32>`."""
        self.expect("array")
        self.expect("<")
        element = self.type()
        literals: list[Literal] = []
        while self.accept("," if literals else ":"):
            literals.append(self.literal())
        self.expect(">")
        return tuple(self.number_in(literal, element) for literal in literals)

    def skip_angles(self) -> None:
        """Skip `<...>` if it comes next."""
        depth = int(self.accept("<"))
        while depth:
            if self.token.kind == "end":
                raise self.unexpected(">")
            depth += self.at("<") - self.at(">")
            self.advance()

    # --- locations

    def location(self) -> Location:
        """`loc(...)` in all its forms."""
        self.expect("loc")
        self.expect("(")
        found = self._place()
        self.expect(")")
        return found

    def _place(self) -> Location:
        match self.token.kind:
            case "alias":
                return (self.advance().text,)
            case "string":
                return self._named_place(unquoted(self.advance().text))
        if self.accept("unknown"):
            return ()
        if self.accept("callsite"):
            self.expect("(")
            found = self._place()
            self.expect("at")
            found += self._place()
            self.expect(")")
            return found
        if not self.accept("fused"):
            raise self.unexpected("a location")
        self.skip_angles()
        return tuple(place for places in self.separated(self._place, "[", "]") for place in places)

    def _named_place(self, name: str) -> Location:
        """`"file":1:2`, perhaps with an end, ` to 3:4` or ` to :4`; or `"name"`, perhaps with a location in
        parentheses.
        """
        if self.accept("("):
            found = self._place()
            self.expect(")")
            return found
        if not self.accept(":"):
            return ()
        line = self.integer()
        self.expect(":")
        column = self.integer()
        if self.accept("to"):
            if not self.at(":"):
                self.integer()
            self.expect(":")
            self.integer()
        return (Loc(name, line, column),)
