"""Task 3.7: two kernels built by hand equal those of real Triton's front end, and compile to the same instructions."""

from collections.abc import Callable
from functools import partial

from kernels.by_hand import matmul, vector_add
from mini_triton.ir.core import Module
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import FloatType
from mini_triton.ir.verifier import verify

from tests.oracles import by_hand, triton
from tests.support.m05_frontend.difference import difference

LENGTHS = (16, 1, 2, 128, 1024, 4096)  # 16 first: a kernel for a single element simplifies to almost nothing
ELEMENTS = {"f32": "fp32", "f16": "fp16", "bf16": "bf16", "f64": "fp64"}
TILES = ((64, 64, 32), (16, 16, 16), (32, 128, 64), (128, 16, 32), (1, 16, 16), (16, 1, 32))
COMPILED_TILES = ((64, 64, 32), (16, 32, 16), (128, 16, 32))
TARGETS = ("sm_80", "sm_90")
INSTRUCTIONS = ("ld.global", "st.global", "ld.shared", "st.shared", "ldmatrix", "mma", "wgmma.mma_async", "cp.async")


def is_real_tritons(call: str, module: Module, theirs: Callable[[], triton.Made]) -> None:
    """Require that the kernel and real Triton's kernel are equal after real Triton's canonicalizer.

    The kernels may differ in names, in the order of independent lines, and in `x + y` or `y + x`.
    """
    assert isinstance(module, Module), f"{call} returned {module!r}, not the module"
    verify(module)
    (function,) = module.body.operations
    name, got = call.partition("(")[0], function.attributes["sym_name"]
    assert got == name, f"{call}: the function should be named {name}, not {got}"
    names = [argument.name for argument in function.regions[0].block.arguments]
    found = difference(triton.canonical(print_module(module)), theirs().canonical, names)
    path = "\nThe path leads from the store back to the parameters; each `>` is one operand." if " > " in found else ""
    assert not found, (
        f"{call} is not what real Triton's front end makes of the docstring's kernel. The first difference:\n{found}\n"
        "Both lines are shown after real Triton's canonicalizer, with the lines that define their operands."
        f"{path}"
    )


def compiles_as_real_tritons(call: str, module: Module, theirs: Callable[..., triton.Made]) -> None:
    """Require PTX with the same memory and matrix instructions and as much shared memory as real Triton's."""
    text = print_module(module)
    for target in TARGETS:
        ours = triton.compile_ttir(text, target)
        assert ours, f"real Triton does not compile {call} for {target}: {ours.diagnostic}\n{text}"
        assert ours.cubin_size > 0, f"{call} for {target}: no machine code"
        reference = triton.compile_ttir(theirs(target=target).inlined, target)
        counts = {name: (reference.count(name), ours.count(name)) for name in INSTRUCTIONS}
        counts["bytes of shared memory"] = reference.shared, ours.shared
        expected = {name: count for name, (count, other) in counts.items() if count != other}
        got = {name: other for name, (count, other) in counts.items() if count != other}
        assert not expected, (
            f"{call} compiles to different PTX for {target} than real Triton's kernel\n"
            f"  expected  {expected}\n  got       {got}\n"
            "To emit wide loads, real Triton needs the alignment of every argument (`divisibility`)."
        )


def test_vector_add_is_real_tritons() -> None:
    for block in LENGTHS:
        for element, dtype in ELEMENTS.items():
            call = f"vector_add({block}, {element})"
            module = vector_add(block, FloatType(element))
            is_real_tritons(call, module, partial(by_hand.add_reference, block, dtype))
    is_real_tritons("vector_add(64)", vector_add(64), partial(by_hand.add_reference, 64))


def test_matmul_is_real_tritons() -> None:
    for block in TILES:
        is_real_tritons(f"matmul{block}", matmul(*block), partial(by_hand.matmul_reference, block))


def test_vector_add_compiles() -> None:
    for block, element in ((1024, "f32"), (16, "f32"), (256, "f16"), (512, "bf16"), (128, "f64")):
        compiles_as_real_tritons(
            f"vector_add({block}, {element})",
            vector_add(block, FloatType(element)),
            partial(by_hand.add_reference, block, ELEMENTS[element]),
        )


def test_matmul_compiles() -> None:
    for block in COMPILED_TILES:
        compiles_as_real_tritons(f"matmul{block}", matmul(*block), partial(by_hand.matmul_reference, block))
