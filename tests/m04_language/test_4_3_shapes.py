"""Task 4.3: indices, new dimensions, broadcasts, reshapes, transposes, joins and splits, as in real Triton."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m04_language.arguments import Shape, typed
from tests.support.m04_language.expressions import Scene, judge

SOME = one_in(3)  # each asks real Triton several times

SHAPES: tuple[Shape, ...] = ((1,), (4,), (2, 4), (4, 1), (1, 8), (2, 1, 4), (4, 2, 2))
ANY_SHAPE = ((), *SHAPES)
TYPES = ("i1", "i8", "u16", "i32", "u32", "u64", "fp16", "bf16", "fp64")


def call(name: str, *arguments: object) -> str:
    return f"tl.{name}({', '.join(map(str, arguments))})"


@pytest.mark.parametrize("shape", ANY_SHAPE)
def test_index(shape: Shape) -> None:
    """Every way to write `:` and None, with no more `:` than there are dimensions."""
    patterns = [pattern for n in range(1, 6) for pattern in itertools.product((":", "None"), repeat=n)]
    fitting = [p for p in patterns if p.count(":") <= len(shape) and p.count("None") <= 3]
    judge({"x": typed("i8", shape)}, [f"x[{', '.join(pattern)}]" for pattern in fitting])


@SOME
@given(shape=st.sampled_from(ANY_SHAPE), axes=st.lists(st.integers(-5, 5), min_size=1, max_size=3))
def test_expand_dims(shape: Shape, axes: list[int]) -> None:
    """One axis or several, counted from either end of the result; an axis out of range or given twice is refused."""
    several = f"({', '.join(map(str, axes))},)"
    judge({"x": typed("fp32", shape)}, [call("expand_dims", "x", axes[0]), call("expand_dims", "x", several)])


@SOME
@given(shape=st.sampled_from(ANY_SHAPE), target=st.sampled_from((*SHAPES, (2, 2, 4), (8, 8), (8,), (3,), (2, 3))))
def test_broadcast_to(shape: Shape, target: Shape) -> None:
    """A block's dimensions of size 1 are broadcast, and its rank stays. A scalar is broadcast to any shape."""
    calls = [call("broadcast_to", "x", target), call("broadcast_to", "x", *target), f"x.broadcast_to({list(target)})"]
    judge({"x": typed("i16", shape)}, calls)


@SOME
@given(
    shape=st.sampled_from(SHAPES),
    target=st.lists(st.sampled_from((1, 1, 2, 2, 4, 4, 8, 3, 0, -1)), min_size=1, max_size=4),
    reorder=st.booleans(),
)
def test_reshape(shape: Shape, target: list[int], reorder: bool) -> None:
    """A new shape must have as many elements, and each size must be a power of two."""
    fitting = [*target, math.prod(shape) // max(1, math.prod(target))]
    option = ", can_reorder=True" if reorder else ""
    judge({"x": typed("u8", shape)}, [f"tl.reshape(x, {tuple(t)}{option})" for t in (target, fitting)])


@pytest.mark.parametrize("shape", ANY_SHAPE)
def test_permute(shape: Shape) -> None:
    """Every order of the dimensions is accepted. Too few or too many dimensions, or a repeated one, are refused."""
    orders = [order for n in range(1, 4) for order in itertools.product(range(n), repeat=n)]
    expressions = [call("permute", "x", order) for order in [*orders, (0, -1), (1, 2, 3)]]
    judge({"x": typed("bf16", shape)}, [*expressions, "tl.trans(x)", "x.trans()", "x.T", "tl.trans(x, (1, 0))"])


SPELLINGS = {
    "index": ["v[:]", "v[None]", "v[(None,)]", "v[:,]", "p[:, None]", "v[M, :]"],
    "expand_dims": [call("expand_dims", name, axis) for name in "svyzp" for axis in ("0", "-1", "A", "[0, -1]")],
    "expand_dims of numbers": ["v.expand_dims(1)", "tl.expand_dims(3, 0)", "tl.expand_dims(1.5, (0, 1))"],
    "reshape": [f"tl.reshape(v, {shape})" for shape in ("(2, 2)", "[2, 2]", "2, 2", "4", "B, 2", "[4]", "8", "()")],
    "as a method": ["v.reshape((B, B))", "v.reshape(4, can_reorder=True)", "p.reshape(2, 2)", "o.reshape(1, 1, 1)"],
    "to a scalar": ["o.reshape(())", "tl.reshape(s, ())"],
    "without regard to signs": [f"tl.{name}({pair})" for name in ("join", "interleave") for pair in ("v, w", "w, v")],
    "permute": ["tl.permute(t, 2, 0, 1)", "t.permute([2, 0, 1])"],
    "trans with dims": ["tl.trans(v, 0)", "tl.trans(t, 1, 0, 2)", "t.trans((0, 2, -A))"],
}


@pytest.mark.parametrize("what", SPELLINGS)
def test_spellings(what: str) -> None:
    """An argument is an int, a tuple, a list, a constexpr or a keyword; the call is of a function or of a method."""
    values = {
        "s": "fp32",
        "v": "i32[4]",
        "y": "u8[2, 4]",
        "z": "fp16[2, 1, 4]",
        "p": "*fp32[4]",
        "o": "fp16[1, 1]",
        "w": "u32[4]",
    }
    judge({**values, "t": "i32[2, 4, 8]", "A": "=-1", "B": "=2", "M": "=None"}, SPELLINGS[what])


@SOME
@given(dtypes=st.tuples(*[st.sampled_from(TYPES)] * 2), shapes=st.tuples(*[st.sampled_from(ANY_SHAPE)] * 2))
def test_join_and_interleave(dtypes: tuple[str, str], shapes: tuple[Shape, Shape]) -> None:
    """The operands are broadcast to one shape. Their dtypes must be equal, because nothing is promoted."""
    x, y = (typed(dtype, shape) for dtype, shape in zip(dtypes, shapes, strict=True))
    again = typed(dtypes[0], shapes[1])
    judge({"x": x, "y": y, "z": again}, ["tl.join(x, y)", "tl.join(x, z)", "tl.interleave(x, z)", "tl.join(z, x)"])


@pytest.mark.parametrize("shape", [*ANY_SHAPE, (2,), (1, 2), (4, 4, 2), (2, 2)])
def test_split(shape: Shape) -> None:
    """A split undoes a join, and splits two elements into two scalars. The last dimension must have size 2."""
    halves = ["tl.split(x)[0]", "tl.split(x)[1]", "x.split()[1]"]
    judge({"x": typed("fp16", shape)}, halves if shape and shape[-1] == 2 else halves[:1])


NUMBERS = {"0": 0, "-1": -1, "True": True, "(None, 7)": 7, "(7, None)": 7, "N": 1}
INDICES = {**NUMBERS, **dict.fromkeys(("0:", "1:", ":2", "::1", "::2", "0:4", "...", "s", "x"), "")}
REFUSED: dict[str, tuple[type[Exception], tuple[str, ...]]] = {
    **{f"x[{index}]": (ValueError, (f"unsupported tensor index: {named}",)) for index, named in INDICES.items()},
    "tl.broadcast_to(x, (2, 4))": (ValueError, ("rank mismatch",)),
    "tl.broadcast_to(x, (8,))": (ValueError, ()),  # `Builder.broadcast_to` raises it; the message is free
    "s.reshape(1)": (ValueError, ("reshape() cannot change total number of elements in tensor",)),
    "s.reshape(1, 1)": (ValueError, ("reshape() cannot change total number of elements in tensor",)),
    "x.reshape(8)": (ValueError, ("reshape() cannot change total number of elements in tensor",)),
    "x.reshape(2, 3)": (ValueError, ("Shape element 1", "power of 2")),
    "tl.permute(y, 0)": (ValueError, ("permute dims must have the same length as input shape",)),
    "tl.permute(y, (1, 1))": (ValueError, ("must be a permutation of 0, 1, ..., n-1, but were (1, 1)",)),
    "tl.permute(y, (-1, 0))": (ValueError, ("(-1, 0)",)),
    "tl.trans(x)": (ValueError, ("tl.trans invoked with a 0- or 1-dimensional tensor",)),
    "tl.join(x, f)": (TypeError, ("int32", "fp32")),
    "tl.split(y)": (ValueError, ()),
    "tl.split(s)": (ValueError, ()),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    error, names = REFUSED[expression]
    values = {"x": "i32[4]", "y": "i32[2, 4]", "f": "fp32[4]", "s": "i32", "N": "=1"}
    Scene(values).refuses(expression, error, *names)
    judge(values, [expression])
