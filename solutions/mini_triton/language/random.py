"""Stateless random numbers: a seed and a counter always give the same random bits.

Each element of each program has its own counter. Therefore, all random numbers can be computed independently, in any
order. The generator is Philox4x32-10: ten rounds of multiplications and exclusive ors mix four counter words with two
key words.

Source: Triton's `python/triton/language/random.py`; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

from typing import Any

from mini_triton.language.casts import reinterpret
from mini_triton.language.context import builtin, debugging
from mini_triton.language.creation import splat
from mini_triton.language.dtypes import int32, int64, uint32, uint64
from mini_triton.language.math import cos, log, maximum, sin, sqrt, umulhi, where
from mini_triton.language.tensor import convert, make_scalar, tensor, to_tensor

__all__ = [
    *["philox", "philox_impl", "randint", "randint4x", "rand", "rand4x", "randn", "randn4x"],
    *["uint_to_uniform_float", "pair_uniform_to_normal"],
]

Four = tuple[tensor, tensor, tensor, tensor]

MULTIPLIERS = {uint32: (0xD2511F53, 0xCD9E8D57), uint64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
KEY_STEPS = {uint32: (0x9E3779B9, 0xBB67AE85), uint64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}
"""The constants of Philox, for 32-bit and 64-bit words."""


@builtin
@debugging(False)
def philox_impl(c0: tensor, c1: tensor, c2: tensor, c3: tensor, k0: tensor, k1: tensor, n_rounds: int = 10) -> Four:
    """The counter words `c0` to `c3` after `n_rounds` rounds of Philox with the key words `k0` and `k1`.

    A round multiplies two words by the `MULTIPLIERS` of their dtype, and combines the halves of the products with the
    other words by exclusive ors. These are words of 32 bits before and after one round:

        c0           c1   c2           c3   k0   k1      c0           c1           c2           c3
        1            0    0            0    0    0       0            0            0            0xD2511F53
        0x80000000   0    0            0    0    0       0            0            0x69288FA9   0x80000000
        0            0    1            0    0    0       0            0xCD9E8D57   0            0
        0            0    0x80000000   0    0    0       0x66CF46AB   0x80000000   0            0
        0            5    0            7    0    0       5            0            7            0
        0            0    0            0    9    6       9            0            6            0

    After each round, each key word increases by its step in `KEY_STEPS`. Arithmetic wraps around. Raises `TypeError`
    unless all six words are uint32, or all are uint64.
    """
    # [task 4.10] With `n_rounds=0`, return the counter words unchanged. Given: `umulhi`, the high half of a product.
    for word in (c0, c1, c2, c3, k0, k1):
        if word.dtype not in MULTIPLIERS or word.dtype != c0.dtype:
            raise TypeError(f"philox works on six uint32 or six uint64, not on {word.dtype} with {c0.dtype}")
    a, b = MULTIPLIERS[c0.dtype]
    step0, step1 = KEY_STEPS[c0.dtype]
    for _ in range(n_rounds):
        c0, c1, c2, c3 = umulhi(b, c2) ^ c1 ^ k0, c2 * b, umulhi(a, c0) ^ c3 ^ k1, c0 * a
        k0, k1 = k0 + step0, k1 + step1
    return c0, c1, c2, c3
    # [end]


@builtin
def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Four:
    """Four random words for four counter words; the bits of the seed are the key.

    The random words are uint32 for 32-bit counters and uint64 for 64-bit counters. Raises `TypeError` for counters of
    any other width, and for a seed that is not an integer.
    """
    # [task 4.10] The seed is converted to uint64. For 32-bit counters (the width of `c0` decides), the key words of the
    # seed 2**32 + 5 are 5 and 1. For 64-bit counters, the seed is the first key word, and a zero of shape (1,) is the
    # second. The counters keep their bits: the int32 -1 becomes the uint32 2**32 - 1.
    seed, c0 = to_tensor(seed), to_tensor(c0)
    if seed.dtype.is_ptr() or not seed.dtype.is_int():
        raise TypeError(f"the seed must be an integer, not {seed.dtype}")
    seed = convert(seed, uint64)
    if c0.dtype.is_ptr() or c0.dtype.width not in (32, 64):
        raise TypeError(f"bitwidth not supported in philox: {c0.dtype}")
    if c0.dtype.width == 32:
        word, k0, k1 = uint32, convert(seed & 0xFFFFFFFF, uint32), convert(seed >> 32 & 0xFFFFFFFF, uint32)
    else:
        word, k0, k1 = uint64, seed, splat(make_scalar(0, uint64), (1,))
    c0, c1, c2, c3 = (reinterpret(to_tensor(c), word) for c in (c0, c1, c2, c3))
    return philox_impl(c0, c1, c2, c3, k0, k1, n_rounds)
    # [end]


@builtin
def randint4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
    """Four tiles of random uint32 for a seed and a tile of offsets.

    This is the cheapest way to make many random numbers. Raises `TypeError` if `offset` is not a tensor.
    """
    # [task 4.10] The counter words are uint32, and each has the shape of the offsets. For the int64 offset 2**32 + 5,
    # they are 5, 1, 0 and 0; for an int32 offset, only the first one is not 0.
    if not isinstance(offset, tensor):
        raise TypeError(f"the offsets must be a tensor, not {offset!r}")
    lower = convert(offset, uint32)
    zero = lower * 0
    upper = convert(offset >> 32, uint32) if offset.dtype.width > 32 else zero
    return philox(seed, lower, upper, zero, zero, n_rounds)
    # [end]


@builtin
def randint(seed: Any, offset: tensor, n_rounds: int = 10) -> tensor:
    """A tile of random uint32 for a seed and a tile of offsets."""
    return randint4x(seed, offset, n_rounds)[0]


# --- floats


@builtin
def uint_to_uniform_float(x: tensor) -> tensor:
    """Map random 32-bit or 64-bit integers to fp32 numbers uniformly distributed from 0 up to, but not including, 1.

    Raises `TypeError` for other dtypes.
    """
    # [task 4.10] Read the bits as a signed integer. 0 and -1 are both mapped to 0.0; for 32 bits, 2**31 - 1 and -2**31
    # are mapped to a number just below 1. The scale is 4.6566127342e-10 for 32 bits, and 1.0842020432385337e-19 for 64
    # bits.
    if x.dtype in (int32, uint32):
        x, scale = reinterpret(x, int32), 4.6566127342e-10
    elif x.dtype in (int64, uint64):
        x, scale = reinterpret(x, int64), 1.0842020432385337e-19
    else:
        raise TypeError(f"it takes integers of 32 or 64 bits, not {x.dtype}")
    return where(x < 0, -x - 1, x) * scale
    # [end]


@builtin
def pair_uniform_to_normal(u1: tensor, u2: tensor) -> tuple[tensor, tensor]:
    """Two normally distributed numbers from two uniformly distributed ones, by the Box-Muller method."""
    # [task 4.10] The results are the coordinates x and y of a point in the plane. The point's distance from the origin
    # is sqrt(-2 log(u1)), and its angle is 6.283185307179586 * u2. Replace a `u1` below 1e-7 with 1e-7, so that the
    # logarithm is finite.
    angle = 6.283185307179586 * u2
    radius = sqrt(-2.0 * log(maximum(1.0e-7, u1)))
    return radius * cos(angle), radius * sin(angle)
    # [end]


@builtin
def rand(seed: Any, offset: tensor, n_rounds: int = 10) -> tensor:
    """A tile of random fp32, uniformly distributed from 0 up to, but not including, 1."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@builtin
def rand4x(seed: Any, offsets: tensor, n_rounds: int = 10) -> Four:
    """Four tiles of random fp32, each distributed as in `rand`."""
    w, x, y, z = randint4x(seed, offsets, n_rounds)
    return uint_to_uniform_float(w), uint_to_uniform_float(x), uint_to_uniform_float(y), uint_to_uniform_float(z)


@builtin
def randn(seed: Any, offset: tensor, n_rounds: int = 10) -> tensor:
    """A tile of random fp32, normally distributed around 0 with variance 1."""
    w, x, _, _ = randint4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(uint_to_uniform_float(w), uint_to_uniform_float(x))[0]


@builtin
def randn4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
    """Four tiles of random fp32, each distributed as in `randn`."""
    w, x, y, z = rand4x(seed, offset, n_rounds)
    return *pair_uniform_to_normal(w, x), *pair_uniform_to_normal(y, z)
