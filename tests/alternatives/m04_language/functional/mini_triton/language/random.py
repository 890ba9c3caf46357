import functools


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


def uint_to_uniform_float(x: tensor) -> tensor:
    for signed, unsigned, scale in ((int32, uint32, 4.6566127342e-10), (int64, uint64, 1.0842020432385337e-19)):
        if x.dtype in (signed, unsigned):
            bits = reinterpret(x, signed)
            return scale * where(bits < 0, -1 - bits, bits)
    raise TypeError(f"{x.dtype} has neither 32 nor 64 bits")
