REFUSED_RANGES = (
    (lambda start, end: not {type(start), type(end)} <= {int, bool}, "arange's arguments must be of type tl.constexpr"),
    (lambda start, end: min(start, end) < 0 or max(start, end) >= 2**31, "arange must fit in int32"),
    (lambda start, end: start >= end, "arange's end argument must be greater than the start argument"),
    (lambda start, end: bin(end - start).count("1") != 1, "arange's range must be a power of 2"),
)


def program_id(axis: int) -> tensor:
    axes = {0: "x", 1: "y", 2: "z"}
    if axis not in axes:
        raise ValueError(f"{axis!r} is none of the axes {list(axes)}")
    return build("tt.get_program_id", axis=axes[axis], dtype=int32)


def num_programs(axis: int) -> tensor:
    return tensor(current().create("tt.get_num_programs", axis=_axis(axis)), int32)


def arange(start: int, end: int) -> tensor:
    for refused, words in REFUSED_RANGES:
        if refused(start, end):
            raise ValueError(words)
    return build("tt.make_range", start=start, end=end, dtype=int32)


def full(shape: Sequence[int], value: Any, dtype: dtype) -> tensor:
    scalar = {True: lambda: constant(wrapped(value, dtype), dtype), False: lambda: convert(value, dtype)}
    return splat(scalar[is_number(value)](), shape)


def zeros(shape: Sequence[int], dtype: dtype) -> tensor:
    return splat(constant(0, dtype) if not dtype.is_bool() else constant(False, dtype), shape)


def cdiv(x: Any, div: Any) -> tensor:
    return (div - 1 + x) // div
