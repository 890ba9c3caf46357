"""Instructions that move data: registers, memory, atomic operations, and branches."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mini_triton.emulator.machine import Exit, Jump, Machine, Mask, Poll, Step, instruction
from mini_triton.emulator.memory import UNITS, WINDOWS, resolve
from mini_triton.emulator.parser import NAME, Instruction, PtxError
from mini_triton.emulator.types import SMALL, Array, type_of, unsigned


@instruction("mov")
def move(machine: Machine, i: Instruction) -> Step:
    """A copy; between a vector and a register of the same size, the parts of a number."""
    to, source = (machine.parts(operand) for operand in i.operands)
    width = i.type.width
    if len(to) > 1:
        get, part = machine.bits(source[0], width), unsigned(width // len(to))
        puts = [machine.target(name, part) for name in to]

        def split(mask: Mask) -> None:
            pieces = np.asarray(get(), order="C")[..., None].view(part.bits)
            for n, put in enumerate(puts):
                put(pieces[..., n], mask)

        return split
    put = machine.target(to[0], unsigned(width))
    if len(source) > 1:
        gets = [machine.bits(name, width // len(source)) for name in source]
        bits = unsigned(width).bits

        def join(mask: Mask) -> None:
            pieces = np.stack(np.broadcast_arrays(*[get() for get in gets]), -1)
            put(pieces.view(bits)[..., 0], mask)

        return join
    get = machine.bits(source[0], width)
    return lambda mask: put(get(), mask)


@instruction("cvta")
def convert_address(machine: Machine, i: Instruction) -> Step:
    """An address in one memory as a generic address, or back with `.to`."""
    get = machine.bits(i.operands[1], i.type.width)
    put = machine.target(i.operands[0], unsigned(i.type.width))
    window = np.uint64(WINDOWS.get(i.space, 0))
    if i.has("to"):
        return lambda mask: put(get() - window, mask)
    return lambda mask: put(get() + window, mask)


@instruction("isspacep")
def is_in_space(machine: Machine, i: Instruction) -> Step:
    """Whether a generic address belongs to a memory."""
    get, put = machine.bits(i.operands[1], 64), machine.target(i.operands[0], type_of("pred"))
    start = WINDOWS.get(i.space, 0)
    end = 2 * start or min(WINDOWS.values())
    return lambda mask: put((get() >= np.uint64(start)) & (get() < np.uint64(end)), mask)


@instruction("ld", "ldu")
def load(machine: Machine, i: Instruction) -> Step:
    """Load a number or a vector."""
    if i.space == "param":
        return load_parameter(machine, i)
    kind, names = i.type, machine.parts(i.operands[0])
    size = kind.width // 8 * len(names)
    address, puts = machine.address(i.operands[1]), [machine.scatter(name, kind) for name in names]
    polls = i.has("volatile", "acquire", "relaxed")
    checker = machine.checker
    before: list[Array] = []  # what the last poll found, and where

    def step(mask: Mask) -> Poll | None:
        memory, addresses = resolve(machine, i, address(), mask)
        if checker and mask is None:
            addresses = machine.full(addresses)
        at, lanes = memory.locate(machine, i, addresses, size, mask)
        checker.access(i, memory, at, size, lanes, False)
        found = memory.views[size][at // size]
        if len(puts) == 1:
            puts[0](found if kind.width == size * 8 else found.view(kind.bits), lanes)
        else:
            pieces = np.asarray(found)[..., None].view(kind.bits)
            for n, put in enumerate(puts):
                put(np.ascontiguousarray(pieces[..., n]), lanes)
        if not polls:
            return None
        changed = not before or not all(map(np.array_equal, before, (at, found)))
        before[:] = at, found
        return Poll(changed=changed)

    return step


def load_parameter(machine: Machine, i: Instruction) -> Step:
    """Load a parameter of the kernel."""
    name, offset = re.fullmatch(r"\[\s*([\w$]+)\s*(?:\+\s*(\d+))?\s*\]", i.operands[1]).groups()  # type: ignore
    names, kind = machine.parts(i.operands[0]), i.type
    puts = [machine.target(name, kind) for name in names]
    if name in machine.state.setdefault("parameters", {}) or name not in machine.values:
        get = machine.state["parameters"].setdefault(name, [np.zeros((), kind.bits)])  # of a called function
        return lambda mask: puts[0](get[0], mask)
    data = machine.values[name]
    parameter = next(p for p in machine.kernel.parameters if p.name == name)
    if parameter.size:
        whole = np.frombuffer(machine.blocks[name], np.uint8)
    else:
        whole = np.asarray(data).reshape(1).view(np.uint8)
    start = int(offset or 0)
    step_size = kind.width // 8
    values = [whole[start + n * step_size :][:step_size].copy().view(kind.bits)[0] for n in range(len(names))]
    return lambda mask: [put(np.asarray(value), mask) for put, value in zip(puts, values, strict=True)] and None


@instruction("st")
def store(machine: Machine, i: Instruction) -> Step:
    """Store a number or a vector. If several lanes store to one place, the last of them wins."""
    kind, names = i.type, machine.parts(i.operands[1])
    gets = [machine.bits(name, kind.width) for name in names]
    if i.space == "param":
        name = i.operands[0].strip("[] ").partition("+")[0]
        box = machine.state.setdefault("parameters", {}).setdefault(name, [None])
        return lambda mask: box.__setitem__(0, gets[0]())
    size = kind.width // 8 * len(names)
    address, unit, checker = machine.address(i.operands[0]), UNITS[size], machine.checker

    def step(mask: Mask) -> None:
        memory, addresses = resolve(machine, i, address(), mask)
        at, lanes = memory.locate(machine, i, machine.full(addresses) if mask is None else addresses, size, mask)
        values = [get() for get in gets]
        if len(values) > 1:
            data: Any = np.stack(np.broadcast_arrays(*values), -1).view(unit)[..., 0]
        else:
            data = values[0]
        if lanes is not None:
            data = machine.full(data)[lanes]
        checker.access(i, memory, at, size, lanes, True, data)
        memory.views[size][at // size] = data

    return step


# --- atomic operations

UPDATES: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}
UPDATES |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
AT_ONCE = tuple(UPDATES)
"""What NumPy does for many lanes that share a place."""
UPDATES["inc"] = lambda old, x: np.where(old >= x, x.dtype.type(0), old + x.dtype.type(1))
UPDATES["dec"] = lambda old, x: np.where((old == 0) | (old > x), x, old - x.dtype.type(1))
UPDATES["exch"] = lambda old, x: x


@instruction("atom", "red")
def atomic(machine: Machine, i: Instruction) -> Step:
    """An atomic operation. Lanes that share an address take turns, in the order of their numbers."""
    kind = i.type
    wants_old = i.opcode == "atom" and any(machine.kernel.mentions[name] > 1 for name in NAME.findall(i.operands[0]))
    update = i.one_of(*UPDATES, "cas")
    operands = i.operands[1:] if i.opcode == "atom" else i.operands
    vector = machine.parts(operands[1])
    outputs = machine.parts(i.operands[0]) if wants_old else []
    address = machine.address(operands[0])
    gets = [[machine.bits(name, kind.width) for name in vector]]
    gets += [[machine.bits(operand, kind.width)] for operand in operands[2:3]]
    puts = [machine.scatter(name, kind) for name in outputs]
    size, checker = kind.width // 8, machine.checker
    if not update or (update == "cas" and len(gets) < 2):
        raise KeyError("operation")
    meaning: Any = UPDATES.get(update)

    def step(mask: Mask) -> Poll:
        memory, addresses = resolve(machine, i, address(), mask)
        changed = not wants_old
        for n in range(len(vector)):
            at, lanes = memory.locate(machine, i, machine.full(addresses)[...] + n * size, size, mask)
            values = [get[min(n, len(get) - 1)]() for get in gets]
            values = [machine.full(v) if lanes is None else machine.full(v)[lanes] for v in values]
            checker.atomic(i, memory, at, size, lanes)
            view = memory.views[size]
            if wants_old or kind.packed > 1 or kind.element in SMALL or update not in AT_ONCE:
                old = take_turns(view, at // size, values)
                changed |= bool((view[at // size] != old).any())
            else:
                places, turns = np.unique(at // size, return_inverse=True)
                updated = view[places].view(kind.value)  # NumPy would copy all memory that may overlap the values
                meaning.at(updated, turns, kind.read(values[0]))
                view[places] = updated.view(kind.bits)
            if wants_old:
                puts[n](old, lanes)
        return Poll(changed=changed)

    def take_turns(view: Array, places: Array, values: list[Array]) -> Array:
        """Update the places in turn, and return what was there before each update."""
        old = np.empty(len(places), kind.bits)
        order = np.argsort(places, kind="stable")
        starts = np.flatnonzero(np.diff(places[order], prepend=-1))
        turn = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        by_turn = order[np.argsort(turn, kind="stable")]  # lanes of one turn have different places
        for now in np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]) if len(order) else ():
            at = places[now]
            before = old[now] = view[at]
            if update == "cas":
                view[at] = np.where(before == values[0][now], values[1][now], before)
            else:
                view[at] = kind.write(np.asarray(meaning(kind.read(before), kind.read(values[0][now]))))
        return old

    return step


# --- branches


@instruction("bra")
def branch(machine: Machine, i: Instruction) -> Step:
    event = Jump(machine.kernel.labels[i.operands[0]])
    return lambda mask: event


@instruction("brx")
def indexed_branch(machine: Machine, i: Instruction) -> Step:
    """A branch to one of the labels of a table."""
    index = machine.bits(i.operands[0], 32)
    table = np.array([machine.kernel.labels[label] for label in machine.kernel.tables[i.operands[1]]])
    return lambda mask: Jump(table[np.minimum(index(), len(table) - 1).astype(np.int64)])


@instruction("ret", "exit")
def leave(machine: Machine, i: Instruction) -> Step:
    event = Exit()
    return lambda mask: event


@instruction("trap", "brkpt")
def trap(machine: Machine, i: Instruction) -> Step:
    """The end of a program that has found an error."""

    def step(mask: Mask) -> Exit:
        lanes = machine.lanes if mask is None else np.flatnonzero(mask)
        machine.find("trap", i, "the program stopped itself", lanes)
        return Exit(failed=True)

    return step


@instruction("call")
def call(machine: Machine, i: Instruction) -> Step:
    """CUDA's functions for messages and assertions, which have no effect on memory."""
    if not any(name in i.text for name in ("vprintf", "__assertfail")):
        raise PtxError(f"line {i.line}: {i.text}: the emulator does not know calls of functions in PTX")

    def step(mask: Mask) -> Exit | None:
        if "vprintf" in i.text:
            return None
        lanes = machine.lanes if mask is None else np.flatnonzero(mask)
        machine.find("assertion", i, "an assertion of the kernel failed", lanes)
        return Exit(failed=True)

    return step
