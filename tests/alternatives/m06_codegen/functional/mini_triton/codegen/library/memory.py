import functools
import operator


def load(buffer: Buffer, offset: Array, mask: Array | None = None, other: Array | None = None) -> Array:
    box = box_of(buffer, offset, mask, other)
    if box is not None:
        return load_slice(buffer, offset, box, other)
    index = checked(buffer, offset, mask)
    if mask is None:
        return buffer.data.take(index)
    index, used, rest = np.broadcast_arrays(index, stored(mask), 0 if other is None else stored(other))
    result = rest.astype(buffer.data.dtype)
    result[used] = buffer.data[index[used]]
    return result


def store(buffer: Buffer, offset: Array, value: Array, mask: Array | None = None) -> None:
    box = box_of(buffer, offset, mask, value)
    if box is not None:
        return store_slice(buffer, offset, value, box)
    index, value, used = np.broadcast_arrays(
        checked(buffer, offset, mask), stored(value), np.True_ if mask is None else stored(mask)
    )
    buffer.data[np.extract(used, index)] = np.extract(used, value).astype(buffer.data.dtype)


def checked(buffer: Buffer, offset: Array, mask: Array | None) -> np.ndarray:
    def belongs(index: np.ndarray) -> np.ndarray:
        inside = (0 <= index) & (index < buffer.data.size)
        if buffer.gaps is None or not inside.any():
            return inside
        return inside & ~buffer.gaps.take(index, mode="clip")

    index, used = np.broadcast_arrays(
        np.asarray(stored(offset), dtype=np.int64) + buffer.origin, np.True_ if mask is None else stored(mask)
    )
    wrong = next(zip(*np.nonzero(np.atleast_1d(used & ~belongs(index))), strict=True), None)
    if wrong is not None:
        lane = tuple(map(int, wrong[: index.ndim]))
        raise OutOfBounds(buffer, int(index[lane]) - buffer.origin, lane)
    return np.where(used, index, np.int64(0))


def _window(buffer: Buffer, offset: Affine, box: Box) -> tuple[np.ndarray, np.ndarray | None, list[int], list[int]]:
    offset = offset.broadcast_to(box.shape)

    def cut(start: np.ndarray, at: tuple[int, tuple[int, int]]) -> np.ndarray:
        axis, (first, end) = at
        return start.take(range(first, end), axis) if start.shape[axis] > 1 else start

    sizes = [operator.sub(*reversed(pair)) for pair in box.ranges]
    moved = sum(map(operator.mul, offset.strides, (first for first, _ in box.ranges)), buffer.origin)
    start = offset.start + moved
    if isinstance(start, np.ndarray):
        start = functools.reduce(cut, enumerate(box.ranges), start)
    if not all(0 <= bound < buffer.data.size for bound in Affine(start, offset.strides, tuple(sizes), np.int64).bounds):
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
