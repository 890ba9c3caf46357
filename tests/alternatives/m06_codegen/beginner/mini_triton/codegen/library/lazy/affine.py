class Affine:
    def corners(self) -> tuple[int, int]:
        if isinstance(self.start, np.ndarray):
            low = int(np.min(self.start))
            high = int(np.max(self.start))
        else:
            low = int(self.start)
            high = int(self.start)
        for axis in range(len(self.shape)):
            last = self.strides[axis] * (self.shape[axis] - 1)
            if last < 0:
                low = low + last
            else:
                high = high + last
        return low, high

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
        strides = ()
        for axis in range(len(shape)):
            stride = a.strides[axis] + b.strides[axis]
            if isinstance(start, np.ndarray) and start.shape[axis] > 1 and stride != 0:
                return None
            strides = strides + (stride,)
        return Affine(start, strides, shape, max(a.dtype, b.dtype))


def compared(compare: Callable[[Any, Any], Any], a: Affine, b: Affine) -> Box | None:
    difference = a.minus(b)
    if difference is None:
        return None
    shape = difference.shape
    low, high = difference.bounds
    at_low = bool(compare(low, 0))
    at_high = bool(compare(high, 0))
    if at_low and at_high:
        return Box.full(shape)
    if not at_low and not at_high:
        return Box(tuple((0, 0) for _ in shape), shape)
    if isinstance(difference.start, np.ndarray):
        return None
    changing = []
    for axis in range(len(shape)):
        if difference.strides[axis] != 0:
            changing.append(axis)
    if len(changing) > 1:
        return None
    axis = changing[0]
    begin = None
    end = 0
    for place in range(shape[axis]):
        if compare(difference.start + difference.strides[axis] * place, 0):
            if begin is None:
                begin = place
            end = place + 1
    ranges = []
    for other in range(len(shape)):
        if other == axis:
            ranges.append((begin or 0, end))
        else:
            ranges.append((0, shape[other]))
    return Box(tuple(ranges), shape)
