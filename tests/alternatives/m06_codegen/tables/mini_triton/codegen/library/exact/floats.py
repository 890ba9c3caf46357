def maximumf(x: Array, y: Array) -> Array:
    return extreme("maximum", x, y)


def maxnumf(x: Array, y: Array) -> Array:
    return extreme("fmax", x, y)


def minimumf(x: Array, y: Array) -> Array:
    return extreme("minimum", x, y)


def minnumf(x: Array, y: Array) -> Array:
    return extreme("fmin", x, y)


def with_zero(result: Array, x: Array, y: Array, zero: float) -> Array:
    pairs = (x == 0) & (y == 0) & np.logical_xor(np.signbit(x), np.signbit(y))
    return np.where(pairs, np.asarray(zero, result.dtype), result)


ZEROS = {"maximum": 0.0, "fmax": 0.0, "minimum": -0.0, "fmin": -0.0}


def extreme(name: str, x: Array, y: Array) -> Array:
    """The larger or the smaller of two, as NumPy's function of that name has it, but for zeros."""
    return with_zero(getattr(np, name)(x, y), x, y, ZEROS[name])
