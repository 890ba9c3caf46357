def spell(operand: Operand) -> str:
    return SPELLED[type(operand)](operand)


def line(instruction: Instruction) -> str:
    if instruction.opcode == "label":
        return f"{instruction.operands[0]}:"
    if instruction.opcode == "call":
        return call(instruction)
    if instruction.opcode == "asm":
        return inline(instruction)
    sign = {False: "", True: "!"}[instruction.negated]
    words = [f"@{sign}{spell(instruction.guard)}"] if instruction.guard else []
    every = (instruction.results, *instruction.operands) if instruction.results else instruction.operands
    return "\t" + " ".join([*words, instruction.opcode, ", ".join(map(spell, every))]) + ";"


def spell_address(address: Address) -> str:
    """An address as text."""
    base, offset = address
    return {0: f"[{spell(base)}]"}.get(offset, f"[{spell(base)}+{offset}]")


def spell_vector(vector: Vector) -> str:
    """Registers as text."""
    found = ", ".join(map(spell, vector))
    return found if len(vector) == 1 else "{" + found + "}"


SPELLED = {
    Register: lambda register: PREFIXES[register.kind] + str(register.number),
    Address: spell_address,
    int: str,
    str: str,
    tuple: spell_vector,
}
