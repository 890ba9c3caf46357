"""Task 4.1: what Python's operators do with tensors, numbers and pointers, as real Triton does it."""

from __future__ import annotations

import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.language.context import current
from mini_triton.language.signature import parse_type
from mini_triton.language.tensor import tensor
from mini_triton.language.tracing import trace

from tests.checks import described, one_in
from tests.oracles import questions, records
from tests.support.m04_language.expressions import Arguments, Scene, judge
from tests.support.m06_codegen.execution import Machine
from tests.support.type_names import SIGNATURES as DTYPES

POINTERS = ("*fp32", "*fp16", "*i32")
ARITHMETIC = ("+", "-", "*", "/", "//", "%")
BITWISE = ("&", "|", "^", "<<", ">>")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
OPERATORS = ARITHMETIC + BITWISE + COMPARISONS
LITERALS = tuple(value for value in questions.LITERALS if not math.isnan(value))  # how it is printed has no rule
ALIKE = ((), (4,), (4, 1), (2, 4))  # these fit each other
SHAPES = tuple(shape for shape in questions.SHAPES if len(shape) < 3) + ((1, 2, 4), (2, 1, 1), (4, 2, 4))


SOME = one_in(2)  # each has many expressions


def spelled(dtype: str, shape: tuple[int, ...]) -> str:
    """`i8[4, 1]`"""
    return f"{dtype}{list(shape)}" if shape else dtype


def name_of(spelling: str) -> str:
    """The dtype as the records have it: `uint8` for `u8`."""
    return str(parse_type(spelling))


def written(value: bool | int | float) -> str:
    """A number as a kernel has it."""
    return f"float('{value}')" if isinstance(value, float) and math.isinf(value) else repr(value)


def rule(operator: str) -> str:
    """The operator whose rules are recorded and hold for this one, too."""
    return operator if operator in ("/", "//", "%") else "+"


def agreed(a: str, b: str, operator: str) -> bool:
    """Whether all versions of Triton treat two tensors alike: the types, and how they are converted."""
    answer = records.promotion(name_of(a), name_of(b), rule(operator))
    casts = [records.cast_ops(name_of(source), answer.value) for source in (a, b) if answer.ok]
    return answer.common and all(cast.common for cast in casts)


def agreed_with_literal(a: str, value: bool | int | float, operator: str) -> bool:
    """The same for a tensor and a number. Newer versions compare in the tensor's dtype, older ones in a common one."""
    if (a, value) == ("bf16", 1e-40):
        return False  # too small for a normal number: Triton makes it zero
    answer = records.literal_promotion(name_of(a), value, rule(operator))
    if not answer.common or operator not in COMPARISONS:
        return answer.common
    alone = records.literal_type(value)
    return alone.ok and answer.ok and answer.value == records.promotion(name_of(a), alone.value).value


def test_products() -> None:
    """`x * y` alone, the operator to begin with: two dtypes, two shapes, numbers."""
    values = {"x": "i8[4]", "y": "fp32[2, 1]", "h": "fp16[4]", "n": "i32", "p": "*fp32"}
    judge(values, ["n * n", "x * n", "h * n", "y * x", "h * 1.5", "2 * n", "x * 0.5", "x * 300", "p * n"])


@pytest.mark.parametrize("operator", OPERATORS)
def test_two_tensors(operator: str) -> None:
    """Every two dtypes: the result, what it is computed with, or the refusal."""
    values = {f"s_{dtype}": dtype for dtype in DTYPES} | {f"x_{dtype}": f"{dtype}[4]" for dtype in DTYPES}
    pairs = [(a, b) for a in DTYPES for b in DTYPES if agreed(a, b, operator)]
    judge(values, [f"s_{a} {operator} x_{b}" for a, b in pairs])


@SOME
@given(dtype=st.sampled_from(DTYPES), value=st.sampled_from(LITERALS), shape=st.sampled_from(ALIKE))
def test_a_tensor_and_a_number(dtype: str, value: bool | int | float, shape: tuple[int, ...]) -> None:
    """In arithmetic the number is weak, on either side; in comparisons it is not."""
    operators = [operator for operator in OPERATORS if agreed_with_literal(dtype, value, operator)]
    expressions = [f"x {operator} {written(value)}" for operator in operators]
    expressions += [f"{written(value)} {operator} x" for operator in operators if operator not in COMPARISONS]
    judge({"x": spelled(dtype, shape)}, expressions)


def test_a_number_compared_with_a_tensor() -> None:
    """Python asks the tensor: `1 < x` is `x > 1`."""
    for dtype in ("i32", "u32", "fp32"):
        judge({"x": spelled(dtype, (4,))}, [f"{n} {operator} x" for n in "13" for operator in COMPARISONS])


@SOME
@given(a=st.sampled_from(SHAPES), b=st.sampled_from(SHAPES), dtype=st.sampled_from(("i32", "fp32", "u8")))
def test_shapes(a: tuple[int, ...], b: tuple[int, ...], dtype: str) -> None:
    """The smaller one is repeated, as by NumPy; and refused where NumPy refuses."""
    judge({"x": spelled(dtype, a), "y": spelled("i32", b)}, ["x - y", "y < x", "y * x"])


@SOME
@given(
    pointer=st.sampled_from(POINTERS),
    other=st.sampled_from((*DTYPES, *POINTERS)),
    shapes=st.tuples(*[st.sampled_from(ALIKE)] * 2),
)
def test_pointers(pointer: str, other: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """A pointer moves by integers of any dtype. All else with a pointer is refused."""
    expressions = ["p + y", "y + p", "p - y", "y - p", "p * y", "y / p", "p // y", "p & y", "p << y", "p == y", "y < p"]
    judge({"p": spelled(pointer, shapes[0]), "y": spelled(other, shapes[1])}, expressions)


def test_pointers_and_numbers() -> None:
    """A number is an offset of its own dtype, so a large one is 64 bits wide."""
    for type in ("*fp32", "*i8[4]"):
        offsets = ("1", "-1", "0", "True", "2**31", "2**40", "-(2**40)", "2**63", "1.5", "0.0")
        expressions = [f"{x} {op} {y}" for n in offsets for op in "+-" for x, y in (("p", n), (n, "p"))]
        judge({"p": type}, [*expressions, "p + 1 + 2 - 3", "p * 2", "p / 2", "p % 2", "2 & p", "p == 0", "0 != p"])


@pytest.mark.parametrize("shape", ALIKE)
def test_unary(shape: tuple[int, ...]) -> None:
    """-x and ~x of everything there is, once, and twice."""
    arguments = {f"x_{dtype.replace('*', 'p_')}": spelled(dtype, shape) for dtype in (*DTYPES, *POINTERS)}
    judge(arguments, [f"{operator}{name}" for operator in ("-", "~", "- -", "~~") for name in arguments])


NAMES: Arguments = {
    "a": "i32[4]",
    "b": "u32[2, 1]",
    "c": "i64",
    "d": "fp32[2, 4]",
    "e": "fp64",
    "f": "i8[4]",
    "g": "i1[2, 4]",
    "h": "fp16[4]",
    "p": "*fp32",
}


def larger(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions made of smaller ones."""
    numbers, arithmetic = st.sampled_from(("1", "3", "True", "1.5", "2.0")), st.sampled_from(ARITHMETIC + BITWISE)
    return st.one_of(
        st.builds("({} {} {})".format, smaller, st.sampled_from(OPERATORS), smaller),
        st.builds("({} {} {})".format, smaller, arithmetic, numbers),
        st.builds("({} {} {})".format, numbers, arithmetic, smaller),
        st.builds("({}{})".format, st.sampled_from("-~"), smaller),
    )


@given(
    st.lists(
        larger(st.recursive(st.sampled_from(sorted(NAMES)), larger, max_leaves=6)), min_size=1, max_size=8, unique=True
    )
)
def test_expressions(expressions: list[str]) -> None:
    """Several operators, one on another's result."""
    judge(NAMES, expressions)


REFUSED: dict[str, tuple[str, ...]] = {
    "p + q": ("cannot add pointers together",),
    "p - q": ("pointer<fp32>", "pointer<fp32>"),
    "p - r": ("pointer<fp32>", "pointer<fp16>"),
    "p + r": ("pointer<fp32>", "pointer<fp16>"),
    "p * n": ("pointer<fp32>", "int32"),
    "n & p": ("int32", "pointer<fp32>"),
    "p + x": ("pointer<fp32>", "fp32"),
    "x + p": ("pointer<fp32>", "fp32"),
    "p + 1.5": ("pointer<fp32>", "fp32"),
    "p == q": ("pointer<fp32>",),
    "x & n": ("fp32",),
    "n ^ 1.5": ("fp32",),
    "x >> n": ("fp32",),
    "x // 2": ("unexpected type fp32",),
    "n % u": ("int32", "uint8"),
    "-p": ("wrong type argument to unary minus",),
    "~p": ("wrong type argument to unary invert",),
    "~x": ("wrong type argument to unary invert",),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    """The error is a TypeError that names the dtypes, or says what the stub says."""
    scene = Scene({"p": "*fp32", "q": "*fp32", "r": "*fp16", "n": "i32", "u": "u8", "x": "fp32"})
    scene.refuses(expression, TypeError, *REFUSED[expression])


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "fp64"])
@pytest.mark.parametrize("shape", [(), (4,)])
def test_negation_is_exact(dtype: str, shape: tuple[int, ...]) -> None:
    """Of zeros as well: -(0.0) is -0.0. Infinities and NaN stay what they are."""
    got: list[tensor] = []

    def kernel(x: tensor) -> None:
        block = tensor(current().broadcast_to(x.handle, shape), x.dtype)
        got.append(described(f"-x of {block!r}", operator.neg, block).succeeds())

    (function,) = trace(kernel, {"x": dtype}).body.operations
    for value in (0.0, -0.0, 1.5, -2.0, math.inf, -math.inf):
        machine = Machine()
        machine.run(function.regions[0].block, value)
        for result in machine.values[got[0].handle].ravel():
            described(f"-({value}) as {dtype}", float, result).returns(-value, because="only -0.0 - x does so")
