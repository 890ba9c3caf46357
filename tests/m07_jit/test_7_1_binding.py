"""Task 7.1: arguments go to parameters as Python itself would bind them."""

from __future__ import annotations

import inspect
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mini_triton.runtime.binding import REQUIRED, Parameter, bind
from mini_triton.runtime.options import OPTIONS

from tests.checks import described

NO_DEFAULT = "no default"
NAMES = ("x", "y", "n", "BLOCK", "num_warps", "self", "kernel", "grid")

values = st.sampled_from([0, 1, None, 2.5, "text", False])
defaults = st.one_of(st.just(NO_DEFAULT), values)


@st.composite
def kernels(draw: st.DrawFn) -> dict[str, Any]:
    """Parameters with their defaults, in the order that Python wants: those without one first."""
    found = draw(st.dictionaries(st.sampled_from(NAMES), defaults, max_size=5))
    return dict(sorted(found.items(), key=lambda parameter: parameter[1] is not NO_DEFAULT))


def call(parameters: dict[str, Any], arguments: list[Any], keywords: dict[str, Any]) -> described:
    """The call of `bind` for a launch of a kernel with such parameters."""
    shown = [name if default is NO_DEFAULT else f"{name}={default!r}" for name, default in parameters.items()]
    given = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in keywords.items())]
    words = f"bind, for `def my_kernel({', '.join(shown)})` and the launch `my_kernel[grid]({', '.join(given)})`"
    declared = [Parameter(name, REQUIRED if default is NO_DEFAULT else default) for name, default in parameters.items()]
    return described(words, bind, "my_kernel", declared, tuple(arguments), keywords)


def bound_by_python(parameters: dict[str, Any], arguments: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """What `inspect` makes of the call of a function with these parameters. Raises `TypeError`."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [
            inspect.Parameter(name, kind, default=inspect.Parameter.empty if default is NO_DEFAULT else default)
            for name, default in parameters.items()
        ]
    )
    bound = signature.bind(*arguments, **keywords)
    bound.apply_defaults()
    return dict(bound.arguments)


@given(kernels(), st.lists(values, max_size=5), st.dictionaries(st.sampled_from(NAMES), values, max_size=3))
def test_as_python_binds(parameters: dict[str, Any], arguments: list[Any], keywords: dict[str, Any]) -> None:
    options = {name: value for name, value in keywords.items() if name in OPTIONS and name not in parameters}
    own = {name: value for name, value in keywords.items() if name not in options}
    try:
        expected = bound_by_python(parameters, arguments, own)
    except TypeError as error:
        call(parameters, arguments, keywords).raises(TypeError, "my_kernel", because=f"Python says: {error}")
    else:
        call(parameters, arguments, keywords).returns((expected, options), because="Python binds them so")


def test_positions_then_keywords_then_defaults() -> None:
    parameters = {"x": NO_DEFAULT, "y": NO_DEFAULT, "BLOCK": 64}
    call(parameters, [1, 2], {}).returns(({"x": 1, "y": 2, "BLOCK": 64}, {}))
    call(parameters, [1], {"BLOCK": 8, "y": 2}).returns(
        ({"x": 1, "y": 2, "BLOCK": 8}, {}), because="the order is that of the parameters"
    )


def test_none_is_a_value() -> None:
    call({"x": NO_DEFAULT}, [None], {}).returns(({"x": None}, {}))
    call({"x": NO_DEFAULT, "y": None}, [1], {}).returns(({"x": 1, "y": None}, {}), because="a default can be None")
    call({"x": NO_DEFAULT}, [], {"x": None}).returns(({"x": None}, {}))


@given(st.dictionaries(st.sampled_from(OPTIONS), st.integers(1, 8)))
def test_options(options: dict[str, int]) -> None:
    call({"x": NO_DEFAULT}, [5], options).returns(({"x": 5}, options), because="they are options, and no parameters")
    call({"x": NO_DEFAULT}, [], {**options, "x": 5}).returns(({"x": 5}, options))


def test_a_parameter_named_like_an_option() -> None:
    call({"num_warps": NO_DEFAULT}, [], {"num_warps": 8}).returns(
        ({"num_warps": 8}, {}), because="the keyword is the parameter's"
    )


def test_a_missing_argument_is_named() -> None:
    call({"x": NO_DEFAULT, "stride": NO_DEFAULT}, [1], {}).raises(TypeError, "my_kernel", "stride")
    call({"weights": NO_DEFAULT, "y": NO_DEFAULT}, [], {"y": 3}).raises(TypeError, "my_kernel", "weights")


def test_an_argument_given_twice_is_named() -> None:
    call({"x": NO_DEFAULT, "stride": NO_DEFAULT}, [1, 2], {"stride": 2}).raises(TypeError, "my_kernel", "stride")


def test_an_unknown_keyword_is_named() -> None:
    call({"x": NO_DEFAULT}, [1], {"num_wraps": 4}).raises(TypeError, "my_kernel", "num_wraps")
    call({}, [], {"stride": 4}).raises(TypeError, "my_kernel", "stride")


def test_too_many_arguments() -> None:
    call({"x": NO_DEFAULT}, [1, 2], {}).raises(TypeError, "my_kernel", because="it has one parameter")
    call({}, [1], {}).raises(TypeError, "my_kernel")


def test_the_callers_keywords_stay_as_they_are() -> None:
    keywords = {"y": 2, "num_warps": 8}
    call({"x": NO_DEFAULT, "y": NO_DEFAULT}, [1], keywords).succeeds()
    assert keywords == {"y": 2, "num_warps": 8}, (
        f"bind changed the dictionary of keywords that it was given\n"
        f"  expected  {{'y': 2, 'num_warps': 8}}, as before\n"
        f"  got       {keywords}"
    )
