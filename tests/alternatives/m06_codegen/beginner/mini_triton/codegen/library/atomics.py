def rmw(
    name: str,
    buffer: Buffer,
    offset: Array,
    value: Array,
    shape: tuple[int, ...],
    mask: Array | None = None,
    result: bool = True,
) -> Array | None:
    if name in UNSIGNED:
        buffer = Buffer(buffer.name, buffer.data.view(f"u{buffer.data.itemsize}"), buffer.origin, buffer.gaps)
        value = stored(value).view(buffer.data.dtype)
    index, lanes, (values,) = lanes_of(buffer, offset, shape, mask, value)
    ufunc = OPERATIONS.get(name) or UNSIGNED.get(name)
    if ufunc is not None and not result:
        ufunc.at(buffer.data, index, values[lanes])
        return None

    def step(old: np.ndarray, now: np.ndarray) -> np.ndarray:
        if ufunc is None:
            return values[now]
        return ufunc(old, values[now])

    old = in_turns(buffer, index, lanes, shape, step)
    return old.view(f"i{old.itemsize}") if name in UNSIGNED else old


def cas(
    buffer: Buffer,
    offset: Array,
    expected: Array,
    value: Array,
    shape: tuple[int, ...],
    mask: Array | None = None,
) -> Array:
    index, lanes, (wanted, values) = lanes_of(buffer, offset, shape, mask, expected, value)
    integer = np.dtype("i" + str(buffer.data.itemsize))
    wanted_bits = wanted.view(integer)

    def step(old: np.ndarray, now: np.ndarray) -> np.ndarray:
        new = old.copy()
        same = old.view(integer) == wanted_bits[now]
        new[same] = values[now][same]
        return new

    return in_turns(buffer, index, lanes, shape, step)


def in_turns(
    buffer: Buffer,
    index: np.ndarray,
    lanes: np.ndarray,
    shape: tuple[int, ...],
    step: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    read = np.zeros(int(np.prod(shape)), buffer.data.dtype)
    waiting = []
    for place in range(len(index)):
        waiting.append(place)
    while len(waiting) > 0:
        taken = set()
        now = []
        later = []
        for place in waiting:
            element = int(index[place])
            if element in taken:
                later.append(place)
            else:
                taken.add(element)
                now.append(place)
        old = buffer.data[index[now]]
        read[lanes[now]] = old
        buffer.data[index[now]] = step(old, lanes[now])
        waiting = later
    return read.reshape(shape)
