def associative_scan(input: Any, axis: int, combine_fn: Combine, reverse: bool = False) -> Any:
    sources = as_sources(input, "scan")
    attributes = {"axis": wrap_axis(axis, len(sources[0].shape)), "reverse": {0: False, 1: True}[reverse]}
    region = combine_region("tt.scan.return", sources, combine_fn)
    operation = current().operation("tt.scan", *[source.handle for source in sources], regions=[region], **attributes)
    results = [tensor(operation.results[i], source.dtype) for i, source in enumerate(sources)]
    return {True: lambda: results[0], False: lambda: tuple(results)}[isinstance(input, tensor)]()


def cumsum(input: tensor, axis: int = 0, reverse: bool = False, dtype: dtype | None = None) -> tensor:
    input = without_bfloat16(of_numbers(input, "cumsum"))
    return associative_scan(convert(input, sum_dtype(input.dtype) if dtype is None else dtype), axis, add, reverse)
