def dot(a: Array, b: Array, c: Array) -> Array:
    c = stored(c)
    wide = {np.dtype(np.int32): np.int64, np.dtype(np.float64): np.float64}.get(c.dtype, np.float32)
    if wide is np.int64:
        product = np.rint(np.matmul(stored(a).astype(float), stored(b).astype(float))).astype(wide)
    else:
        product = np.matmul(stored(a).astype(wide), stored(b).astype(wide))
    return np.add(product, c.astype(wide)).astype(c.dtype)


def reduce(combine: Callable[..., Any], sources: tuple[Array, ...], axis: int) -> tuple[Array, ...]:
    if isinstance(combine, np.ufunc):
        (source,) = map(stored, sources)
        ufunc = MODULO_2.get(combine, combine) if source.dtype.kind == "b" else combine
        return (ufunc.reduce(source, axis, source.dtype),)
    rounds = [np.moveaxis(stored(source), axis, 0) for source in sources]
    while len(rounds[0]) > 1:
        pairs = [array.reshape(len(array) // 2, 2, *array.shape[1:]) for array in rounds]
        rounds = combine(*[pair[:, 0] for pair in pairs], *[pair[:, 1] for pair in pairs])
    return tuple(array[0] for array in rounds)


def scan(
    combine: Callable[..., Any], sources: tuple[Array, ...], axis: int, reverse: bool = False
) -> tuple[Array, ...]:
    arrays = [np.moveaxis(stored(source), axis, -1) for source in sources]
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    if isinstance(combine, np.ufunc):
        ufunc = {"b": MODULO_2}.get(arrays[0].dtype.kind, {}).get(combine, combine)
        arrays = [ufunc.accumulate(arrays[0], -1, arrays[0].dtype)]
    else:
        arrays = [array.copy() for array in arrays]
        length = arrays[0].shape[-1]
        for distance in [1 << bit for bit in range(length.bit_length()) if 1 << bit < length]:
            operands = [array[..., part] for part in (slice(-distance), slice(distance, None)) for array in arrays]
            for array, new in zip(arrays, combine(*operands), strict=True):
                array[..., distance:] = new
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    return tuple(np.moveaxis(array, -1, axis) for array in arrays)
