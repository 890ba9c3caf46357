def next_value(operation: Operation) -> Value:
    end = operation.parent.operations[-1]
    return operation.parent.arguments[1 + list(end.operands).index(operation.result)]


def is_last_use(value: Value, user: Operation) -> bool:
    in_own_registers = value in value.parent_block.arguments or value.owner.name in {"tt.dot", *FLOATS}
    return in_own_registers and [use for use, _ in value.uses] == [user] and user in value.parent_block.operations


class Matrix:
    def descriptor(self, index: Index) -> Register:
        return self.threads.op("add.s64", self.start, self.tile.place(index) // 16)


def fields(tile: Tile) -> int:
    mode = {128: 1, 64: 2, 32: 3}[tile.row]
    return (mode << 62) + (tile.row // 2 << 32) + (tile.panel // 16 << 16)
