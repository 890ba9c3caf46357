import itertools


def drop_dead(instructions: Sequence[Instruction]) -> list[Instruction]:
    needed = [instruction.has_effect for instruction in instructions]
    read: set[Register] = set()
    known = -1
    while known < len(read):
        known = len(read)
        for number in reversed(range(len(instructions))):
            needed[number] = needed[number] or not read.isdisjoint(instructions[number].results)
            if needed[number]:
                read.update(instructions[number].reads)
    return list(itertools.compress(instructions, needed))
