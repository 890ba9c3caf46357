def maximumf(x: Array, y: Array) -> Array:
    larger = np.maximum(x, y)
    return with_zero(larger, x, y, 0.0)


def maxnumf(x: Array, y: Array) -> Array:
    larger = np.fmax(x, y)
    return with_zero(larger, x, y, 0.0)


def minimumf(x: Array, y: Array) -> Array:
    smaller = np.minimum(x, y)
    return with_zero(smaller, x, y, -0.0)


def minnumf(x: Array, y: Array) -> Array:
    smaller = np.fmin(x, y)
    return with_zero(smaller, x, y, -0.0)


def with_zero(result: Array, x: Array, y: Array, zero: float) -> Array:
    both_zero = (x == 0) & (y == 0)
    if not np.any(both_zero):
        return result
    one_is_negative = np.signbit(x) != np.signbit(y)
    here = both_zero & one_is_negative
    result = np.array(result)
    replacement = np.array(zero).astype(result.dtype)
    return np.where(here, replacement, result)
