def with_zero(result: Array, x: Array, y: Array, zero: float) -> Array:
    zeros = np.logical_and(np.equal(x, 0), np.equal(y, 0)) & (np.signbit(x) ^ np.signbit(y))
    return np.where(zeros, np.full((), zero, np.asarray(result).dtype), result) if np.any(zeros) else result
