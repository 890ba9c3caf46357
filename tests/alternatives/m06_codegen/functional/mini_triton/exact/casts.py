def toward_zero(x: Array, dtype: Any) -> Array:
    near = np.asarray(x.astype(dtype))
    back = near.astype(x.dtype)
    cut = np.subtract(unsigned(near), np.abs(back) > np.abs(x), dtype=unsigned(near).dtype).view(dtype)
    vanished = np.isnan(cut) & ~np.isnan(x)  # bits of -0.0 that are a NaN in this format
    return np.where(vanished, np.zeros_like(cut), cut)


def saturated(x: Array, dtype: Any) -> Array:
    info, kind = np.iinfo(dtype), np.dtype(dtype).type
    x = np.asarray(x) if x.dtype in NUMPY_FLOATS else np.asarray(x, np.float32)
    whole = np.trunc(x)
    fits = (whole >= float(info.min)) & (whole < 2.0 ** (info.bits - (info.min < 0)))
    top_bit = np.array(1 << info.bits - 1, f"u{info.bits // 8}").view(dtype)[()]
    nan = top_bit if x.dtype == np.float64 or info.bits == 64 else kind(0)
    result = np.full(x.shape, nan)
    for where, value in ((x > 0, kind(info.max)), (x < 0, kind(info.min))):
        result = np.where(where, value, result)
    return np.where(fits, np.where(fits, whole, x.dtype.type(0)).astype(dtype), result)
