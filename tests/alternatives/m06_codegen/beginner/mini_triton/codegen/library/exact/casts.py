def toward_zero(x: Array, dtype: Any) -> Array:
    near = np.asarray(x.astype(dtype))
    back = near.astype(x.dtype)
    bits = unsigned(near).copy()
    too_far = np.abs(back) > np.abs(x)
    one = bits.dtype.type(1)
    bits = np.where(too_far, bits - one, bits)
    return bits.view(dtype)


def to_odd(x: Array) -> Array:
    cut = np.asarray(toward_zero(x, np.float32))
    bits = unsigned(cut)
    lost = cut.astype(np.float64) != x
    lost = lost & ~np.isnan(x)
    return np.where(lost, bits | np.uint32(1), bits).view(np.float32)


def rounded(x: Array, dtype: Any) -> Array:
    for known in NUMPY_FLOATS:
        if np.dtype(dtype) == np.dtype(known):
            return x.astype(dtype)
    if x.dtype == np.float32:
        return x.astype(dtype)
    if x.dtype.itemsize == 1 or x.dtype.itemsize == 2:
        return x.astype(dtype)
    wide = widened(x)
    narrow = to_odd(wide)
    return narrow.astype(dtype)


def fp_to_fp(x: Array, dtype: Any, rounding: str) -> Array:
    dtype = np.dtype(dtype)
    cutting = rounding == "rtz"
    to_fp8 = dtype.itemsize == 1
    if to_fp8:
        keeps_infinity = cutting and dtype == np.dtype(ml_dtypes.float8_e5m2)
        if not keeps_infinity:
            if x.dtype != np.float64:
                x = x.astype(np.float32)
            largest = x.dtype.type(float(ml_dtypes.finfo(dtype).max))
            x = np.minimum(x, largest)
            x = np.maximum(x, -largest)
    if dtype.itemsize >= x.dtype.itemsize:
        return x.astype(dtype)
    if cutting:
        return toward_zero(x, dtype)
    return rounded(x, dtype)


def saturated(x: Array, dtype: Any) -> Array:
    info = np.iinfo(dtype)
    if x.dtype not in [np.dtype(known) for known in NUMPY_FLOATS]:
        x = x.astype(np.float32)
    too_large = x >= 2.0 ** (info.bits - 1 if info.min < 0 else info.bits)
    if info.min < 0:
        too_small = x < float(info.min)
        if info.bits < 64:
            too_small = x <= float(info.min) - 1.0
    else:
        too_small = x <= -1.0
    is_nan = np.isnan(x)
    for_nan = 0
    if info.bits == 64 or x.dtype == np.float64:
        if info.min < 0:
            for_nan = info.min
        else:
            for_nan = 2 ** (info.bits - 1)
    kind = np.dtype(dtype).type
    safe = np.where(too_large | too_small | is_nan, np.zeros_like(x), x)
    result = np.asarray(safe.astype(dtype))
    result = np.where(too_large, kind(info.max), result)
    result = np.where(too_small, kind(info.min), result)
    result = np.where(is_nan, kind(for_nan), result)
    return result
