def associative_scan(input: Any, axis: int, combine_fn: Combine, reverse: bool = False) -> Any:
    if isinstance(input, tensor):
        return associative_scan((input,), axis, combine_fn, reverse)[0]
    sources = as_sources(input, "scan")
    scanned = current().operation(
        "tt.scan",
        *[source.handle for source in sources],
        axis=wrap_axis(axis, len(sources[0].shape)),
        reverse=not not reverse,
        regions=[combine_region("tt.scan.return", sources, combine_fn)],
    )
    return tuple(map(tensor, scanned.results, (source.dtype for source in sources)))


def cumsum(input: tensor, axis: int = 0, reverse: bool = False, dtype: dtype | None = None) -> tensor:
    input = without_bfloat16(of_numbers(input, "cumsum"))
    return associative_scan(convert(input, dtype or sum_dtype(input.dtype)), axis, lambda a, b: a + b, reverse)
