"""Task 2.10: what is printed says to real Triton what was meant.

Real Triton reads the printed text and a text that the test has put together, and must print both alike.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.printer import Printer, print_module
from mini_triton.ir.types import I32

from tests.oracles import triton
from tests.support.m02_ops import descriptions as ir
from tests.support.m02_ops.descriptions import RETURN, Attribute, Op, array, flag, integer, segments, string, word
from tests.support.m02_ops.diagnostics import complaint, parting
from tests.support.m02_ops.programs import PARAMETERS, Step, program, recipes

FORMS: dict[str, dict[str, bool]] = {
    "print_module(module)": {},
    "print_module(module, generic=True)": {"generic": True},
    "print_module(module, locations=True)": {"locations": True},
    "print_module(module, generic=True, locations=True)": {"generic": True, "locations": True},
}
ORDER = {"sem": word("acq_rel", 4), "scope": word("gpu", 1)}

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


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


# --- results


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
