def unsigned(x: Array) -> Array:
    return (lambda x: x.view(np.dtype(f"uint{8 * x.itemsize}")))(np.asarray(x))


def divsi(x: Array, y: Array) -> Array:
    down = x // y
    return down + _too_low(down * y != x, x, y)


def remsi(x: Array, y: Array) -> Array:
    return x - y * divsi(x, y)


def shli(x: Array, y: Array) -> Array:
    return of_unsigned(np.left_shift, x, y)


def shrsi(x: Array, y: Array) -> Array:
    return ~np.right_shift(~x, y)


def shrui(x: Array, y: Array) -> Array:
    return np.right_shift(unsigned(x), unsigned(y)).view(x.dtype)


def upper_half(x: Array, y: Array) -> Array:
    if x.dtype.itemsize == 8:
        return multiplied_on_paper(x, y)
    return np.multiply(x, y, dtype=np.uint64).__rshift__(np.uint64(32)).astype(np.uint32)


def _too_low(inexact: Array, x: Array, y: Array) -> Array:
    """1 where a quotient was rounded down that must be rounded up."""
    return inexact & np.logical_xor(x < 0, y < 0)
