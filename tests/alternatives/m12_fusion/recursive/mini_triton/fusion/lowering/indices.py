"""Places are written into lists."""


def index_from(body, indices, index, size):
    place = body.cast(body.value(indices, index), torch.int64)
    from_end = body.apply("add", [body.index(size, torch.int64), place], torch.int64)
    inside = body.apply("ge", [place, body.index(ZERO, torch.int64)], torch.bool)
    return chosen(body.apply("where", [inside, place, from_end], torch.int64).number)


def lower_scatter(node, x, axis, indices, source, **_):
    if not x.shape or _:
        raise Unsupported("a scatter that reduces")
    axis %= len(x.shape)
    if (
        indices.shape[axis] != 1
        or indices.shape[:axis] + indices.shape[axis + 1 :] != x.shape[:axis] + x.shape[axis + 1 :]
    ):
        raise Unsupported("it writes to places that are known only at run time")
    dtype = computed_in(x.dtype)

    def at(body, index):
        row = list(index)
        row[axis] = ZERO
        wanted = body.cast(body.value(indices, tuple(row)), torch.int64)
        other = body.apply("ne", [wanted, body.index(index[axis], torch.int64)], torch.bool)
        old, new = body.value(x, index), operand(body, source, tuple(row), dtype)
        return body.apply("where", [other, old, new], dtype)

    return elementwise(node, [x, indices, *([source] if isinstance(source, Tensor) else [])], at)
