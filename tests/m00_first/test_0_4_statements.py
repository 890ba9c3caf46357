"""Task 0.4: an assignment emits no operation of its own. Once statements compile, whole kernels compile."""

import ast

import pytest
from first.slice import F32, I32, POINTER, Kernel, compile_kernel

from tests.checks import NO_ANSWER, described
from tests.support.m00_first.judging import insist_on_real_tritons, printed
from tests.support.m00_first.kernels import BLOCK, KERNELS, function


def statements(kernel: Kernel, text: str) -> described:
    """The call of `statement` for every statement of a text."""
    words = "Kernel.statement of " + ", ".join(f"`{line}`" for line in text.splitlines())

    def compile_all() -> None:
        for node in ast.parse(text).body:
            kernel.statement(node)

    return described(words, compile_all)


def test_a_new_name_for_a_value() -> None:
    kernel = Kernel("kernel", a=F32)
    call = statements(kernel, "b = a")
    call.succeeds()
    if kernel.names.get("b") is not kernel.names["a"]:
        call.fail("b names the same value as a", kernel.names)
    if kernel.ops:
        call.fail("no operation", kernel.ops, because="a second name for a value adds no work to the kernel")


def test_a_name_for_a_number() -> None:
    kernel = Kernel("kernel", SIZE=8)
    call = statements(kernel, "half = 4\nwhole = SIZE")
    call.succeeds()
    if (got := (kernel.names.get("half"), kernel.names.get("whole"))) != (4, 8):
        call.fail("half is 4, and whole is 8", got)


def test_a_name_for_a_result() -> None:
    kernel = Kernel("kernel", a=F32, b=F32)
    call = statements(kernel, "total = a + b")
    call.succeeds()
    if len(kernel.ops) != 1 or kernel.names.get("total") is not kernel.ops[0]:
        call.fail("one operation, and total names its result", kernel.names)


def test_a_name_that_changes() -> None:
    kernel = Kernel("kernel", a=F32, b=F32)
    old = kernel.names["a"]
    call = statements(kernel, "c = a\na = a + b\nd = a - c")
    call.succeeds()
    first, second = kernel.ops
    if (kernel.names["a"], kernel.names["d"]) != (first, second) or second.operands != (first, old):
        call.fail("d is the sum a + b minus the old a", printed(kernel))


def test_an_expression_that_stands_alone() -> None:
    kernel = Kernel("kernel", at=POINTER, value=F32, inside=I32)
    names = dict(kernel.names)
    call = statements(kernel, "tl.store(at, value, mask=inside)")
    call.succeeds()
    if [op.name for op in kernel.ops] != ["tt.store"] or kernel.names != names:
        call.fail("a tt.store, and no new name", [op.name for op in kernel.ops])


@pytest.mark.parametrize("name", KERNELS)
def test_the_whole_kernel_is_real_tritons(name: str) -> None:
    kernel = compile_kernel(function(KERNELS[name]), x=POINTER, y=POINTER, out=POINTER, n=I32, BLOCK=BLOCK)
    insist_on_real_tritons(name, printed(kernel))


def test_a_docstring() -> None:
    kernel = Kernel("kernel", a=F32)
    names = dict(kernel.names)
    call = statements(kernel, "'Adds two vectors.'")
    call.succeeds(because="real Triton allows a docstring")
    if kernel.ops or kernel.names != names:
        call.fail("no operation, and no new name", [op.name for op in kernel.ops])


def test_what_triton_does_not_compile() -> None:
    for text in ("a[0] = b", "a.b = c", "del a", "import os", "raise a", "with a: b = a", "a = zz"):
        kernel = Kernel("kernel", a=F32, b=F32, c=F32)
        statements(kernel, text).raises(SyntaxError, because="real Triton does not compile this")


def values(kernel: Kernel) -> str:
    """What each name stands for: a parameter or another operation."""
    parameters = {id(op): f"the parameter {name}" for name, op in kernel.parameters.items()}
    return ", ".join(f"{name} is {parameters.get(id(op), op)}" for name, op in kernel.names.items())


def test_several_targets() -> None:
    """The reference refuses several targets, as real Triton does. If your slice accepts them, each gets the value."""
    kernel = Kernel("kernel", a=F32, b=F32, c=F32)
    call = statements(kernel, "a = b = c")
    try:
        call()
    except SyntaxError:
        return
    except NO_ANSWER:
        raise
    except Exception as error:
        call.fail("SyntaxError", error)
    if not kernel.names["a"] is kernel.names["b"] is kernel.names["c"]:
        call.fail("SyntaxError, or a and b name the value of c", values(kernel))


def taught(text: str) -> tuple[Kernel, described] | None:
    """The kernel after a statement that the reference refuses, and the call; None if the slice refuses it, too."""
    kernel = Kernel("kernel", a=F32, b=F32)
    call = statements(kernel, text)
    try:
        call()
    except SyntaxError:
        return None
    except NO_ANSWER:
        raise
    except Exception as error:
        call.fail("SyntaxError", error)
    return kernel, call


def test_what_you_may_teach_it() -> None:
    """The reference refuses these statements. Your slice may compile them, but must not drop a statement silently."""
    for text in ("a += b", "a, b = b, a", "if a: b = a", "for i in range(8): a = i", "return a"):
        if found := taught(text):
            kernel, call = found
            if kernel.names == kernel.parameters and not kernel.ops:
                call.fail("SyntaxError, or operations for the statement", "no operation, and no new value for a name")


def test_what_you_teach_it_must_be_right() -> None:
    """The reference refuses these statements, too."""
    for text, name in (("a += b", "arith.addf"), ("a -= b", "arith.subf"), ("a *= b", "arith.mulf")):
        if found := taught(text):
            kernel, call = found
            a, b = kernel.parameters.values()
            if [(op.name, op.operands) for op in kernel.ops] != [(name, (a, b))] or kernel.names["a"] not in kernel.ops:
                call.fail(f"SyntaxError, or a names one {name} of a and b, in this order", printed(kernel))
    if found := taught("a, b = b, a"):
        kernel, call = found
        a, b = kernel.parameters.values()
        if (kernel.names["a"], kernel.names["b"]) != (b, a):
            call.fail("SyntaxError, or a and b change places", values(kernel))
    if found := taught("c: int"):
        kernel, call = found
        if kernel.ops or "c" in kernel.names:
            call.fail("SyntaxError, or nothing: an annotation gives a name no value", values(kernel))
