"""Pretty forms: a format string for each operation, read by both the printer and the parser. (Given.)

A format is a sequence of the following parts, separated by spaces:

    $x               operand `x` (all of them, for a variadic one)
    type($x)         its type; `type(result)` the common type of all results, `type(results)` the type of each
    functional-type  `(operand types) -> result types`
    #a               the value of attribute `a` alone: a word, a symbol, a string
    flag(a)          the word `a`, if the unit attribute is set
    attr-dict        `{...}` with the attributes not named elsewhere, if there are any
    ignore(a)        read and dropped, also in `{...}`: a hint, such as `cacheModifier = cg` or `fastmath<fast>`
    ( ... )?         optional: present if the first operand, attribute or type in it is present
    anything else    itself

MLIR does the same with `assemblyFormat` in TableGen. `_CUSTOM` contains functions for forms that no such string can
describe.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, get_args

from mini_triton.ir.attributes import Keyword
from mini_triton.ir.core import Operation, Region, Value
from mini_triton.ir.ops.definition import OpDefinition, definition
from mini_triton.ir.ops.scaled import sides
from mini_triton.ir.types import FunctionType, TensorType

if TYPE_CHECKING:
    from mini_triton.ir.printer import Printer


class Directive(NamedTuple):
    """One element of a format."""

    kind: str  # operand, type, attribute, flag, ignore, group, word, attr-dict or functional-type
    text: str = ""
    body: tuple[Directive, ...] = ()


_TOKEN = re.compile(
    r"""\((?P<group>(?:[^()]|\([^()]*\))*)\)\?
      | (?P<call>type|flag|ignore)\(\$?(?P<argument>\w+)\)
      | \$(?P<operand>\w+) | \#(?P<attribute>\w+) | (?P<special>attr-dict|functional-type)
      | (?P<word>->|\w+|[^\s\w]) """,
    re.VERBOSE,
)


@functools.cache
def directives(form: str) -> tuple[Directive, ...]:
    """Parse a format string."""
    found = []
    for match in _TOKEN.finditer(form):
        if match["group"] is not None:
            found.append(Directive("group", body=directives(match["group"])))
        elif match["call"]:
            found.append(Directive(match["call"], match["argument"]))
        elif match["special"]:
            found.append(Directive(match["special"]))
        else:
            kind = next(kind for kind in ("operand", "attribute", "word") if match[kind])
            found.append(Directive(kind, match[kind]))
    return tuple(found)


def named_attributes(form: str) -> tuple[str, ...]:
    """The attributes that a format writes outside `attr-dict`."""
    return tuple(re.findall(r"(?:#|flag\()(\w+)", form))


def ignored_attributes(form: str) -> tuple[str, ...]:
    """The attributes that are read and dropped, wherever they are written."""
    return tuple(re.findall(r"ignore\((\w+)\)", form))


def operands_named(operation: Operation, name: str) -> tuple[Value, ...]:
    """The values of operand `name` in this operation: none, one, or any number for a variadic operand."""
    declared = definition(operation.name)
    assert declared is not None
    schema = declared.schema
    if name == schema.variadic:
        return operation.operands[len(schema.operands) :]
    index = schema.operands.index(name)
    return operation.operands[index : index + 1]


def pretty(form: str, operation: Operation, printer: Printer, indent: str) -> str:
    """The operation in its pretty form, without its location."""
    if form == "custom":
        return _CUSTOM[operation.name](operation, printer, indent)
    text = operation.name
    for word in filter(None, _words(directives(form), form, operation, printer)):
        text += word if word in ("(", "[", ")", "]", ",") or text[-1] in "([" else f" {word}"
    return printer.results(operation) + text


def _words(parts: tuple[Directive, ...], form: str, operation: Operation, printer: Printer) -> list[str]:
    """The text of each directive; "" for a part that is absent."""
    declared = definition(operation.name)
    assert declared is not None
    words = []
    for part in parts:
        match part.kind:
            case "word":
                words.append(part.text)
            case "operand":
                words.append(", ".join(map(printer.name, operands_named(operation, part.text))))
            case "type" if part.text == "result":
                words.append(str(operation.results[0].type))
            case "type" if part.text == "results":
                words.append(", ".join(str(value.type) for value in operation.results))
            case "type":
                words.append(", ".join(str(value.type) for value in operands_named(operation, part.text)))
            case "functional-type":
                words.append(str(operation.signature))
            case "attribute":
                words.append(_attribute_word(operation, declared, part.text, printer))
            case "flag":
                words.append(part.text if operation.attributes.get(part.text) else "")
            case "attr-dict":
                texts = printer.attributes(operation, leave_out=named_attributes(form))
                words.append(printer.attribute_dict(texts) if texts else "")
            case "group" if _is_present(part.body, operation):
                words += _words(part.body, form, operation, printer)
    return words


def _is_present(body: tuple[Directive, ...], operation: Operation) -> bool:
    """Whether the first operand, type or attribute of a group is present."""
    for part in body:
        if part.kind in ("operand", "type"):
            return bool(operands_named(operation, part.text))
        if part.kind == "attribute":
            return part.text in operation.attributes
    return False


def _attribute_word(operation: Operation, declared: OpDefinition, name: str, printer: Printer) -> str:
    """An attribute's value where the form names it; enum attributes are printed as words."""
    value = operation.attributes.get(name, declared.schema.defaults.get(name))
    hint = declared.hints.get(name)
    if any(isinstance(extra, Keyword) for extra in get_args(hint)):
        return str(value)
    assert value is not None
    return printer.attribute(value, hint)


# --- operations with their own forms


def _constant(operation: Operation, printer: Printer, indent: str) -> str:
    text = printer.constant(operation)
    discardable = printer.attributes(operation, leave_out=("value",))
    attributes = f"{printer.attribute_dict(discardable)} " if discardable else ""
    return f"{printer.results(operation)}arith.constant {attributes}{text}"


def _select(operation: Operation, printer: Printer, indent: str) -> str:
    condition = operation.operands[0].type
    types = f"{condition}, " if isinstance(condition, TensorType) else ""
    operands = ", ".join(map(printer.name, operation.operands))
    attributes = printer.attributes(operation)
    hints = f" {printer.attribute_dict(attributes)}" if attributes else ""
    return f"{printer.results(operation)}arith.select {operands}{hints} : {types}{operation.result.type}"


def _module(operation: Operation, printer: Printer, indent: str) -> str:
    return f"module {printer.region(operation.regions[0], indent)}"


def _func(operation: Operation, printer: Printer, indent: str) -> str:
    body = operation.regions[0]
    arguments = ", ".join(map(printer.argument, body.block.arguments))
    visibility = f"{operation.attributes['sym_visibility']} " if "sym_visibility" in operation.attributes else ""
    name = str(operation.attributes["sym_name"])
    symbol = printer.attribute(name, definition("tt.call").hints["callee"])  # type: ignore[union-attr]
    function_type = operation.attributes["function_type"]
    assert isinstance(function_type, FunctionType)
    results = str(FunctionType((), function_type.results)).removeprefix("()") if function_type.results else ""
    texts = printer.attributes(operation, leave_out=("sym_name", "sym_visibility", "function_type"))
    attributes = f" attributes {printer.attribute_dict(texts)}" if texts else ""
    head = f"tt.func {visibility}{symbol}({arguments}){results}{attributes}"
    return f"{head} {_region_without_label(body, printer, indent)}"


def _for(operation: Operation, printer: Printer, indent: str) -> str:
    lower, upper, step, *inits = operation.operands
    body = operation.regions[0]
    variable, *carried = body.block.arguments
    results = printer.results(operation)
    bounds = f"{printer.name(lower)} to {printer.name(upper)} step {printer.name(step)}"
    text = f"{results}scf.for {printer.name(variable)} = {bounds}"
    text += _carried(" iter_args", carried, inits, printer)
    if inits:
        text += f" -> ({', '.join(str(result.type) for result in operation.results)})"
    text += f" : {lower.type} {_region_without_label(body, printer, indent)}"
    return text + _attributes_after_region(operation, printer)


def _if(operation: Operation, printer: Printer, indent: str) -> str:
    text = f"{printer.results(operation)}scf.if {printer.name(operation.operands[0])}"
    if operation.results:
        text += f" -> ({', '.join(str(result.type) for result in operation.results)})"
    text += f" {printer.region(operation.regions[0], indent)}"
    if operation.regions[1].blocks:
        text += f" else {printer.region(operation.regions[1], indent)}"
    return text + _attributes_after_region(operation, printer)


def _while(operation: Operation, printer: Printer, indent: str) -> str:
    before, after = operation.regions
    text = f"{printer.results(operation)}scf.while" + _carried("", before.block.arguments, operation.operands, printer)
    text += f" : {operation.signature}"
    text += f" {_region_without_label(before, printer, indent)} do {printer.region(after, indent)}"
    attributes = _attributes_after_region(operation, printer)
    return f"{text} attributes{attributes}" if attributes else text


def _dot_scaled(operation: Operation, printer: Printer, indent: str) -> str:
    """`tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {...} : type, type * type -> type`."""
    matrices = sides(operation, operation.operands)
    values = [f"{printer.name(x)} scale {printer.name(s)}" if s else printer.name(x) for x, s, *_ in matrices]
    types = [f"{x.type}, {s.type}" if s else str(x.type) for x, s, *_ in matrices]
    lhs, rhs = operation.attributes["a_elem_type"], operation.attributes["b_elem_type"]
    texts = printer.attributes(operation, leave_out=("a_elem_type", "b_elem_type", "operandSegmentSizes"))
    text = f"{printer.results(operation)}tt.dot_scaled {', '.join(values)}, {printer.name(operation.operands[2])}"
    text += f" lhs = {lhs} rhs = {rhs} {printer.attribute_dict(texts)}"
    return f"{text} : {' * '.join(types)} -> {operation.result.type}"


def _make_tensor_descriptor(operation: Operation, printer: Printer, indent: str) -> str:
    """`tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] {...} : <f32>, <tensor<16x32xf32>>`."""
    base, *sizes = map(printer.name, operation.operands)
    rank = len(sizes) // 2
    texts = printer.attributes(operation, leave_out=("operandSegmentSizes",))
    head = f"{printer.results(operation)}{operation.name} {base}, [{', '.join(sizes[:rank])}]"
    types = (str(value.type).partition("<")[2] for value in (operation.operands[0], operation.result))
    attributes = f" {printer.attribute_dict(texts)}" if texts else ""
    return f"{head}, [{', '.join(sizes[rank:])}]{attributes} : {', '.join(f'<{type}' for type in types)}"


def _carried(word: str, arguments: list, inits: tuple[Value, ...] | list[Value], printer: Printer) -> str:
    """`iter_args(%acc = %zero)`: the block arguments of carried values, and their initial values."""
    pairs = [f"{printer.name(a)} = {printer.name(init)}" for a, init in zip(arguments, inits, strict=True)]
    return f"{word}({', '.join(pairs)})" if pairs else ""


def _region_without_label(region: Region, printer: Printer, indent: str) -> str:
    """A region whose block arguments are already named in the operation's first line."""
    lines = printer.region(region, indent).split("\n")
    return "\n".join([lines[0], *lines[2:]] if region.block.arguments else lines)


def _attributes_after_region(operation: Operation, printer: Printer) -> str:
    texts = printer.attributes(operation)
    return f" {printer.attribute_dict(texts)}" if texts else ""


_CUSTOM: dict[str, Callable[[Operation, Printer, str], str]] = {
    "arith.constant": _constant,
    "arith.select": _select,
    "builtin.module": _module,
    "tt.dot_scaled": _dot_scaled,
    "tt.func": _func,
    "tt.make_tensor_descriptor": _make_tensor_descriptor,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
}
