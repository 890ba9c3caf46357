"""The parts of the language that are given to the learner."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton import language as tl
from mini_triton.errors import CompileTimeAssertionFailure
from mini_triton.language.constexpr import constexpr
from mini_triton.language.ranges import range as tl_range
from mini_triton.language.ranges import static_range
from mini_triton.language.tracing import trace

from tests.checks import one_in
from tests.support.m04_language.expressions import Scene, judge
from tests.support.m06_codegen.numpy_backend import run

BASE, SIZE = 600, 2000
OFFSETS = st.tuples(*[st.integers(-5, 12)] * 2)


def inside(index: np.ndarray, size: int, checked: bool) -> np.ndarray:
    return (index >= 0) & (index < size) if checked else np.full(index.shape, True)


@one_in(2)
@given(
    size=st.tuples(*[st.integers(1, 12)] * 2),
    first=OFFSETS,
    moved=OFFSETS,
    checked=st.sampled_from(((), (0,), (1,), (0, 1), (1, 0))),
    padding=st.sampled_from(("", "zero")),
)
def test_load_through_block_pointers(
    size: tuple[int, int], first: tuple[int, int], moved: tuple[int, int], checked: tuple[int, ...], padding: str
) -> None:
    def kernel(out: Any, x: Any, m: Any, n: Any, i: Any, j: Any) -> None:
        block = tl.make_block_ptr(x + BASE, (m, n), (n, 1), (i, j), (4, 8), (1, 0))
        block = tl.advance(block, moved)
        value = tl.load(block, boundary_check=checked, padding_option=padding)
        tl.store(out + tl.arange(0, 32), value.reshape(32))

    module = trace(kernel, {"out": "*i32", "x": "*i32", "m": "i32", "n": "i64", "i": "i32", "j": "i32"})
    got, *_ = run(module, (1,), [np.zeros(32, np.int32), np.arange(SIZE, dtype=np.int32), *size, *first])
    got = got.reshape(4, 8)
    rows, columns = np.mgrid[:4, :8] + np.add(first, moved)[:, None, None]
    mask = inside(rows, size[0], 0 in checked) & inside(columns, size[1], 1 in checked)
    expected = np.where(mask, BASE + rows * size[1] + columns, 0)
    compared = mask if padding == "" else True
    np.testing.assert_array_equal(np.where(compared, got, 0), np.where(compared, expected, 0))


BLOCK = "tl.make_block_ptr({base}, ({n}, s), (4, 1), ({i}, 0), (2, {b}), {order})"
RIGHT = {"base": "p", "n": "n", "i": "3", "b": "4", "order": "(1, 0)"}
WRONG = (
    *(("base", "x", ValueError), ("base", "n", ValueError)),
    *(("i", "s.to(tl.int64)", TypeError), ("i", "2**31", ValueError), ("i", "1.5", TypeError)),
    *(("b", "3", ValueError), ("b", "s", TypeError), ("n", "x", TypeError), ("n", "1.5", TypeError)),
    *(("order", "(0, 0)", ValueError), ("order", "(0,)", ValueError), ("order", "(1, 2)", ValueError)),
)
SQUARE = "tl.make_block_ptr(q, (4, 4), (4, 1), (0, 0), (2, 2), (1, 0))"
ACCESSES = (
    *("boundary_check=(2,)", "boundary_check=(0, 0)", "padding_option='one'", "mask=True", "mask=True, other=0"),
    *("padding_option='nan'", "boundary_check=(0,), padding_option='nan'"),
)
REFUSED: dict[str, tuple[type[Exception], tuple[str, ...]]] = {
    **{BLOCK.format(**RIGHT | {name: wrong}): (error, ()) for name, wrong, error in WRONG},
    **{f"tl.load({SQUARE}, {access})": (ValueError, ()) for access in ACCESSES},
    f"tl.advance({SQUARE}, (1,))": (ValueError, ("2 dimensions",)),
    f"tl.advance({SQUARE}, (1.5, 0))": (TypeError, ("1.5",)),
    "tl.advance(q, (1, 0))": (TypeError, ("tl.advance",)),
    f"tl.store({SQUARE}, 1.5)": (TypeError, ("int32", "fp32")),
    f"tl.store({SQUARE}, tl.zeros((4, 4), tl.int32))": (ValueError, ("(2, 2)", "(4, 4)")),
    f"tl.store({SQUARE}, 1, mask=True)": (ValueError, ("mask",)),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refused_block_pointers(expression: str) -> None:
    error, names = REFUSED[expression]
    Scene({"p": "*fp32", "q": "*i32", "x": "fp32[4]", "n": "i32", "s": "i32"}).refuses(expression, error, *names)


def test_refusals_in_words_of_our_own() -> None:
    """`refused.txt` in `tests/corpus/features` has those in Triton's words."""
    values = {"x": "i32[4, 2]", "y": "i32[4]", "o": "fp16[1]", "n": "i32"}
    shapes = ("y.item()", "tl.cat(y, o, can_reorder=True)", "n[1:, None]", "n[:, 0]")
    names = ("multiple_of", "max_contiguous", "max_constancy")
    promises = [f"tl.{name}({promise})" for name in names for promise in ("x, 4", "y, (4, 2)", "x, (4,)", "y, n")]
    judge(values, [*shapes, *promises, "tl.assume(n)", "tl.assume(y > 3)"])


def test_printing() -> None:
    values = {"n": "i32", "u": "u8[4]", "x": "fp32"}
    judge(values, ["tl.device_print('all:', n, u, x, hex=True)", "tl.device_print('')", "tl.device_print('a: ', 3)"])


def test_static(capsys: pytest.CaptureFixture[str]) -> None:
    def kernel(x: Any) -> None:
        tl.static_print("type", x.type, constexpr(3), sep=",")
        tl.static_assert(constexpr(3) > 2)

    trace(kernel, {"x": "i32"})
    assert capsys.readouterr().out == "type,int32,3\n"
    scene = Scene({"x": "i32[4]", "N": "=3"})
    scene.refuses("tl.static_assert(N > 3, 'too small')", CompileTimeAssertionFailure, "too small")
    scene.refuses("tl.static_assert(x > 3)", TypeError, "compile-time")


def test_ranges() -> None:
    assert [i.value for i in static_range(2, 8, 3)] == [2, 5]
    assert [i.value for i in static_range(constexpr(3))] == [0, 1, 2]
    with pytest.raises(TypeError, match="1.5"):
        static_range(1.5)
    loop = tl_range(4, num_stages=3, flatten=constexpr(True), loop_unroll_factor=None)
    assert (loop.start, loop.stop, loop.step) == (0, 4, 1)
    assert loop.attributes == {"tt.num_stages": 3, "tt.flatten": True}
    with pytest.raises(TypeError):
        iter(loop)
