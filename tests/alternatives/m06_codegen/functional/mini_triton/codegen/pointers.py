def may_change(operations: Iterable[Operation], leads: Origins, written: Collection[Value | None]) -> bool:
    def changes(operation: Operation) -> bool:
        if operation.name != "tt.load":
            return operation.name in WRITES
        return not {leads[operation.operands[0]], None}.isdisjoint(written)

    return any(map(changes, operations))
