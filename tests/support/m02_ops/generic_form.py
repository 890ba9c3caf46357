"""IR as text in MLIR's generic form, composed without the printer, which is under test.

    '%sum = "arith.addi"(%x, %y) : (i32, i32) -> i32'

Real Triton reads the text; `build` makes operations of it without calling a type rule. No two values of a module share
a name, so that a text can use a value where the value is not visible, or before it is defined.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mini_triton.errors import Loc
from mini_triton.ir import core
from mini_triton.ir.attributes import Keyword, annotation
from mini_triton.ir.ops.definition import definition
from mini_triton.ir.parser.attributes import AttributeParser, Constant
from mini_triton.ir.parser.lexer import Token
from mini_triton.ir.parser.literals import unquoted
from mini_triton.ir.parser.operations import BOOKKEEPING, Operand, Parser
from mini_triton.ir.types import TensorType, Type

from tests.oracles.triton import Answer
from tests.support.type_names import scalar

Typed = tuple[str, str]
"""A value's name, and its type as MLIR spells it."""

PARAMETERS: dict[str, str] = {
    "p": "!tt.ptr<f32>",
    "w": "tensor<2x4xf32>",
    "a": "tensor<8x!tt.ptr<f32>>",
    "i": "tensor<8xi32>",
    "t": "tensor<8xf32>",
    "m": "tensor<8xi1>",
    "c": "i1",
    "x": "f32",
    "n": "i32",
}
RETURN = '"tt.return"() : () -> ()'


# --- composing text


def op(
    name: str,
    operands: Iterable[Typed] = (),
    results: Iterable[Typed] = (),
    attributes: str = "",
    regions: Iterable[str] = (),
) -> str:
    """An operation."""
    operands, results, inside = list(operands), list(results), ", ".join(regions)
    left = ", ".join(f"%{result}" for result, _ in results) + " = " * bool(results)
    used = ", ".join(f"%{operand}" for operand, _ in operands)
    type = signature([type for _, type in operands], [type for _, type in results])
    parts = [f'{left}"{name}"({used})', f"({inside})" * bool(inside), f"{{{attributes}}}" * bool(attributes)]
    return f"{' '.join(part for part in parts if part)} : {type}"


def signature(inputs: Iterable[str], results: Sequence[str]) -> str:
    given = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(inputs)}) -> {given}"


def region(*lines: str, arguments: Iterable[Typed] = ()) -> str:
    """A region of one block."""
    named = ", ".join(f"%{name}: {type}" for name, type in arguments)
    return "\n".join(["{", f"^bb0({named}):" if named else "^bb0:", *lines, "}"])


def function(
    parameters: Mapping[str, str], *lines: str, name: str = "kernel", results: Sequence[str] = (), more: str = ""
) -> str:
    """A `tt.func`; its last operation should be a `tt.return`. `more` is the text of further attributes."""
    type = signature(parameters.values(), results)
    body = region(*lines, arguments=parameters.items())
    return op("tt.func", (), (), f'sym_name = "{name}", function_type = {type}{more}', [body])


def module(*functions: str) -> str:
    return op("builtin.module", regions=[region(*functions)])


def kernel(*lines: str) -> str:
    """A module with a kernel that consists of these lines and a return."""
    return module(function(PARAMETERS, *lines, RETURN))


def constant_value(type: str, value: int) -> str:
    """An attribute with `value` in every element of this type. A float type gets half of `value`."""
    element = type.removesuffix(">").rpartition("x")[2]
    number = bool(value) if element == "i1" else value if element.startswith("i") else value / 2
    text = str(number).lower()
    return f"dense<{text}> : {type}" if type.startswith("tensor<") else text if element == "i1" else f"{text} : {type}"


def string(value: str) -> str:
    """A string, with every byte written as two hex digits."""
    return '"' + "".join(f"\\{byte:02X}" for byte in value.encode()) + '"'


def segments(*present: bool) -> str:
    """The attribute that says which of several optional operands are present."""
    return f"operandSegmentSizes = array<i32: {', '.join(str(int(there)) for there in present)}>"


def tensor(shape: Iterable[int], element: str) -> str:
    """The spelling of a tensor, or of a scalar if the shape is empty."""
    dimensions = "".join(f"{size}x" for size in shape)
    return f"tensor<{dimensions}{element}>" if dimensions else element


# --- reading it


def type_of(spelling: str) -> Type:
    """The type with a spelling such as `tensor<4x2x!tt.ptr<f32>>`."""
    if not spelling.startswith("tensor<"):
        return scalar(spelling)
    *shape, element = spelling.removeprefix("tensor<").removesuffix(">").split("x")
    return TensorType(tuple(map(int, shape)), scalar(element))


def build(text: str) -> core.Operation:
    """The module in our IR, valid or not. The operations' locations are their lines, in the file `kernel.py`."""
    return Reader(text, "kernel.py").module()


def attributes_of(name: str, text: str) -> dict[str, Any]:
    """The attributes of an operation as our IR stores them."""
    return _values(name, AttributeParser(f"{{{text}}}", "").attribute_dict(name == "arith.constant"))


def _values(name: str, parsed: Mapping[str, Any]) -> dict[str, Any]:
    declared, values = definition(name), {}
    for key, value in parsed.items():
        _, extra = annotation(declared.hints.get(key)) if declared else (None, None)
        word = extra.word(value) if isinstance(extra, Keyword) else value
        values[key] = word.value if isinstance(word, Constant) else word
    return {key: value for key, value in values.items() if key not in BOOKKEEPING}


class Reader(Parser):
    """Our parser without its checks."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self.known: dict[str, core.Value] = {}
        self.undefined: dict[str, core.Value] = {}  # stand-ins for values that are used before they are defined

    def define(self, token: Token, values: Sequence[core.Value]) -> None:
        (value,) = values
        value.name = token.text[1:]
        self.known[token.text] = value
        if token.text in self.undefined:
            self.undefined.pop(token.text).replace_all_uses_with(value)

    def operand(self) -> Operand:
        token = self.advance()
        if token.text in self.known:
            return Operand(token, self.known[token.text])
        return Operand(token, self.undefined.setdefault(token.text, core.Value(scalar("i32"))))

    def _generic(self) -> core.Operation:
        start = self.advance()
        name = unquoted(start.text)
        self.expect("(")
        operands = [operand.value for operand in self.operands()]
        self.expect(")")
        regions = []
        if self.accept("("):
            regions.append(self.region())
            while self.accept(","):
                regions.append(self.region())
            self.expect(")")
        parsed = self.attribute_dict(name == "arith.constant") if self.at("{") else {}
        self.expect(":")
        results = self.function_type().results
        if name == "builtin.module":
            return self.module_around(regions[0], start)
        loc = Loc(self.file, self.loc(start).line)
        operation = core.Operation(name, operands, results, _values(name, parsed), regions, loc)
        if "arg_attrs" in parsed:
            self._set_argument_attributes(operation, parsed["arg_attrs"], start)
        return operation


# --- real Triton's answers


def reason(answer: Answer) -> str:
    """The beginning of real Triton's error message."""
    return answer.diagnostic.partition("\n")[0].rpartition("error: ")[2]


def parting(expected: str, got: str) -> str:
    """The first line in which two texts differ."""
    pairs = itertools.zip_longest(expected.split("\n"), got.split("\n"), fillvalue="(the end)")
    number, (wanted, found) = next((i, pair) for i, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return f"in line {number}\n  expected  {wanted}\n  got       {found}"
