class Tile:
    def place(self, index: Index) -> int:
        byte = index[self.fast] * self.size
        row = index[1 - self.fast]
        rows_per_line = 128 // self.row
        swizzle = row // rows_per_line % (self.row // 16)
        chunk = byte % self.row // 16 ^ swizzle
        return byte // self.row * self.panel + row * self.row + chunk * 16 + byte % 16


def matrices(tile: Tile, axis: int, warps: Sequence[Index]) -> list[Index]:
    def at(along: int, step: int) -> Index:
        found = [0, 0]
        found[along] = step
        return found[0], found[1]

    slow = 1 - tile.fast
    rows = [at(slow, step) for step in (1, 2, 4)]
    if axis == 0:
        return [*rows, (8, 0), (0, 16 // tile.size), *warps]
    return [*rows, (16 // tile.size, 0), (0, 8), *warps]


def neighbors(layout: Layout, tile: Tile) -> int:
    most = CHUNK // tile.size
    bits = 0
    while 1 << bits < most and bits < len(layout.registers):
        if layout.registers[bits] != ((1 << bits, 0), (0, 1 << bits))[tile.fast]:
            break
        bits += 1
    return 1 << bits
