import functools

from mini_triton.language.dtypes import pointer_type


def philox_impl(c0: tensor, c1: tensor, c2: tensor, c3: tensor, k0: tensor, k1: tensor, n_rounds: int = 10) -> Four:
    dtypes = {word.dtype for word in (c0, c1, c2, c3, k0, k1)}
    if len(dtypes) > 1 or c0.dtype not in KEY_STEPS:
        raise TypeError(f"philox has no words of {dtypes}")
    a, b = MULTIPLIERS[c0.dtype]

    def stirred(state: tuple[tensor, ...], _: int) -> tuple[tensor, ...]:
        c0, c1, c2, c3, k0, k1 = state
        c = umulhi(c2, b) ^ k0 ^ c1, b * c2, umulhi(c0, a) ^ k1 ^ c3, a * c0
        return *c, *(key + step for key, step in zip((k0, k1), KEY_STEPS[c0.dtype], strict=True))

    return functools.reduce(stirred, range(n_rounds), (c0, c1, c2, c3, k0, k1))[:4]


def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Four:
    seed, c0, c1, c2, c3 = map(to_tensor, (seed, c0, c1, c2, c3))
    if isinstance(seed.dtype, pointer_type) or not seed.dtype.is_int():
        raise TypeError(f"expected an integer for a seed, not {seed.dtype}")
    key = convert(seed, uint64)
    if not isinstance(c0.dtype, pointer_type) and c0.dtype.width == 64:
        word, keys = uint64, (key, splat(make_scalar(0, uint64), [1]))
    elif not isinstance(c0.dtype, pointer_type) and c0.dtype.width == 32:
        word, keys = uint32, tuple(convert(half, uint32) for half in (key, key >> 32))
    else:
        raise TypeError(f"counters of {c0.dtype} are not supported")
    return philox_impl(*(reinterpret(c, word) for c in (c0, c1, c2, c3)), *keys, n_rounds)


def randint4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
    if not isinstance(offset, tensor):
        raise TypeError(f"{offset!r} is no tensor of offsets")
    lower = convert(offset, uint32)
    zero = lower ^ lower
    upper = zero if offset.dtype.width <= 32 else convert(offset >> 32, uint32)
    return philox(seed, lower, upper, zero, zero, n_rounds)


def uint_to_uniform_float(x: tensor) -> tensor:
    for signed, unsigned, scale in ((int32, uint32, 4.6566127342e-10), (int64, uint64, 1.0842020432385337e-19)):
        if x.dtype in (signed, unsigned):
            bits = reinterpret(x, signed)
            return scale * where(bits < 0, -1 - bits, bits)
    raise TypeError(f"{x.dtype} has neither 32 nor 64 bits")


def pair_uniform_to_normal(u1: tensor, u2: tensor) -> tuple[tensor, tensor]:
    def radius(u: tensor) -> tensor:
        return sqrt(-2.0 * log(maximum(1.0e-7, u)))

    angle = 6.283185307179586 * u2
    return radius(u1) * cos(angle), radius(u1) * sin(angle)
