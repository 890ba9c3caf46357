"""An alternative is merged with the reference: only what a learner writes comes from it."""

import textwrap
from typing import Any

import pytest

from grader.course import markers
from grader.upkeep import merging
from grader.upkeep.merging import MergeError

REFERENCE = '''
    """Shapes."""

    from __future__ import annotations

    import functools
    from math import (
        pi,
    )

    UNIT = 1


    def scaled(factor: float):
        """A decorator: what it decorates is called at once."""
        # [task 1.1] Multiply.
        def decorate(function):
            return factor * function()
        return decorate
        # [end]


    @scaled(2)
    def TWICE() -> float:
        return UNIT


    class Shape:
        """Given."""

        corners = 4

        @functools.cached_property
        def area(self) -> float:
            # [task 1.2] The area.
            # It is kept.
            return self.width * self.height
            # [end]

        # The longer one.
        @property
        def width(self) -> float: return 2.0

        @property
        def height(self) -> float:
            """Of this shape."""
            # [task 1.3] How high.
            return 3.0
            # [end]


    def circle(radius: float = 1) -> float:
        """The area."""
        given = radius * radius
        # [task 1.4] Use `given`.
        return given * pi
        # [end]
    '''


def merge(alternative: str) -> str:
    return merging.merge(textwrap.dedent(REFERENCE), textwrap.dedent(alternative))


def test_bodies_are_replaced_and_nothing_else() -> None:
    text = merge(
        """
        def circle(radius=5):
            # Twice as long.
            given = radius**2

            return pi * given
        """
    )
    before, _, _ = textwrap.dedent(REFERENCE).partition("    given = radius")
    assert text == before + "    # Twice as long.\n    given = radius**2\n\n    return pi * given\n"
    assert [region.task for region in markers.regions(text)] == ["1.1", "1.2", "1.3"]
    assert merge('"""In no style."""\n').rstrip() == textwrap.dedent(REFERENCE).rstrip()


def test_helpers_stand_between_the_same_neighbors() -> None:
    """They can be used while the module is imported. Decorators, signatures and docstrings stay the reference's."""
    text = merge(
        """
        import math as m
        from functools import reduce

        # Of all numbers.
        START: int = 1
        TABLE = {}
        for number in (10, 20):
            TABLE[number] = m.floor(number)

        def times(a, b):
            return a * b

        def scaled(factor):
            def decorate(function):
                return reduce(times, (factor, function(), TABLE[10]), START)
            return decorate

        HALF = TWICE / 2

        class Shape:
            def _low(self):
                return HALF

            def height(self):
                return self._low()

            def _last(self):
                return Half.half

        class Half:
            half = HALF
        """
    )
    order = ["pi,\n)\nimport math as m\nfrom functools", "# Of all numbers.\nSTART", "def times", "def scaled"]
    order += ["def TWICE", "HALF = TWICE", "class Shape", "corners", "def area", "def _low", "def height"]
    order += ["def _last", "def circle", "class Half"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    names: dict[str, Any] = {"__name__": "shapes"}
    exec(compile(text, "shapes.py", "exec"), names)
    shape = names["Shape"]
    assert names["TWICE"] == 20
    assert shape().height == shape()._last() == 10
    assert shape.height.__doc__ == "Of this shape."
    assert shape.height.fget.__annotations__ == {"return": "float"}
    assert (shape().area, shape.corners) == (20.0, 4)


@pytest.mark.parametrize(
    "alternative, line, text",
    [
        ("\ndef TWICE():\n    return 3\n", 2, "TWICE is given: no task asks for it"),
        ("class Shape:\n    def width(self): return 1\n", 2, "Shape.width is given: no task asks for it"),
        ("a, (UNIT, b) = 2, (3, 4)\n", 1, "UNIT is given"),
        ("class Shape:\n    corners = 3\n", 2, "Shape is given: add only methods"),
        ("class Shape(int):\n    f = 1\n", 1, "Shape is given: write only `class Shape:` and methods"),
        ("def circle(r): return 3\n", 1, "circle differs from the reference's in its parameters"),
        ("@functools.cache\ndef circle(radius): ...\n", 2, "circle has the reference's decorators: leave them out"),
        ("import re, functools\n", 1, "functools: the reference has this name already"),
        ("def circle(radius):\n", 1, "expected an indented block after function definition on line 1"),
    ],
)
def test_what_is_given_is_refused(alternative: str, line: int, text: str) -> None:
    with pytest.raises(MergeError) as refusal:
        merge(alternative)
    assert (refusal.value.line, str(refusal.value)) == (line, text)
