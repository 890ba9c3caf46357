def combine_region(terminator: str, sources: Sequence[tensor], combine: Combine) -> Region:
    types = []
    for source in sources:
        types.append(source.dtype.ir_type)
    for source in sources:
        types.append(source.dtype.ir_type)
    block = Block(types)
    arguments = []
    for i in range(len(block.arguments)):
        dtype = sources[i % len(sources)].dtype
        arguments.append(tensor(block.arguments[i], dtype))
    with current().at_end(block):
        combined = combine(*arguments)
        if isinstance(combined, tensor):
            combined = (combined,)
        check_combined(combined, [source.dtype for source in sources])
        handles = []
        for value in combined:
            handles.append(value.handle)
        current().operation(terminator, *handles)
    return Region([block])


def reduce(input: Any, axis: int | None, combine_fn: Combine, keep_dims: bool = False) -> Any:
    sources = as_sources(input, "reduction")
    rank = len(sources[0].shape)
    if axis is None:
        flat = []
        for source in sources:
            flat.append(flatten(source))
        sources = tuple(flat)
        number = 0
    else:
        number = wrap_axis(axis, rank)
    handles = []
    for source in sources:
        handles.append(source.handle)
    region = combine_region("tt.reduce.return", sources, combine_fn)
    operation = current().operation("tt.reduce", *handles, axis=number, regions=[region])
    results = []
    for i in range(len(sources)):
        result = tensor(operation.results[i], sources[i].dtype)
        if keep_dims:
            if axis is None:
                for _ in range(rank):
                    result = with_axes(result, [0])
            else:
                result = with_axes(result, [number])
        results.append(result)
    if isinstance(input, tensor):
        return results[0]
    return tuple(results)


def sum_dtype(dtype: dtype) -> dtype:
    if dtype.is_floating():
        return dtype
    if dtype.width == 32 or dtype.width == 64:
        return dtype
    if dtype.signed:
        return int32
    return uint32


def sum(input: tensor, axis: int | None = None, keep_dims: bool = False, dtype: dtype | None = None) -> tensor:
    input = of_numbers(input, "sum")
    if dtype is None:
        dtype = sum_dtype(input.dtype)
    input = convert(input, dtype)
    return reduce(input, axis, add, keep_dims)


def keeping_index(better: str, tie_break_left: bool) -> Combine:
    def combine(left: tensor, left_index: tensor, right: tensor, right_index: tensor) -> tuple[tensor, tensor]:
        if better == "gt":
            wins = left > right
        else:
            wins = left < right
        if tie_break_left:
            equal = left == right
            first = left_index < right_index
            wins = wins | (equal & first)
        value = where(wins, left, right)
        index = where(wins, left_index, right_index)
        return value, index

    return combine


def best(
    better: str, pick: Combine, input: Any, axis: int | None, with_index: bool, tie_break_left: bool, keep_dims: bool
) -> Any:
    input = without_bfloat16(of_numbers(input, "max" if better == "gt" else "min"))
    if with_index:
        if axis is None:
            raise ValueError("there is no index without an axis")
        index = positions(input.shape, axis)
        function = keeping_index(better, tie_break_left)
        return reduce((input, index), axis, function, keep_dims)
    if input.dtype.is_floating() and input.dtype.width < 32:
        input = convert(input, float32)
    if input.dtype.is_int() and input.dtype.width < 32:
        input = convert(input, int32)
    return reduce(input, axis, pick, keep_dims)
