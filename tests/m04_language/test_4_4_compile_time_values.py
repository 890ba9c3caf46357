"""Task 4.4: the compiler computes at once with values that it knows."""

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.language.constexpr import RunTimeValue, constexpr, evaluate

from tests.checks import described
from tests.support.m04_language.expressions import judge

BINARY = "+ - * / // % ** & | ^ << >> == != < <= > >=".split()
PYTHON = "the compiler computes it as Python does"

integers = st.integers(-9, 9)
numbers = st.one_of(integers, st.booleans(), st.sampled_from((0.0, 0.5, -1.5, 2.0, math.inf)))
plain = st.one_of(numbers, st.sampled_from(("", "ieee", "tf32", (), (64, 32), None)))


def asked(words: str, function: Callable[[], Any], expected: Callable[[], Any]) -> None:
    """Require a `constexpr` with the value that Python computes, or the error that Python raises."""
    __tracebackhide__ = True
    call = described(words, lambda: function())
    try:
        value = expected()
    except Exception as error:
        call.raises(type(error), because=PYTHON)
        return
    got = call.succeeds(f"constexpr[{value!r}]", PYTHON)
    if type(got) is not constexpr:
        call.fail(f"constexpr[{value!r}]", got, PYTHON)
    if type(got.value) is not type(value) or repr(got.value) != repr(value):
        call.fail(f"constexpr[{value!r}]", got, PYTHON)


@given(a=plain, b=plain, name=st.sampled_from(BINARY))
def test_operators(a: Any, b: Any, name: str) -> None:
    """Operators compute with two constexprs, or with a constexpr and a plain value on either side."""
    for x, y in ((constexpr(a), constexpr(b)), (constexpr(a), b), (a, constexpr(b))):
        if not (name == "%" and isinstance(x, str)):  # a string on the left would format the other operand instead
            expected = partial(eval, f"a {name} b", {"a": a, "b": b})
            asked(f"{x!r} {name} {y!r}", partial(eval, f"a {name} b", {"a": x, "b": y}), expected)


@given(a=plain, name=st.sampled_from("-+~"))
def test_one_operand(a: Any, name: str) -> None:
    A = constexpr(a)
    asked(f"{name}{A!r}", partial(eval, f"{name}a", {"a": A}), partial(eval, f"{name}a", {"a": a}))


@given(values=st.lists(st.tuples(integers, st.booleans()), max_size=4))
def test_evaluate(values: list[tuple[int, bool]]) -> None:
    """`evaluate` calls any function with any number of operands."""

    def function(*operands: Any) -> Any:
        assert all(type(operand) is int for operand in operands), f"{operands} has a constexpr in it"
        return max(operands)

    operands = [constexpr(value) if wrapped else value for value, wrapped in values]
    words = f"evaluate(max, {', '.join(map(repr, operands))})"
    asked(words, lambda: evaluate(function, *operands), lambda: max(value for value, _ in values))


def test_a_constexpr_of_a_constexpr() -> None:
    for value in (3, 0.5, "ieee", None, (64, 32), int):
        for nested in (constexpr(value), constexpr(constexpr(value)), constexpr(constexpr(constexpr(value)))):
            assert type(nested.value) is type(value) and nested.value == value, (
                f"a constexpr of a constexpr of {value!r} has the value {nested.value!r}, not {value!r}"
            )
    result = evaluate(lambda: constexpr(4))
    assert type(result.value) is int, f"evaluate of a function that returns constexpr(4) has the value {result.value!r}"


@given(value=plain)
def test_truth_and_index(value: Any) -> None:
    """`bool` of a constexpr tests its value. Where Python needs an int, only a constexpr of an int will do."""
    described(f"bool(constexpr({value!r}))", bool, constexpr(value)).returns(bool(value), because=PYTHON)
    call = described(f"operator.index(constexpr({value!r}))", operator.index, constexpr(value))
    if isinstance(value, int):
        call.returns(operator.index(value), because=PYTHON)
    else:
        call.raises(TypeError, because=f"{value!r} is not an int")


@given(before=st.lists(integers, max_size=2), after=st.lists(integers, max_size=2))
def test_with_a_value_of_the_running_kernel(before: list[int], after: list[int]) -> None:
    """If an operand is a tensor, `evaluate` computes nothing, so that Python tries the tensor's own method."""
    calls: list[Any] = []
    operands = [*before, RunTimeValue(), *map(constexpr, after)]
    call = described(f"evaluate(f, {len(operands)} operands, one of them x)", evaluate, calls.append, *operands)
    call.returns(NotImplemented, because="the compiler does not know x")
    assert not calls, f"evaluate called the function, although one operand is not known: {calls}"


@pytest.mark.parametrize("name", BINARY)
def test_operators_that_neither_operand_has(name: str) -> None:
    """If neither operand's class has the operator, Python raises a TypeError, or compares identities for `==`."""
    call = described(f"constexpr(2) {name} x", eval, f"a {name} x", {"a": constexpr(2), "x": RunTimeValue()})
    try:
        if name in ("==", "!="):
            call.returns(name == "!=")
        else:
            call.raises(TypeError)
    except NotImplementedError as error:
        if str(error).startswith("Task "):
            raise
        raise AssertionError("evaluate must *return* NotImplemented, not raise NotImplementedError") from error


def test_real_triton_computes_alike() -> None:
    """Real Triton computes the same values at compile time: -7 // 2 is -4 there too."""
    constants = {name: f"constexpr({value})" for name, value in zip("ABCDE", (-7, 2, 3, 1.5, True), strict=True)}
    pairs = [(a, b) for a in constants for b in (*constants, "4")] + [("5", b) for b in constants]
    expressions = [f"{a} {name} {b}" for name in BINARY for a, b in pairs if (a, name, b) != ("A", "**", "D")]
    judge(constants, [*expressions, *(f"{sign}{a}" for sign in "-+~" for a in constants), "1 if A < B else 2"])
