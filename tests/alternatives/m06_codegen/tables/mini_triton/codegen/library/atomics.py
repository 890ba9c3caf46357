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
    steps = {None: lambda old, now: values[now]}
    step = steps.get(ufunc) or (lambda old, now: ufunc(old, values[now]))
    if result or ufunc is None:
        old = in_turns(buffer, index, lanes, shape, step)
    else:
        ufunc.at(buffer.data, index, values[lanes])
        return None
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
    bits = np.dtype({1: "u1", 2: "u2", 4: "u4", 8: "u8"}[buffer.data.itemsize])
    choices = {True: values, False: None}

    def step(old: np.ndarray, now: np.ndarray) -> np.ndarray:
        equal = old.view(bits) == wanted.view(bits)[now]
        return np.select([equal], [choices[True][now]], old)

    return in_turns(buffer, index, lanes, shape, step)


def in_turns(
    buffer: Buffer,
    index: np.ndarray,
    lanes: np.ndarray,
    shape: tuple[int, ...],
    step: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    read = np.zeros(int(np.prod(shape)), buffer.data.dtype)
    queues: dict[int, list[int]] = {}
    for place, element in enumerate(index.tolist()):
        queues.setdefault(element, []).append(place)
    turns: dict[int, list[int]] = {}
    for queue in queues.values():
        for turn, place in enumerate(queue):
            turns.setdefault(turn, []).append(place)
    for turn in sorted(turns):
        elements, who = index[turns[turn]], lanes[turns[turn]]
        read[who] = buffer.data[elements]
        buffer.data[elements] = step(read[who], who)
    return read.reshape(shape)
