import itertools


def grid_of(kernel: str, grid: Any, values: Mapping[str, Any]) -> tuple[int, int, int]:
    sizes = grid(values) if callable(grid) else grid
    if type(sizes) is not list and not isinstance(sizes, tuple):
        raise TypeError(f"{kernel}: {type(sizes)} is no grid: {sizes!r}")
    if len(sizes) not in (1, 2, 3):
        raise ValueError(f"{kernel}: {sizes} has not 1, 2 or 3 axes")
    if wrong := [size for size in sizes if not hasattr(type(size), "__index__")]:
        raise TypeError(f"{kernel}: no ints in the grid: {wrong}")
    x, y, z = itertools.islice(itertools.chain(map(operator.index, sizes), itertools.repeat(1)), 3)
    if wrong := [(n, most) for n, most in zip((x, y, z), LIMITS, strict=True) if min(max(n, 0), most) != n]:
        raise ValueError(f"{kernel}: sizes, and what is possible: {wrong}")
    return x, y, z
