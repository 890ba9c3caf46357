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
    dtype = c0.dtype
    if dtype not in (uint32, uint64):
        raise TypeError(f"no constants for words of {dtype}")
    counter, keys = [c0, c1, c2, c3], [k0, k1]
    for _ in range(n_rounds):
        products = [(umulhi(x, factor), x * factor) for x, factor in zip(counter[::2], MULTIPLIERS[dtype], strict=True)]
        (upper_a, lower_a), (upper_b, lower_b) = products
        counter = [upper_b ^ counter[1] ^ keys[0], lower_b, upper_a ^ counter[3] ^ keys[1], lower_a]
        keys = [key + step for key, step in zip(keys, KEY_STEPS[dtype], strict=True)]
    return tuple(counter)


@builtin
def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Four:
    """Four random words for four counter words; the bits of the seed are the key.

    The words are uint32 for 32-bit counters and uint64 for 64-bit ones: `TypeError` for others, and for a seed that
    is no integer.
    """
    seed, *counter = map(to_tensor, (seed, c0, c1, c2, c3))
    if seed.dtype.is_ptr() or seed.dtype.is_floating():
        raise TypeError(f"{seed.dtype} is no dtype for a seed")
    seed = convert(seed, uint64)
    words = {
        32: (uint32, lambda: (convert(seed & 0xFFFFFFFF, uint32), convert(seed >> 32, uint32))),
        64: (uint64, lambda: (seed, splat(constant(0, uint64), (1,)))),
    }
    if counter[0].dtype.is_ptr() or counter[0].dtype.width not in words:
        raise TypeError(f"no words for counters of {counter[0].dtype}")
    word, keys = words[counter[0].dtype.width]
    return philox_impl(*(reinterpret(c, word) for c in counter), *keys(), n_rounds)


@builtin
def randint4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
    """Four blocks of random uint32 for a seed and a block of offsets: the cheapest way to many random numbers.

    Raises `TypeError` for offsets that are no tensor.
    """
    if not isinstance(offset, tensor):
        raise TypeError(f"offsets come in a tensor, not as {offset!r}")
    zero = convert(offset, uint32) * 0
    shifts = (0, 32) if offset.dtype.width > 32 else (0,)
    words = [convert(offset >> shift if shift else offset, uint32) for shift in shifts]
    return philox(seed, *words, *[zero] * (4 - len(words)), n_rounds)


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
    table = {32: (int32, 4.6566127342e-10), 64: (int64, 1.0842020432385337e-19)}
    if x.dtype.is_ptr() or not x.dtype.is_int() or x.dtype.width not in table:
        raise TypeError(f"{x.dtype} is neither a 32-bit nor a 64-bit integer")
    dtype, scale = table[x.dtype.width]
    x = reinterpret(x, dtype)
    return where(x < 0, ~x, x) * scale


@builtin
def pair_uniform_to_normal(u1: tensor, u2: tensor) -> tuple[tensor, tensor]:
    """Two normally distributed numbers from two uniformly distributed ones, by the method of Box and Muller."""
    radius = sqrt(-2.0 * log(maximum(u1, 1.0e-7)))
    return tuple(radius * function(u2 * 6.283185307179586) for function in (cos, sin))


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
    uniform = [uint_to_uniform_float(word) for word in randint4x(seed, offset, n_rounds)[:2]]
    return pair_uniform_to_normal(*uniform)[0]


@builtin
def randn4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
    """Four blocks of random fp32 as from `randn`."""
    w, x, y, z = rand4x(seed, offset, n_rounds)
    return *pair_uniform_to_normal(w, x), *pair_uniform_to_normal(y, z)
