def unsigned(x: Array) -> Array:
    x = np.asarray(x)
    return x.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[x.dtype.itemsize])


def divsi(x: Array, y: Array) -> Array:
    quotient, remainder = np.divmod(x, y)
    table = np.array([0, 1], quotient.dtype)
    return quotient + table[np.asarray((remainder != 0) & ((x < 0) ^ (y < 0))).astype(int)]


def remsi(x: Array, y: Array) -> Array:
    return x - divsi(x, y) * y


def shli(x: Array, y: Array) -> Array:
    width = 8 * x.dtype.itemsize
    return np.where(unsigned(y) < width, np.left_shift(x, y & (width - 1)), x.dtype.type(0))


def shrsi(x: Array, y: Array) -> Array:
    width = 8 * x.dtype.itemsize
    return np.right_shift(x, np.where(unsigned(y) < width, y, y.dtype.type(width - 1)))


def shrui(x: Array, y: Array) -> Array:
    width = 8 * x.dtype.itemsize
    bits = unsigned(x) >> (unsigned(y) & unsigned(y).dtype.type(width - 1))
    return np.where(unsigned(y) < width, bits, bits.dtype.type(0)).view(x.dtype)


def upper_half(x: Array, y: Array) -> Array:
    methods = {
        np.dtype(np.uint64): multiplied_on_paper,
        np.dtype(np.uint32): lambda x, y: (np.multiply(x, y, dtype=np.uint64) >> np.uint64(32)).astype(np.uint32),
    }
    return methods[np.result_type(x, y)](x, y)
