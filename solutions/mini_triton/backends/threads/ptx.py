"""The printer: instructions as PTX, NVIDIA's assembly for virtual machines.

Source: NVIDIA's "PTX ISA".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mini_triton.backends.threads.instructions import Address, Instruction, Operand, Register

PREFIXES = {"pred": "%p", "b16": "%h", "b32": "%r", "b64": "%d"}
VERSION = "8.4"
MAP = "align 64 .b8"
"""The type of a parameter that is a tensor map, of 128 bytes."""
DYNAMIC, VALUES = "shared_memory", "values_to_print"
"""The symbols of shared memory, whose size the launch determines, and of local memory for `vprintf`."""
VPRINTF = ".extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 values);"


def spell(operand: Operand) -> str:
    """An operand as text.

    Register("b32", 3)             %r3            the prefixes are in `PREFIXES`
    Address(Register("b64", 1))    [%d1]
    Address(Register("b64", 1), -8)               [%d1+-8]
    7, "%tid.x"                    7, %tid.x      numbers and strings
    (Register("b32", 0), Register("b32", 5))      {%r0, %r5}

    A vector of one register is written as the register. Spaces do not matter.
    """
    # [task 13.1] Write the operand as text.
    if isinstance(operand, Register):
        return f"{PREFIXES[operand.kind]}{operand.number}"
    if isinstance(operand, Address):
        return f"[{spell(operand.base)}+{operand.offset}]" if operand.offset else f"[{spell(operand.base)}]"
    if isinstance(operand, int | str):
        return str(operand)
    parts = [spell(register) for register in operand]
    return f"{{{', '.join(parts)}}}" if len(parts) > 1 else parts[0]
    # [end]


def line(instruction: Instruction) -> str:
    """An instruction as text.

        Instruction("ret")                                                   ret;
        Instruction("st.global.b32", (), (Address(d0), r1), p0)              @%p0 st.global.b32 [%d0], %r1;
        Instruction("mov.b64", (d0,), ((r0, r1),))                           mov.b64 %d0, {%r0, %r1};
        Instruction("ld.global.v2.b32", (r0, r1), (Address(d0),), p0, True)  @!%p0 ld.global.v2.b32 {%r0, %r1}, [%d0];

    (Labels, calls and a kernel's own instructions are given.)
    """
    if instruction.opcode == "label":
        return f"{instruction.operands[0]}:"
    if instruction.opcode == "call":
        return call(instruction)
    if instruction.opcode == "asm":
        return inline(instruction)
    # [task 13.1] Write the instruction as text.
    guard = f"@{'!' * instruction.negated}{spell(instruction.guard)} " if instruction.guard else ""
    operands = [spell(operand) for operand in instruction.operands]
    if instruction.results:
        operands.insert(0, spell(instruction.results))
    return f"\t{guard}{instruction.opcode} {', '.join(operands)}".rstrip() + ";"
    # [end]


def inline(instruction: Instruction) -> str:
    """A kernel's own instructions: $0, $1, ... stand for results, then operands, and $$ for $."""
    text, *operands = instruction.operands
    registers = [spell(operand) for operand in (*instruction.results, *operands)]
    found = re.sub(r"\$(\$|\d+)", lambda match: "$" if match[1] == "$" else registers[int(match[1])], str(text))
    end = "" if found.rstrip().endswith((";", "}")) else ";"
    return f"\t{{ {found.strip()}{end} }}"


def call(instruction: Instruction) -> str:
    """A call of `vprintf` as text."""
    guard = f"@{spell(instruction.guard)} " if instruction.guard else ""
    format, values = map(spell, instruction.operands)
    declared = "\t{ .param .b64 format; .param .b64 values; .param .b32 status;\n"
    stored = f"\tst.param.b64 [format], {format};\n\tst.param.b64 [values], {values};\n"
    return f"{declared}{stored}\t{guard}call (status), vprintf, (format, values);\n\t}}"


def body(instructions: Sequence[Instruction], files: dict[str, int]) -> list[str]:
    """Lines for instructions, with `.loc` where the source line changes. Adds numbers for source files to `files`."""
    lines, last = [], None
    for instruction in instructions:
        place = instruction.place
        if place and (place.file, place.line) != last:
            number = files.setdefault(place.file, len(files) + 1)
            lines.append(f"\t.loc {number} {place.line} {place.column + 1}")
            last = place.file, place.line
        lines.append(line(instruction))
    return lines


def print_kernel(
    name: str,
    parameters: Sequence[str],
    instructions: Sequence[Instruction],
    counts: Mapping[str, int],
    threads: int,
    target: str,
    texts: Sequence[str] = (),
    local: int = 0,
    most: int | None = None,
) -> str:
    """A kernel as text. `parameters` are types, such as "b64"; `counts` are the numbers of registers of each kind.

    `texts` are the formats of lines to print, and `local` the bytes of values to print. The machine code may use at
    most `most` registers, in each thread.
    """
    files: dict[str, int] = {}
    lines = body(instructions, files)
    declared = ",\n".join(
        f"\t.param .{type} {name}_param_{number}{'[128]' * (type == MAP)}" for number, type in enumerate(parameters)
    )
    printed = [VPRINTF] * bool(texts)
    for number, text in enumerate(texts):
        data = [*text.encode(), 0]
        printed.append(f".global .align 1 .b8 text_{number}[{len(data)}] = {{{', '.join(map(str, data))}}};")
    values = [f"\t.local .align 8 .b8 {VALUES}[{local}];"] * bool(local)
    registers = [f"\t.reg .{kind} {PREFIXES[kind]}<{count}>;" for kind, count in counts.items() if count]
    return "\n".join(
        [
            f".version {VERSION}\n.target {target}\n.address_size 64",
            f".extern .shared .align 1024 .b8 {DYNAMIC}[];",
            *printed,
            f".visible .entry {name}(\n{declared}\n)\n.reqntid {threads}",
            f".maxnreg {most}\n{{" if most else "{",
            *values,
            *registers,
            *lines,
            "}",
            *(f'.file {number} "{file}"' for file, number in files.items()),
            "",
        ]
    )
