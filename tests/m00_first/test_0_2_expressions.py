"""Task 0.2: an expression becomes operations; its operands come before it."""

import numpy as np
from first.slice import F32, I32, MEANING, POINTER, Kernel, Op, Type
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import NO_ANSWER, described
from tests.support.m00_first.judging import computed, node

INTEGERS = {"a": 7, "b": -3, "c": 100}
FLOATS = {"a": 0.1, "b": -2.5, "c": 3e5}

leaves = st.sampled_from(["a", "b", "c", "SIZE"])
expressions = st.recursive(
    leaves | st.integers(0, 50).map(str),
    lambda parts: st.tuples(parts, st.sampled_from("+-*"), parts).map(" ".join).map("({})".format),
    max_leaves=6,
)


def compiling(kernel: Kernel, text: str) -> described:
    """The call of `expression` for the tree of a text."""
    return described(f"Kernel.expression of `{text}`", kernel.expression, node(text))


def integers() -> Kernel:
    return Kernel("kernel", a=I32, b=I32, c=I32, SIZE=1024)


def test_a_variable() -> None:
    kernel = integers()
    for name, value in kernel.names.items():
        call = compiling(kernel, name)
        if call() is not value:
            call.fail(f"the value of names[{name!r}]", call())
    if kernel.ops:
        compiling(kernel, "a").fail("no operation", kernel.ops)


def test_a_number() -> None:
    kernel = integers()
    for text, number in (("0", 0), ("1024", 1024), ("2.5", 2.5)):
        compiling(kernel, text).returns(number, because="a number becomes a constant only when an operation needs it")
    if kernel.ops:
        compiling(kernel, "1024").fail("no operation", kernel.ops)


def test_operators() -> None:
    for type, suffix in ((I32, "i"), (F32, "f"), (Type("i32", 8), "i"), (Type("f32", 8), "f")):
        for operator, name in (("+", "add"), ("-", "sub"), ("*", "mul")):
            kernel = Kernel("kernel", a=type, b=type)
            call = compiling(kernel, f"a {operator} b")
            got = call()
            if not isinstance(got, Op) or kernel.ops != [got]:
                call.fail("the one operation that was emitted", got)
            if (got.name, got.type) != (f"arith.{name}{suffix}", type):
                call.fail(f"arith.{name}{suffix} of type {type}", f"{got.name} of type {got.type}")
            if got.operands != (kernel.names["a"], kernel.names["b"]):
                call.fail("the operands a and b, in this order", [operand.name for operand in got.operands])


def test_a_comparison() -> None:
    kernel = Kernel("kernel", a=Type("i32", 8), b=Type("i32", 8))
    call = compiling(kernel, "a < b")
    got = call()
    if got.name != "arith.cmpi" or got.operands != (kernel.names["a"], kernel.names["b"]):
        call.fail("arith.cmpi of a and b", f"{got.name} of {len(got.operands)} operands")


@given(expressions)
@example("a - b - c")
@example("a - (b - c)")
@example("a + b * c")
def test_it_computes_what_python_computes(text: str) -> None:
    kernel = integers()
    call = compiling(kernel, text)
    got = call()
    expected = eval(text, {**INTEGERS, "SIZE": 1024})
    with np.errstate(over="ignore"):
        values = computed(kernel, {name: np.int32(value) for name, value in INTEGERS.items()})
    value = values[got] if isinstance(got, Op) else got
    if np.int64(value).astype(np.int32) != np.int64(expected).astype(np.int32):
        call.fail(str(expected), value, because=f"Python computes {expected} for {INTEGERS} and SIZE = 1024")


def test_operations_come_in_pythons_order() -> None:
    kernel = Kernel("kernel", a=F32, b=F32, c=F32)
    call = compiling(kernel, "(a + b) * (b - c) + a * 2.0")
    call()
    expected = ["arith.addf", "arith.subf", "arith.mulf", "arith.constant", "arith.mulf", "arith.addf"]
    if (got := [op.name for op in kernel.ops]) != expected:
        because = "the left operand's operations come before the right operand's, and no operation is emitted twice"
        call.fail(str(expected), got, because=because)


def test_calls() -> None:
    kernel = Kernel("kernel", at=Type("!tt.ptr<f32>", 8), inside=Type("i1", 8), SIZE=8)
    at, inside = kernel.names["at"], kernel.names["inside"]
    for text, name, operands, attributes in (
        ("tl.program_id(0)", "tt.get_program_id", (), {"axis": 0}),
        ("tl.arange(0, SIZE)", "tt.make_range", (), {"start": 0, "end": 8}),
        ("tl.load(at, inside)", "tt.load", (at, inside), None),
        ("tl.load(at, mask=inside)", "tt.load", (at, inside), None),
        ("tl.load(mask=inside, pointer=at)", "tt.load", (at, inside), None),
    ):
        call = compiling(kernel, text)
        got = call.succeeds(name)
        if (got.name, got.operands) != (name, operands) or attributes not in (None, got.attributes):
            names = {value: name for name, value in kernel.names.items()}
            shown = ", ".join(names.get(operand, str(operand)) for operand in got.operands)
            wanted = ", ".join(names[operand] for operand in operands)
            call.fail(f"{name}({wanted}) {attributes or ''}", f"{got.name}({shown}) {got.attributes}")


def test_an_expression_in_a_call() -> None:
    kernel = Kernel("kernel", x=Type("!tt.ptr<f32>", 8), at=Type("i32", 8), inside=Type("i1", 8))
    call = compiling(kernel, "tl.load(x + at, mask=inside) * tl.load(x + at, mask=inside)")
    call()
    expected = ["tt.addptr", "tt.load"] * 2 + ["arith.mulf"]
    if (got := [op.name for op in kernel.ops]) != expected:
        call.fail(str(expected), got, because="an operation is emitted for each call")


def test_a_chain() -> None:
    for text in ("a < b < c", "a + (b < c < a)"):
        compiling(integers(), text).raises(SyntaxError, because="real Triton does not compile chained comparisons")


def test_what_has_no_place_in_the_ir() -> None:
    for text in ("'a'", "'a' + b", "a @ b", "lambda: a", "{a, b}", "..."):
        compiling(integers(), text).raises(SyntaxError, because="no operation of the slice has this meaning")


def test_unknown_names() -> None:
    for text in ("zz", "zz + 1", "arange(0, 8)", "foo.arange(0, 8)", "tl.nothing(a)", "tl.arange(0, zz)"):
        because = "the kernel has no such name, or `LANGUAGE` none after `tl.`"
        compiling(integers(), text).raises(SyntaxError, because=because)


def test_the_compilers_own_methods() -> None:
    for text in ("tl.emit(1)", "tl.operand(1)", "tl.alike(a, b)"):
        compiling(integers(), text).raises(SyntaxError, because="`LANGUAGE` does not list this name")


def test_what_you_may_teach_it() -> None:
    """The reference refuses these expressions. If your slice accepts one of them, its result must be right."""
    for text in ("-a", "a - -b", "a > b", "a <= a", "a / b", "a if b else c", "True + a", "(a := b)"):
        kernel = integers()
        call = compiling(kernel, text)
        try:
            got = call()
        except SyntaxError:
            continue
        except NO_ANSWER:
            raise
        except Exception as error:
            call.fail("SyntaxError", error)
        expected = eval(text, dict(INTEGERS))
        if any(op.name not in MEANING for op in kernel.ops):
            continue  # the slice's NumPy back end does not know the operation yet
        values = computed(kernel, {name: np.int32(value) for name, value in INTEGERS.items()})
        value = values[got] if isinstance(got, Op) else got
        if isinstance(value, str | None) or not np.isclose(value, expected):
            call.fail(f"SyntaxError, or {expected}", value, because=f"Python computes {expected} for {INTEGERS}")


def test_a_pointer_moves() -> None:
    kernel = Kernel("kernel", x=POINTER, i=I32)
    call = compiling(kernel, "x + i")
    got = call()
    if (got.name, got.type) != ("tt.addptr", POINTER):
        call.fail(f"tt.addptr of type {POINTER}", f"{got.name} of type {got.type}")
