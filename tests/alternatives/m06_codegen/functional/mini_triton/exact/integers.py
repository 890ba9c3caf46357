def divsi(x: Array, y: Array) -> Array:
    down = x // y
    return down + _too_low(down * y != x, x, y)


def remsi(x: Array, y: Array) -> Array:
    return x - y * divsi(x, y)


def shrsi(x: Array, y: Array) -> Array:
    return ~np.right_shift(~x, y)


def _too_low(inexact: Array, x: Array, y: Array) -> Array:
    """1 where a quotient was rounded down that must be rounded up."""
    return inexact & np.logical_xor(x < 0, y < 0)
