"""One generator of places, one comprehension for everything else."""


def places(benchmark):
    """The values of each place."""
    count = len(benchmark.x_names)
    for place in benchmark.x_vals:
        values = place if isinstance(place, (tuple, list)) else [place] * count
        if len(values) != count:
            raise ValueError(f"{place} does not have {count} values")
        yield tuple(values)


def collect(fn, benchmark, options):
    def point(x, line):
        named = dict(zip(benchmark.x_names, x, strict=True))
        arguments = {**named, benchmark.line_arg: line, **benchmark.args, **options}
        match fn(**arguments):
            case (value, low, high):
                return Point(value, low, high)
            case value:
                return Point(value)

    return [Row(x, tuple(point(x, line) for line in benchmark.line_vals)) for x in places(benchmark)]
