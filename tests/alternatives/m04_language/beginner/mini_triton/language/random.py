"""Random numbers without a state: a seed and a counter go in, and always the same random bits come out.

Every program, every element asks for the random number of its own counter, in any order, and the answers are
independent of each other. The generator is Philox4x32-10: ten rounds of multiplications and exclusive ors stir four
counter words with two key words.

Source: Triton's `python/triton/language/random.py`; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

from typing import Any

from mini_triton.language.casts import reinterpret
from mini_triton.language.context import builtin
from mini_triton.language.creation import splat
from mini_triton.language.dtypes import int32, int64, uint32, uint64
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
    if c0.dtype == uint32:
        multiply_a = 0xD2511F53
        multiply_b = 0xCD9E8D57
        add_0 = 0x9E3779B9
        add_1 = 0xBB67AE85
    elif c0.dtype == uint64:
        multiply_a = 0xD2E7470EE14C6C93
        multiply_b = 0xCA5A826395121157
        add_0 = 0x9E3779B97F4A7C15
        add_1 = 0xBB67AE8584CAA73B
    else:
        raise TypeError("words are uint32 or uint64, not " + repr(c0.dtype))
    for _ in range(n_rounds):
        old_c0 = c0
        old_c1 = c1
        old_c2 = c2
        old_c3 = c3
        c0 = umulhi(old_c2, multiply_b)
        c0 = c0 ^ old_c1
        c0 = c0 ^ k0
        c1 = old_c2 * multiply_b
        c2 = umulhi(old_c0, multiply_a)
        c2 = c2 ^ old_c3
        c2 = c2 ^ k1
        c3 = old_c0 * multiply_a
        k0 = k0 + add_0
        k1 = k1 + add_1
    return c0, c1, c2, c3


@builtin
def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Four:
    """Four random words for four counter words; the bits of the seed are the key.

    The words are uint32 for 32-bit counters and uint64 for 64-bit ones: `TypeError` for others, and for a seed that
    is no integer.
    """
    seed = to_tensor(seed)
    c0 = to_tensor(c0)
    c1 = to_tensor(c1)
    c2 = to_tensor(c2)
    c3 = to_tensor(c3)
    if seed.dtype.is_ptr() or seed.dtype.is_floating():
        raise TypeError("a seed is an integer, not " + repr(seed.dtype))
    if c0.dtype.is_ptr():
        raise TypeError("a counter is no " + repr(c0.dtype))
    seed = convert(seed, uint64)
    if c0.dtype.width == 32:
        word = uint32
        key0 = convert(seed, uint32)
        key1 = convert(seed >> 32, uint32)
    elif c0.dtype.width == 64:
        word = uint64
        key0 = seed
        key1 = splat(constant(0, uint64), (1,))
    else:
        raise TypeError("counters have 32 or 64 bits, not those of " + repr(c0.dtype))
    c0 = reinterpret(c0, word)
    c1 = reinterpret(c1, word)
    c2 = reinterpret(c2, word)
    c3 = reinterpret(c3, word)
    return philox_impl(c0, c1, c2, c3, key0, key1, n_rounds)


@builtin
def randint4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
    """Four blocks of random uint32 for a seed and a block of offsets: the cheapest way to many random numbers.

    Raises `TypeError` for offsets that are no tensor.
    """
    if not isinstance(offset, tensor):
        raise TypeError("an offset is a tensor, not " + repr(offset))
    low = convert(offset, uint32)
    zeros = low * 0
    if offset.dtype.width == 64:
        high = offset >> 32
        high = convert(high, uint32)
    else:
        high = zeros
    return philox(seed, low, high, zeros, zeros, n_rounds)


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
    if x.dtype == int32 or x.dtype == uint32:
        x = reinterpret(x, int32)
        scale = 4.6566127342e-10
    elif x.dtype == int64 or x.dtype == uint64:
        x = reinterpret(x, int64)
        scale = 1.0842020432385337e-19
    else:
        raise TypeError("no float for " + repr(x.dtype))
    folded = where(x >= 0, x, -1 - x)
    return folded * scale


@builtin
def pair_uniform_to_normal(u1: tensor, u2: tensor) -> tuple[tensor, tensor]:
    """Two normally distributed numbers from two uniformly distributed ones, by the method of Box and Muller."""
    u1 = maximum(u1, 1e-7)
    radius = sqrt(log(u1) * -2.0)
    angle = u2 * 6.283185307179586
    x = radius * cos(angle)
    y = radius * sin(angle)
    return x, y


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
    words = randint4x(seed, offset, n_rounds)
    first = uint_to_uniform_float(words[0])
    second = uint_to_uniform_float(words[1])
    normal, _ = pair_uniform_to_normal(first, second)
    return normal


@builtin
def randn4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
    """Four blocks of random fp32 as from `randn`."""
    w, x, y, z = rand4x(seed, offset, n_rounds)
    return *pair_uniform_to_normal(w, x), *pair_uniform_to_normal(y, z)
