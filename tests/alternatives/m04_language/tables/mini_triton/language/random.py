def philox_impl(c0: tensor, c1: tensor, c2: tensor, c3: tensor, k0: tensor, k1: tensor, n_rounds: int = 10) -> Four:
    dtype = c0.dtype
    counter, keys = [c0, c1, c2, c3], [k0, k1]
    if dtype not in (uint32, uint64) or any(word.dtype != dtype for word in counter + keys):
        raise TypeError(f"no constants for words of {[word.dtype for word in counter + keys]}")
    for _ in range(n_rounds):
        products = [(umulhi(x, factor), x * factor) for x, factor in zip(counter[::2], MULTIPLIERS[dtype], strict=True)]
        (upper_a, lower_a), (upper_b, lower_b) = products
        counter = [upper_b ^ counter[1] ^ keys[0], lower_b, upper_a ^ counter[3] ^ keys[1], lower_a]
        keys = [key + step for key, step in zip(keys, KEY_STEPS[dtype], strict=True)]
    return tuple(counter)


def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Four:
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


def randint4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
    if not isinstance(offset, tensor):
        raise TypeError(f"offsets come in a tensor, not as {offset!r}")
    zero = convert(offset, uint32) * 0
    shifts = (0, 32) if offset.dtype.width > 32 else (0,)
    words = [convert(offset >> shift if shift else offset, uint32) for shift in shifts]
    return philox(seed, *words, *[zero] * (4 - len(words)), n_rounds)


def uint_to_uniform_float(x: tensor) -> tensor:
    table = {32: (int32, 4.6566127342e-10), 64: (int64, 1.0842020432385337e-19)}
    if x.dtype.is_ptr() or not x.dtype.is_int() or x.dtype.width not in table:
        raise TypeError(f"{x.dtype} is neither a 32-bit nor a 64-bit integer")
    dtype, scale = table[x.dtype.width]
    x = reinterpret(x, dtype)
    return where(x < 0, ~x, x) * scale


def pair_uniform_to_normal(u1: tensor, u2: tensor) -> tuple[tensor, tensor]:
    radius = sqrt(-2.0 * log(maximum(u1, 1.0e-7)))
    return tuple(radius * function(u2 * 6.283185307179586) for function in (cos, sin))


def randn(seed: Any, offset: tensor, n_rounds: int = 10) -> tensor:
    uniform = [uint_to_uniform_float(word) for word in randint4x(seed, offset, n_rounds)[:2]]
    return pair_uniform_to_normal(*uniform)[0]
