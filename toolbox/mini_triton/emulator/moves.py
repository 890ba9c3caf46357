"""Instructions that move data: registers, memory, atomic operations, and branches."""

from __future__ import annotations

from typing import Any

import numpy as np

from mini_triton.emulator.machine import ADDRESS, Machine, Mask, Put, Step, executes, instruction
from mini_triton.emulator.memory import UNITS, WINDOWS
from mini_triton.emulator.parser import NAME, Instruction, PtxError
from mini_triton.emulator.types import SMALL, Array, join, split, unsigned
from mini_triton.emulator.warps import REDUCTIONS


def gather(gets: list[Any], unit: Any) -> Array:
    """The numbers of registers side by side, as one number of a wider unit."""
    pieces = [get() for get in gets]
    return join(np.stack(np.broadcast_arrays(*pieces), -1), unit) if len(pieces) > 1 else pieces[0]


@instruction("mov")
def move(machine: Machine, i: Instruction) -> Step:
    """A copy; between a vector and a register of the same size, the parts of a number."""
    to, source = (machine.parts(operand) for operand in i.operands)
    part, whole = unsigned(i.type.width // len(to)), unsigned(i.type.width)
    gets = [machine.bits(name, i.type.width // len(source)) for name in source]
    puts = [machine.target(name, part) for name in to]

    def step(mask: Mask) -> None:
        bits = gather(gets, whole.bits)
        if len(puts) == 1:
            puts[0](bits, mask)
            return
        pieces = split(bits, part.bits)
        for n, put in enumerate(puts):
            put(pieces[..., n], mask)

    return step


@instruction("cvta")
def convert_address(machine: Machine, i: Instruction) -> Step:
    """An address in one memory as a generic address, or back with `.to`."""
    get = machine.bits(i.operands[1], i.type.width)
    put = machine.target(i.operands[0], unsigned(i.type.width))
    window = np.uint64(WINDOWS.get(i.space, 0))
    if i.has("to"):
        return lambda mask: put(get() - window, mask)
    return lambda mask: put(get() + window, mask)


@executes("Pq", "isspacep")
def is_in_space(machine: Machine, i: Instruction, mask: Mask, put: Put, address: Array) -> None:
    """Whether a generic address belongs to a memory."""
    start = WINDOWS.get(i.space, 0)
    end = 2 * start or min(WINDOWS.values())
    put((address >= np.uint64(start)) & (address < np.uint64(end)), mask)


@instruction("ld", "ldu")
def load(machine: Machine, i: Instruction) -> Step:
    """Load a number or a vector."""
    kind, names = i.type, machine.parts(i.operands[0])
    size = kind.width // 8 * len(names)
    address, puts = machine.address(i.operands[1]), [machine.scatter(name, kind) for name in names]
    polls = i.has("volatile", "acquire", "relaxed")
    before: list[Array] = []  # what the last poll found, and where

    def step(mask: Mask) -> int | None:
        memory, at, lanes = machine.locate(i, address(), size, mask)
        machine.checker.access(i, memory, at, size, lanes, False)
        found = memory.read(at, size)
        pieces = split(found, kind.bits)
        for n, put in enumerate(puts):
            put(np.asarray(pieces[..., n], order="C"), lanes)
        if not polls:
            return None
        changed = not before or not all(map(np.array_equal, before, (at, found)))
        before[:] = at, found
        return machine.schedule.poll(i, changed)

    return step


@instruction("ld.param")
def load_parameter(machine: Machine, i: Instruction) -> Step:
    """Load a parameter of the kernel; the results of called functions are zeros."""
    name, offset = ADDRESS.fullmatch(i.operands[1]).groups()  # type: ignore[union-attr]
    kind, names = i.type, machine.parts(i.operands[0])
    raw = machine.arguments.bytes.get(name, bytes(16))
    values = np.frombuffer(raw, np.uint8)[int(offset or 0) :][: kind.width // 8 * len(names)].view(kind.bits)
    puts = [machine.target(name, kind) for name in names]

    def step(mask: Mask) -> None:
        for put, value in zip(puts, values, strict=True):
            put(value, mask)

    return step


@instruction("st")
def store(machine: Machine, i: Instruction) -> Step:
    """Store a number or a vector. If several lanes store to one place, the last of them wins."""
    kind, names = i.type, machine.parts(i.operands[1])
    gets = [machine.bits(name, kind.width) for name in names]
    size = kind.width // 8 * len(names)
    address, unit = machine.address(i.operands[0]), UNITS[size]

    def step(mask: Mask) -> None:
        memory, at, lanes = machine.locate(i, machine.full(address()), size, mask)
        data = machine.pick(gather(gets, unit), lanes)
        machine.checker.access(i, memory, at, size, lanes, True, data)
        memory.write(at, size, data)

    return step


# --- atomic operations

UPDATES = dict(REDUCTIONS)
UPDATES["inc"] = lambda old, x: np.where(old >= x, x.dtype.type(0), old + x.dtype.type(1))
UPDATES["dec"] = lambda old, x: np.where((old == 0) | (old > x), x, old - x.dtype.type(1))
UPDATES["exch"] = lambda old, x: x
UPDATES["cas"] = lambda old, x, new: np.where(old == x, new, old)


@instruction("atom", "red")
def atomic(machine: Machine, i: Instruction) -> Step:
    """An atomic operation. Lanes that share an address take turns, in the order of their numbers."""
    kind, operands = i.type, i.operands[i.opcode == "atom" :]
    wants_old = i.opcode == "atom" and any(machine.kernel.mentions[name] > 1 for name in NAME.findall(i.operands[0]))
    puts = [machine.scatter(name, kind) for name in machine.parts(i.operands[0])] if wants_old else []
    address = machine.address(operands[0])
    vectors = [[machine.bits(name, kind.width) for name in machine.parts(operand)] for operand in operands[1:3]]
    size, name = kind.width // 8, i.one_of(*UPDATES)
    meaning = UPDATES[name]
    if len(vectors) != 1 + (name == "cas"):
        raise KeyError("operands")
    together = not wants_old and kind.packed == 1 and kind.element not in SMALL and name in REDUCTIONS

    def step(mask: Mask) -> int:
        changed = not wants_old
        for n, gets in enumerate(zip(*vectors, strict=True)):
            memory, at, lanes = machine.locate(i, machine.full(address() + n * size), size, mask)
            values = [machine.pick(machine.full(get()), lanes) for get in gets]
            machine.checker.atomic(i, memory, at, size, lanes)
            view, places = memory.views[size], at // size
            if together:
                places, turns = np.unique(places, return_inverse=True)
                updated = view[places].view(kind.value)  # NumPy would copy all memory that may overlap the values
                meaning.at(updated, turns, kind.read(values[0]))
                view[places] = updated.view(kind.bits)
                continue
            old = take_turns(view, places, values)
            changed |= bool((view[places] != old).any())
            if wants_old:
                puts[n](old, lanes)
        return machine.schedule.poll(i, changed)

    def take_turns(view: Array, places: Array, values: list[Array]) -> Array:
        """Update the places in turn, and return what was there before each update."""
        old = np.empty(len(places), kind.bits)
        order = np.argsort(places, kind="stable")
        starts = np.flatnonzero(np.diff(places[order], prepend=-1))
        turn = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        by_turn = order[np.argsort(turn, kind="stable")]  # lanes of one turn have different places
        for now in np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]) if len(order) else ():
            before = old[now] = view[places[now]]
            updated = meaning(kind.read(before), *(kind.read(value[now]) for value in values))
            view[places[now]] = kind.write(np.asarray(updated))
        return old

    return step


# --- branches


@instruction("bra")
def branch(machine: Machine, i: Instruction) -> Step:
    target = machine.kernel.labels[i.operands[0]]
    return lambda mask: machine.schedule.jump(i, target, mask)


@executes("u", "brx")
def indexed_branch(machine: Machine, i: Instruction, mask: Mask, index: Array) -> int | None:
    """A branch to one of the labels of a table."""
    table = np.array([machine.kernel.labels[label] for label in machine.kernel.tables[i.operands[1]]])
    return machine.schedule.jump(i, table[np.minimum(index, len(table) - 1)], mask)


@instruction("ret", "exit")
def leave(machine: Machine, i: Instruction) -> Step:
    return lambda mask: machine.schedule.exit(i.number + 1, mask)


def fail(machine: Machine, i: Instruction, kind: str, message: str) -> Step:
    """The end of a program that has found an error."""

    def step(mask: Mask) -> int:
        lanes = machine.select(mask)
        if lanes.size:
            machine.find(kind, i, message, lanes)
        return machine.schedule.exit(i.number + 1, mask, failed=True)

    return step


@instruction("trap", "brkpt")
def trap(machine: Machine, i: Instruction) -> Step:
    return fail(machine, i, "trap", "the program stopped itself")


@instruction("call")
def call(machine: Machine, i: Instruction) -> Step:
    """CUDA's functions for messages and assertions, which have no effect on memory."""
    if "__assertfail" in i.text:
        return fail(machine, i, "assertion", "an assertion of the kernel failed")
    if "vprintf" in i.text:
        return lambda mask: None
    raise PtxError(f"line {i.line}: {i.text}: the emulator does not know calls of functions in PTX")
