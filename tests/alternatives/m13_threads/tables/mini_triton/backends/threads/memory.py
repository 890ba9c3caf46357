"""Atomic operations in two passes: all operands, then all instructions."""


def atomic(threads, operation, opcode, operands, mask):
    type, pointers = operation.result.type, operation.operands[0]
    layout = threads.choice.natural(operation.result) or threads.choice.default(type)
    name = f"atom.{operation.attributes['sem']}.{scope(operation)}.global.{opcode}"
    first, is_number, kind = threads.speaker(layout), layout == SCALAR, kind_of(type)
    given = {
        number: [threads.register(value, layout, number) for value in (pointers, *operands)]
        for number in layout.distinct
    }
    guards = {number: threads.both(first, guard_of(threads, mask, layout, number)) for number in given}
    if is_number:
        threads.do("bar.sync", 0)
    old = {}
    for number, (pointer, *values) in given.items():
        old[number] = threads.bits(kind, 0) if guards[number] else threads.new(kind)
        threads.do(name, Address(pointer), *values, results=[old[number]], guard=guards[number])
    if first and operation.result.uses:
        old = exchange(threads, type, layout, old, layout)
    if is_number:
        threads.do("bar.sync", 0)
    threads.hold(operation.result, layout, old)
