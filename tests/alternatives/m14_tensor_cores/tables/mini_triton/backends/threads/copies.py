"""The number of bytes that an instruction reads is a product with the mask."""


def copy(threads, operation):
    pointers, ring, slot = operation.operands[:3]
    layout, mask = threads.choice.of_access(operation), operand_of(operation, "mask")
    bytes, tile = threads.choice.accesses[operation].bytes, slot_of(threads, ring, slot)
    room = tile.room._replace(writes=True)
    opcode = f"cp.async.{'cg' if bytes == 16 else 'ca'}.shared.global"
    speaker = threads.speaker(layout)
    for first, *_ in vectors(threads, operation, layout):
        operands = [tile.address(threads, layout.threads, layout.index(first))]
        operands += [Address(threads.register(pointers, layout, first)), bytes]
        if mask:
            inside = threads.op("selp.b32", 1, 0, guard_of(threads, mask, layout, first))
            operands.append(threads.op("mul.lo.s32", inside, bytes))
        threads.do(opcode, *operands, guard=speaker, room=room)
