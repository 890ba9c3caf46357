class Affine:
    def corners(self) -> tuple[int, int]:
        starts = np.asarray(self.start)
        ends = [(0, stride * (size - 1)) for stride, size in zip(self.strides, self.shape, strict=True)]
        if starts.dtype == object:  # a Python integer that is too large
            return self.start + sum(map(min, ends)), self.start + sum(map(max, ends))
        return int(starts.min()) + sum(map(min, ends)), int(starts.max()) + sum(map(max, ends))

    def plus(self, other: Affine) -> Affine | None:
        if not other.shape:
            result = Affine(self.start + other.start, self.strides, self.shape, max(self.dtype, other.dtype))
            if self.known_bounds:
                low, high = self.known_bounds
                result.known_bounds = low + other.start, high + other.start
            return result
        shape = common(self.shape, other.shape)
        a, b = self.broadcast_to(shape), other.broadcast_to(shape)
        start = a.start + b.start
        table = list(zip(a.strides, b.strides, np.shape(start) or (1,) * len(shape), strict=True))
        if any(x + y and n > 1 for x, y, n in table):
            return None
        strides = tuple(x + y for x, y, _ in table)
        return Affine(start, strides, shape, max(a.dtype, b.dtype))


def compared(compare: Callable[[Any, Any], Any], a: Affine, b: Affine) -> Box | None:
    difference = a.minus(b)
    if difference is None:
        return None
    shape = difference.shape
    answers = tuple(bool(compare(bound, 0)) for bound in difference.bounds)
    everywhere = {(True, True): [(0, size) for size in shape], (False, False): [(0, 0)] * len(shape)}
    if answers in everywhere:
        return Box(tuple(everywhere[answers]), shape)
    moving = {axis: stride for axis, stride in enumerate(difference.strides) if stride}
    if len(moving) != 1 or isinstance(difference.start, np.ndarray):
        return None
    ((axis, stride),) = moving.items()
    numbers = range(difference.start, difference.start + stride * shape[axis], stride)
    places = [place for place, number in enumerate(numbers) if compare(number, 0)]
    ranges = dict(enumerate((0, size) for size in shape)) | {axis: (places[0], places[-1] + 1)}
    return Box(tuple(ranges.values()), shape)
