"""Expressions of positions, as text for lazy or stored arrays; offsets and masks as plain numbers."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from mini_triton.codegen.library import lazy
from mini_triton.codegen.library.lazy import Affine, Box
from mini_triton.codegen.library.programs import LazyPrograms, Programs

# --- expressions

NAMES = ("pid", "qid", "rows", "columns", "later", "loaded", "each", "n")


@dataclass(frozen=True)
class Sizes:
    """A chunk of programs of a grid, and the number of rows and columns of their tiles."""

    programs: int = 5
    first: int = 0
    width: int = 8
    rows: int = 4
    columns: int = 16
    n: int = 7

    def names(self, lazily: bool) -> dict[str, Any]:
        """The values of the names in an expression."""
        grid, last = (self.width, 3, 10**6), self.first + self.programs
        programs = (LazyPrograms if lazily else Programs)(grid, self.first, last)
        arange = lazy.arange if lazily else (lambda start, end: np.arange(start, end, dtype=np.int32))
        loaded = np.arange(self.programs, dtype=np.int32) * 37 % 11 - 3
        return {
            "pid": programs.id(0)[:, None, None],
            "qid": programs.id(1)[:, None, None],
            "rows": arange(0, self.rows)[None, :, None],
            "columns": arange(0, self.columns)[None, None, :],
            "later": arange(100, 100 + self.columns)[None, None, :],
            "loaded": loaded[:, None, None],
            "each": (np.arange(self.rows, dtype=np.int32) * 5 % 7)[None, :, None],
            "n": np.int32(self.n),
            "np": np,
        }

    def value(self, text: str, lazily: bool) -> Any:
        """The value of an expression."""
        with np.errstate(all="ignore"):
            return eval(text, self.names(lazily))


_numbers = st.integers(-70, 70).map(str) | st.sampled_from((-1, 0, 1, 2**15, 2**20, 2**31 - 1)).map(
    "np.int32({})".format
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(("+", "-", "*", "+", "-"))
    return (
        st.builds("({} {} {})".format, inner, operators, inner)
        | st.builds("({} {} {})".format, inner, operators, _numbers)
        | st.builds("({1} {0} {2})".format, operators, _numbers, inner)
        | st.builds("({} % {})".format, inner, st.integers(1, 100))
        | st.builds("np.fmod({}, {})".format, inner, st.integers(1, 100))
    )


_of_32_bits = st.recursive(st.sampled_from(NAMES), _larger, max_leaves=5)
_of_other_dtypes = st.builds(
    "({1}.astype(np.{0}) {3} {2}.astype(np.{0}))".format,
    st.sampled_from(("int8", "int64")),
    _of_32_bits,
    _of_32_bits,
    st.sampled_from("+-*"),
)
_offsets = st.builds("({}.astype(np.int64) + {})".format, _of_32_bits, _of_32_bits)  # offsets of pointers have 64 bits
expressions = _of_32_bits | _of_32_bits | _of_other_dtypes | _offsets
_compared = st.builds(
    "({} {} {})".format, expressions, st.sampled_from(("<", "<=", ">", ">=", "==", "!=")), expressions | _numbers
)
masks = st.recursive(
    _compared, lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("&&&|"), inner), max_leaves=4
)
MASKS = (
    "columns < n",
    "columns <= n",
    "n > columns",
    "3 <= columns",
    "columns * 3 < n",
    "100 - columns * 5 >= 60",
    "pid * 16 + columns < 1000000",
    "pid * 16 + columns < 0",
    "columns <= columns",
    "later > columns",
    "loaded < columns + 100",
    "rows + columns >= rows + 5",
    "rows + columns < 31",
    "rows + columns < 0",
    "each < columns + 6",
    "(rows < 3) & (columns >= n)",
    "(rows < 3) & (columns >= n) & (pid < 3)",
    "(columns < 3) & (columns > 5)",
    "(columns < n) & (columns >= 3) & (100 - columns > 90)",
)
"""Boxes: one comparison along one axis, or several comparisons joined by `&`."""
sizes = st.builds(
    Sizes,
    programs=st.sampled_from((1, 2, 5, 13)),
    first=st.sampled_from((0, 3, 8, 24, 2**20)),
    width=st.sampled_from((1, 5, 8, 2**21)),
    rows=st.sampled_from((1, 4)),
    columns=st.sampled_from((1, 8)),
    n=st.integers(-3, 20) | st.just(2**31 - 1),
)

# --- accesses


@dataclass(frozen=True)
class Axis:
    """One axis of an access: the offsets along it, and the range in which the mask is true."""

    size: int
    stride: int = 1
    starts: tuple[int, ...] | None = None  # one offset for each index, instead of a stride
    bounds: tuple[int, int] | None = None  # where a mask is true
    repeated: bool = False  # the offsets do not vary along this axis, and have size 1 on it
    masked_alike: bool = False  # the mask has size 1 on this axis


@dataclass(frozen=True)
class Access:
    """Plain numbers from which `affine` and `mask` are made."""

    axes: tuple[Axis, ...]
    start: int = 0
    masked: bool = True
    rows: tuple[bool, ...] | None = None  # where the mask is true along the first axis

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    def along(self, number: int, values: Any) -> np.ndarray:
        """Values along one of the axes."""
        return np.reshape(values, [-1 if axis == number else 1 for axis in range(len(self.axes))])

    @property
    def offsets(self) -> np.ndarray:
        """The elements of `affine`."""
        result = np.full(self.shape, self.start)
        for number, axis in enumerate(self.axes):
            if not axis.repeated:
                own = np.arange(axis.size) * axis.stride if axis.starts is None else np.array(axis.starts, int)
                result += self.along(number, own)
        return result

    @property
    def used(self) -> np.ndarray:
        """The elements of `mask`."""
        result = np.ones(self.shape, bool)
        for number, axis in enumerate(self.axes):
            if self.masked and axis.bounds is not None and not axis.masked_alike:
                places = np.arange(axis.size)
                result &= self.along(number, (axis.bounds[0] <= places) & (places < axis.bounds[1]))
        return result if self.rows is None else result & self.along(0, np.array(self.rows, bool))

    def affine(self) -> Affine:
        start: Any = self.start
        for number, axis in enumerate(self.axes):
            if axis.starts is not None and not axis.repeated:
                start = np.reshape(start, np.shape(start) or (1,) * len(self.axes)) + self.along(number, axis.starts)
        own = [axis.starts is not None or axis.repeated for axis in self.axes]
        strides = tuple(0 if fixed else axis.stride for fixed, axis in zip(own, self.axes, strict=True))
        shape = tuple(1 if axis.repeated else axis.size for axis in self.axes)
        return Affine(start, strides, shape, np.int64)

    def mask(self) -> Any:
        """A `Box`; an array if only rows are given; or None."""
        if self.rows is not None and not self.masked:
            return np.array(self.rows).reshape(-1, *(1,) * (len(self.axes) - 1))
        if not self.masked:
            return None
        ranges = tuple(
            (0, 1) if axis.masked_alike else axis.bounds or (0, axis.size) if axis.size else (0, 0)
            for axis in self.axes
        )
        rows = None if self.rows is None else np.array(self.rows)
        shape = tuple(1 if axis.masked_alike else axis.size for axis in self.axes)
        return Box(ranges, shape, rows)


@st.composite
def accesses(draw: Any, spread: int = 6) -> Access:
    """Random accesses of one to three axes, each with up to `spread` lanes."""
    axes = []
    for number in range(draw(st.integers(1, 3))):
        size = draw(st.sampled_from((1, 2, 3, spread)))
        own = st.none() | st.lists(st.integers(0, 12), min_size=size, max_size=size).map(tuple)
        pair = st.tuples(st.integers(0, size), st.integers(0, size)).map(sorted).map(tuple)
        bounds = pair.map(lambda pair: pair if pair[0] < pair[1] else (0, 0))
        axes.append(
            Axis(
                size,
                stride=draw(st.sampled_from((1, 1, 2, 6, 0, -1, -2))),
                starts=draw(own),
                bounds=draw(st.none() | bounds),
                repeated=draw(st.integers(0, 5)) == 0,
                masked_alike=draw(st.integers(0, 5)) == 0 and number > 0,
            )
        )
    rows = st.lists(st.booleans(), min_size=axes[0].size, max_size=axes[0].size).map(tuple)
    masked = draw(st.booleans())
    return Access(tuple(axes), draw(st.integers(-3, 20)), masked, draw(st.none() | rows))


def elements(shape: tuple[int, ...], first: int = 1) -> np.ndarray:
    """Consecutive numbers."""
    return np.arange(first, first + math.prod(shape), dtype=np.float64).reshape(shape)


SHIFTED = Axis(4, 1, None, (1, 3)), Axis(6, 8, None, (2, 6))
WINDOWS = {
    "all": Access((Axis(4, 10), Axis(6)), masked=False),
    "a box": Access(SHIFTED, 4),
    "backwards": Access((Axis(4, -12, None, (0, 3)), Axis(6, -1)), 50),
    "starts": Access((Axis(4, 0, (3, 33, 13, 23), (1, 4)), Axis(6, 1, None, (0, 4)))),
    "starts along both": Access((Axis(4, 0, (0, 1, 2, 30)), Axis(6, 0, (0, 5, 10, 15, 20, 25), (1, 6)))),
    "rows": Access((Axis(4, 10), Axis(6, 1, None, (0, 5))), rows=(True, False, False, True)),
    "rows only": Access((Axis(4, 10), Axis(6)), masked=False, rows=(False, True, True, False)),
    "rows with starts": Access((Axis(4, 0, (3, 999, 13, 999)), Axis(6)), rows=(True, False, True, False)),
    "nothing": Access((Axis(4, 999, None, (0, 0)), Axis(6))),
    "no rows": Access((Axis(4, 999), Axis(6)), rows=(False,) * 4),
    "masked off": Access((Axis(4, -10, None, (0, 2)), Axis(6, 1, None, (0, 6))), 12),
    "repeated": Access((Axis(4, repeated=True), Axis(6, 2)), 3, masked=False),
}
