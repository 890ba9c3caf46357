def grid_of(kernel: str, grid: Any, values: Mapping[str, Any]) -> tuple[int, int, int]:
    def index(size: Any, limit: int) -> int:
        try:
            number = operator.index(size)
        except TypeError as error:
            raise TypeError(f"{kernel}: {size!r} is no number of programs") from error
        match number:
            case _ if number in range(limit + 1):
                return number
            case _:
                raise ValueError(f"{kernel}: {number} programs, {limit} at most")

    match grid(values) if callable(grid) else grid:
        case tuple() | list() as sizes:
            pass
        case other:
            raise TypeError(f"{kernel}: {other!r} is no tuple, as ({other},) is")
    match [*sizes]:
        case [x]:
            return index(x, LIMITS[0]), 1, 1
        case [x, y]:
            return index(x, LIMITS[0]), index(y, LIMITS[1]), 1
        case [x, y, z]:
            return index(x, LIMITS[0]), index(y, LIMITS[1]), index(z, LIMITS[2])
        case _:
            raise ValueError(f"{kernel}: {len(sizes)} axes")
