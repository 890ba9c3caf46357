"""The machine: all threads of many CTAs at once. A register is one array with a number for each lane.

A lane is a thread of one of the batch's CTAs. A register that is equal in all lanes is a single number. `Machine.run`
steps through the program: lanes that branch apart form groups, the group with the lowest program counter runs, and
groups meet again where their counters do. Groups that poll memory in vain give way to the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.emulator.memory import Banked, Global, Memory
from mini_triton.emulator.parser import Instruction, Kernel, PtxError, split_operands
from mini_triton.emulator.types import BITS, ZEROS, Array, Type

if TYPE_CHECKING:
    from mini_triton.emulator.checker import Checker, Unchecked

Mask = Any  # an array of booleans, or None for all lanes
Step = Callable[[Mask], Any]
"""Executes one instruction for some lanes. The result may be one of the events below."""
Maker = Callable[["Machine", Instruction], Step]

INSTRUCTIONS: dict[str, Maker] = {}
"""For each opcode, the function that prepares an instruction: it returns the step that executes it."""
PATIENCE = 4
"""How often lanes may poll while others could run."""
HOPELESS = 5_000
"""How often in a row lanes may poll in vain until the launch is given up. Correct kernels of the corpus need five."""
LITERAL = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|\d+)U?")


class Event:
    """What a step tells the machine, besides changing registers and memory."""


class Jump(Event):
    """Lanes continue elsewhere. `targets` is a program counter, or one for each lane."""

    def __init__(self, targets: Any) -> None:
        self.targets = targets


class Wait(Event):
    """Lanes wait at barrier `name` until `count` lanes of their CTA (0: all of them) have arrived."""

    def __init__(self, name: int, count: int = 0, blocks: bool = True) -> None:
        self.name, self.count, self.blocks = name, count, blocks


class Exit(Event):
    """Lanes are done. `failed` if the program stopped them: then no barrier expects them."""

    def __init__(self, failed: bool = False) -> None:
        self.failed = failed


class Poll(Event):
    """Lanes looked at memory that others write. `hopeful` is False if they would look again.

    `changed` is False if they looked in vain: they changed nothing, and found nothing new.
    """

    def __init__(self, hopeful: bool = True, changed: bool = True) -> None:
        self.hopeful, self.changed = hopeful, changed


def instruction(*opcodes: str) -> Callable[[Maker], Maker]:
    """Register a function that prepares the instructions of these opcodes."""

    def register(maker: Maker) -> Maker:
        INSTRUCTIONS.update(dict.fromkeys(opcodes, maker))
        return maker

    return register


class Machine:
    """A batch of CTAs of one launch."""

    def __init__(
        self,
        kernel: Kernel,
        grid: tuple[int, int, int],
        threads: int,
        ctas: Array,
        memory: Global,
        values: Mapping[str, Any],
        shared: int,
        find: Callable[[str, Instruction, str, Array], None],
        checker: Checker | Unchecked,
        blocks: Mapping[str, bytes] | None = None,
    ) -> None:
        self.kernel, self.threads, self.ctas = kernel, threads, len(ctas)
        self.count = self.ctas * threads
        self.lanes = np.arange(self.count)
        self.cta = self.lanes // threads  # within the batch
        self.warps = self.count // 32
        self.find_in_batch = find
        self.first = int(ctas[0])
        owned = kernel.symbols[kernel.dynamic].offset + shared if kernel.dynamic else kernel.sizes["shared"] + shared
        self.shared = Banked("shared", self.cta, self.ctas, owned)
        self.memories: dict[str, Memory] = {"global": memory, "shared": self.shared}
        if kernel.sizes["local"]:
            self.memories["local"] = Banked("local", self.lanes, self.count, kernel.sizes["local"])
        self.values = values  # of parameters, and addresses of variables
        self.blocks = blocks or {}  # the bytes of parameters that are arrays
        self.specials = self.special_registers(grid, ctas)
        self.numbers: dict[str, int] = {}  # of registers
        self.registers: list[Array] = []
        self.state: dict[str, Any] = {}  # of instructions that act later, such as cp.async
        self.steps_done = 0
        self.executed = np.zeros(len(kernel.instructions), np.int64)  # lanes, by instruction
        self.checker = checker
        checker.begin(self)
        self.program = [self.prepare(i) for i in kernel.instructions]

    def special_registers(self, grid: tuple[int, int, int], ctas: Array) -> dict[str, Any]:
        """Values of registers such as %tid.x."""
        lane = self.lanes % self.threads
        cta = ctas[self.cta]
        position = (cta % grid[0], cta // grid[0] % grid[1], cta // (grid[0] * grid[1]))
        below = (1 << (lane & 31).astype(np.uint64)) - 1
        one = {"%laneid": lane & 31, "%warpid": lane >> 5, "%nwarpid": self.threads // 32, "%smid": cta % 132}
        one |= {"%nsmid": 132, "%lanemask_lt": below, "%lanemask_le": below * 2 + 1, "%lanemask_eq": below + 1}
        one |= {"%lanemask_gt": ~(below * 2 + 1), "%lanemask_ge": ~below, "%dynamic_smem_size": self.shared.used}
        one |= {"%cluster_ctarank": 0, "%cluster_nctarank": 1, "%is_explicit_cluster": 0, "%gridid": 1}
        for n, axis in enumerate("xyz"):
            one |= {f"%tid.{axis}": 0 if n else lane, f"%ntid.{axis}": 1 if n else self.threads}
            one |= {f"%ctaid.{axis}": position[n], f"%nctaid.{axis}": grid[n], f"%clusterid.{axis}": position[n]}
            one |= {f"%nclusterid.{axis}": grid[n], f"%cluster_ctaid.{axis}": 0, f"%cluster_nctaid.{axis}": 1}
        return {name: np.asarray(value).astype(np.uint32) for name, value in one.items()}

    # --- operands

    def prepare(self, i: Instruction) -> Step:
        """The step of an instruction. Raises `PtxError`, with the line, for one that the emulator does not know."""
        if i.opcode not in INSTRUCTIONS:
            raise PtxError(f"line {i.line}: {i.text}: the emulator does not know {i.opcode}")
        try:
            step = INSTRUCTIONS[i.opcode](self, i)
            return self.checker.watch(i, step)
        except (KeyError, IndexError, ValueError) as error:
            name = ".".join([i.opcode, *i.modifiers])
            raise PtxError(f"line {i.line}: {i.text}: the emulator does not know this form of {name}") from error

    def type_of(self, register: str) -> Type:
        """The declared type of a register."""
        return self.kernel.registers[register]

    def number(self, register: str) -> int:
        """The place of a register in `registers`."""
        if register not in self.numbers:
            self.numbers[register] = len(self.registers)
            self.registers.append(ZEROS[self.type_of(register).width])
        return self.numbers[register]

    def is_register(self, operand: str) -> bool:
        return operand in self.kernel.registers

    def bits(self, operand: str, width: int) -> Callable[[], Array]:
        """A function that returns the bits of an operand, cut or extended with zeros to a width."""
        kind = BITS[width]
        if operand.startswith("!"):
            inner = self.bits(operand[1:], width)
            return lambda: ~inner()
        if operand in self.specials:
            special = self.specials[operand].astype(kind)
            return lambda: special
        if operand.startswith(("%clock", "%globaltimer")):
            return lambda: kind(self.steps_done)
        if self.is_register(operand):
            place, registers = self.number(operand), self.registers
            if self.type_of(operand).width == width:
                return lambda: registers[place]
            return lambda: registers[place].astype(kind)
        value = np.asarray(self.constant(operand, width)).astype(kind)
        return lambda: value

    def constant(self, operand: str, width: int) -> Any:
        """The bits of a literal or of the address of a variable."""
        if operand[:2] in ("0f", "0F"):
            single = np.array(int(operand[2:], 16), np.uint32)
            return single.view(np.float32).astype(np.float64).view(np.uint64) if width == 64 else single
        if operand[:2] in ("0d", "0D"):
            double = np.array(int(operand[2:], 16), np.uint64)
            return double.view(np.float64).astype(np.float32).view(np.uint32) if width == 32 else double
        if LITERAL.fullmatch(operand):
            return int(operand.rstrip("U"), 0) % (1 << width) if width > 1 else int(operand, 0) != 0
        if operand == "WARP_SZ":
            return 32
        name, _, offset = operand.partition("+")
        if name in self.kernel.symbols and self.kernel.symbols[name].space in ("shared", "local"):
            return self.kernel.symbols[name].offset + int(offset or "0", 0)
        if name in self.values:  # the address of a parameter or of a variable in global memory
            return int(self.values[name]) + int(offset or "0", 0)
        return np.array(float(operand), np.float32 if width == 32 else np.float64).view(BITS[width])

    def source(self, operand: str, kind: Type) -> Callable[[], Array]:
        """A function that returns the values of an operand."""
        get = self.bits(operand, kind.width)
        if kind.value is kind.bits and kind.packed == 1:
            return get
        if kind.packed == 1 and kind.value is not np.float32 or kind.element == "f32" and kind.packed == 1:
            value = kind.value
            return lambda: get().view(value)
        return lambda: kind.read(get())

    def target(self, operand: str, kind: Type) -> Callable[[Array, Mask], None]:
        """A function that sets a register, for lanes in a mask, to bits of a type."""
        if operand == "_":
            return lambda bits, mask: None
        place, registers = self.number(operand), self.registers
        wide = self.type_of(operand)
        if wide.width == kind.width:

            def put(bits: Array, mask: Mask) -> None:
                registers[place] = bits if mask is None else np.where(mask, bits, registers[place])

            return put
        signed = np.dtype(f"int{wide.width}").type if kind.is_signed else wide.bits

        def extend(bits: Array, mask: Mask) -> None:
            bits = np.asarray(kind.read(bits) if kind.is_signed else bits).astype(signed).view(wide.bits)
            registers[place] = bits if mask is None else np.where(mask, bits, registers[place])

        return extend

    def scatter(self, operand: str, kind: Type) -> Callable[[Array, Array | None], None]:
        """A function that sets a register, for some lanes, to one number for each of these lanes."""
        if operand == "_":
            return lambda bits, lanes: None
        put, zero = self.target(operand, kind), kind.bits(0)

        def spread(bits: Array, lanes: Array | None) -> None:
            if lanes is None:
                put(bits, None)
            else:
                whole, mask = np.full(self.count, zero), np.zeros(self.count, bool)
                whole[lanes], mask[lanes] = bits, True
                put(whole, mask)

        return spread

    def address(self, operand: str) -> Callable[[], Array]:
        """A function that returns the addresses in an operand such as `[%rd1+8]`."""
        base, offset = re.fullmatch(r"\[?\s*([^\s+\]]+)\s*(?:\+\s*(-?\w+))?\s*\]?", operand).groups()  # type: ignore
        more = int(offset or "0", 0)
        if not self.is_register(base):
            fixed = np.int64(int(self.constant(base, 64)) + more)
            return lambda: fixed
        get = self.bits(base, self.type_of(base).width)
        if self.type_of(base).width == 64:
            return lambda: get().view(np.int64) + more if more else get().view(np.int64)
        return lambda: get().astype(np.int64) + more

    def parts(self, operand: str) -> list[str]:
        """The elements of a vector `{%r1, %r2}`; a single operand as a list."""
        return split_operands(operand[1:-1]) if operand.startswith("{") else [operand]

    def full(self, value: Array) -> Array:
        """An array with a number for each lane."""
        return value if getattr(value, "ndim", 0) else np.broadcast_to(value, (self.count,))

    def find(self, kind: str, i: Instruction, text: str, lanes: Array) -> None:
        """Report a finding at some lanes."""
        self.find_in_batch(kind, i, text, lanes + self.first * self.threads)

    def need_whole_warps(self, i: Instruction, mask: Mask) -> None:
        """Report an instruction of whole warps that only a part of a warp executes."""
        if mask is not None:
            warps = mask.reshape(-1, 32)
            part = (warps.any(1) & ~warps.all(1)).repeat(32) & mask
            if part.any() and not i.text.startswith(("elect", "shfl", "vote", "match")):
                self.find("divergence", i, "only a part of a warp executes this instruction", np.flatnonzero(part))

    # --- control

    def run(self) -> None:
        """Execute the program to its end."""
        schedule = Schedule(self)
        instructions, program, executed = self.kernel.instructions, self.program, self.executed
        guards = [
            (self.bits(("!" if i.negated else "") + i.predicate, 1) if i.predicate else None) for i in instructions
        ]
        end = len(program)
        while schedule.choose():
            pc, active, stop = schedule.pc, schedule.active, schedule.stop
            size = self.count if active is None else int(np.count_nonzero(active))
            while pc < stop:
                mask = active
                if guard := guards[pc]:
                    true = guard()
                    if true.ndim:
                        mask = true if active is None else true & active
                    elif not true:
                        mask = False
                executed[pc] += size
                self.steps_done += 1
                event = program[pc](mask) if mask is not False else None
                pc += 1
                if event is not None:
                    pc = schedule.handle(event, pc, mask, active)
                    if pc < 0:
                        break
            else:
                if pc < end:
                    schedule.leave(pc, active)
                else:
                    schedule.handle(Exit(), pc, active, active)
        self.checker.end(self)


class Schedule:
    """Which lanes run next. Lanes are ready at a program counter, wait at a barrier, or are done."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.end = len(machine.program)
        self.ready: dict[int, Mask] = {0: None}
        self.waiting: dict[int, list[tuple[int, Array, int]]] = {}  # by barrier: program counter, lanes, count
        self.arrived: dict[int, Array] = {}  # by barrier: lanes that arrived without waiting
        self.done, self.failed = np.zeros(machine.count, bool), np.zeros(machine.count, bool)
        self.pc, self.stop, self.active = 0, self.end, None
        self.polls = self.vain = 0
        self.last_turn = -1

    def choose(self) -> bool:
        """Choose the group that runs next: `pc`, `active` and `stop`. False if all lanes are done."""
        if not self.ready:
            if self.waiting:
                self.report_stuck()
            return False
        counters = sorted(self.ready)
        self.pc = counters[0]
        self.stop = counters[1] if len(counters) > 1 else self.end
        if self.polls >= PATIENCE and len(counters) > 1:  # another group's turn
            self.pc = next((pc for pc in counters if pc > self.last_turn), counters[0])
            self.stop = next((pc for pc in counters if pc > self.pc), self.end)
            self.last_turn, self.polls = self.pc, 0
        self.active = self.ready.pop(self.pc)
        return True

    def leave(self, pc: int, lanes: Mask) -> None:
        """Lanes are ready at a program counter, where they may meet others."""
        if lanes is None or pc not in self.ready:
            self.ready[pc] = lanes
        else:
            met = self.ready[pc] | lanes
            self.ready[pc] = None if met.all() else met

    def handle(self, event: Event, pc: int, mask: Mask, active: Mask) -> int:
        """Do what a step asks for. Returns the next program counter of the whole group, or -1 if the group is left."""
        if isinstance(event, Jump):
            return self.jump(event, pc, mask, active)
        if isinstance(event, Poll):
            self.polls += 1 if event.hopeful else PATIENCE
            self.vain = 0 if event.changed else self.vain + (not event.hopeful or self.polls >= PATIENCE)
            if self.vain > HOPELESS:
                lanes = np.flatnonzero(self.machine.full(True if active is None else active))
                self.machine.find("deadlock", self.machine.kernel.instructions[pc - 1], "polls forever", lanes)
                self.ready.clear()
                self.waiting.clear()
                return -1
            if self.polls >= PATIENCE and self.ready:
                self.leave(pc, active)
                return -1
            return pc
        lanes = np.ones(self.machine.count, bool) if mask is None else mask
        if isinstance(event, Exit):
            self.done |= lanes
            self.failed |= lanes & event.failed
            if active is not None or mask is not None:
                rest = (np.ones_like(lanes) if active is None else active) & ~lanes
                if rest.any():
                    self.leave(pc, rest)
            for name in [*self.waiting]:
                self.release(name)
            return -1
        assert isinstance(event, Wait)
        if mask is None and not event.count and event.blocks and event.name not in self.arrived:
            self.synchronize(pc - 1, event.name, None)  # all lanes are here
            return pc
        return self.arrive(event, pc, lanes, active)

    def jump(self, event: Jump, pc: int, mask: Mask, active: Mask) -> int:
        """Lanes in `mask` continue at targets, the others at `pc`."""
        if isinstance(event.targets, int):
            if mask is active or mask is None:
                target = event.targets
                if self.ready and not pc <= target < self.stop:
                    self.leave(target, active)
                    return -1
                return target
            taken, size = np.count_nonzero(mask), self.machine.count
            if not taken:
                return pc
            if taken == (size if active is None else np.count_nonzero(active)):
                return self.jump(event, pc, active, active)
            others = ~mask if active is None else active & ~mask
            self.machine.checker.branch(self.machine.kernel.instructions[pc - 1], mask, others)
            self.leave(event.targets, mask)
            self.leave(pc, others)
            return -1
        for target in np.unique(event.targets if mask is None else event.targets[mask]):
            there = self.machine.full(event.targets == target)
            self.leave(int(target), there if mask is None else there & mask)
        if mask is not active:
            self.leave(pc, (np.ones_like(mask) if active is None else active) & ~mask)
        return -1

    # --- barriers

    def arrive(self, event: Wait, pc: int, lanes: Array, active: Mask) -> int:
        """Lanes arrive at a barrier."""
        here = np.ones_like(lanes) if active is None else active
        if event.blocks:
            if (rest := here & ~lanes).any():
                self.leave(pc, rest)
            self.waiting.setdefault(event.name, []).append((pc, lanes, event.count))
        else:
            self.arrived[event.name] = self.arrived.get(event.name, np.zeros_like(lanes)) | lanes
            self.leave(pc, here)
            self.waiting.setdefault(event.name, []).append((pc, np.zeros_like(lanes), event.count))
        self.release(event.name)
        return -1

    def release(self, name: int) -> None:
        """Let the lanes of each CTA go for which enough have arrived."""
        machine, queue = self.machine, self.waiting[name]
        per_cta = lambda lanes: lanes.reshape(machine.ctas, -1).sum(1)  # noqa: E731
        here = self.arrived.get(name, np.zeros(machine.count, bool)).copy()
        for _, lanes, _ in queue:
            here |= lanes
        count = max(count for *_, count in queue)
        came, gone = per_cta(here), per_cta(self.done)
        full = (came >= count) if count else (came + gone >= machine.threads)
        full &= came > 0
        if not full.any():
            return
        go = full.repeat(machine.threads)
        missing = np.flatnonzero(self.done & ~self.failed & go)
        if not count and len(missing):
            machine.find("barrier", machine.kernel.instructions[queue[0][0] - 1], "threads ended without it", missing)
        self.synchronize(queue[0][0] - 1, name, go & here)
        left = []
        for pc, lanes, wanted in queue:
            if (free := lanes & go).any():
                self.leave(pc, free)
            if (stay := lanes & ~go).any():
                left.append((pc, stay, wanted))
        self.waiting[name] = left
        if name in self.arrived:
            self.arrived[name] &= ~go
            if not self.arrived[name].any():
                del self.arrived[name]
            elif not left:
                self.waiting[name] = [(queue[0][0], np.zeros(machine.count, bool), count)]
        if not self.waiting[name]:
            del self.waiting[name]

    def synchronize(self, pc: int, name: int, lanes: Mask) -> None:
        """A barrier has ended for lanes of some CTAs."""
        self.machine.checker.barrier(self.machine.kernel.instructions[pc], lanes)

    def report_stuck(self) -> None:
        """Report the barriers at which lanes wait forever."""
        for queue in self.waiting.values():
            for pc, lanes, _ in queue:
                if lanes.any():
                    i = self.machine.kernel.instructions[pc - 1]
                    self.machine.find("barrier", i, "not all threads reach this barrier", np.flatnonzero(lanes))
