def toward_zero(x: Array, dtype: Any) -> Array:
    near = np.asarray(x).astype(dtype)
    table = np.array([0, 1], unsigned(near).dtype)
    return (unsigned(near) - table[(np.abs(near.astype(x.dtype)) > np.abs(x)).astype(int)]).view(dtype)


def to_odd(x: Array) -> Array:
    cut = toward_zero(x, np.float32)
    table = np.array([0, 1], np.uint32)
    return (unsigned(cut) | table[np.asarray(cut.astype(x.dtype) != x).astype(int)]).view(np.float32)


def rounded(x: Array, dtype: Any) -> Array:
    ways = {
        "numpy": lambda: x.astype(dtype),
        "short": lambda: x.astype(dtype),
        "long": lambda: to_odd(widened(x)).astype(dtype),
    }
    short = x.dtype.itemsize < 4 or x.dtype == np.dtype(np.float32)
    return ways["numpy" if np.dtype(dtype).type in NUMPY_FLOATS else "short" if short else "long"]()


def fp_to_fp(x: Array, dtype: Any, rounding: str) -> Array:
    dtype = np.dtype(dtype)
    cut = rounding == "rtz"
    clipped = {
        (np.dtype(ml_dtypes.float8_e5m2), False),
        (np.dtype(ml_dtypes.float8_e4m3fn), False),
        (np.dtype(ml_dtypes.float8_e4m3fn), True),
    }
    if (dtype, cut) in clipped:
        x = x if x.dtype == np.float64 else x.astype(np.float32)
        limit = x.dtype.type(ml_dtypes.finfo(dtype).max)
        x = np.clip(x, -limit, limit)
    ways = {True: toward_zero, False: rounded}
    return ways[cut and dtype.itemsize < x.dtype.itemsize](x, dtype)


def saturated(x: Array, dtype: Any) -> Array:
    info = np.iinfo(dtype)
    kind = info.dtype.type
    x = x if x.dtype.type in NUMPY_FLOATS else x.astype(np.float32)
    limit = 2.0 ** (info.bits - (info.kind == "i"))
    nans = {(64, "i"): info.min, (64, "u"): 2**63}
    if x.dtype == np.float64:
        nans |= {(bits, "i"): -(2 ** (bits - 1)) for bits in (8, 16, 32)}
        nans |= {(bits, "u"): 2 ** (bits - 1) for bits in (8, 16, 32)}
    conditions = [np.isnan(x), x >= limit, x < float(info.min) if info.kind == "i" else x < 0]
    answers = [kind(nans.get((info.bits, info.kind), 0)), kind(info.max), kind(info.min)]
    usual = np.where(conditions[0] | conditions[1] | conditions[2], x.dtype.type(0), x).astype(dtype)
    return np.select(conditions, answers, usual)
