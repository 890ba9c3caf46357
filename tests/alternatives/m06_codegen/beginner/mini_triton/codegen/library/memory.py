def load(buffer: Buffer, offset: Array, mask: Array | None = None, other: Array | None = None) -> Array:
    box = box_of(buffer, offset, mask, other)
    if box is not None:
        return load_slice(buffer, offset, box, other)
    index = checked(buffer, offset, mask)
    if mask is None:
        return buffer.data[index].copy()
    if other is None:
        other = 0
    other = np.asarray(stored(other))
    shape = np.broadcast_shapes(index.shape, np.shape(mask), other.shape)
    index = np.broadcast_to(index, shape)
    used = np.broadcast_to(stored(mask), shape)
    result = np.zeros(shape, buffer.data.dtype)
    result[...] = other.astype(buffer.data.dtype)
    if used.any():
        result[used] = buffer.data[index[used]]
    return result


def store(buffer: Buffer, offset: Array, value: Array, mask: Array | None = None) -> None:
    box = box_of(buffer, offset, mask, value)
    if box is not None:
        return store_slice(buffer, offset, value, box)
    index = checked(buffer, offset, mask)
    value = np.asarray(stored(value)).astype(buffer.data.dtype)
    if mask is None:
        used = np.asarray(True)
    else:
        used = np.asarray(stored(mask))
    shape = np.broadcast_shapes(index.shape, value.shape, used.shape)
    index = np.broadcast_to(index, shape).ravel()
    value = np.broadcast_to(value, shape).ravel()
    used = np.broadcast_to(used, shape).ravel()
    lanes = np.nonzero(used)[0]
    buffer.data[index[lanes]] = value[lanes]


def checked(buffer: Buffer, offset: Array, mask: Array | None) -> np.ndarray:
    index = np.asarray(stored(offset)).astype(np.int64) + buffer.origin
    if mask is None:
        used = np.ones(index.shape, bool)
    else:
        used = np.asarray(stored(mask))
    shape = np.broadcast_shapes(index.shape, used.shape)
    index = np.array(np.broadcast_to(index, shape))
    used = np.broadcast_to(used, shape)
    index[~used] = 0
    bad = np.zeros(shape, bool)
    bad[index < 0] = True
    bad[index >= len(buffer.data)] = True
    if buffer.gaps is not None and len(buffer.data) > 0:
        bad = bad | buffer.gaps[np.where(bad, 0, index)]
    bad = bad & used
    if bad.any():
        lane = []
        for places in np.nonzero(np.atleast_1d(bad)):
            lane.append(int(places[0]))
        lane = lane[: len(shape)]
        raise OutOfBounds(buffer, int(index[tuple(lane)]) - buffer.origin, tuple(lane))
    return index


def _window(buffer: Buffer, offset: Affine, box: Box) -> tuple[np.ndarray, np.ndarray | None, list[int], list[int]]:
    offset = offset.broadcast_to(box.shape)
    sizes = []
    for first, end in box.ranges:
        sizes.append(end - first)
    start = offset.start + buffer.origin
    for axis in range(len(sizes)):
        first, end = box.ranges[axis]
        if isinstance(start, np.ndarray) and start.shape[axis] > 1:
            start = start.take(range(first, end), axis=axis)
        start = start + first * offset.strides[axis]
    inside = Affine(start, offset.strides, tuple(sizes), np.int64)
    if inside.bounds[0] < 0 or inside.bounds[1] > buffer.data.size - 1:
        checked(buffer, offset, box)
    itemsize, memory = buffer.data.itemsize, buffer.data.view(np.uint8)
    strides = tuple(stride * itemsize for stride in offset.strides)
    if not isinstance(start, np.ndarray):
        return np.ndarray(sizes, buffer.data.dtype, memory, start * itemsize, strides), None, sizes, []
    first, last = int(start.min()), int(start.max())
    inner = [size // n for size, n in zip(sizes, start.shape, strict=True)]
    shape, strides = (last - first + 1, *inner), (itemsize, *strides)
    order = [*range(0, 2 * len(sizes), 2), *range(1, 2 * len(sizes), 2)]
    return np.ndarray(shape, buffer.data.dtype, memory, first * itemsize, strides), start - first, sizes, order
