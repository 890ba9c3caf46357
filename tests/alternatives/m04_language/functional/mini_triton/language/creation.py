from collections.abc import Iterator


def program_id(axis: int) -> tensor:
    (name,) = ["xyz"[i] for i in range(3) if i == axis] or [_axis(axis)]
    return build("tt.get_program_id", axis=name, dtype=int32)


def arange(start: int, end: int) -> tensor:
    def problems() -> Iterator[str]:
        if not all(isinstance(bound, int) for bound in (start, end)):
            yield "arange's arguments must be of type tl.constexpr"
        if not all(bound in range(2**31) for bound in (start, end)):
            yield "arange must fit in int32"
        if not start < end:
            yield "arange's end argument must be greater than the start argument"
        if end - start not in (2**power for power in range(31)):
            yield "arange's range must be a power of 2"

    for words in problems():
        raise ValueError(words)
    return build("tt.make_range", start=start, end=end, dtype=int32)


def full(shape: Sequence[int], value: Any, dtype: dtype) -> tensor:
    return splat(make_scalar(wrap(value, dtype), dtype) if is_number(value) else convert(value, dtype), shape)


def cdiv(x: Any, div: Any) -> tensor:
    return (lambda rounded: rounded // div)(x + (div - 1))
