import bisect


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
