"""The machine: all threads of many CTAs at once. A register is one array with a number for each lane.

A lane is a thread of one of the batch's CTAs. A register that is equal in all lanes is a single number. A mask is an
array of booleans: the lanes that execute an instruction. Masks of all lanes are the same object, `everyone`; their
numbers are `lanes`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mini_triton.emulator.arguments import Arguments
from mini_triton.emulator.memory import WINDOWS, Banked, Global, Memory
from mini_triton.emulator.parser import Instruction, Kernel, PtxError, split_operands
from mini_triton.emulator.schedule import Schedule
from mini_triton.emulator.types import BITS, ZEROS, Array, Type, type_of

if TYPE_CHECKING:
    from mini_triton.emulator.checker import Checker, Unchecked

Mask = Any
State = TypeVar("State")
Step = Callable[[Mask], "int | None"]
"""Executes one instruction for some lanes. It returns the next program counter, or None: go on."""
Maker = Callable[["Machine", Instruction], Step]
Put = Callable[[Array, Mask], None]
"""Sets a register for some lanes."""

INSTRUCTIONS: dict[str, Maker] = {}
"""For each name, such as `bar` or `bar.red`, the function that prepares an instruction: it returns its step."""
LITERAL = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|\d+)U?")
ADDRESS = re.compile(r"\[?\s*([^\s+\]]+)\s*(?:\+\s*(-?\w+))?\s*\]?")


def instruction(*names: str) -> Callable[[Maker], Maker]:
    """Register a function that prepares the instructions with these names. The longest name that fits counts."""

    def register(maker: Maker) -> Maker:
        INSTRUCTIONS.update(dict.fromkeys(names, maker))
        return maker

    return register


def executes(form: str, *names: str) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Register a function that executes instructions with these names, at some speed.

    Its arguments are the machine, the instruction, the mask, and an array for each operand, with a number for each
    lane. The form has a letter for each operand: `a` is an address, `t` has the instruction's last type, `p`, `u` and
    `q` have 1, 32 and 64 bits. A capital letter is a register that the instruction sets, and means a function of bits
    and a mask.
    """

    def register(function: Callable[..., int | None]) -> Callable[..., int | None]:
        @instruction(*names)
        def prepare(machine: Machine, i: Instruction) -> Step:
            operands = (part.strip() for operand in i.operands for part in operand.split("|"))
            gets = [machine.operand(i, letter, text) for letter, text in zip(form, operands, strict=False)]
            return lambda mask: function(machine, i, mask, *[get() for get in gets])

        return function

    return register


@functools.cache
def maker_of(name: str) -> Maker | None:
    """The function that prepares an instruction such as `bar.red.popc.u32`."""
    return INSTRUCTIONS.get(name) or ("." in name and maker_of(name.rpartition(".")[0])) or None


class Machine:
    """A batch of CTAs of one launch."""

    def __init__(
        self,
        kernel: Kernel,
        grid: tuple[int, int, int],
        threads: int,
        ctas: Array,
        arguments: Arguments,
        shared: int,
        find: Callable[[str, Instruction, str, Array], None],
        checker: Checker | Unchecked,
    ) -> None:
        self.kernel, self.threads, self.ctas = kernel, threads, len(ctas)
        self.count = self.ctas * threads
        self.lanes, self.everyone = np.arange(self.count), np.ones(self.count, bool)
        self.cta = self.lanes // threads  # within the batch
        self.warps = self.count // 32
        self.find_in_batch, self.first = find, int(ctas[0]) * threads
        self.arguments = arguments
        self.shared = Banked(self, "shared", self.cta, kernel.sizes["shared"] + shared)
        self.memories: dict[str, Memory] = {"global": Global(self, arguments.allocations), "shared": self.shared}
        self.memories["local"] = Banked(self, "local", self.lanes, kernel.sizes["local"])
        self.specials = self.special_registers(grid, ctas)
        self.indices: dict[str, int] = {}  # of registers
        self.registers: list[Array] = []
        self.carry: Array = np.False_  # of addc
        self.states: dict[type, Any] = {}  # what instructions keep for later
        self.steps_done = 0
        self.executed = np.zeros(len(kernel.instructions) + 1, np.int64)  # lanes, by instruction
        self.checker, self.shadow = checker, checker.begin(self)
        self.schedule, end = Schedule(self), len(kernel.instructions)
        self.program = [*(self.prepare(i) for i in kernel.instructions), lambda mask: self.schedule.exit(end, mask)]

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

    def prepare(self, i: Instruction) -> Step:
        """The step of an instruction. Raises `PtxError`, with the line, for one that the emulator does not know."""
        maker = maker_of(i.name)
        if not maker:
            raise PtxError(f"line {i.line}: {i.text}: the emulator does not know {i.name}")
        try:
            return self.checker.watch(i, maker(self, i))
        except (KeyError, IndexError, ValueError) as error:
            raise PtxError(f"line {i.line}: {i.text}: the emulator does not know this form of {i.name}") from error

    # --- operands

    def is_register(self, operand: str) -> bool:
        return operand in self.kernel.registers

    def declared(self, register: str) -> Type:
        """The declared type of a register."""
        return self.kernel.registers[register]

    def index_of(self, register: str) -> int:
        """The index of a register in `registers`."""
        if register not in self.indices:
            self.indices[register] = len(self.registers)
            self.registers.append(ZEROS[self.declared(register).width])
        return self.indices[register]

    def bits(self, operand: str, width: int) -> Callable[[], Array]:
        """A function that returns the bits of an operand, cut or extended with zeros to a width."""
        kind = BITS[width]
        if operand.startswith("!"):
            inner = self.bits(operand[1:], width)
            return lambda: ~inner()
        if operand.startswith(("%clock", "%globaltimer")):
            return lambda: kind(self.steps_done)
        if self.is_register(operand):
            place, registers = self.index_of(operand), self.registers
            if self.declared(operand).width == width:
                return lambda: registers[place]
            return lambda: registers[place].astype(kind)
        found = self.specials[operand] if operand in self.specials else self.constant(operand, width)
        value = np.asarray(found).astype(kind)
        return lambda: value

    def constant(self, operand: str, width: int) -> Any:
        """The bits of a literal or of the address of a variable."""
        if LITERAL.fullmatch(operand):
            return int(operand.rstrip("U"), 0) % (1 << width) if width > 1 else int(operand, 0) != 0
        if operand == "WARP_SZ":
            return 32
        name, _, offset = operand.partition("+")
        symbol = self.kernel.symbols.get(name)
        if symbol and symbol.space in ("shared", "local"):
            return symbol.offset + int(offset or "0", 0)
        if name in self.arguments.addresses:
            return self.arguments.addresses[name] + int(offset or "0", 0)
        if operand[:2] in ("0f", "0F", "0d", "0D"):
            size = len(operand[2:]) // 2
            number = np.array(int(operand[2:], 16), f"u{size}").view(f"f{size}")
        else:
            number = np.array(float(operand))
        return number.astype(f"f{width // 8}").view(BITS[width])

    def source(self, operand: str, kind: Type) -> Callable[[], Array]:
        """A function that returns the values of an operand."""
        get, read = self.bits(operand, kind.width), kind.read
        return get if kind.value is kind.bits and kind.packed == 1 else lambda: read(get())

    def target(self, operand: str, kind: Type) -> Callable[[Array, Mask], None]:
        """A function that sets a register, for lanes in a mask, to bits of a type. Wider registers extend them."""
        if operand == "_":
            return lambda bits, mask: None
        place, registers, everyone = self.index_of(operand), self.registers, self.everyone
        wide, narrow = self.declared(operand), kind.width < self.declared(operand).width
        extended = np.dtype(f"int{wide.width}") if kind.is_signed else wide.bits

        def put(bits: Array, mask: Mask) -> None:
            if narrow:
                bits = np.asarray(kind.read(bits) if kind.is_signed else bits).astype(extended).view(wide.bits)
            registers[place] = bits if mask is everyone else np.where(mask, bits, registers[place])

        return put

    def targets(self, operand: str, *kinds: str) -> list[Callable[[Array, Mask], None]]:
        """Functions that set the registers of a pair `%r1|%p1`, or the one that is there."""
        names = map(str.strip, operand.split("|"))
        return [self.target(name, type_of(kind)) for name, kind in zip(names, kinds, strict=False)]

    def scatter(self, operand: str, kind: Type) -> Callable[[Array, Array], None]:
        """A function that sets a register, for some lanes, to one number for each of these lanes."""
        put = self.target(operand, kind)

        def spread(bits: Array, lanes: Array) -> None:
            if lanes is self.lanes:
                put(bits, self.everyone)
            else:
                whole, mask = np.zeros(self.count, kind.bits), ~self.everyone
                whole[lanes], mask[lanes] = bits, True
                put(whole, mask)

        return spread

    def address(self, operand: str) -> Callable[[], Array]:
        """A function that returns the addresses in an operand such as `[%rd1+8]`."""
        base, offset = ADDRESS.fullmatch(operand).groups()  # type: ignore[union-attr]
        more = int(offset or "0", 0)
        if not self.is_register(base):
            fixed = np.int64(int(self.constant(base, 64)) + more)
            return lambda: fixed
        get = self.bits(base, 64)
        return lambda: get().view(np.int64) + more if more else get().view(np.int64)

    def operand(self, i: Instruction, letter: str, text: str) -> Callable[[], Any]:
        """A function that returns what an operand of an instruction's form means."""
        if letter == "a":
            get = self.address(text)
        else:
            widths = {"p": "pred", "u": "b32", "q": "b64"}
            kind = i.type if letter in "tT" else type_of(widths[letter.lower()])
            if letter.isupper():
                put = self.target(text, kind)
                return lambda: put
            get = self.source(text, kind)
        return lambda: self.full(get())

    def parts(self, operand: str) -> list[str]:
        """The elements of a vector `{%r1, %r2}`; a single operand as a list."""
        return split_operands(operand[1:-1]) if operand.startswith("{") else [operand]

    def state(self, kind: type[State]) -> State:
        """The one object of a class that instructions share, made when the first of them asks."""
        if kind not in self.states:
            self.states[kind] = kind(self)  # type: ignore[call-arg]
        return self.states[kind]

    # --- lanes

    def full(self, value: Array) -> Array:
        """An array with a number for each lane."""
        return value if getattr(value, "ndim", 0) else np.broadcast_to(value, (self.count,))

    def select(self, mask: Mask) -> Array:
        """The numbers of the lanes in a mask."""
        return self.lanes if mask is self.everyone else np.flatnonzero(mask)

    def pick(self, value: Array, lanes: Array) -> Array:
        """The numbers that some lanes hold; a single number if all lanes hold it."""
        return value[lanes] if value.ndim and lanes is not self.lanes else value

    def locate(self, i: Instruction, addresses: Array, size: int, mask: Mask) -> tuple[Memory, Array, Array]:
        """The memory that an access means, and its places and lanes. A generic address has its memory's window."""
        space = i.space
        if space == "generic":
            used = self.pick(addresses, self.select(mask))
            spaces = {
                next((name for name, start in WINDOWS.items() if start <= edge < 2 * start), "global")
                for edge in ([int(used.min()), int(used.max())] if used.size else [0])
            }
            if len(spaces) > 1:
                raise PtxError(f"line {i.line}: {i.text}: one access to {' and '.join(sorted(spaces))} memory")
            (space,) = spaces
            addresses = addresses - WINDOWS.get(space, 0)
        memory = self.memories["global" if space in ("const", "param") else space]
        return memory, *memory.locate(i, addresses, size, mask)

    def find(self, kind: str, i: Instruction, text: str, lanes: Array) -> None:
        """Report a finding at some lanes."""
        self.find_in_batch(kind, i, text, lanes + self.first)

    def need_whole_groups(self, i: Instruction, mask: Mask, size: int = 32) -> None:
        """Report an instruction of whole warps, or of groups of warps, that only a part of them executes."""
        if mask is not self.everyone:
            groups = mask.reshape(-1, size)
            part = (groups.any(1) & ~groups.all(1)).repeat(size) & mask
            if part.any():
                what = "warp" if size == 32 else "warp group"
                self.find("divergence", i, f"only a part of a {what} executes this instruction", np.flatnonzero(part))

    # --- control

    def run(self) -> None:
        """Execute the program to its end."""
        schedule, program, executed = self.schedule, self.program, self.executed
        guards = [
            self.bits("!" * i.negated + i.predicate, 1) if i.predicate else None for i in self.kernel.instructions
        ]
        guards.append(None)
        while schedule.choose():
            pc, active, stop = schedule.pc, schedule.active, schedule.stop
            size = np.count_nonzero(active)
            while 0 <= pc < stop:
                mask = active
                if guard := guards[pc]:
                    true = guard()
                    if true.ndim:
                        mask = true if active is self.everyone else true & active
                    elif not true:
                        mask = None
                executed[pc] += size
                self.steps_done += 1
                after = None if mask is None else program[pc](mask)
                pc = pc + 1 if after is None else after
            if pc >= 0:
                schedule.leave(pc, active)
        self.checker.end()
