from collections.abc import Iterator


def rmw(
    name: str,
    buffer: Buffer,
    offset: Array,
    value: Array,
    shape: tuple[int, ...],
    mask: Array | None = None,
    result: bool = True,
) -> Array | None:
    index, lanes, (values,) = lanes_of(buffer, offset, shape, mask, value)
    combine = ATOMICS[name]
    if not result and hasattr(combine, "at"):
        return combine.at(buffer.data, index, values[lanes])
    return in_turns(buffer, index, lanes, shape, lambda old, now: combine(old, values[now]))


def cas(
    buffer: Buffer,
    offset: Array,
    expected: Array,
    value: Array,
    shape: tuple[int, ...],
    mask: Array | None = None,
) -> Array:
    index, lanes, (wanted, values) = lanes_of(buffer, offset, shape, mask, expected, value)

    def words(x: np.ndarray) -> np.ndarray:
        return x.view(f"u{x.itemsize}")

    return in_turns(
        buffer,
        index,
        lanes,
        shape,
        lambda old, now: np.where(words(old) == words(wanted[now]), values[now], old),
    )


def in_turns(
    buffer: Buffer,
    index: np.ndarray,
    lanes: np.ndarray,
    shape: tuple[int, ...],
    step: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    read = np.zeros(int(np.prod(shape)), buffer.data.dtype)

    def turns(waiting: np.ndarray) -> Iterator[np.ndarray]:
        while waiting.size:
            _, first = np.unique(index[waiting], return_index=True)
            yield waiting[first]
            waiting = np.delete(waiting, first)

    for now in turns(np.arange(len(index))):
        read[lanes[now]] = buffer.data[index[now]]
        buffer.data[index[now]] = step(read[lanes[now]], lanes[now])
    return read.reshape(shape)
