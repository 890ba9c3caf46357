"""Task 10.5: loops for Numba. NumPy judges indices and bounds; the NumPy back end judges whole kernels.

Generated source is Python. Most tests run it as Python, on a few elements; one test compiles it with Numba.
"""

import importlib.util
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen.numba_gen.expressions import Name, Number
from mini_triton.codegen.numba_gen.nest import AffineExpr, LoopBody, Run
from mini_triton.codegen.numba_gen.plan import source_index
from mini_triton.codegen.numba_gen.polynomials import Polynomial
from mini_triton.codegen.numba_gen.statements import Call, printed
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import F32, TensorType

from tests import oracles
from tests.checks import calling
from tests.support.m10_gpu import loops

VARIABLES = ("i0", "i1", "i2")


def shaped(*shape: int) -> Any:
    return TensorType(shape, F32) if shape else F32


def operation(name: str, source: tuple[int, ...], result: tuple[int, ...], **attributes: Any) -> Operation:
    return Operation(name, [Value(shaped(*source))], [shaped(*result)], attributes)


# --- where an element comes from


def test_a_splat_has_one_number() -> None:
    calling(source_index, operation("tt.splat", (), (4,)), ("i0",)).returns((), because="its operand is a scalar")


def test_expand_dims_drops_an_index() -> None:
    calling(source_index, operation("tt.expand_dims", (4,), (4, 1), axis=1), ("i0", "0")).returns(("i0",))
    calling(source_index, operation("tt.expand_dims", (4,), (1, 4), axis=0), ("0", "i1")).returns(("i1",))
    call = calling(source_index, operation("tt.expand_dims", (1, 4), (1, 4, 1), axis=2), ("0", "i1", "0"))
    call.returns(("0", "i1"), because="both axes of size 1 have the index 0, but only the last is new")
    call = calling(source_index, operation("tt.expand_dims", (4, 1), (1, 4, 1), axis=0), ("0", "i1", "0"))
    call.returns(("i1", "0"), because="both axes of size 1 have the index 0, but only the first is new")


def test_broadcast_reads_the_only_element() -> None:
    calling(source_index, operation("tt.broadcast", (4, 1), (4, 8)), ("i0", "i1")).returns(("i0", "0"))
    calling(source_index, operation("tt.broadcast", (1, 8), (4, 8)), ("i0", "i1")).returns(("0", "i1"))


def test_trans_moves_indices() -> None:
    calling(source_index, operation("tt.trans", (4, 8), (8, 4), order=(1, 0)), ("i0", "i1")).returns(("i1", "i0"))


shapes = st.lists(st.sampled_from([1, 2, 4]), min_size=1, max_size=3).map(tuple)


@given(data=st.data(), shape=shapes)
def test_indices_are_those_of_numpy(data: st.DataObject, shape: tuple[int, ...]) -> None:
    """Require that each element of NumPy's result is the operand's element at the computed index."""
    array = np.arange(np.prod(shape)).reshape(shape)
    attributes: dict[str, Any]
    name = data.draw(st.sampled_from(["tt.expand_dims", "tt.broadcast", "tt.trans"]))
    if name == "tt.expand_dims":
        axis = data.draw(st.integers(0, len(shape)))
        result, attributes = np.expand_dims(array, axis), {"axis": axis}
    elif name == "tt.trans":
        order = tuple(data.draw(st.permutations(range(len(shape)))))
        result, attributes = np.transpose(array, order), {"order": order}
    else:
        wide = tuple(size if size > 1 else data.draw(st.sampled_from([1, 2, 4])) for size in shape)
        result, attributes = np.broadcast_to(array, wide), {}
    index = tuple(f"i{axis}" for axis in range(result.ndim))
    asked = calling(source_index, operation(name, shape, result.shape, **attributes), index)
    texts = asked()
    for place in np.ndindex(result.shape):
        values = dict(zip(index, place, strict=True))
        where = tuple(eval(text, {}, dict(values)) for text in texts)
        got = (
            array[where] if len(where) == array.ndim and all(w < n for w, n in zip(where, shape, strict=True)) else None
        )
        assert got == result[place], (
            f"{name} {attributes or ''} from {shape} to {result.shape}: the operand's index for {index} is {texts}.\n"
            f"For {place}, the operand's index is {where}, and its element is {got}. NumPy's result there is "
            f"{result[place]}. The operand is\n{array}"
        )


# --- minimum and maximum of an affine number


def test_ends_of_a_number() -> None:
    assert ends_of("7", {}, {}) == ("7", "7")


def test_ends_of_a_range() -> None:
    ends = ends_of("5", {"i0": "2"}, {"i0": ("0", "8")})
    assert ends == ("5", "19"), "5 + 2 * i0, with i0 from 0 to 7, lies between 5 and 19"


def polynomial(text: str) -> Polynomial:
    names = {name: Polynomial.of(name) for name in ("start", "stride", "end")}
    return Polynomial.of(eval(text, names))


def ends_of(base: str, steps: dict[str, str], ranges: dict[str, tuple[str, str]]) -> tuple[str, str]:
    """The texts of the ends of an affine number, which is given by texts."""
    number = AffineExpr(polynomial(base), {Name(variable): polynomial(step) for variable, step in steps.items()})
    asked = {Name(variable): (polynomial(first), polynomial(end)) for variable, (first, end) in ranges.items()}
    low, high = calling(number.ends, asked)()
    return str(low), str(high)


Drawn = tuple[str, dict[str, str], dict[str, tuple[str, str]], dict[str, int]]


@st.composite
def affine(draw: st.DrawFn) -> Drawn:
    """Base and steps of an affine number, ranges of its variables, and values for the names in them."""
    names = {"start": draw(st.integers(-50, 50)), "stride": draw(st.integers(-9, 9)), "end": draw(st.integers(1, 6))}
    steps, ranges = {}, {}
    for variable in VARIABLES[: draw(st.integers(0, 3))]:
        steps[variable] = draw(st.sampled_from(["1", "0", "3", "-2", "stride", "2 * stride"]))
        ranges[variable] = draw(st.sampled_from([("0", "4"), ("2", "8"), ("0", "end"), ("end - 1", "7"), ("0", "1")]))
    return draw(st.sampled_from(["0", "-4", "start", "start * 2"])), steps, ranges, names


@given(drawn=affine())
def test_ends_are_reached_and_not_left(drawn: Drawn) -> None:
    """The bounds are the minimum and the maximum of all values."""
    base, steps, ranges, names = drawn
    low, high = ends_of(base, steps, ranges)

    def value(text: str) -> int:
        return int(eval(text, {}, dict(names)))

    every = [range(*map(value, ranges[variable])) for variable in steps]
    times = [value(step) for step in steps.values()]
    values = [
        value(base) + sum(n * i for n, i in zip(times, place, strict=True)) for place in itertools.product(*every)
    ]
    got = value(low), value(high)
    assert got == (min(values), max(values)), (
        f"{base} with the steps {steps}, in the ranges {ranges}, where {names}:\n"
        f"the ends {low} and {high} have the values {got}, but should be {min(values)} and {max(values)}"
    )


# --- loops from statements


def nest(shape: tuple[int, ...], *levels: str) -> LoopBody:
    """The loop nest with one statement in each level; a level without a name is empty."""
    body = LoopBody.__new__(LoopBody)
    body.shape = shape
    body.index = tuple(Name(f"i{axis}") if size > 1 else Number(0) for axis, size in enumerate(shape))
    body.variables = [i for i in body.index if isinstance(i, Name)]
    body.levels = [[Call(Name(name))] if name else [] for name in levels]
    return body


def require(body: LoopBody, source: str, because: str) -> None:
    """Require that the loops of a nest print as `source`."""
    statements = calling(body.loops, 1)()
    got = "\n".join(printed(statements))
    assert got == source, (
        f"loops(1) for the shape {body.shape} and the levels {[[*printed(level)] for level in body.levels]} should "
        f"print as\n{source or 'no lines'}\nbut prints as\n{got or 'no lines'}\n({because}); it returned {statements}"
    )


def test_statements_stand_in_their_loops() -> None:
    body = nest((4, 8), "before", "a", "b")
    for because in ("a is in the outer loop, b in both", "the first call should not change the levels"):
        require(body, "for i0 in range(4):\n    a\n    for i1 in range(8):\n        b", because)


def test_no_loop_without_statements() -> None:
    require(nest((4, 8), "before", "", ""), "", "no loop contains a statement")
    require(nest((4, 8), "", "a", ""), "for i0 in range(4):\n    a", "the inner loop is empty")
    require(nest((4, 8), "", "", "b"), "for i0 in range(4):\n    for i1 in range(8):\n        b", "b is in both loops")
    deep = "for i0 in range(4):\n    for i1 in range(8):\n        for i2 in range(2):\n            c"
    require(nest((4, 8, 2), "", "", "", "c"), deep, "c is in all three loops")


def test_an_axis_of_one_element_has_no_loop() -> None:
    require(nest((1, 8), "", "b"), "for i1 in range(8):\n    b", "an axis of size 1 needs no loop")


def test_a_run_is_a_part_of_an_axis() -> None:
    body = nest((4, 8), "before", "a", "b")
    body.run = Run(Name("i0"), Name("first"), Name("end"), {})
    because = "the run has the elements of axis 0 from `first` to `end`"
    require(body, "for i0 in range(first, end):\n    a\n    for i1 in range(8):\n        b", because)


# --- whole kernels


@pytest.mark.parametrize("kernel", loops.KERNELS)
def test_kernels_do_what_they_do_with_numpy(kernel: str) -> None:
    """The generated source, run as plain Python, gives the NumPy back end's results to the last bit."""
    loops.check(kernel)


@pytest.mark.parametrize("kernel", loops.OUTSIDE)
def test_accesses_out_of_bounds_are_seen_first(kernel: str) -> None:
    """A program whose access is out of bounds returns False, and does not execute this access."""
    loops.check_refused(kernel)


def test_numba_compiles_it() -> None:
    if importlib.util.find_spec("numba") is None:
        oracles.unavailable("no Numba: pip install numba")
    loops.check_compiled("add")
