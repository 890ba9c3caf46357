"""Task 2.10: the printed text means the operations that were built.

Real Triton reads the printed text and a text that the test composes, and must print both in the same way.
"""

from hypothesis import given
from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.printer import Printer, print_module
from mini_triton.ir.types import I32

from tests.oracles import triton
from tests.support.m02_ops.generic_form import PARAMETERS, RETURN, build, function, kernel, module, parting, reason
from tests.support.m02_ops.programs import EVERY, Step, program, recipes

FORMS: dict[str, dict[str, bool]] = {
    "print_module(module)": {},
    "print_module(module, generic=True)": {"generic": True},
    "print_module(module, locations=True)": {"locations": True},
    "print_module(module, generic=True, locations=True)": {"generic": True, "locations": True},
}


def must_mean(meant: str) -> None:
    """Print the module `meant` in every form, and require that real Triton reads `meant` from each text."""
    __tracebackhide__ = True
    built = build(meant)
    printed = {call: print_module(built, **arguments) for call, arguments in FORMS.items()}
    expected, *answers = triton.accepts_many([meant, *printed.values()])
    assert expected, f"the test is wrong: {expected.diagnostic}\n{meant}"
    for (call, text), answer in zip(printed.items(), answers, strict=True):
        assert answer, f"real Triton cannot read {call}: {reason(answer)}, {answer.diagnostic}\n{text}"
        if answer.text != expected.text:
            where = parting(expected.text, answer.text)
            raise AssertionError(
                f"{call} prints another module than the one that was built; real Triton's form of it differs {where}"
            )


def test_results_share_a_name() -> None:
    text = print_module(build(kernel(EVERY)))
    for part in ("%left:2 = tt.split %pairs ", "%difference = arith.subf %left#1, %left#0 "):
        got = next((line.strip() for line in text.splitlines() if part.split()[2] in line), text)
        assert got.startswith(part), f"a line of print_module(module)\n  expected  {part}...\n  got       {got}"


def test_layout() -> None:
    """Empty parts are left out, regions are indented, and a block with arguments has a label."""
    expected = """
    %r = "scf.for"(%n, %n, %n, %x) ({
    ^bb0(%j: i32, %y: f32):
      "gpu.barrier"() : () -> ()
      "scf.yield"(%y) : (f32) -> ()
    }) {tt.num_stages = 2 : i32} : (i32, i32, i32, f32) -> f32
    "tt.return"() : () -> ()
""".strip("\n")
    module = build(kernel(*expected.splitlines()[:-1]))
    inner = "\n".join(print_module(module, generic=True).splitlines()[3:-2])
    assert inner == expected, f"the kernel's body, in generic form, differs {parting(expected, inner)}"


def test_labels_of_blocks() -> None:
    """Every block has a label, except a first block without arguments."""
    blocks = [Block(), Block(), Block([I32], ["x"])]
    for block in blocks:
        block.append(Operation("tt.return", block.arguments))
    got = Printer(generic=True).region(Region([*blocks, Block()]), "")
    first, later = '  "tt.return"() : () -> ()', '  "tt.return"(%x) : (i32) -> ()'
    expected = "\n".join(["{", first, "^bb1:", first, "^bb2(%x: i32):", later, "^bb3:", "}"])
    assert got == expected, f"a region of four blocks differs {parting(expected, got)}"
    assert Printer().region(Region(), "  ") in ("{}", "{\n  }"), "a region without blocks should be a pair of braces"


# --- attributes


def test_parameters_and_functions() -> None:
    known = [f"{{tt.divisibility = {value}}}" for value in ("16 : i32", "8 : i32", "dense<[16, 1]> : tensor<2xi32>")]
    known += ["{}"] * (len(PARAMETERS) - len(known))
    more = f', sym_visibility = "public", noinline = true, arg_attrs = [{", ".join(known)}]'
    must_mean(module(function(PARAMETERS, RETURN, more=more)))


# --- whole programs


@given(recipe=recipes())
def test_programs(recipe: list[Step]) -> None:
    must_mean(program(recipe))


def test_every_operation() -> None:
    must_mean(kernel(EVERY))
