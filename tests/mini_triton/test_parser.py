"""The given parser: everything the printer prints and real Triton prints comes back as the same program.

Real Triton decides what "the same" is: its own print of our print must equal its print of the original.
"""

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.triton_api import respelled
from mini_triton.errors import CompilationError, Loc
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.ops import asynchronous, definition
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module

from tests.oracles import modules, triton

EVERY_OPERATION = (Path(__file__).parent / "every_operation.ttir").read_text(encoding="utf-8")
TEXTS = {
    f"{name}, {stage}": text
    for stage in ("canonical", "raw", "located", "optimised")
    for name, text in modules.texts(stage).items()
}
STRUCTURED = {name: text for name, text in TEXTS.items() if " cf." not in text}
FORMS = [{}, {"generic": True}, {"locations": True}, {"generic": True, "locations": True}]
SEGMENTS = re.compile(r" \{operandSegmentSizes = [^}>]*>\}|operandSegmentSizes = [^}>]*>, ")  # Triton keeps some
DEAD_BLOCK = re.compile(r"^  \^bb\d+:  // no predecessors\n(?:    .*\n)+", re.MULTILINE)


def parse_lines(*lines: str) -> Module:
    """A kernel of these lines, with some values to use."""
    body = "\n".join(lines)
    arguments = "%x: f32, %h: f16, %i: i32, %p: !tt.ptr<f32>, %c: i1, %t: tensor<8xf32>"
    return parse_module(f"tt.func public @k({arguments}) {{\n{body}\ntt.return\n}}")


def first(*lines: str) -> Operation:
    """The first operation of such a kernel."""
    return parse_lines(*lines).body.operations[0].regions[0].block.operations[0]


def test_every_kind_of_operation_is_in_the_example() -> None:
    """Operations of one type rule and one assembly, such as math.sin and math.cos, are of a kind.

    No text has those that only the back end for threads makes (`asynchronous.py`).
    """
    names = {operation.name for operation in parse_module(EVERY_OPERATION).walk()}
    declared = {n: d for n, d in definition._DEFINITIONS.items() if d.rule.__module__ != asynchronous.__name__}
    kinds = {name: (known.rule, known.assembly) for name, known in declared.items()}
    assert {kinds[name] for name in names} == set(kinds.values())


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_what_we_print_comes_back(form: dict[str, bool]) -> None:
    for original in (EVERY_OPERATION, *STRUCTURED.values()):
        text = print_module(parse_module(original), **form)
        assert print_module(parse_module(text), **form) == text


def test_generic_and_pretty_forms_are_one_program() -> None:
    assert print_module(parse_module(EVERY_OPERATION)) == EVERY_OPERATION
    generic = print_module(parse_module(EVERY_OPERATION), generic=True)
    assert print_module(parse_module(generic)) == EVERY_OPERATION
    assert SEGMENTS.sub("", triton.parse(generic)) == SEGMENTS.sub("", triton.parse(EVERY_OPERATION))


@pytest.mark.parametrize("name", STRUCTURED)
def test_real_tritons_text_means_the_same_to_real_triton(name: str) -> None:
    original = STRUCTURED[name].replace("ttg.barrier all", "gpu.barrier").replace(" attributes {noinline = false}", "")
    module = parse_module(STRUCTURED[name])
    ours = [print_module(module, **form) for form in FORMS]
    expected, *answers = triton.accepts_many([DEAD_BLOCK.sub("", original), *ours])
    for form, answer in zip(FORMS, answers, strict=True):
        assert answer and answer.text == expected.text, f"{form}: {answer.diagnostic}"


@pytest.mark.parametrize("name", sorted(TEXTS.keys() - STRUCTURED.keys()))
def test_unstructured_control_flow_is_refused_by_name(name: str) -> None:
    with pytest.raises(CompilationError, match="unstructured control flow, such as cf.cond_br, is not supported"):
        parse_module(TEXTS[name])


# --- locations and names


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('loc("k.py":7:2)', 7),
        ("loc(#loc1)", 1),
        ("loc(#named)", 2),
        ("loc(callsite(#loc1 at #loc2))", 1),
        ("loc(callsite(#none at #loc2))", 2),
        ("loc(fused[#none, #named, #loc1])", 2),
        ('loc(fused<"inlined">[#loc2])', 2),
        ('loc("x"(callsite(#loc1 at #loc2)))', 1),
        ('loc("k.py":7:2 to 9:4)', 7),
        ('loc("k.py":7:2 to :4)', 7),
        ('loc("x")', None),
        ("loc(unknown)", None),
        ("loc(#circle)", None),
        ("loc(#nowhere)", None),
    ],
)
def test_locations(text: str, line: int | None) -> None:
    aliases = (
        '#loc1 = loc("k.py":1:2)\n#none = loc(unknown)\n{}\n'
        '#named = loc("x"(#loc2))\n#loc2 = loc("k.py":2:2)\n#circle = loc(callsite(#circle at #circle))\n'
    )
    function = f"tt.func @k(%x: i32 loc(#named)) {{ tt.return {text} }} {text}"
    for wrapped in (function, f"module {{ {function} }} {text}"):
        (parsed,) = parse_module(aliases.format(wrapped)).body.operations
        wanted = line and Loc("k.py", line, 2)
        assert [parsed.loc, parsed.regions[0].block.operations[0].loc] == [wanted, wanted]


def test_values_keep_their_names_but_not_their_numbers() -> None:
    text = """tt.func @k(%n: i32, %3: i32) {
      %sum_0 = arith.addi %n, %3 : i32
      %7 = arith.addi %n, %3 : i32
      %t = tt.splat %n : i32 -> tensor<8xi32>
      %j = tt.join %t, %t : tensor<8xi32> -> tensor<8x2xi32>
      %left, %right = tt.split %j : tensor<8x2xi32> -> tensor<8xi32>
      %both:2 = tt.split %j : tensor<8x2xi32> -> tensor<8xi32>
      %use = arith.addi %right, %both#1 : tensor<8xi32>
      tt.return
    }"""
    block = parse_module(text).body.operations[0].regions[0].block
    assert [argument.name for argument in block.arguments] == ["n", ""]
    assert [[r.name for r in operation.results] for operation in block.operations] == (
        [["sum_0"], [""], ["t"], ["j"], ["left", "right"], ["both", "both"], ["use"], []]
    )
    *_, left, both, use, _ = block.operations
    assert use.operands == (left.results[1], both.results[1])


def test_a_name_lives_as_long_as_its_region() -> None:
    block = "{ %y = arith.addi %i, %i : i32 }"
    assert parse_lines(f"scf.if %c {block} else {block}", "%y = arith.addi %i, %i : i32")
    with pytest.raises(CompilationError, match="%y is not defined here"):
        parse_lines(f"scf.if %c {block}", "%z = arith.addi %y, %y : i32")
    with pytest.raises(CompilationError, match="%i is defined already"):
        parse_lines("scf.if %c { %i = arith.constant 1 : i32 }")


# --- numbers and attributes


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5 : i32", 5),
        ("-5 : i8", -5),
        ("255 : i8", -1),
        ("0xFFFFFFFF : i32", -1),
        ("18446744073709551615 : i64", -1),
        ("true", True),
        ("0 : i1", False),
        ("9.99999974E-6 : f32", 9.99999974e-6),
        ("-1.500000e+00 : bf16", -1.5),
        ("dense<0xFF800000> : tensor<8xf32>", -math.inf),
        ("dense<true> : tensor<4x2xi1>", True),
        ("dense<[[7, 7], [7, 7]]> : tensor<2x2xi64>", 7),
    ],
)
def test_constants(text: str, value: bool | int | float) -> None:
    constant = first(f"%k = arith.constant {text}")
    assert constant.attributes["value"] == value and type(constant.attributes["value"]) is type(value)
    assert str(constant.result.type) in (text.rpartition(": ")[2], "i1")
    generic = first(f'%k = "arith.constant"() <{{value = {text}}}> : () -> {constant.result.type}')
    assert generic.attributes == constant.attributes


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("{tt.a = 16 : i32, tt.b}", {"tt.a": 16, "tt.b": True}),
        ("{tt.a = 16, tt.b = false, tt.c = unit}", {"tt.a": 16, "tt.b": False, "tt.c": True}),
        ("{tt.a = dense<16> : tensor<1xi32>}", {"tt.a": (16,)}),
        (
            "{tt.a = dense<16> : tensor<3xi32>, tt.b = dense<[1, 2]> : tensor<2xi32>}",
            {"tt.a": (16,) * 3, "tt.b": (1, 2)},
        ),
        ("{tt.a = dense<> : tensor<0xi32>, tt.b = dense<[]> : tensor<0xi32>}", {"tt.a": (), "tt.b": ()}),
        ("{tt.a = array<i32: 1, 0>, tt.b = array<i32>}", {"tt.a": (1, 0), "tt.b": ()}),
        (r'{"tt.a" = "x\22\\\0A\n\C3\A9", tt.b = @f}', {"tt.a": 'x"\\\n\né', "tt.b": "f"}),
        ("{tt.a = #tt.any<a = 1, b = <2>>, tt.b = [1, {c = f32}], tt.c = loc(unknown), tt.d = 1.5 : f32}", {}),
        ("{}", {}),
    ],
)
def test_discardable_attributes(text: str, attributes: dict) -> None:
    assert first(f"%k = arith.addi %i, %i {text} : i32").attributes == attributes
    assert first(f'%k = "arith.addi"(%i, %i) <{text}> : (i32, i32) -> i32').attributes == attributes
    assert first(f'%k = "arith.addi"(%i, %i) {text} : (i32, i32) -> i32').attributes == attributes
    (function,) = parse_module(f"tt.func @k(%i: i32 {text}) {{ tt.return }}").body.operations
    assert function.regions[0].block.arguments[0].attributes == attributes


@pytest.mark.parametrize(
    "text",
    [
        "arith.addf %x, %x fastmath<nnan,ninf> : f32",
        "arith.addi %i, %i overflow<nsw, nuw> : i32",
        "arith.cmpf olt, %x, %x fastmath<fast> : f32",
        "math.exp %x fastmath<fast> : f32",
        "math.fma %x, %x, %x fastmath<fast> : f32",
        "arith.truncf %x fastmath<fast> : f32 to f16",
        "arith.trunci %i overflow<nsw> : i32 to i8",
        '"arith.addf"(%x, %x) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32',
        "tt.load %p, %c {cachePolicy = #tt.cache_policy<cache_modifier = cg>} : !tt.ptr<f32>",
        '"tt.load"(%p) <{cache = 1 : i32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f32',
    ],
)
def test_hints_are_dropped(text: str) -> None:
    assert first(f"%k = {text}").attributes.keys() <= {"predicate"}


def test_hints_for_caches_stay() -> None:
    words, numbers = (
        "%k = tt.load %p cacheModifier = cg evictionPolicy = evict_last : !tt.ptr<f32>",
        '%k = "tt.load"(%p) <{cache = 3 : i32, evict = 3 : i32}> : (!tt.ptr<f32>) -> f32',
    )
    assert first(words).attributes == first(numbers).attributes == {"cache": "cg", "evict": "evict_last"}
    for form in FORMS:
        text = triton.parse(print_module(parse_lines(words), **form))
        assert "tt.load %arg3 cacheModifier = cg evictionPolicy = evict_last" in text
    policy = "{cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>, tt.a} : !tt.ptr<f32>"
    assert policy in respelled(words.replace(" :", " {tt.a} :"), "3.9.0")


@pytest.mark.parametrize(
    "text",
    [
        "tt.func @k(%i: i32) { tt.return }",
        "// a comment\ntt.func @k(%i: i32) { // and more\n tt.return }",
        'module @m attributes {"ttg.num-warps" = 4 : i32} { tt.func @k(%i: i32) { tt.return } }',
        "module { tt.func @k(%i: i32) attributes {noinline = false} { tt.return ^bb1: tt.return } }",
        '"builtin.module"() ({ "tt.func"() <{function_type = (i32) -> (), sym_name = "k"}> '
        '({ ^bb0(%i: i32): "tt.return"() : () -> () }) {arg_attrs = [{}]} : () -> () }) : () -> ()',
    ],
)
def test_ways_to_write_a_module(text: str) -> None:
    assert print_module(parse_module(text)) == "module {\n  tt.func @k(%i: i32) {\n    tt.return\n  }\n}\n"


def test_yields_that_yield_nothing_may_be_left_out() -> None:
    block = "{ gpu.barrier }"
    short = parse_lines(
        f"scf.if %c {block} else {{ }}", f"scf.for %j = %i to %i step %i : i32 {block}", "ttg.barrier all"
    )
    yields = [operation for operation in short.walk() if operation.name == "scf.yield"]
    assert len(yields) == 3
    assert triton.accepts(print_module(short))


# --- errors


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("%y = arith.addf %x, %z : f32", 20, "%z is not defined here"),
        ("%y = arith.addf %x, %x : f16", 5, "arith.addf has results (f32), not (f16)"),
        ("%y = arith.addf %x %x : f32", 19, "expected ,, found %x"),
        ("%y = arith.addf %x, %i : f32", 5, "arith.addf: its operands must have the same type, got f32 and i32"),
        ("%y = arith.cmpi less, %i, %i : i32", 16, "expected the predicate, one of eq, ne, slt"),
        ("%y = tt.adptr %p, %i : !tt.ptr<f32>, i32", 5, "there is no operation tt.adptr"),
        ("%y, %z = arith.addf %x, %x : f32", 9, "arith.addf has 1 results"),
        ("%y = tt.splat %x : f32 -> tensor<3xf32>", 26, "Shape element 0 must be a power of 2, got 3"),
        ("%y = tt.reduce %t {axis = 0 : i32} : f32", 5, 'only written in its generic form, "tt.reduce"(...)'),
        ("%y = arith.constant 300 : i8", 20, "300 does not fit in i8"),
        ("%y = arith.constant 1 : f32", 20, "a number of type f32 needs a decimal point, not 1"),
        ("%y = arith.constant 0x7FC000000 : f32", 20, "0x7FC000000 has more bits than f32"),
        ("%y = arith.constant dense<[1, 2]> : tensor<2xi32>", 20, "has one number, the same for all elements"),
        (
            "%y = tt.make_range {end = true, start = 0 : i32} : tensor<8xi32>",
            5,
            "True is not a valid end of tt.make_range",
        ),
        ("%y = arith.addi %i, %i {axis = 1 : i32} : i32", 5, "arith.addi has no attribute axis"),
        ('"tt.store"(%p, %x) : (!tt.ptr<f32>, f16) -> ()', 15, "%x is f32, not f16"),
        ('%y = "tt.load"(%p, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f32>, f32) -> f32', 5, "gap"),
        ("scf.if %c -> (f32) { }", 0, "scf.if has results (), not (f32)"),
        ('tt.assert %c, "boo : i1', 14, 'expected a string, the message, found "'),
    ],
)
def test_errors_say_where_and_what(line: str, column: int, message: str) -> None:
    with pytest.raises(CompilationError) as caught:
        first(line)
    assert caught.value.loc == Loc("<ttir>", 2, column)
    assert message in caught.value.message
    assert f"{line}\n{' ' * column}^" in str(caught.value)


@pytest.mark.parametrize("text", ["module { ", "module { } module { }", "scf.if " * 3, "{" * 5000, "module {" * 5000])
def test_odd_modules(text: str) -> None:
    with pytest.raises(CompilationError):
        parse_module(text)


# --- damaged text

PIECES = re.compile(r"[\w.$]+|\s+|.", re.DOTALL)
VOCABULARY = sorted(set(PIECES.findall(EVERY_OPERATION)) | {"", "\0", "\u00e9", "\ud800", "1" * 5000, "tensor<3xf32>"})
DAMAGES: list[Callable[[list[str], int, str], list[str]]] = [
    lambda pieces, at, piece: pieces[:at],
    lambda pieces, at, piece: pieces[at:],
    lambda pieces, at, piece: [*pieces[:at], *pieces[at + 1 :]],
    lambda pieces, at, piece: [*pieces[:at], piece, *pieces[at:]],
    lambda pieces, at, piece: [*pieces[:at], piece, *pieces[at + 1 :]],
    lambda pieces, at, piece: [*pieces[:at], *pieces[at + 1 : at + 2], *pieces[at : at + 1], *pieces[at + 2 :]],
]
SHORT = [EVERY_OPERATION, *(text for text in STRUCTURED.values() if len(text) < 3000)]


@given(
    st.sampled_from(SHORT),
    st.lists(
        st.tuples(st.sampled_from(range(len(DAMAGES))), st.integers(0, 2000), st.sampled_from(VOCABULARY)),
        min_size=1,
        max_size=3,
    ),
)
def test_damaged_text_is_refused_or_read(text: str, damages: list[tuple[int, int, str]]) -> None:
    pieces = PIECES.findall(text)
    for damage, at, piece in damages:
        pieces = DAMAGES[damage](pieces, at % (len(pieces) + 1), piece)
    try:
        module = parse_module("".join(pieces))
    except CompilationError as error:
        assert error.loc is not None
        return
    printed = print_module(module)
    assert print_module(parse_module(printed)) == printed
