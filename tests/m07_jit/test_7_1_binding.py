"""Task 7.1: arguments are bound to parameters as Python binds them."""

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.runtime.binding import REQUIRED, Parameter, bind
from mini_triton.runtime.options import OPTIONS

from tests.checks import described

NO_DEFAULT = "no default"
NAMES = ("x", "y", "n", "BLOCK", "num_warps", "num_stages", "self", "kernel", "grid")

values = st.sampled_from([0, 1, None, 2.5, "text", False, np.zeros(2)])
defaults = st.one_of(st.just(NO_DEFAULT), values)


@st.composite
def kernels(draw: st.DrawFn) -> dict[str, Any]:
    """Parameters with their defaults, in Python's order: parameters without a default come first."""
    found = draw(st.dictionaries(st.sampled_from(NAMES), defaults, max_size=5))
    return dict(sorted(found.items(), key=lambda parameter: parameter[1] is not NO_DEFAULT))


def call(parameters: dict[str, Any], arguments: list[Any], keywords: dict[str, Any]) -> described:
    """The call of `bind` for a launch of a kernel with these parameters."""
    shown = [name if default is NO_DEFAULT else f"{name}={default!r}" for name, default in parameters.items()]
    given = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in keywords.items())]
    words = f"bind, for `def my_kernel({', '.join(shown)})` and the launch `my_kernel[grid]({', '.join(given)})`"
    declared = [Parameter(name, REQUIRED if default is NO_DEFAULT else default) for name, default in parameters.items()]
    return described(words, bind, "my_kernel", declared, tuple(arguments), keywords)


def bound_by_python(parameters: dict[str, Any], arguments: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """The binding that `inspect` finds for a call to a function with these parameters. Raises `TypeError`."""
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
@example({"x": NO_DEFAULT, "BLOCK": 64}, [1], {})
@example({"x": NO_DEFAULT, "y": NO_DEFAULT, "BLOCK": 64}, [1], {"BLOCK": 8, "y": 2})
@example({"x": NO_DEFAULT, "y": None, "n": 2}, [None], {"n": None})
@example({"x": NO_DEFAULT}, [], {"x": np.zeros(2)})
@example({"x": NO_DEFAULT}, [5], {"num_warps": 8, "maxnreg": None})
@example({"num_warps": NO_DEFAULT}, [], {"num_warps": 8})
@example({"x": NO_DEFAULT}, [1, 2], {})
def test_as_python_binds(parameters: dict[str, Any], arguments: list[Any], keywords: dict[str, Any]) -> None:
    options = {name: value for name, value in keywords.items() if name in OPTIONS and name not in parameters}
    own = {name: value for name, value in keywords.items() if name not in options}
    before = dict(keywords)
    try:
        expected = bound_by_python(parameters, arguments, own)
    except TypeError as error:
        call(parameters, arguments, keywords).raises(TypeError, "my_kernel", because=f"Python says: {error}")
    else:
        call(parameters, arguments, keywords).returns((expected, options), because="this is how Python binds them")
    assert keywords == before, f"bind should not change its `keywords`, but {before} became {keywords}"


@pytest.mark.parametrize(
    "parameters, arguments, keywords, named, because",
    [
        (["x", "stride"], [1], {}, "stride", "it has no value"),
        (["weights", "y"], [], {"y": 3}, "weights", "it has no value"),
        (["x", "stride"], [1, 2], {"stride": 2}, "stride", "it has two values"),
        (["x"], [1], {"num_wraps": None, "num_warps": 4}, "num_wraps", "it is neither a parameter nor an option"),
        ([], [], {"stride": 4}, "stride", "it is neither a parameter nor an option"),
    ],
)
def test_the_name_at_fault(
    parameters: list[str], arguments: list[Any], keywords: dict[str, Any], named: str, because: str
) -> None:
    call(dict.fromkeys(parameters, NO_DEFAULT), arguments, keywords).raises(
        TypeError, "my_kernel", named, because=because
    )
