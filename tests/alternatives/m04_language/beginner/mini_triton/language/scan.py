def associative_scan(input: Any, axis: int, combine_fn: Combine, reverse: bool = False) -> Any:
    sources = as_sources(input, "scan")
    rank = len(sources[0].shape)
    number = wrap_axis(axis, rank)
    handles = []
    for source in sources:
        handles.append(source.handle)
    region = combine_region("tt.scan.return", sources, combine_fn)
    if reverse:
        backwards = True
    else:
        backwards = False
    operation = current().operation("tt.scan", *handles, axis=number, reverse=backwards, regions=[region])
    results = []
    for i in range(len(sources)):
        results.append(tensor(operation.results[i], sources[i].dtype))
    if isinstance(input, tensor):
        return results[0]
    return tuple(results)


def cumsum(input: tensor, axis: int = 0, reverse: bool = False, dtype: dtype | None = None) -> tensor:
    input = without_bfloat16(of_numbers(input, "cumsum"))
    if dtype is None:
        dtype = sum_dtype(input.dtype)
    input = convert(input, dtype)
    return associative_scan(input, axis, add, reverse)
