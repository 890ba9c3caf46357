def collide(room: Room, others: Iterable[Room]) -> bool:
    for other in others:
        common = range(max(room.start, other.start), min(room.stop, other.stop))
        if common and room.group != other.group and True in (room.writes, other.writes):
            return True
    return False


def following(instructions: Sequence[Instruction]) -> list[list[int]]:
    """For each instruction, those that can be next."""
    places = {i.operands[0]: number for number, i in enumerate(instructions) if i.opcode == "label"}
    found = []
    for number, instruction in enumerate(instructions):
        jumps = instruction.opcode == "bra"
        after = [number + 1] if number + 1 < len(instructions) and not (jumps and instruction.guard is None) else []
        found.append([*after, *([places[instruction.operands[0]]] if jumps else [])])
    return found


def is_safe(instructions: Sequence[Instruction], barriers: Collection[int] = ()) -> bool:
    after = following(instructions)
    ends = {n for n, i in enumerate(instructions) if i.opcode == "bar.sync"} | set(barriers)
    for start, first in enumerate(instructions):
        reached, left = set(), list(after[start]) if first.room else []
        while left:
            if (number := left.pop()) not in reached | ends:
                reached.add(number)
                left += after[number]
        if any(collide(first.room, [room]) for n in reached if (room := instructions[n].room)):
            return False
    return True


def add_barriers(instructions: Sequence[Instruction]) -> list[Instruction]:
    steps = [n for n, i in enumerate(instructions) if i.room or i.opcode in ("label", "bra", "bar.sync")]
    short = [instructions[number] for number in steps]
    barriers = [place for place, instruction in enumerate(short) if instruction.room]
    for place in list(barriers):
        fewer = [other for other in barriers if other != place]
        barriers = fewer if is_safe(short, fewer) else barriers
    result = list(instructions)
    for place in reversed(barriers):
        number = steps[place]
        result.insert(number, Instruction("bar.sync", operands=(0,), place=instructions[number].place))
    return result
