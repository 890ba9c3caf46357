"""Random numbers without a state: a seed and a counter go in, and always the same random bits come out.

Every program, every element asks for the random number of its own counter, in any order, and the answers are
independent of each other. The generator is Philox4x32-10: ten rounds of multiplications and exclusive ors stir four
counter words with two key words.

Source: Triton's `python/triton/language/random.py`; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

import functools
from typing import Any

from mini_triton.language.casts import reinterpret
from mini_triton.language.context import builtin
from mini_triton.language.creation import splat
from mini_triton.language.dtypes import int32, int64, pointer_type, uint32, uint64
from mini_triton.language.math import cos, log, maximum, sin, sqrt, umulhi, where
from mini_triton.language.tensor import constant, convert, tensor, to_tensor

__all__ = [
    *["philox", "philox_impl", "randint", "randint4x", "rand", "rand4x", "randn", "randn4x"],
    *["uint_to_uniform_float", "pair_uniform_to_normal"],
]

Four = tuple[tensor, tensor, tensor, tensor]

MULTIPLIERS = {uint32: (0xD2511F53, 0xCD9E8D57), uint64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
KEY_STEPS = {uint32: (0x9E3779B9, 0xBB67AE85), uint64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}
"""The constants of Philox, for words of 32 and of 64 bits."""


@builtin
def philox_impl(c0: tensor, c1: tensor, c2: tensor, c3: tensor, k0: tensor, k1: tensor, n_rounds: int = 10) -> Four:
    """The counter words `c0` to `c3` after some rounds of Philox with the key words `k0` and `k1`.

    All words have one dtype, uint32 or uint64; `TypeError` for others. Their arithmetic wraps around.
    """
    if c0.dtype not in KEY_STEPS:
        raise TypeError(f"philox has no words of {c0.dtype}")
    a, b = MULTIPLIERS[c0.dtype]

    def stirred(state: tuple[tensor, ...], _: int) -> tuple[tensor, ...]:
        c0, c1, c2, c3, k0, k1 = state
        c = umulhi(c2, b) ^ k0 ^ c1, b * c2, umulhi(c0, a) ^ k1 ^ c3, a * c0
        return *c, *(key + step for key, step in zip((k0, k1), KEY_STEPS[c0.dtype], strict=True))

    return functools.reduce(stirred, range(n_rounds), (c0, c1, c2, c3, k0, k1))[:4]


@builtin
def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Four:
    """Four random words for four counter words; the bits of the seed are the key.

    The words are uint32 for 32-bit counters and uint64 for 64-bit ones: `TypeError` for others, and for a seed that
    is no integer.
    """
    seed, c0, c1, c2, c3 = map(to_tensor, (seed, c0, c1, c2, c3))
    if isinstance(seed.dtype, pointer_type) or not seed.dtype.is_int():
        raise TypeError(f"expected an integer for a seed, not {seed.dtype}")
    key = convert(seed, uint64)
    if not isinstance(c0.dtype, pointer_type) and c0.dtype.width == 64:
        word, keys = uint64, (key, splat(constant(0, uint64), [1]))
    elif not isinstance(c0.dtype, pointer_type) and c0.dtype.width == 32:
        word, keys = uint32, tuple(convert(half, uint32) for half in (key, key >> 32))
    else:
        raise TypeError(f"counters of {c0.dtype} are not supported")
    return philox_impl(*(reinterpret(c, word) for c in (c0, c1, c2, c3)), *keys, n_rounds)


@builtin
def randint4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
    """Four blocks of random uint32 for a seed and a block of offsets: the cheapest way to many random numbers.

    Raises `TypeError` for offsets that are no tensor.
    """
    if not isinstance(offset, tensor):
        raise TypeError(f"{offset!r} is no tensor of offsets")
    lower = convert(offset, uint32)
    zero = lower ^ lower
    upper = zero if offset.dtype.width <= 32 else convert(offset >> 32, uint32)
    return philox(seed, lower, upper, zero, zero, n_rounds)


@builtin
def randint(seed: Any, offset: tensor, n_rounds: int = 10) -> tensor:
    """A block of random uint32 for a seed and a block of offsets."""
    return randint4x(seed, offset, n_rounds)[0]


# --- floats


@builtin
def uint_to_uniform_float(x: tensor) -> tensor:
    """An fp32 from 0 up to, but without, 1 for the bits of an integer of 32 or 64 bits, evenly spread.

    Raises `TypeError` for other dtypes.
    """
    for signed, unsigned, scale in ((int32, uint32, 4.6566127342e-10), (int64, uint64, 1.0842020432385337e-19)):
        if x.dtype in (signed, unsigned):
            bits = reinterpret(x, signed)
            return scale * where(bits < 0, -1 - bits, bits)
    raise TypeError(f"{x.dtype} has neither 32 nor 64 bits")


@builtin
def pair_uniform_to_normal(u1: tensor, u2: tensor) -> tuple[tensor, tensor]:
    """Two normally distributed numbers from two uniformly distributed ones, by the method of Box and Muller."""

    def radius(u: tensor) -> tensor:
        return sqrt(-2.0 * log(maximum(1.0e-7, u)))

    angle = 6.283185307179586 * u2
    return radius(u1) * cos(angle), radius(u1) * sin(angle)


@builtin
def rand(seed: Any, offset: tensor, n_rounds: int = 10) -> tensor:
    """A block of random fp32, evenly spread from 0 up to, but without, 1."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@builtin
def rand4x(seed: Any, offsets: tensor, n_rounds: int = 10) -> Four:
    """Four blocks of random fp32 as from `rand`."""
    w, x, y, z = randint4x(seed, offsets, n_rounds)
    return uint_to_uniform_float(w), uint_to_uniform_float(x), uint_to_uniform_float(y), uint_to_uniform_float(z)


@builtin
def randn(seed: Any, offset: tensor, n_rounds: int = 10) -> tensor:
    """A block of random fp32, normally distributed around 0 with variance 1."""
    return pair_uniform_to_normal(*map(uint_to_uniform_float, randint4x(seed, offset, n_rounds)[:2]))[0]


@builtin
def randn4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
    """Four blocks of random fp32 as from `randn`."""
    w, x, y, z = rand4x(seed, offset, n_rounds)
    return *pair_uniform_to_normal(w, x), *pair_uniform_to_normal(y, z)
