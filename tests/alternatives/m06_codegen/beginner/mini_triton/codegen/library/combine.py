def dot(a: Array, b: Array, c: Array) -> Array:
    a = stored(a)
    b = stored(b)
    c = np.asarray(stored(c))
    if c.dtype == np.int32 or c.dtype == np.float64:
        product = np.matmul(a.astype(np.float64), b.astype(np.float64))
    else:
        product = np.matmul(a.astype(np.float32), b.astype(np.float32))
    if c.dtype == np.int32:
        return product.astype(np.int32) + c
    return (product + c.astype(product.dtype)).astype(c.dtype)


def reduce(combine: Callable[..., Any], sources: tuple[Array, ...], axis: int) -> tuple[Array, ...]:
    if isinstance(combine, np.ufunc):
        source = stored(sources[0])
        if source.dtype == bool and combine is np.add:
            combine = np.logical_xor
        elif source.dtype == bool and combine is np.multiply:
            combine = np.logical_and
        return (combine.reduce(source, axis=axis, dtype=source.dtype),)
    arrays = []
    for source in sources:
        arrays.append(np.moveaxis(stored(source), axis, -1))
    while True:
        length = arrays[0].shape[-1]
        if length == 1:
            break
        left = []
        right = []
        for array in arrays:
            left.append(array[..., range(0, length, 2)])
            right.append(array[..., range(1, length, 2)])
        arrays = combine(*left, *right)
    results = []
    for array in arrays:
        results.append(array[..., 0])
    return tuple(results)


def scan(
    combine: Callable[..., Any], sources: tuple[Array, ...], axis: int, reverse: bool = False
) -> tuple[Array, ...]:
    arrays = [np.moveaxis(stored(source), axis, -1) for source in sources]
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    length = arrays[0].shape[-1]
    if isinstance(combine, np.ufunc):
        if arrays[0].dtype == bool and combine is np.add:
            combine = np.logical_xor
        elif arrays[0].dtype == bool and combine is np.multiply:
            combine = np.logical_and
        arrays = [combine.accumulate(arrays[0], axis=-1, dtype=arrays[0].dtype)]
    else:
        # one element after the other: slower, but every step can be seen
        running = []
        for array in arrays:
            running.append(array[..., 0])
        columns = [[part] for part in running]
        for place in range(1, length):
            here = [array[..., place] for array in arrays]
            running = combine(*running, *here)
            for column, part in zip(columns, running, strict=True):
                column.append(part)
        arrays = [np.stack(column, axis=-1) for column in columns]
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    return tuple(np.moveaxis(array, -1, axis) for array in arrays)
