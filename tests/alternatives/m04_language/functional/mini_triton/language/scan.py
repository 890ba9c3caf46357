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
