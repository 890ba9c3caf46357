def combine_region(terminator: str, sources: Sequence[tensor], combine: Combine) -> Region:
    dtypes = [source.dtype for source in sources]
    block = Block([source.handle.type.element for source in sources] * 2)
    with current().at_end(block):
        combined = combine(*map(tensor, block.arguments, dtypes + dtypes))
        values = [combined] if isinstance(combined, tensor) else combined
        check_combined(values, dtypes)
        current().operation(terminator, *map(operator.attrgetter("handle"), values))
    return Region([block])


def reduce(input: Any, axis: int | None, combine_fn: Combine, keep_dims: bool = False) -> Any:
    if isinstance(input, tensor):
        return reduce((input,), axis, combine_fn, keep_dims)[0]
    sources = as_sources(input, "reduction")
    rank = len(sources[0].shape)
    if axis is None:
        flat = reduce(tuple(map(flatten, sources)), 0, combine_fn)
        return tuple(with_axes(x, [0] * rank) for x in flat) if keep_dims else flat
    axis = wrap_axis(axis, rank)
    reduced = current().operation(
        "tt.reduce",
        *map(operator.attrgetter("handle"), sources),
        axis=axis,
        regions=[combine_region("tt.reduce.return", sources, combine_fn)],
    )
    results = tuple(map(tensor, reduced.results, (source.dtype for source in sources)))
    return tuple(with_axes(result, [axis]) for result in results) if keep_dims else results


def sum_dtype(dtype: dtype) -> dtype:
    narrow = dtype.is_int() and dtype.width < 32
    return dtype if not narrow else int32 if dtype.signed else uint32


def sum(input: tensor, axis: int | None = None, keep_dims: bool = False, dtype: dtype | None = None) -> tensor:
    input = of_numbers(input, "sum")
    return reduce(convert(input, dtype or sum_dtype(input.dtype)), axis, lambda a, b: a + b, keep_dims)


def keep_index(better: str, tie_break_left: bool) -> Combine:
    def combine(left: tensor, left_index: tensor, right: tensor, right_index: tensor) -> tuple[tensor, tensor]:
        better_value = compare(better, left, right)
        first = (left_index < right_index) & (right == left)
        wins = better_value | first if tie_break_left else better_value
        return where(wins, left, right), where(wins, left_index, right_index)

    return combine


def best(
    better: str, pick: Combine, input: Any, axis: int | None, with_index: bool, tie_break_left: bool, keep_dims: bool
) -> Any:
    input = without_bfloat16(of_numbers(input, "max" if better == "gt" else "min"))
    if with_index:
        if axis is None:
            raise ValueError("no axis to count along")
        pair = (input, positions(input.shape, axis))
        return reduce(pair, axis, keep_index(better, tie_break_left), keep_dims)
    narrow = input.dtype.width < 32
    wide = (int32 if input.dtype.is_int() else float32) if narrow else input.dtype
    return reduce(convert(input, wide), axis, lambda a, b: pick(a, b), keep_dims)
