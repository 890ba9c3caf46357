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
