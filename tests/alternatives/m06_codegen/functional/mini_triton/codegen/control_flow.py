import collections


def divergent_for(emit: Emitter, operation: Operation) -> None:
    block = operation.regions[0].block
    variable, *carried = block.arguments
    lower, upper, step = operation.operands[:3]
    trips, rounds, running = map(emit.fresh, ("trips", "rounds", "running"))
    outer, emit.active = emit.active, running
    start, end, by, dtype = *map(emit.text, (lower, upper, step)), dtype_text(variable.type)
    emit.write(f"{trips} = programs.trips({start}, {end}, {by})")
    with emit.indented(f"for {rounds} in itertools.count():"):
        emit.write(f"{emit.name(variable)} = {start} + {dtype}({rounds}) * {by}")
        emit.write(f"{running} = {join_masks(f'({trips} > {rounds})', outer)}")
        with emit.indented(f"if not np.any({running}):"):
            emit.write("break")
        emit.block(block)
        pass_on(emit, carried, end_of(block), only=running)
    emit.active = outer


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
