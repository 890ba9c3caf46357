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


def indices(buffer: Buffer, offset: Affine, box: Box) -> Affine:
    start, sizes = offset.start, []
    for axis, (first, end) in enumerate(box.ranges):
        if isinstance(start, np.ndarray) and start.shape[axis] > 1:
            start = start.take(range(first, end), axis)
        start = start + first * offset.strides[axis]
        sizes.append(end - first)
    inside = Affine(buffer.origin + start, offset.strides, tuple(sizes), offset.dtype)
    if not (inside.bounds[0] >= 0 and inside.bounds[1] < len(buffer.data)):
        checked(buffer, offset, box)
    return inside


def view(buffer: Buffer, index: Affine) -> np.ndarray:
    strides = tuple(buffer.data.strides[0] * stride for stride in index.strides)
    return np.lib.stride_tricks.as_strided(buffer.data[index.start :], index.shape, strides)
