"""Task 4.10: random numbers have the same bits as real Triton's and the published generator's."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m04_language.expression_values import judge_values, number, values
from tests.support.m04_language.expressions import Scene, judge

WORDS = ("c0", "c1", "c2", "c3", "k0", "k1")

# Words of 32 bits: rounds, counter, key, result. From the tests of Random123, the authors' library.
KNOWN = [
    (10, "00000000 00000000 00000000 00000000 00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (10, "ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (10, "243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    (7, "00000000 00000000 00000000 00000000 00000000 00000000", "5f6fb709 0d893f64 4f121f81 4f730a48"),
]
EDGES = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
words = st.sampled_from(EDGES) | st.integers(0, 2**64 - 1)


def cut(word: int, dtype: str) -> int:
    """The lower bits of a word, as many as the dtype has, as a signed integer: the IR's form of a constant."""
    size = 2 ** int(dtype.strip("iu"))
    return word % size - size * (word % size >= size // 2)


@pytest.mark.parametrize(("rounds", "state", "expected"), KNOWN)
def test_philox_known_answers(rounds: int, state: str, expected: str) -> None:
    """`philox_impl` computes the published test vectors."""
    inputs = {name: cut(int(word, 16), "u32") for name, word in zip(WORDS, state.split(), strict=True)}
    call = f"tl.philox_impl({', '.join(WORDS)}, n_rounds={rounds})"
    got = values(dict.fromkeys(WORDS, "u32"), [f"{call}[{i}]" for i in range(4)], inputs)
    shown = " ".join(f"{int(word) % 2**32:08x}" for _, word in got)
    assert shown == expected, (
        f"{rounds} rounds on the counter {state[:35]} with the key {state[36:]}\n"
        f"  expected  {expected}\n  got       {shown}"
    )


@given(dtype=st.sampled_from(("u32", "u64")), rounds=st.sampled_from([0, 1, 2, 10]), six=st.tuples(*[words] * 6))
@one_in(2)
def test_philox_rounds(dtype: str, rounds: int, six: tuple[int, ...]) -> None:
    """One round, several rounds, or none. Words of 64 bits have their own constants."""
    call = f"tl.philox_impl({', '.join(WORDS)}, {rounds})"
    inputs = {name: cut(word, dtype) for name, word in zip(WORDS, six, strict=True)}
    judge_values(dict.fromkeys(WORDS, dtype), [f"{call}[{i}]" for i in range(4)], inputs)


@given(
    seed=st.sampled_from(("i8", "i16", "i32", "i64", "u32", "u64")),
    counter=st.sampled_from(("i32", "u32", "i64", "u64", "fp32")),
    bits=st.tuples(words, words),
)
@one_in(2)
def test_seeds_and_counters(seed: str, counter: str, bits: tuple[int, int]) -> None:
    """The key is the 64-bit seed, sign-extended if it is narrower. A counter contributes its bits, signed or not."""
    c = cut(bits[1], "i8") / 4 if counter == "fp32" else cut(bits[1], counter)
    calls = [f"tl.philox(seed, c, c, c, c, n_rounds=2)[{i}]" for i in (0, 3)]
    judge_values({"seed": seed, "c": counter}, calls, {"seed": cut(bits[0], seed), "c": c})


@given(dtype=st.sampled_from(("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")), bits=st.tuples(words, words))
@one_in(2)
def test_offsets(dtype: str, bits: tuple[int, int]) -> None:
    """Offsets have any integer dtype: their lower 32 bits are one word of the counter, and the upper bits another."""
    calls = ["tl.randint(seed, x, 2)", "tl.randint4x(seed, x, n_rounds=2)[2]", "tl.rand(seed, x, 2)"]
    calls += [f"tl.rand4x(seed, x, 2)[{i}]" for i in (0, 3)]
    inputs = {"seed": cut(bits[0], "i32"), "x": cut(bits[1], dtype)}
    judge_values({"seed": "i32", "x": dtype}, calls, inputs)
    normal = ["tl.randn(seed, x)", "tl.randn(seed, x, n_rounds=2)", *(f"tl.randn4x(seed, x, 2)[{i}]" for i in (1, 2))]
    judge_values({"seed": "i32", "x": dtype}, normal, inputs, tolerance=1e-5)


@given(dtype=st.sampled_from(("i32", "u32", "i64", "u64")), bits=words)
@example(dtype="i32", bits=2**31 - 1)
@example(dtype="i32", bits=2**31)
@example(dtype="u64", bits=2**63)
@one_in(2)
def test_uniform_floats(dtype: str, bits: int) -> None:
    """Every integer gives a float from 0 up to, but not including, 1; so do the largest and the smallest."""
    types, calls, inputs = {"x": dtype}, ["tl.uint_to_uniform_float(x)"], {"x": cut(bits, dtype)}
    judge_values(types, calls, inputs)
    ((_, got),) = values(types, calls, inputs)
    assert 0 <= number(got) < 1, f"uint_to_uniform_float of {inputs['x']}\n  expected  0 <= x < 1\n  got       {got}"


@given(u=st.floats(0, 1, width=32, exclude_max=True), v=st.floats(0, 1, width=32, exclude_max=True))
@example(u=0.0, v=0.0)
@example(u=2.0**-30, v=0.25)
@example(u=1e-7, v=0.5)
@one_in(2)
def test_normal_floats(u: float, v: float) -> None:
    """Two uniform numbers give two normal numbers, which are finite even if a uniform number is 0."""
    calls = [f"tl.pair_uniform_to_normal(u, v)[{i}]" for i in (0, 1)]
    judge_values({"u": "fp32", "v": "fp32"}, calls, {"u": u, "v": v}, tolerance=1e-5)


def test_shapes_of_random_numbers() -> None:
    """Each offset gets one random number. A Python number as seed or counter becomes a tensor of its own dtype."""
    offsets = ("tl.broadcast_to(n, (2, 4))", "n", "tl.full((1,), 2**33, tl.int64)", "tl.full((4,), 3, tl.int16)")
    numbers = [f"tl.philox({seed}, n, 0, 2**31, 7)[0]" for seed in (0, -1, 2**31, 2**63)]
    words = [f"tl.randint4x(n, {offsets[0]}, {rounds})[{i}]" for rounds in (0, 1) for i in range(4)]
    judge_values({"n": "i32"}, [*(f"tl.rand(n, {offset})" for offset in offsets), *numbers, *words], {"n": 3})


REFUSED = {
    "tl.philox_impl(n, n, n, n, n, n)[0]": ("int32",),
    "tl.philox_impl(u, u, w, u, u, u)[0]": ("uint32", "uint64"),
    "tl.philox_impl(w, w, w, w, w, u)[0]": ("uint32", "uint64"),
    "tl.philox(x, n, n, n, n)[0]": ("fp32",),
    "tl.philox(n, s, s, s, s)[0]": ("int16",),
    "tl.philox(n, v, one, v, v)[0]": (),
    "tl.rand(n, 5)": ("5",),
    "tl.rand(1.5, n)": ("fp32",),
    "tl.rand(p, n)": (),
    "tl.rand(n, p)": (),
    "tl.rand(x, n)": (),
    "tl.uint_to_uniform_float(s)": ("int16",),
    "tl.uint_to_uniform_float(x)": (),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    """Each refusal is a TypeError that names the dtype, or the number that should be a tensor."""
    values = {"n": "i32", "s": "i16", "u": "u32", "w": "u64", "x": "fp32", "p": "*fp32"}
    values |= {"v": "i32[2, 4]", "one": "i64[1]"}
    if REFUSED[expression]:
        Scene(values).refuses(expression, TypeError, *REFUSED[expression])
    if "w" not in expression:  # real Triton accepts words of two widths
        judge(values, [expression])
