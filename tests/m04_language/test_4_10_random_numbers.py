"""Task 4.10: random numbers, bit by bit those of real Triton and of the published generator."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m04_language.expression_values import alike, judge_values, values
from tests.support.m04_language.expressions import Scene, judge

WORDS = ("c0", "c1", "c2", "c3", "k0", "k1")
OFFSETS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")

KNOWN = [
    # Words of 32 bits: rounds, counter, key, what comes out. From the tests of Random123, the authors' library.
    (10, (0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (10, (0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        10,
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
    (7, (0, 0, 0, 0), (0, 0), (0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48)),
]
RAND = (0.13389549, 0.72070062, 0.34458476, 0.23751315)
"""`tl.rand(123, offset)` for the offsets 0 to 3, as a GPU computes it."""


def words(width: int) -> st.SearchStrategy[int]:
    """Words of so many bits, with those at which something turns over."""
    edges = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
    return st.sampled_from(edges).map(lambda word: word % 2**width) | st.integers(0, 2**width - 1)


def cut(word: int, dtype: str) -> int:
    """The lower bits of a word, as many as the dtype has, as a signed integer: so the interpreter takes inputs."""
    size = 2 ** int(dtype.strip("iu"))
    return word % size - size * (word % size >= size // 2)


four = st.lists(words(64), min_size=4, max_size=4)


def in_hex(words: Iterable[int]) -> str:
    """Words as the published vectors have them."""
    return " ".join(f"{word:08x}" for word in words)


@pytest.mark.parametrize("case", range(len(KNOWN)))
def test_philox_known_answers(case: int) -> None:
    """The published test vectors, by `philox_impl` itself."""
    rounds, counter, key, expected = KNOWN[case]
    inputs = {word: cut(value, "u32") for word, value in zip(WORDS, counter + key, strict=True)}
    call = f"tl.philox_impl({', '.join(WORDS)}, n_rounds={rounds})"
    got = values(dict.fromkeys(WORDS, "u32"), [f"{call}[{i}]" for i in range(4)], inputs)
    shown = in_hex(int(word) % 2**32 for _, word in got)
    assert shown == in_hex(expected), (
        f"{rounds} rounds on the counter {in_hex(counter)} with the key {in_hex(key)}\n"
        f"  expected  {in_hex(expected)}\n  got       {shown}"
    )


@given(dtype=st.sampled_from(("u32", "u64")), rounds=st.sampled_from([0, 1, 2, 10]), six=st.tuples(*[words(64)] * 6))
@one_in(2)
def test_philox_rounds(dtype: str, rounds: int, six: tuple[int, ...]) -> None:
    """One round, several, none; words of 64 bits have constants of their own."""
    call = f"tl.philox_impl({', '.join(WORDS)}, {rounds})"
    inputs = {name: cut(word, dtype) for name, word in zip(WORDS, six, strict=True)}
    judge_values(dict.fromkeys(WORDS, dtype), [f"{call}[{i}]" for i in range(4)], inputs)


@given(dtype=st.sampled_from(("i8", "i16", "i32", "i64", "u32", "u64")), seed=words(64), c=words(32))
@one_in(3)
def test_seeds(dtype: str, seed: int, c: int) -> None:
    """The seed's bits are the key: all 64, with the sign copied into the upper ones."""
    inputs = {"seed": cut(seed, dtype), "c": cut(c, "i32")}
    calls = [f"tl.philox(seed, c, 1, 2, c, 2)[{i}]" for i in (0, 3)]
    judge_values({"seed": dtype, "c": "i32"}, calls, inputs)


@given(dtype=st.sampled_from(("i32", "u32", "i64", "u64", "fp32")), seed=words(64), c=four)
@one_in(3)
def test_counters(dtype: str, seed: int, c: list[int]) -> None:
    """Their bits count, whatever they stand for; their size decides between words of 32 and of 64 bits."""
    counters = [cut(word, "i8") / 4 if dtype == "fp32" else cut(word, dtype) for word in c]
    inputs = {"seed": cut(seed, "i64"), "c": counters}
    calls = [f"tl.philox(seed, c, c, c, c, n_rounds=2)[{i}]" for i in (0, 3)]
    judge_values({"seed": "i64", "c": f"{dtype}[4]"}, calls, inputs)


def test_numbers_as_seeds_and_counters() -> None:
    """A number is a tensor of its own dtype."""
    judge_values({"c": "i32"}, [f"tl.philox({seed}, c, 0, 2**31, 7)[0]" for seed in (0, -1, 2**31, 2**63)], {"c": 5})


@given(dtype=st.sampled_from(OFFSETS), seed=words(32), offset=four)
@one_in(2)
def test_offsets(dtype: str, seed: int, offset: list[int]) -> None:
    """Offsets of any integer dtype: the lower 32 bits are one word of the counter, the upper ones another."""
    calls = ["tl.randint(seed, offset, 2)", "tl.randint4x(seed, offset, n_rounds=2)[2]"]
    inputs = {"seed": cut(seed, "i32"), "offset": [cut(word, dtype) for word in offset]}
    judge_values({"seed": "i32", "offset": f"{dtype}[4]"}, calls, inputs)


@given(dtype=st.sampled_from(("i32", "u32", "i64", "u64")), bits=four)
@example(dtype="i32", bits=[0, 2**31 - 1, 2**31, 2**32 - 1])
@example(dtype="u64", bits=[0, 2**63 - 1, 2**63, 2**64 - 1])
@one_in(2)
def test_uniform_floats(dtype: str, bits: list[int]) -> None:
    """From 0 up to, but without, 1: the largest and the smallest integer included."""
    x = [cut(word, dtype) for word in bits]
    types, calls = {"x": f"{dtype}[4]"}, ["tl.uint_to_uniform_float(x)"]
    judge_values(types, calls, {"x": x})
    ((_, got),) = values(types, calls, {"x": x})
    inside = (got >= 0) & (got < 1)
    assert inside.all(), f"uint_to_uniform_float of {x}\n  expected  from 0 to below 1\n  got       {got}"


@given(u=st.lists(st.floats(0, 1, width=32, exclude_max=True), min_size=8, max_size=8))
@example(u=[0.0, 2.0**-30, 1e-7, 0.5, 0.0, 0.25, 0.5, 0.75])
@one_in(2)
def test_normal_floats(u: list[float]) -> None:
    """A point in the plane; a uniform number of 0 gives no infinity."""
    calls = [f"tl.pair_uniform_to_normal(u, v)[{i}]" for i in (0, 1)]
    judge_values({"u": "fp32[4]", "v": "fp32[4]"}, calls, {"u": u[:4], "v": u[4:]}, tolerance=1e-5)


@given(seed=words(32), offset=four)
@one_in(3)
def test_rand_and_randn(seed: int, offset: list[int]) -> None:
    """All together."""
    types = {"seed": "i32", "x": "i32[4]"}
    inputs = {"seed": cut(seed, "i32"), "x": [cut(word, "i32") for word in offset]}
    uniform = ["tl.rand(seed, x)", "tl.rand(seed, x, 6)", "tl.randint(seed, x)", "tl.rand4x(seed, x, 2)[3]"]
    judge_values(types, uniform, inputs)
    normal = ["tl.randn(seed, x)", "tl.randn(seed, x, n_rounds=2)", *(f"tl.randn4x(seed, x, 2)[{i}]" for i in (1, 2))]
    judge_values(types, normal, inputs, tolerance=1e-5)


def test_rand_as_on_a_gpu() -> None:
    """Numbers that a GPU gave, for one seed and the first offsets."""
    ((_, got),) = values({"x": "i32[4]"}, ["tl.rand(123, x)"], {"x": range(4)})
    expected = np.array(RAND, np.float32)
    assert alike(got, expected, 1e-7).all(), f"rand(123, 0 to 3)\n  expected  {expected}\n  got       {got}"


def test_shapes_of_random_numbers() -> None:
    """As many as there are offsets, also one; and what is no offset or no seed is refused."""
    types = {"seed": "i32", "x": "i32[2, 4]", "n": "i32", "one": "i64[1]", "f": "fp32[4]", "p": "*fp32", "s": "i16[4]"}
    inputs = {"seed": 3, "x": np.arange(8).reshape(2, 4), "n": 4, "one": [2**33], "f": [0.0] * 4, "p": 0, "s": range(4)}
    calls = ["tl.rand(seed, x)", "tl.rand(seed, n)", "tl.randint(seed, one)", "tl.rand(5, s)", "tl.rand(seed, seed)"]
    judge_values(types, calls, inputs)
    refused = ["tl.rand(seed, 5)", "tl.rand(1.5, x)", "tl.rand(p, x)", "tl.rand(seed, p)", "tl.rand(f, x)"]
    refused += ["tl.philox(n, s, s, s, s)[0]", "tl.philox(n, x, one, x, x)[0]", "tl.uint_to_uniform_float(s)"]
    refused += ["tl.uint_to_uniform_float(f)", "tl.philox_impl(n, n, n, n, n, n)[0]"]
    judge(types, refused)


REFUSED: dict[str, tuple[type[Exception], tuple[str, ...]]] = {
    "tl.philox_impl(n, n, n, n, n, n)": (TypeError, ("int32",)),
    "tl.philox_impl(u, u, w, u, u, u)": (TypeError, ("uint32", "uint64")),
    "tl.philox_impl(w, w, w, w, w, u)": (TypeError, ("uint32", "uint64")),
    "tl.philox(x, n, n, n, n)": (TypeError, ("fp32",)),
    "tl.philox(n, s, s, s, s)": (TypeError, ("int16",)),
    "tl.rand(n, 5)": (TypeError, ("5",)),
    "tl.rand(1.5, n)": (TypeError, ("fp32",)),
    "tl.uint_to_uniform_float(s)": (TypeError, ("int16",)),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    """A TypeError with the dtype in it, or the number that should be a tensor."""
    error, names = REFUSED[expression]
    Scene({"n": "i32", "s": "i16", "u": "u32", "w": "u64", "x": "fp32"}).refuses(expression, error, *names)
