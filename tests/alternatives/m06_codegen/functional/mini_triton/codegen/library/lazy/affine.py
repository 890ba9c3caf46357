import bisect


class Affine:
    def corners(self) -> tuple[int, int]:
        ends = [sorted((0, stride * (size - 1))) for stride, size in zip(self.strides, self.shape, strict=True)]
        first = [int(extreme(self.start)) for extreme in (np.min, np.max)]
        return tuple(map(sum, zip(first, *ends, strict=True)))

    def plus(self, other: Affine) -> Affine | None:
        if not other.shape:
            result = Affine(self.start + other.start, self.strides, self.shape, max(self.dtype, other.dtype))
            if self.known_bounds:
                low, high = self.known_bounds
                result.known_bounds = low + other.start, high + other.start
            return result
        shape = common(self.shape, other.shape)
        a, b = self.broadcast_to(shape), other.broadcast_to(shape)
        start, strides = a.start + b.start, tuple(map(operator.add, a.strides, b.strides))
        long = map((1).__lt__, np.shape(start))
        if any(map(operator.and_, long, map(bool, strides))):
            return None
        return Affine(start, strides, shape, max(a.dtype, b.dtype))


def compared(compare: Callable[[Any, Any], Any], a: Affine, b: Affine) -> Box | None:
    difference = a.minus(b)
    if difference is None:
        return None
    shape = difference.shape
    answers = {bool(compare(bound, 0)) for bound in difference.bounds}
    if len(answers) == 1:
        return Box(tuple((0, size * int(*answers)) for size in shape), shape)
    moving = [axis for axis in range(len(shape)) if difference.strides[axis]]
    if isinstance(difference.start, np.ndarray) or moving[1:]:
        return None
    axis, stride = moving[0], difference.strides[moving[0]]
    rising = bool(compare(difference.start, 0))  # true from the beginning, or else up to the end
    crossing = bisect.bisect_left(
        range(shape[axis]), True, key=lambda place: bool(compare(difference.start + stride * place, 0)) != rising
    )
    found = (0, crossing) if rising else (crossing, shape[axis])
    return Box(tuple(found if other == axis else (0, size) for other, size in enumerate(shape)), shape)
