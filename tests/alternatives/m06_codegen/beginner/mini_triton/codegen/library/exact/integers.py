def unsigned(x: Array) -> Array:
    x = np.asarray(x)
    if x.itemsize == 1:
        return x.view(np.uint8)
    if x.itemsize == 2:
        return x.view(np.uint16)
    if x.itemsize == 4:
        return x.view(np.uint32)
    return x.view(np.uint64)


def divsi(x: Array, y: Array) -> Array:
    down = np.floor_divide(x, y)
    remains = x - down * y != 0
    different_signs = (x < 0) ^ (y < 0)
    return np.where(remains & different_signs, down + np.ones_like(down), down)


def remsi(x: Array, y: Array) -> Array:
    remainder = np.remainder(x, y)
    wrong_sign = (remainder != 0) & ((x < 0) != (y < 0))
    return np.where(wrong_sign, remainder - y, remainder)


def shli(x: Array, y: Array) -> Array:
    width = 8 * x.dtype.itemsize
    too_much = unsigned(y) >= width
    amount = np.where(too_much, np.zeros_like(y), y)
    return np.where(too_much, np.zeros_like(x), x << amount)


def shrsi(x: Array, y: Array) -> Array:
    width = 8 * x.dtype.itemsize
    too_much = unsigned(y) >= width
    amount = np.where(too_much, np.full_like(y, width - 1), y)
    return x >> amount


def shrui(x: Array, y: Array) -> Array:
    width = 8 * x.dtype.itemsize
    bits = unsigned(x)
    amount = unsigned(y)
    too_much = amount >= width
    shifted = bits >> np.where(too_much, np.zeros_like(amount), amount)
    return np.where(too_much, np.zeros_like(shifted), shifted).view(x.dtype)


def upper_half(x: Array, y: Array) -> Array:
    if x.dtype == np.uint64:
        return multiplied_on_paper(x, y)
    product = x.astype(np.uint64) * y.astype(np.uint64)
    upper = product // np.uint64(2**32)
    return upper.astype(np.uint32)
