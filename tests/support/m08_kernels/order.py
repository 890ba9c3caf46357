"""The order of the tiles that the programs of a grouped matrix product compute."""


def order_of_tiles(tiles_m: int, tiles_n: int, group: int) -> list[tuple[int, int]]:
    """Row and column of each program's tile: down a column of `group` rows of tiles, then down the next column."""
    return [
        (row, column)
        for first in range(0, tiles_m, group)
        for column in range(tiles_n)
        for row in range(first, min(first + group, tiles_m))
    ]
