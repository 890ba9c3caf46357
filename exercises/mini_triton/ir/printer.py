"""IR as text that real Triton reads.

Every operation has a *generic* form, which is the same for all operations:

    %r:2 = "name"(%operands) ({ regions }) {attributes} : (operand types) -> (result types)

Most operations also have a shorter *pretty* form, which `assembly.py` prints (given).

Source: MLIR's language reference; `ttir` as printed by Triton 3.6 to 3.9.
"""

from __future__ import annotations

import functools
import math
import re
from typing import Any, get_args

from mini_triton.ir import assembly
from mini_triton.ir.attributes import Keyword
from mini_triton.ir.core import Attribute, Block, BlockArgument, Operation, OpResult, Region, Value
from mini_triton.ir.ops.definition import definition
from mini_triton.ir.types import F64, I1, FloatType, TensorType, Type, element_type

INDENT = "  "


def print_module(module: Operation, *, generic: bool = False, locations: bool = False) -> str:
    """The text of a module (or of any operation), in pretty or generic form, with or without source locations."""
    return Printer(generic, locations).operation(module, "") + "\n"


def without_locations(text: str) -> str:
    """A module's text without its source locations. (Given.)"""
    return re.sub(r' loc\("[^"\n]*":\d+:\d+\)$', "", text, flags=re.MULTILINE)


@functools.cache  # every operation repeats the name of a file
def quoted(text: str) -> str:
    """`text` as an MLIR string literal: quotes, backslashes and bytes other than printable ASCII as hex digits."""
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode())
    return f'"{"".join(plain)}"'


def format_number(value: bool | int | float, type: Type) -> str:
    """One number as MLIR writes it, without the type. `type` is the number's type, or a tensor of such numbers.

    Booleans are `true` and `false`. Floats always contain a decimal point, even before an exponent. MLIR has no words
    for infinity and NaN, and writes their bits: `0x`, then all hexadecimal digits for the type's width, in upper or
    lower case. The sign of a NaN is free. Raises `ValueError` for infinity if the type, such as `f8E4M3FN`, has none.
    """
    # Task 2.9: Write 1e-05 as `1.0e-05`, 2.0 as `2.0`, and -7 as `-7`. As `f32`, infinity is `0x7F800000`, and
    # -infinity is `0xFF800000`. Given: the type's `format`, with the bits of `infinity` and `nan`.
    raise NotImplementedError("Task 2.9: Printing numbers, names and attributes")


class Printer:
    """Prints operations, and stores the names of values."""

    def __init__(self, generic: bool = False, locations: bool = False) -> None:
        self.generic = generic
        self.locations = locations
        self._names: dict[Value, str] = {}
        self._taken: set[str] = set()
        self._next_number = 0

    # --- names

    def name(self, value: Value) -> str:
        """The text of a use of `value`: `%x`, or `%x#1` for one of several results.

        All results of an operation share the name of the first result.
        """
        if isinstance(value, OpResult) and len(value.owner.results) > 1:
            return f"{self._name(value.owner.results[0])}#{value.index}"
        return self._name(value)

    def _name(self, value: Value) -> str:
        """A unique name: `value.name` if this name is legal, with a suffix if the name is taken; otherwise, a number.

        A value always gets the same name. A legal name consists of an ASCII letter or `_`, then ASCII letters, digits
        or `_`.
        """
        # Task 2.9: Three values named `x` become `%x`, `%x_0`, `%x_1`. Values without a legal name are `%0`, `%1`, ...
        raise NotImplementedError("Task 2.9: Printing numbers, names and attributes")

    def results(self, operation: Operation) -> str:
        """The left-hand side of an operation: `%x = ` for one result, `%x:2 = ` for two, and "" for none."""
        # Task 2.10: All results share the name of the first result, which `_name` returns.
        raise NotImplementedError("Task 2.10: Printing operations and regions")

    # --- attributes

    def attribute(self, value: Attribute, hint: Any = None) -> str:
        """An attribute's value as text. `hint` is its annotation in the type rule; None for a discardable attribute."""
        extra = get_args(hint)[1] if len(get_args(hint)) > 1 else None
        if isinstance(extra, Keyword):
            return f"{extra.numbers[str(value)]} : i{extra.width}"
        if extra == "symbol":
            plain = str(value).isidentifier() and str(value).isascii()
            return f"@{value}" if plain else f"@{quoted(str(value))}"
        if value == ():
            return "array<i32>"
        # Task 2.9: Print True as `true`, 16 as `16 : i32`, 1.0 as `1.0 : f64`, a string as `quoted` returns it, and a
        # function type as its `str`. Print the tuple (1, 0) as `array<i32: 1, 0>`; if there is no hint, print it as a
        # tensor, `dense<[1, 0]> : tensor<2xi32>`. Every float must be readable, infinity too.
        raise NotImplementedError("Task 2.9: Printing numbers, names and attributes")

    def constant(self, operation: Operation) -> str:
        """The value of an `arith.constant` with its type: `1.5 : f32`, `dense<0> : tensor<8xi32>`, or just `true`."""
        value, type = operation.attributes["value"], operation.result.type
        assert isinstance(value, bool | int | float)
        # Task 2.9: Only a scalar `i1` is printed without its type, as `true`. A tensor of `i1` is `dense<true> : ...`.
        raise NotImplementedError("Task 2.9: Printing numbers, names and attributes")

    def attributes(self, operation: Operation, leave_out: tuple[str, ...] = ()) -> dict[str, str]:
        """The text of each attribute, by name in alphabetical order; "" for a unit attribute, which has no value."""
        declared = definition(operation.name)
        texts = {}
        for name, value in sorted(operation.attributes.items()):
            hint = declared.hints.get(name) if declared else None
            unit = value is True and (hint is None or "unit" in get_args(hint))
            if name not in leave_out:
                texts[name] = "" if unit else self.attribute(value, hint)
        return texts

    def attribute_dict(self, texts: dict[str, str]) -> str:
        """`{axis = 0 : i32, tt.flatten}`."""
        return "{" + ", ".join(f"{name} = {text}" if text else name for name, text in texts.items()) + "}"

    # --- operations

    def operation(self, operation: Operation, indent: str) -> str:
        """One operation with its contents, without a final line break. All lines except the first start with
        `indent`."""
        declared = definition(operation.name)
        form = declared.assembly if declared and not self.generic else None
        text = assembly.pretty(form, operation, self, indent) if form else self.generic_form(operation, indent)
        loc = operation.loc if self.locations else None
        return f"{text} loc({quoted(loc.file)}:{loc.line}:{loc.column})" if loc else text

    def generic_form(self, operation: Operation, indent: str) -> str:
        """The form that all operations share; see the top of this file."""
        attributes = self._generic_attributes(operation)
        # Task 2.10: An example is `"tt.return"() : () -> ()`. Omit results, regions and attributes if there are none,
        # but always print the operands' `()`.
        raise NotImplementedError("Task 2.10: Printing operations and regions")

    def region(self, region: Region, indent: str) -> str:
        """A region as text: `{`, its blocks, and `}`. Each operation is on its own line, indented by one more level."""
        # Task 2.10: Every line except the first starts with `indent`; `INDENT` is one level. The first block gets a
        # `label` only if it has arguments. Given: `operation`, which prints an operation in the chosen form.
        raise NotImplementedError("Task 2.10: Printing operations and regions")

    def label(self, block: Block, index: int) -> str:
        """`^bb0(%x: f32, %y: f32):`."""
        arguments = ", ".join(f"{self.name(argument)}: {argument.type}" for argument in block.arguments)
        return f"^bb{index}({arguments}):" if arguments else f"^bb{index}:"

    def argument(self, argument: BlockArgument) -> str:
        """A function's parameter: `%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}`."""
        attributes = {name: self.attribute(value) for name, value in sorted(argument.attributes.items())}
        text = f"{self.name(argument)}: {argument.type}"
        return f"{text} {self.attribute_dict(attributes)}" if attributes else text

    def _generic_attributes(self, operation: Operation) -> dict[str, str]:
        """All attributes, including those that a pretty form omits or writes elsewhere."""
        texts = self.attributes(operation)
        declared = definition(operation.name)
        if operation.name == "arith.constant":
            texts["value"] = self.constant(operation)
        if declared and len(declared.schema.optional) > 1:
            present = len(operation.operands)
            sizes = [int(i < present) for i in range(len(declared.schema.operands))]
            texts["operandSegmentSizes"] = f"array<i32: {', '.join(map(str, sizes))}>"
        if operation.name == "llvm.intr.assume":
            texts["op_bundle_sizes"] = "array<i32>"
        if operation.name == "tt.func":
            arguments = operation.regions[0].block.arguments
            dicts = [{name: self.attribute(value) for name, value in a.attributes.items()} for a in arguments]
            texts["arg_attrs"] = f"[{', '.join(map(self.attribute_dict, dicts))}]"
        return texts
