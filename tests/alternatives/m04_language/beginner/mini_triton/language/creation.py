def program_id(axis: int) -> tensor:
    if axis == 0:
        return build("tt.get_program_id", axis="x", dtype=int32)
    if axis == 1:
        return build("tt.get_program_id", axis="y", dtype=int32)
    if axis == 2:
        return build("tt.get_program_id", axis="z", dtype=int32)
    raise ValueError(f"there is no axis {axis}")


def num_programs(axis: int) -> tensor:
    name = _axis(axis)
    handle = current().create("tt.get_num_programs", axis=name)
    return tensor(handle, int32)


def arange(start: int, end: int) -> tensor:
    if type(start) is not int and type(start) is not bool:
        raise ValueError("arange's arguments must be of type tl.constexpr, not a value of the kernel")
    if type(end) is not int and type(end) is not bool:
        raise ValueError("arange's arguments must be of type tl.constexpr, not a value of the kernel")
    if start < 0 or end < 0 or start > 2147483647 or end > 2147483647:
        raise ValueError("arange must fit in int32")
    length = end - start
    if length <= 0:
        raise ValueError("arange's end argument must be greater than the start argument")
    while length % 2 == 0:
        length = length // 2
    if length != 1:
        raise ValueError("arange's range must be a power of 2")
    result = current().create("tt.make_range", start=start, end=end)
    return tensor(result, int32)


def full(shape: Sequence[int], value: Any, dtype: dtype) -> tensor:
    if is_number(value):
        number = wrapped(value, dtype)
        scalar = constant(number, dtype)
    else:
        scalar = convert(value, dtype)
    result = splat(scalar, shape)
    return result


def zeros(shape: Sequence[int], dtype: dtype) -> tensor:
    if dtype.is_floating():
        return full(shape, 0.0, dtype)
    return full(shape, 0, dtype)


def cdiv(x: Any, div: Any) -> tensor:
    one_less = div - 1
    total = x + one_less
    return total // div
