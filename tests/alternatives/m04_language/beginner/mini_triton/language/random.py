def philox_impl(c0: tensor, c1: tensor, c2: tensor, c3: tensor, k0: tensor, k1: tensor, n_rounds: int = 10) -> Four:
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
    for word in [c1, c2, c3, k0, k1]:
        if word.dtype != c0.dtype:
            raise TypeError("words are all " + repr(c0.dtype) + ", and not " + repr(word.dtype))
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


def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Four:
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


def randint4x(seed: Any, offset: tensor, n_rounds: int = 10) -> Four:
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


def uint_to_uniform_float(x: tensor) -> tensor:
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


def pair_uniform_to_normal(u1: tensor, u2: tensor) -> tuple[tensor, tensor]:
    u1 = maximum(u1, 1e-7)
    radius = sqrt(log(u1) * -2.0)
    angle = u2 * 6.283185307179586
    x = radius * cos(angle)
    y = radius * sin(angle)
    return x, y


def randn(seed: Any, offset: tensor, n_rounds: int = 10) -> tensor:
    words = randint4x(seed, offset, n_rounds)
    first = uint_to_uniform_float(words[0])
    second = uint_to_uniform_float(words[1])
    normal, _ = pair_uniform_to_normal(first, second)
    return normal
