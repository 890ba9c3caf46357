"""Parsing the pretty forms: the inverse of `assembly.py`. (Given.)

Most forms follow the format string in the operation's declaration; functions in `_CUSTOM` parse the others. Each
function takes the parser, and the token of the operation's name, which has already been consumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mini_triton.ir.assembly import Directive, directives
from mini_triton.ir.attributes import Keyword, annotation
from mini_triton.ir.core import Attribute, Block, Operation, Region
from mini_triton.ir.ops.definition import OpDefinition, create, definition
from mini_triton.ir.parser.attributes import Argument, Parsed
from mini_triton.ir.parser.lexer import Token
from mini_triton.ir.parser.literals import unquoted
from mini_triton.ir.types import I1, FunctionType, Type

if TYPE_CHECKING:
    from mini_triton.ir.parser.operations import Operand, Parser


@dataclass
class Fields:
    """The parts of the text of one operation."""

    operands: dict[str, list[Operand]] = field(default_factory=dict)
    types: dict[str, tuple[Type, ...]] = field(default_factory=dict)  # of the operands
    result: Type | None = None  # of every result
    results: tuple[Type, ...] = ()  # of each result
    signature: FunctionType | None = None
    words: dict[str, Attribute] = field(default_factory=dict)
    dictionary: dict[str, Parsed] = field(default_factory=dict)


def read(parser: Parser, start: Token) -> Operation:
    """An operation in its pretty form."""
    if start.text in _CUSTOM:
        return _CUSTOM[start.text](parser, start)
    declared = parser.declared(start.text, start)
    if declared.assembly is None:
        raise parser.error(f'{declared.name} is only written in its generic form, "{declared.name}"(...)', start)
    fields = Fields()
    _read(parser, directives(declared.assembly), declared, fields)
    names = (*declared.schema.operands, declared.schema.variadic)
    operands = [operand for name in names if name for operand in fields.operands.get(name, ())]
    for name, types in fields.types.items():
        parser.check_types(fields.operands.get(name, ()), types, start)
    attributes = parser.checked(declared, fields.dictionary, start) | fields.words
    if fields.signature:
        parser.check_types(operands, fields.signature.inputs, start)
        operation = parser.create(start, declared, operands, attributes, fields.signature.results)
        parser.check_results(operation, fields.signature.results, start)
    elif fields.result:
        operation = parser.create(start, declared, operands, attributes, (fields.result,))
        parser.check_results(operation, (fields.result,) * len(operation.results), start)
    else:
        operation = parser.create(start, declared, operands, attributes, fields.results)
    return operation


def _read(parser: Parser, parts: Sequence[Directive], declared: OpDefinition, fields: Fields) -> None:
    """Follow a format, directive by directive."""
    for part in parts:
        name = part.text
        match part.kind:
            case "word":
                parser.expect(name)
            case "operand":
                fields.operands[name] = parser.operands() if name == declared.schema.variadic else [parser.operand()]
            case "type" if name == "result":
                fields.result = parser.type()
            case "type" if name == "results":
                fields.results = tuple(parser.types())
            case "type":
                fields.types[name] = parser.types() if name == declared.schema.variadic else (parser.type(),)
            case "functional-type":
                fields.signature = parser.function_type()
            case "attribute":
                fields.words[name] = _word(parser, declared, name)
            case "flag" if parser.accept(name):
                fields.words[name] = True
            case "ignore" if parser.accept(name):
                _skip_hint(parser)
            case "attr-dict":
                fields.dictionary = parser.optional_dict()
            case "group" if _begins(parser, part.body[0]):
                _read(parser, part.body, declared, fields)


def _begins(parser: Parser, part: Directive) -> bool:
    """Whether a group that starts with this directive comes next."""
    return parser.token.kind == "value" if part.kind == "operand" else parser.at(part.text)


def _skip_hint(parser: Parser) -> None:
    """Skip the rest of a hint such as `cacheModifier = cg` or `fastmath<fast>`, after its name."""
    if parser.accept("="):
        parser.expect_kind("word", "a word")
    parser.skip_angles()


def _word(parser: Parser, declared: OpDefinition, name: str) -> str:
    """The value of an attribute that the form writes without its name."""
    _, extra = annotation(declared.hints.get(name))
    if extra == "symbol":
        return parser.symbol()
    if not isinstance(extra, Keyword):
        return unquoted(parser.expect_kind("string", f"a string, the {name}").text)
    if parser.token.text not in extra.numbers:
        raise parser.unexpected(f"the {name}, one of {', '.join(extra.numbers)}")
    return parser.advance().text


# --- operations with their own forms


def _constant(parser: Parser, start: Token) -> Operation:
    declared = parser.declared("arith.constant", start)
    attributes = parser.checked(declared, parser.optional_dict(), start)
    value, type = parser.constant()
    return parser.create(start, declared, (), attributes | {"value": value}, (type,))


def _select(parser: Parser, start: Token) -> Operation:
    """`arith.select %c, %x, %y : condition type, type`; the first type is omitted if it is `i1`."""
    declared = parser.declared("arith.select", start)
    operands = parser.operands()
    attributes = parser.checked(declared, parser.optional_dict(), start)
    parser.expect(":")
    types = parser.types()
    condition, type = types if len(types) == 2 else (I1, types[0])
    parser.check_types(operands, (condition, type, type), start)
    return parser.create(start, declared, operands, attributes)


def _module(parser: Parser, start: Token) -> Operation:
    """A module. Its name and attributes are dropped, because they do not affect its functions."""
    if parser.token.kind == "symbol":
        parser.symbol()
    if parser.accept("attributes"):
        parser.attribute_dict()
    return parser.module_around(parser.region(), start)


def _func(parser: Parser, start: Token) -> Operation:
    declared = parser.declared("tt.func", start)
    visibility = parser.advance().text if parser.token.kind == "word" else ""
    name = parser.symbol()
    arguments = parser.arguments()
    results = parser.result_types() if parser.accept("->") else ()
    dictionary = parser.attribute_dict() if parser.accept("attributes") else {}
    region = parser.region(arguments, function=True)
    attributes = parser.checked(declared, dictionary, start) | {
        "sym_name": name,
        "sym_visibility": visibility,
        "function_type": FunctionType(tuple(argument.type for argument in arguments), results),
    }
    return parser.create(start, declared, (), attributes, regions=[region])


def _for(parser: Parser, start: Token) -> Operation:
    """`scf.for %i = %lower to %upper step %step iter_args(%x = %init) -> (f32) : i32 { ... } {attributes}`."""
    variable = parser.expect_kind("value", "a loop variable such as %i")
    parser.expect("=")
    lower = parser.operand()
    parser.expect("to")
    upper = parser.operand()
    parser.expect("step")
    bounds = [lower, upper, parser.operand()]
    names, inits = _carried(parser) if parser.accept("iter_args") else ([], [])
    results = parser.result_types() if parser.accept("->") else ()
    parser.expect(":")
    types = (parser.type(),) * len(bounds) + results
    parser.check_types([*bounds, *inits], types, start)
    body = _with_terminator(parser.region(_arguments([variable, *names], types[2:])))
    return _structured(parser, start, [*bounds, *inits], results, [body])


def _if(parser: Parser, start: Token) -> Operation:
    """`scf.if %c -> (f32) { ... } else { ... } {attributes}`."""
    condition = parser.operand()
    results = parser.result_types() if parser.accept("->") else ()
    then = _with_terminator(parser.region())
    otherwise = _with_terminator(parser.region()) if parser.accept("else") else Region()
    return _structured(parser, start, [condition], results, [then, otherwise])


def _while(parser: Parser, start: Token) -> Operation:
    """`scf.while (%x = %init) : (f32) -> f32 { ... } do { ... } attributes {...}`."""
    names, inits = _carried(parser) if parser.at("(") else ([], [])
    parser.expect(":")
    signature = parser.function_type()
    parser.check_types(inits, signature.inputs, start)
    before = parser.region(_arguments(names, signature.inputs))
    parser.expect("do")
    after = _with_terminator(parser.region())
    parser.accept("attributes")
    return _structured(parser, start, inits, signature.results, [before, after])


def _barrier(parser: Parser, start: Token) -> Operation:
    """From Triton 3.7 on, `gpu.barrier` is printed as `ttg.barrier all`."""
    parser.expect("all")
    parser.optional_dict()
    return parser.create(start, parser.declared("gpu.barrier", start))


def _dot_scaled(parser: Parser, start: Token) -> Operation:
    """`tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {...} : type, type * type -> type`."""
    declared = parser.declared(start.text, start)
    matrices: list[Operand] = []
    scales: list[Operand | None] = []
    for _ in range(2):
        matrices.append(parser.operand())
        scales.append(parser.operand() if parser.accept("scale") else None)
        parser.expect(",")
    matrices.append(parser.operand())
    words = {}
    for side, name in (("lhs", "a_elem_type"), ("rhs", "b_elem_type")):
        parser.expect(side)
        parser.expect("=")
        words[name] = _word(parser, declared, name)
    attributes = parser.checked(declared, parser.optional_dict(), start)
    for matrix, scale, before in zip(matrices, scales, (":", "*"), strict=False):
        parser.expect(before)
        parser.check_types([matrix], (parser.type(),), start)
        if scale:
            parser.expect(",")
            parser.check_types([scale], (parser.type(),), start)
    parser.expect("->")
    result = parser.type()
    parser.check_types(matrices[2:], (result,), start)
    segments = (1, 1, 1, *(int(scale is not None) for scale in scales))
    operands = [*matrices, *filter(None, scales)]
    return parser.create(start, declared, operands, attributes | words | {"operandSegmentSizes": segments})


def _make_tensor_descriptor(parser: Parser, start: Token) -> Operation:
    """`tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] {...} : <f32>, <tensor<16x32xf32>>`."""
    declared = parser.declared(start.text, start)
    base = parser.operand()
    lists = []
    for _ in range(2):
        parser.expect(",")
        lists.append(parser.separated(parser.operand, "[", "]"))
    attributes = parser.checked(declared, parser.optional_dict(), start)
    parser.expect(":")
    pointer = parser.elided_type("!tt.ptr")
    parser.expect(",")
    result = parser.elided_type("!tt.tensordesc")
    parser.check_types([base], (pointer,), start)
    attributes["operandSegmentSizes"] = (1, *map(len, lists))
    return parser.create(start, declared, [base, *lists[0], *lists[1]], attributes, (result,))


def _carried(parser: Parser) -> tuple[list[Token], list[Operand]]:
    """`(%x = %init, %y = %other)`: the names of carried values in the loop, and their initial values."""

    def pair() -> tuple[Token, Operand]:
        name = parser.expect_kind("value", "a carried value such as %x")
        parser.expect("=")
        return name, parser.operand()

    pairs = parser.separated(pair, "(", ")")
    return [name for name, _ in pairs], [init for _, init in pairs]


def _arguments(names: Sequence[Token], types: Sequence[Type]) -> list[Argument]:
    return [Argument(name, type) for name, type in zip(names, types, strict=True)]


def _with_terminator(region: Region) -> Region:
    """The same region with its terminator: the text may omit an `scf.yield` without values."""
    block = region.blocks[-1] if region.blocks else region.append(Block())
    end = block.terminator and definition(block.terminator.name)
    if not end or not end.terminator:
        block.append(create("scf.yield"))
    return region


def _structured(
    parser: Parser, start: Token, operands: Sequence[Operand], results: Sequence[Type], regions: Sequence[Region]
) -> Operation:
    """An operation of `scf`. Its attributes follow its regions."""
    declared = parser.declared(start.text, start)
    attributes = parser.checked(declared, parser.optional_dict(), start)
    operation = parser.create(start, declared, operands, attributes, regions=regions)
    parser.check_results(operation, results, start)
    return operation


_CUSTOM: dict[str, Callable[[Parser, Token], Operation]] = {
    "arith.constant": _constant,
    "arith.select": _select,
    "module": _module,
    "builtin.module": _module,
    "tt.dot_scaled": _dot_scaled,
    "tt.func": _func,
    "tt.make_tensor_descriptor": _make_tensor_descriptor,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "ttg.barrier": _barrier,
}
