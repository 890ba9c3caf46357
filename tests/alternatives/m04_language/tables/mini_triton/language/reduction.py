from mini_triton.language.dtypes import Kind

SUMMED_IN = {"int1": uint32, "uint8": uint32, "uint16": uint32, "int8": int32, "int16": int32}

BETTER = {"gt": operator.gt, "lt": operator.lt}

WIDENED = {
    (Kind.BOOL, 1): int32,
    (Kind.INT, 8): int32,
    (Kind.INT, 16): int32,
    (Kind.FLOAT, 8): float32,
    (Kind.FLOAT, 16): float32,
}


def combine_region(terminator: str, sources: Sequence[tensor], combine: Combine) -> Region:
    dtypes = [source.dtype for source in sources]
    block = Block([dtype.ir_type for dtype in (*dtypes, *dtypes)])
    values = [tensor(argument, dtypes[i % len(dtypes)]) for i, argument in enumerate(block.arguments)]
    with current().at_end(block):
        combined = combine(*values)
        combined = combined if isinstance(combined, tuple | list) else (combined,)
        check_combined(combined, dtypes)
        current().operation(terminator, *[value.handle for value in combined])
    return Region([block])


def reduce(input: Any, axis: int | None, combine_fn: Combine, keep_dims: bool = False) -> Any:
    sources = as_sources(input, "reduction")
    rank = len(sources[0].shape)
    prepare, at, kept = {
        True: lambda: (flatten, 0, (0,) * rank),
        False: lambda: (lambda x: x, wrap_axis(axis, rank), (wrap_axis(axis, rank),)),
    }[axis is None]()
    sources = tuple(prepare(source) for source in sources)
    operation = current().operation(
        "tt.reduce",
        *[source.handle for source in sources],
        axis=at,
        regions=[combine_region("tt.reduce.return", sources, combine_fn)],
    )
    results = [tensor(operation.results[i], source.dtype) for i, source in enumerate(sources)]
    results = [with_axes(result, kept if keep_dims else ()) for result in results]
    return results[0] if isinstance(input, tensor) else tuple(results)


def sum_dtype(dtype: dtype) -> dtype:
    return SUMMED_IN.get(dtype.name, dtype)


def sum(input: tensor, axis: int | None = None, keep_dims: bool = False, dtype: dtype | None = None) -> tensor:
    input = of_numbers(input, "sum")
    return reduce(convert(input, sum_dtype(input.dtype) if dtype is None else dtype), axis, add, keep_dims)


def keeping_index(better: str, tie_break_left: bool) -> Combine:
    def combine(left: tensor, left_index: tensor, right: tensor, right_index: tensor) -> tuple[tensor, tensor]:
        wins = BETTER[better](left, right)
        if tie_break_left:
            wins = ((left == right) & (left_index < right_index)) | wins
        return tuple(where(wins, *pair) for pair in ((left, right), (left_index, right_index)))

    return combine


def best(
    better: str, pick: Combine, input: Any, axis: int | None, with_index: bool, tie_break_left: bool, keep_dims: bool
) -> Any:
    input = without_bfloat16(of_numbers(input, "max" if better == "gt" else "min"))
    if with_index and axis is None:
        raise ValueError("an index needs an axis")
    if with_index:
        return reduce((input, positions(input.shape, axis)), axis, keeping_index(better, tie_break_left), keep_dims)
    wide = WIDENED.get((input.dtype.kind, input.dtype.width), input.dtype)
    return reduce(convert(input, wide), axis, pick, keep_dims)
