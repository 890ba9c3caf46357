"""Task 2.8: what is printed says to real Triton what was meant.

Real Triton reads the printed text and a text that the test has put together, and must print both alike.
"""

from __future__ import annotations

import itertools
import math
import re
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.formats import FLOATS
from mini_triton.ir.core import Block, Operation, Region, Value
from mini_triton.ir.printer import Printer, number, print_module
from mini_triton.ir.types import I32

from tests.checks import described
from tests.oracles import triton
from tests.support.floats import WIDTHS, all_bits, hexadecimal, value_of
from tests.support.m02_ops import descriptions as ir
from tests.support.m02_ops.descriptions import (
    RETURN,
    Attribute,
    Op,
    array,
    flag,
    integer,
    segments,
    tensor,
    type_of,
    word,
)
from tests.support.m02_ops.diagnostics import complaint, parting, reason
from tests.support.m02_ops.programs import PARAMETERS, Step, program, recipes
from tests.support.m02_ops.rules import applying

FORMS: dict[str, dict[str, bool]] = {
    "print_module(module)": {},
    "print_module(module, generic=True)": {"generic": True},
    "print_module(module, locations=True)": {"locations": True},
    "print_module(module, generic=True, locations=True)": {"generic": True, "locations": True},
}
WISHES = ("x", "x_0", "x_1", "x_0_0", "_", "__0", "0", "1", "")

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
ORDER = {"sem": word("acq_rel", 4), "scope": word("gpu", 1)}


def string(value: str) -> Attribute:
    """A string, every byte of it as two hex digits."""
    return Attribute(value, '"' + "".join(f"\\{byte:02X}" for byte in value.encode()) + '"')


def must_mean(meant: Op, built: Operation | None = None) -> None:
    """Whatever form a module is printed in, real Triton reads what the test has composed."""
    __tracebackhide__ = True
    built = built or ir.build(meant)
    printed = {call: print_module(built, **arguments) for call, arguments in FORMS.items()}
    expected, *answers = triton.accepts_many([ir.text(meant), *printed.values()])
    assert expected, f"the test is wrong: {expected.diagnostic}\n{ir.text(meant)}"
    for (call, text), answer in zip(printed.items(), answers, strict=True):
        assert answer, f"real Triton cannot read {call}: {complaint(answer, text)}"
        if answer.text != expected.text:
            where = parting(expected.text, answer.text)
            raise AssertionError(
                f"{call} says something else than was meant; printed by real Triton it differs {where}"
            )


def kernel(*operations: Op) -> Op:
    """A module with these operations in its kernel."""
    return ir.module(ir.function(PARAMETERS, [*operations, RETURN]))


def named(wish: str) -> Value:
    """A value with a wish for its name."""
    (value,) = Block([I32], [wish]).arguments
    return value


# --- numbers


def must_read_as(numbers: Sequence[tuple[bool | int | float, str]], type: str) -> None:
    """Real Triton takes what `number` prints for the number that is meant, which comes as bits."""
    __tracebackhide__ = True
    calls = [applying(number, value, type_of(type)) for value, _ in numbers]
    printed = [call() for call in calls]
    texts = [text for pair in zip(printed, (bits for _, bits in numbers), strict=True) for text in pair]
    constants = [f'%c = "arith.constant"() {{value = {text} : {type}}} : () -> {type}' for text in texts]
    answers = triton.accepts_many([f"module {{\n{line}\n}}" for line in constants])
    for call, text, read, meant in zip(calls, printed, answers[::2], answers[1::2], strict=True):
        assert meant, f"the test is wrong: {meant.diagnostic}"
        expected = f"what real Triton reads as {_constant(meant)}"
        if not read:
            call.fail(expected, text, because=f"real Triton cannot read it: {reason(read)}")
        if _constant(read) != _constant(meant):
            call.fail(expected, text, because=f"real Triton reads {_constant(read)}")


def _constant(answer: triton.Answer) -> str:
    """The constant in a printed module; any NaN is as good as another."""
    text = answer.text.partition("arith.constant ")[2].partition("\n")[0]
    bits, _, type = text.partition(" : ")
    return "nan" if bits.startswith("0x") and math.isnan(value_of(int(bits, 16), type)) else text


@pytest.mark.parametrize("type", [name for name, row in FLOATS.items() if row.width == 8])
def test_every_float_of_eight_bits(type: str) -> None:
    must_read_as([(value_of(bits, type), hexadecimal(bits, type)) for bits in range(256)], type)


@given(case=st.one_of([st.tuples(st.just(type), all_bits(type)) for type in ("f16", "bf16", "f32", "f64")]))
def test_floats(case: tuple[str, int]) -> None:
    type, bits = case
    must_read_as([(value_of(bits, type), hexadecimal(bits, type))], type)


def test_infinity_and_nan_are_bits() -> None:
    for type, value in itertools.product(WIDTHS, (math.inf, -math.inf, math.nan)):
        call, digits = applying(number, value, type_of(type)), WIDTHS[type] // 4
        if math.isinf(value) and FLOATS[type].infinity is None:
            call.raises(ValueError, because="this format has no infinity")
        else:
            text = call()
            if not re.fullmatch(f"0x[0-9A-Fa-f]{{{digits}}}", text):
                call.fail(f"0x and {digits} hex digits", text)
            read = value_of(int(text, 16), type)
            if str(read) != str(value):
                call.fail(f"the bits of {value}", text, because=f"these are the bits of {read}")


def test_floats_have_a_point() -> None:
    for value in (1e-05, 1e22, 1e16, -2.5e-07, 3.0, -0.0, 123456.789):
        for type in ("f64", "tensor<8xf64>"):
            call = applying(number, value, type_of(type))
            if "." not in call():
                call.fail("a decimal point", call())
        must_read_as([(value, f"0x{struct.pack('>d', value).hex()}")], "f64")


@given(width=st.sampled_from((8, 16, 32, 64)), bits=st.integers(0, 2**64 - 1))
def test_integers(width: int, bits: int) -> None:
    bits %= 2**width
    value = bits - 2**width if bits >> (width - 1) else bits
    must_read_as([(value, hex(bits))], f"i{width}")


def test_booleans() -> None:
    for type in ("i1", "tensor<8xi1>"):
        applying(number, True, type_of(type)).returns("true")
        applying(number, False, type_of(type)).returns("false")


# --- names


def test_wishes_for_names() -> None:
    """A wish is granted; the next who wishes the same gets a suffix; others get numbers."""
    wishes = {"x": "%x", "x ": "%0", "": "%1", "7up": "%2", "_": "%_", "a.b": "%3", "y9": "%y9", "naïve": "%4"}
    wishes["z\n"] = "%5"
    printer = Printer()
    for wish, expected in wishes.items():
        described(f"printer.name(a value whose wish is {wish!r})", printer.name, named(wish)).returns(expected)
    for expected in ("%x_0", "%x_1", "%x_2"):
        call = described("printer.name(another value whose wish is 'x')", printer.name, named("x"))
        call.returns(expected, because="x is taken")


@given(wishes=st.lists(st.sampled_from(WISHES) | texts, min_size=1, max_size=10))
def test_names_are_unique(wishes: list[str]) -> None:
    """Whatever values wish for, and in whatever order they come."""
    printer = Printer()
    values = [named(wish) for wish in wishes]
    names = [printer.name(value) for value in values]
    assert len(set(names)) == len(names), f"each value should have a name of its own, got {names}"
    again = [printer.name(value) for value in values]
    assert again == names, f"asked again, values should have the same names {names}, got {again}"
    assert [value.name for value in values] == wishes, "printing should leave the wishes as they are"
    constants = [f"{name} = arith.constant true" for name in names]
    answer = triton.accepts("\n".join(["module {", *constants, "}"]))
    assert answer, f"real Triton cannot read these names: {names}: {reason(answer)}"


def test_results_share_a_name() -> None:
    pair = Op("tt.split", ("j",), (("left", "tensor<8xf32>"), ("right", "tensor<8xf32>")))
    join = Op("tt.join", ("t", "t"), (("j", "tensor<8x2xf32>"),))
    add = Op("arith.subf", ("right", "left"), (("s", "tensor<8xf32>"),))
    built = ir.build(kernel(join, pair, add))
    text = print_module(built)
    for part in ("%left:2 = tt.split %j ", "%s = arith.subf %left#1, %left#0 "):
        got = next((line.strip() for line in text.splitlines() if part.split()[2] in line), text)
        assert got.startswith(part), f"a line of print_module(module)\n  expected  {part}...\n  got       {got}"
    must_mean(kernel(join, pair, add))


# --- layout


def test_layout() -> None:
    """Parts that are empty are left out, regions are indented, and a block with arguments has a label."""
    body = ir.Block((("j", "i32"), ("y", "f32")), (Op("gpu.barrier"), Op("scf.yield", ("y",))))
    loop = Op("scf.for", ("n", "n", "n", "x"), (("r", "f32"),), {"tt.num_stages": integer(2)}, ((body,),))
    inner = "\n".join(print_module(ir.build(kernel(loop)), generic=True).splitlines()[3:-2])
    expected = """
    %r = "scf.for"(%n, %n, %n, %x) ({
    ^bb0(%j: i32, %y: f32):
      "gpu.barrier"() : () -> ()
      "scf.yield"(%y) : (f32) -> ()
    }) {tt.num_stages = 2 : i32} : (i32, i32, i32, f32) -> f32
    "tt.return"() : () -> ()
""".strip("\n")
    assert inner == expected, f"what is in the kernel, in generic form, differs {parting(expected, inner)}"


def test_labels_of_blocks() -> None:
    """Only a first block without arguments needs none."""
    blocks = [Block(), Block(), Block([I32], ["x"])]
    for block in blocks:
        block.append(Operation("tt.return", block.arguments))
    got = Printer(generic=True).region(Region(blocks), "")
    first, later = '  "tt.return"() : () -> ()', '  "tt.return"(%x) : (i32) -> ()'
    expected = "\n".join(["{", first, "^bb1:", first, "^bb2(%x: i32):", later, "}"])
    assert got == expected, f"a region of three blocks differs {parting(expected, got)}"


# --- attributes


def test_attributes_of_every_kind() -> None:
    attributes = {
        "tt.flag": Attribute(True, "unit"),
        "tt.off": flag(False),
        "tt.count": integer(16),
        "tt.less": integer(-7),
        "tt.text": string('quotes " and \\ and \n'),
        "tt.many": Attribute((16, 1), "dense<[16, 1]> : tensor<2xi32>"),
        "tt.one": Attribute((-2,), "dense<[-2]> : tensor<1xi32>"),
    }
    must_mean(kernel(Op("gpu.barrier", attributes=attributes), ir.constant("k", "f32")))


def test_parameters_and_functions() -> None:
    module = kernel(Op("gpu.barrier"))
    built = ir.build(module)
    (function,) = built.regions[0].block.operations
    function.attributes |= {"sym_visibility": "public", "noinline": True}
    p, w, a, *_ = function.regions[0].block.arguments
    p.attributes["tt.divisibility"], w.attributes["tt.divisibility"] = 16, 8
    a.attributes["tt.divisibility"] = (16, 1)
    known = ["{tt.divisibility = 16 : i32}", "{tt.divisibility = 8 : i32}"]
    known += ["{tt.divisibility = dense<[16, 1]> : tensor<2xi32>}", *["{}"] * (len(PARAMETERS) - 3)]
    added = {
        "sym_visibility": Attribute(None, '"public"'),
        "noinline": flag(True),
        "arg_attrs": Attribute(None, f"[{', '.join(known)}]"),
    }
    (op,) = module.regions[0][0].operations
    must_mean(ir.module(op._replace(attributes={**op.attributes, **added})), built)


@given(prefix=texts, message=texts)
def test_strings(prefix: str, message: str) -> None:
    printing = {"prefix": string(prefix), "hex": flag(False), "isSigned": array((0, 1))}
    operations = [
        Op("tt.print", ("t", "i"), attributes=printing),
        Op("tt.assert", ("m",), attributes={"message": string(message)}),
    ]
    must_mean(kernel(*operations))


# --- constants


def test_constants() -> None:
    types = ("i1", "i8", "i32", "i64", "f8E5M2", "f8E4M3FN", "f16", "bf16", "f32", "f64")
    constants = [
        ir.constant(f"c{i}", tensor(shape, element), value)
        for i, (shape, element, value) in enumerate(itertools.product(((), (8,), (2, 4)), types, (0, 1, -3)))
    ]
    must_mean(kernel(*constants))


# --- whole programs


@given(recipe=recipes())
def test_programs(recipe: list[Step]) -> None:
    must_mean(program(recipe))


def test_operations_that_no_random_program_has() -> None:
    f8, h, b = "tensor<8xf8E5M2>", "tensor<16x16xf16>", "tensor<16x16xf32>"
    clamp = {"propagateNan": word("all", 0xFFFF)}
    library = {"symbol": string("__nv_tanhf"), "libname": string(""), "libpath": string(""), "pure": flag(True)}
    atomic = {"atomic_rmw_op": word("fadd", 5), **ORDER}
    unmasked = {"isVolatile": flag(True), "operandSegmentSizes": segments(True, False, False)}
    no_values = {"prefix": string("here"), "hex": flag(True), "isSigned": array(())}
    must_mean(
        kernel(
            Op("tt.get_program_id", (), (("pid", "i32"),), {"axis": word("y", 1)}),
            Op("tt.get_num_programs", (), (("many", "i32"),), {"axis": word("z", 2)}),
            Op("tt.make_range", (), (("range", "tensor<8xi32>"),), {"start": integer(8), "end": integer(16)}),
            Op("math.exp2", ("t",), (("e", "tensor<8xf32>"),)),
            Op("math.fma", ("x", "x", "x"), (("f", "f32"),)),
            Op("tt.clampf", ("x", "x", "x"), (("limited", "f32"),), clamp),
            Op("tt.extern_elementwise", ("t",), (("tanh", "tensor<8xf32>"),), library),
            Op("tt.fp_to_fp", ("t",), (("small", f8),), {"rounding": word("rtne", 1)}),
            Op("tt.fp_to_fp", ("small",), (("large", "tensor<8xf16>"),)),
            Op("tt.bitcast", ("i",), (("as_float", "tensor<8xf32>"),)),
            Op("tt.ptr_to_int", ("p",), (("address", "i64"),)),
            Op("tt.int_to_ptr", ("address",), (("pointer", "!tt.ptr<i8>"),)),
            Op("tt.load", ("a",), (("loaded", "tensor<8xf32>"),), unmasked),
            Op("tt.atomic_rmw", ("a", "t", "m"), (("before", "tensor<8xf32>"),), atomic),
            Op("tt.atomic_cas", ("p", "x", "x"), (("old", "f32"),), ORDER),
            Op("tt.reshape", ("w",), (("flat", "tensor<8xf32>"),), {"allow_reorder": Attribute(True, "unit")}),
            Op("tt.cat", ("t", "t"), (("both", "tensor<16xf32>"),)),
            Op("tt.gather", ("t", "i"), (("gathered", "tensor<8xf32>"),), {"axis": integer(0)}),
            Op("tt.histogram", ("i", "m"), (("counts", "tensor<4xi32>"),)),
            ir.constant("h", h),
            ir.constant("z", b),
            Op("tt.dot", ("h", "h", "z"), (("d", b),), {"inputPrecision": word("tf32", 0)}),
            Op("tt.dot", ("h", "h", "d"), (("dd", b),), {"maxNumImpreciseAcc": integer(32)}),
            Op("tt.print", attributes=no_values),
            Op("llvm.intr.assume", ("c",), attributes={"op_bundle_sizes": array(())._replace(value=None)}),
            Op("ub.poison", (), (("anything", "tensor<8xf32>"),)),
        )
    )
