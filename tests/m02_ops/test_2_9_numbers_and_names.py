"""Task 2.9: numbers, names, attributes and constants are written so that real Triton reads what was meant."""

import itertools
import math
import re
import struct
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.formats import FLOATS
from mini_triton.ir.core import Block, Operation, Value
from mini_triton.ir.printer import Printer, format_number
from mini_triton.ir.types import F32, I32, FunctionType

from tests.checks import calling, described
from tests.oracles import triton
from tests.support.floats import WIDTHS, all_bits, hexadecimal, value_of
from tests.support.m02_ops.generic_form import attributes_of, constant_value, reason, string, tensor, type_of
from tests.support.m02_ops.rules import applying

WISHES = ("x", "x_0", "x_1", "x_0_0", "_", "__0", "0", "1", "")

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


def named(wish: str) -> Value:
    """A value that suggests a name."""
    (value,) = Block([I32], [wish]).arguments
    return value


def must_be_read(line: str, cases: Iterable[tuple[calling, str]]) -> None:
    """Real Triton must read the printed text of each call, in a line of a module, as it reads the intended text."""
    __tracebackhide__ = True
    calls, meant = zip(*cases, strict=True)
    printed = [call() for call in calls]
    answers = triton.accepts_many([f"module {{\n{line.format(text)}\n}}" for text in (*printed, *meant)])
    for call, text, read, wish in zip(calls, printed, answers[: len(calls)], answers[len(calls) :], strict=True):
        assert wish, f"the test is wrong: {wish.diagnostic}"
        if _told(read) != _told(wish):
            call.fail(f"what real Triton reads as {_told(wish)}", text, _told(read) if read else reason(read))


def _told(answer: triton.Answer) -> str:
    """The line of the module, with one text for all NaNs."""
    line = answer.text.partition("\n")[2].partition("\n")[0]
    constant = re.search(r"constant (0x\w+) : (\w+)", line)
    return "nan" if constant and math.isnan(value_of(int(constant[1], 16), constant[2])) else line


# --- numbers


def must_read_as(numbers: Iterable[tuple[bool | int | float, str]], type: str) -> None:
    """The intended numbers are given as bits."""
    __tracebackhide__ = True
    line = f'%c = "arith.constant"() {{{{value = {{}} : {type}}}}} : () -> {type}'
    must_be_read(line, [(applying(format_number, value, type_of(type)), bits) for value, bits in numbers])


@pytest.mark.parametrize("type", [name for name, row in FLOATS.items() if row.width == 8])
def test_every_float_of_eight_bits(type: str) -> None:
    must_read_as([(value_of(bits, type), hexadecimal(bits, type)) for bits in range(256)], type)


@given(case=st.one_of([st.tuples(st.just(type), all_bits(type)) for type in ("f16", "bf16", "f32", "f64")]))
def test_floats(case: tuple[str, int]) -> None:
    type, bits = case
    must_read_as([(value_of(bits, type), hexadecimal(bits, type))], type)


@pytest.mark.parametrize("type", WIDTHS)
def test_infinity_and_nan_are_bits(type: str) -> None:
    for value, shape in itertools.product((math.inf, -math.inf, math.nan), ((), (8,))):
        call = applying(format_number, value, type_of(tensor(shape, type)))
        if math.isinf(value) and FLOATS[type].infinity is None:
            call.raises(ValueError, because="this format has no infinity")
            continue
        text = call()
        if not re.fullmatch(f"0x[0-9A-Fa-f]{{{WIDTHS[type] // 4}}}", text):
            call.fail(f"0x and {WIDTHS[type] // 4} hex digits", text)
        if str(read := value_of(int(text, 16), type)) != str(value):
            call.fail(f"the bits of {value}", text, because=f"{text} holds the bits of {read}")


def test_floats_have_a_point() -> None:
    values = (1e-05, 1e22, 1e16, -2.5e-07, 3.0, -0.0, 123456.789)
    must_read_as([(value, f"0x{struct.pack('>d', value).hex()}") for value in values], "f64")
    applying(format_number, 1e-05, F32).returns("1.0e-05", because="this is the shortest text of the number")


@given(width=st.sampled_from((8, 16, 32, 64)), bits=st.integers(0, 2**64 - 1))
def test_integers(width: int, bits: int) -> None:
    bits %= 2**width
    value = bits - 2**width if bits >> (width - 1) else bits
    must_read_as([(value, hex(bits))], f"i{width}")


def test_booleans() -> None:
    for type in ("i1", "tensor<8xi1>"):
        applying(format_number, True, type_of(type)).returns("true")
        applying(format_number, False, type_of(type)).returns("false")


# --- names


def test_suggested_names() -> None:
    """The first value with a name gets it; the next gets a suffix; values without a legal name get numbers."""
    wishes = {"x": "%x", "x ": "%0", "": "%1", "7up": "%2", "_": "%_", "a.b": "%3", "y9": "%y9", "naïve": "%4"}
    wishes["z\n"] = "%5"
    for because in ("", "each Printer has its own names"):
        printer = Printer()
        for wish, expected in wishes.items():
            call = described(f"printer.name(a value that suggests {wish!r})", printer.name, named(wish))
            call.returns(expected, because)
        for expected in ("%x_0", "%x_1", "%x_2"):
            call = described("printer.name(another value that suggests 'x')", printer.name, named("x"))
            call.returns(expected, because or "x is taken")


@given(wishes=st.lists(st.sampled_from(WISHES) | texts, min_size=1, max_size=10))
def test_names_are_unique(wishes: list[str]) -> None:
    """Names are unique for any suggestions, in any order."""
    printer = Printer()
    values = [named(wish) for wish in wishes]
    names = [printer.name(value) for value in values]
    assert len(set(names)) == len(names), f"each value should have a name of its own, got {names}"
    again = [printer.name(value) for value in values]
    assert again == names, f"a second call should return the same names {names}, got {again}"
    assert [value.name for value in values] == wishes, "printing should not change the suggested names"
    constants = [f"{name} = arith.constant true" for name in names]
    answer = triton.accepts("\n".join(["module {", *constants, "}"]))
    assert answer, f"real Triton cannot read these names: {names}: {reason(answer)}"


# --- attributes


def must_read_attributes(attributes: Iterable[tuple[Any, Any, str]]) -> None:
    """Values, the annotations of their attributes, and the intended text."""
    __tracebackhide__ = True
    attribute = Printer().attribute
    must_be_read(
        '"gpu.barrier"() {{tt.a = {}}} : () -> ()',
        [
            (described(f"printer.attribute({value!r}, {hint!r})", attribute, value, hint), meant)
            for value, hint, meant in attributes
        ],
    )


def test_attributes_of_every_kind() -> None:
    """Several integers are an array in an attribute that an operation declares, and a tensor in a discardable one."""
    function = FunctionType((F32, I32), (F32,))
    must_read_attributes([(value, hint, str(value).lower()) for value in (True, False) for hint in (bool, None)])
    must_read_attributes([(value, hint, f"{value} : i32") for value in (16, 0, 1, -7) for hint in (int, None)])
    for value in (1.0, -0.0, 1e-05, math.inf, math.nan):
        bits = hexadecimal(struct.unpack(">Q", struct.pack(">d", value))[0], "f64")
        must_read_attributes([(value, hint, f"{bits} : f64") for hint in (float, None)])
    described("printer.attribute(1.0)", Printer().attribute, 1.0).returns("1.0 : f64", because="the type follows")
    must_read_attributes([("relaxed", str, '"relaxed"'), (function, FunctionType, "(f32, i32) -> f32")])

    for values in ((1, 0), (-2,), (16, 1, 2), (16, 16)):
        items = ", ".join(map(str, values))
        must_read_attributes([(values, tuple[int, ...], f"array<i32: {items}>")])
        must_read_attributes([(values, None, f"dense<[{items}]> : tensor<{len(values)}xi32>")])


@given(text=texts)
def test_strings(text: str) -> None:
    must_read_attributes([(text, hint, string(text)) for hint in (str, None)])


# --- constants


def test_constants() -> None:
    cases = []
    for shape, element, value in itertools.product(
        ((), (8,), (2, 4), (1, 1)), ("i1", "i8", "i64", *FLOATS), (0, 1, -3)
    ):
        type = tensor(shape, element)
        meant = constant_value(type, value)
        attributes = attributes_of("arith.constant", f"value = {meant}")
        constant = Operation("arith.constant", (), [type_of(type)], attributes)
        cases.append((described(f"printer.constant({meant})", Printer().constant, constant), meant))
    must_be_read("%c = arith.constant {}", cases)


def test_infinite_constants() -> None:
    cases = []
    infinite = {name: row.infinity for name, row in FLOATS.items() if row.infinity is not None}
    for (element, bits), shape, sign in itertools.product(infinite.items(), ((), (8,)), (0, 1)):
        type, number = tensor(shape, element), hexadecimal(bits | sign << (WIDTHS[element] - 1), element)
        meant = f"dense<{number}> : {type}" if shape else f"{number} : {type}"
        constant = Operation("arith.constant", (), [type_of(type)], {"value": -math.inf if sign else math.inf})
        cases.append((described(f"printer.constant({meant})", Printer().constant, constant), meant))
    must_be_read("%c = arith.constant {}", cases)
