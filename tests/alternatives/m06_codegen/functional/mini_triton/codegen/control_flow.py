import collections


def divergent_for(emit: Emitter, operation: Operation, leave: Leave) -> None:
    block = operation.regions[0].block
    variable, *carried = block.arguments
    lower, upper, step = operation.operands[:3]
    trips, left = map(emit.fresh, ("trips", "left"))
    start, end, by = map(emit.text, (lower, upper, step))
    emit.write(f"{trips} = programs.trips({start}, {end}, {by})")
    emit.write(f"{left} = {trips}")
    emit.write(f"{emit.name(variable)} = {start}")
    with emit.indented("while True:"):
        leave(f"{left} > 0", left, *([emit.name(variable)] if emit.varies(variable) else []))
        emit.block(block)
        pass_on(emit, carried, end_of(block))
        emit.write(f"{emit.name(variable)} = {emit.name(variable)} + {by}")
        emit.write(f"{left} = {left} - 1")


def divergent_if(emit: Emitter, condition: str, blocks: Sequence[Block], results: Sequence[Value]) -> None:
    outer = emit.active
    begin_with_zeros(emit, results)

    def way(block: Block, mask: str, wish: str) -> None:
        emit.active = emit.fresh(wish)
        emit.write(f"{emit.active} = {join_masks(mask, outer)}")
        with emit.indented(f"if {emit.active}.any():"):
            emit.block(block)
            pass_on(emit, results, end_of(block), emit.active)

    collections.deque(map(way, blocks, (condition, f"~{condition}"), ("yes", "no")), maxlen=0)
    emit.active = outer
