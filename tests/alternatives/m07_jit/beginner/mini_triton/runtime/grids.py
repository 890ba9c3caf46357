def grid_of(kernel: str, grid: Any, values: Mapping[str, Any]) -> tuple[int, int, int]:
    if callable(grid):
        grid = grid(values)
    if not isinstance(grid, tuple) and not isinstance(grid, list):
        raise TypeError(f"{kernel}: a grid is a tuple like (4,), and not {grid!r}")
    if len(grid) == 0 or len(grid) > 3:
        raise ValueError(f"{kernel}: a grid has 1, 2 or 3 axes, and not {len(grid)}")
    sizes = [1, 1, 1]
    for axis in range(len(grid)):
        try:
            sizes[axis] = operator.index(grid[axis])
        except TypeError:
            raise TypeError(f"{kernel}: {grid[axis]!r} is no int") from None
        if sizes[axis] < 0:
            raise ValueError(f"{kernel}: {sizes[axis]} is negative")
        if sizes[axis] > LIMITS[axis]:
            raise ValueError(f"{kernel}: {sizes[axis]} programs are too many for axis {axis}")
    return sizes[0], sizes[1], sizes[2]
