def load(buffer: Buffer, offset: Array, mask: Array | None = None, other: Array | None = None) -> Array:
    box = box_of(buffer, offset, mask, other)
    if box is not None:
        return load_slice(buffer, offset, box, other)
    index = checked(buffer, offset, mask)
    if mask is None:
        return np.take(buffer.data, index)
    lanes = np.broadcast(index, stored(mask), 0 if other is None else stored(other))
    table = {"index": index, "used": stored(mask), "other": 0 if other is None else stored(other)}
    table = {name: np.broadcast_to(column, lanes.shape) for name, column in table.items()}
    result = table["other"].astype(buffer.data.dtype)
    np.copyto(result, buffer.data[table["index"]] if buffer.data.size else result, where=table["used"].astype(bool))
    return result


def store(buffer: Buffer, offset: Array, value: Array, mask: Array | None = None) -> None:
    box = box_of(buffer, offset, mask, value)
    if box is not None:
        return store_slice(buffer, offset, value, box)
    index = checked(buffer, offset, mask)
    table = {"index": index, "value": stored(value), "used": True if mask is None else stored(mask)}
    shape = np.broadcast_shapes(*(np.shape(column) for column in table.values()))
    table = {name: np.broadcast_to(column, shape) for name, column in table.items()}
    used = table["used"]
    buffer.data[table["index"][used]] = table["value"][used]


def checked(buffer: Buffer, offset: Array, mask: Array | None) -> np.ndarray:
    index = np.add(stored(offset), buffer.origin, dtype=np.int64)
    used = np.asarray(True if mask is None else stored(mask))
    index, used = (np.array(x) for x in np.broadcast_arrays(index, used))
    gaps = np.zeros(buffer.data.size, bool) if buffer.gaps is None else buffer.gaps
    allowed = np.append(~gaps, False)  # the last one stands for all that is outside
    place = np.where((index >= 0) & (index < buffer.data.size), index, buffer.data.size)
    bad = np.argwhere(used & ~allowed[place])
    if len(bad):
        lane = tuple(bad[0].tolist())
        raise OutOfBounds(buffer, index[lane].item() - buffer.origin, lane)
    return np.where(used, index, 0)


def _window(buffer: Buffer, offset: Affine, box: Box) -> tuple[np.ndarray, np.ndarray | None, list[int], list[int]]:
    offset = offset.broadcast_to(box.shape)
    rows = zip(box.ranges, offset.strides, strict=True)
    boxes = [(slice(first, end), end - first, stride * first) for (first, end), stride in rows]
    sizes = [size for _, size, _ in boxes]
    start = buffer.origin + offset.start + sum(moved for *_, moved in boxes)
    if isinstance(start, np.ndarray):
        start = start[tuple({1: slice(None)}.get(n, cut) for (cut, *_), n in zip(boxes, start.shape, strict=True))]
    lowest, highest = Affine(start, offset.strides, tuple(sizes), np.int64).bounds
    if not 0 <= lowest <= highest < buffer.data.size:
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
