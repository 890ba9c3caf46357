"""Threads: layouts, instructions as data, and PTX, which the reference's emulator runs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.running import COMPILE


def questions(random: Random) -> Iterator[Question]:
    yield from who_holds_what(random)
    yield from one_thread(random)
    yield from words_in_memory(random)
    yield from control_flow(random)
    yield from threads_together(random)
    yield from exchanges(random)
    yield from scans_and_lookups(random)
    yield from machine_code(random)


def who_holds_what(random: Random) -> Iterator[Question]:
    """13.1 to 13.4."""
    numbers = [random.randrange(100) for _ in range(8)]
    yield ask(
        "13.1",
        "instructions as text, and a vector addition",
        """
        from mini_triton.backends.threads.by_hand import kernel
        from mini_triton.backends.threads.instructions import Address, Instruction, Register
        from mini_triton.backends.threads.ptx import line, spell
        def text(found):
            return "".join(found.split())
        registers = [Register(kind, number) for kind, number in REGISTERS]
        condition, address = Register("pred", NUMBERS[0]), Address(Register("b64", NUMBERS[1]), NUMBERS[2] - 50)
        operands = [*registers, address, address._replace(offset=0), NUMBERS[3], "%tid.x", tuple(registers), tuple(registers[:1])]
        result = [text(spell(operand)) for operand in operands]
        for count in range(4):
            for guard, negated in ((None, False), (condition, False), (condition, True)):
                made = Instruction("op.b32", tuple(registers[:count]), tuple(operands[count:]), guard, negated)
                result.append(text(line(made)))
        result = [result, kernel(WARPS)]
        """,
        f"""
        import numpy as np
        from mini_triton.emulator import emulate
        texts, ptx = given
        result = [texts]
        for size in {random.sample(range(1, 400), 3)!r}:
            x, y = np.random.default_rng(size).normal(size=(2, size)).astype(np.float32)
            out = np.zeros(size, np.float32)
            report = emulate(ptx, (5, 1, 1), [x, y, out, max(0, size - {random.randrange(9)})])
            result += [out, len(report.errors)]
        """,
        REGISTERS=[(random.choice(("b16", "b32", "b64", "pred")), number) for number in random.sample(range(99), 4)],
        NUMBERS=numbers,
        WARPS=random.choice((1, 2, 4)),
    )  # fmt: skip

    functions = [[random.randrange(64) for _ in range(count)] for count in (6, 6, 6, 3, 4)]
    for _ in range(3):  # these have an inverse
        columns = [1 << bit for bit in range(6)]
        for _ in range(20):
            one, other = random.sample(range(6), 2)
            columns[one] ^= columns[other]
        functions.append(columns)
    yield ask(
        "13.2",
        "linear functions and layouts",
        """
        from mini_triton.backends.threads.layouts import Layout, apply, compose, invert, is_independent
        result = []
        for columns in map(tuple, FUNCTIONS):
            result.append([apply(columns, number % (1 << len(columns))) for number in NUMBERS])
            result.append(compose(tuple(FUNCTIONS[-1]), columns))
            result.append(is_independent(columns))
            if len(columns) == 6:
                try:
                    result.append(invert(columns))
                except ValueError:
                    result.append("no inverse")
        layout = Layout(*(tuple(map(tuple, part)) for part in PARTS))
        result += [layout.index(number % 8, number % 128) for number in NUMBERS]
        """,
        FUNCTIONS=functions,
        NUMBERS=[random.randrange(128) for _ in range(9)],
        PARTS=[[[random.randrange(32), random.randrange(32)] for _ in range(size)] for size in (3, 5, 2)],
    )
    shapes = [[1 << random.randrange(1, 7) for _ in range(random.choice((1, 2, 2, 3)))] for _ in range(5)]
    sizes = [(1 << random.randrange(3, 8), 1 << random.randrange(3, 8)) for _ in range(3)]
    yield ask(
        "13.3",
        "the layouts of tensors",
        COMPILE
        + """
from mini_triton.backends.threads.choice import Choice
from mini_triton.backends.threads.layouts import blocked
def parts(layout):
    return [layout.registers, layout.lanes, layout.warps]
result = [parts(blocked(tuple(shape), tuple(order), sizes, warps)) for shape, order, sizes, warps in BLOCKED]
for text, signature in KERNELS:
    choice = Choice(module := built(text, signature, {}), WARPS)
    for operation in module.walk():
        if operation.name == "tt.scan":
            result.append(parts(choice.of_scan(operation)))
        elif operation in choice.accesses:
            result += [parts(choice.of_access(operation)), choice.elements(choice.accesses[operation])]
""",
        BLOCKED=[
            (
                shape,
                random.sample(range(len(shape)), len(shape)),
                {axis: 1 << random.randrange(4) for axis in range(len(shape)) if random.random() < 0.6},
                random.choice((1, 2, 4)),
            )
            for shape in shapes
        ],
        KERNELS=[
            (
                f"@triton.jit\ndef kernel(x, out):\n    i = tl.arange(0, {rows})[:, None]\n"
                f"    j = tl.arange(0, {columns})[None, :]\n"
                f"    y = tl.load(x + {random.choice(('i + j * 128', 'i * 128 + j'))})\n"
                f"    tl.store(out + i * {columns} + j, tl.cumsum(y, {random.randrange(2)}))\n",
                {"x": "*" + random.choice(("i8", "i16", "i64")), "out": "*i32"},
            )
            for rows, columns in sizes
        ],
        WARPS=random.choice((1, 2, 4, 8)),
    )
    layouts = [
        [[[random.randrange(8), random.randrange(2)] for _ in range(size)] for size in (2, 5, 1)] for _ in range(2)
    ]
    for layout in layouts:
        layout[1][random.randrange(5)] = [0, 0]
    yield ask(
        "13.4",
        "linear functions of the thread, and views",
        MOVED
        + """
from mini_triton.backends.threads.elementwise import choose
from mini_triton.backends.threads.shapes import view
result = []
for columns in FUNCTIONS:
    threads, _ = prepared("%a = arith.constant 1 : i32")
    made = [threads.linear(tuple(columns)), threads.linear(tuple(reversed(columns)))]
    conditions = [threads.speaker(layout) for layout in [*LAYOUTS, SCALAR]]
    made += [condition for condition in conditions if condition]
    made += [choose(threads, conditions[-1], *made[:2]), choose(threads, conditions[-1], *conditions[:2])]
    result.append(outcome(threads, made))
for lines in VIEWS:
    threads, operation = prepared(lines)
    result.append(outcome(threads, [view(threads, operation, 0, LAYOUTS[0], number) for number in range(4)]))
""",
        SIMULATED,
        FUNCTIONS=[[random.randrange(1 << size) for _ in range(6)] for size in (6, 9, 20)],
        PARTS=layouts,
        VIEWS=[
            f"%a = arith.constant dense<0> : tensor<{old}xi32>\n%r = {line} : tensor<{old}xi32> -> tensor<{new}xi32>"
            for old, line, new in (
                ("2x8", "tt.trans %a {order = array<i32: 1, 0>}", "8x2"),
                ("8x1", "tt.broadcast %a", "8x2"),
                ("1x2", "tt.broadcast %a", "8x2"),
                ("8", "tt.reshape %a", "4x2"),
                ("16", "tt.reshape %a", "8x2"),
            )
        ],
    )
    yield ask(
        "13.4",
        "coordinates and joins",
        MOVED
        + """
from mini_triton.backends.threads.shapes import join
result = []
for layout in LAYOUTS:
    threads, _ = prepared("%a = arith.constant 1 : i32")
    places = [(axis, number) for axis in (0, 1) for number in range(4)]
    result.append(outcome(threads, [threads.coordinate(layout, axis, number) for axis, number in places]))
    lines = "%a = arith.constant dense<0> : tensor<8xi32>\\n%b = arith.constant dense<1> : tensor<8xi32>\\n"
    threads, operation = prepared(lines + "%r = tt.join %a, %b : tensor<8xi32> -> tensor<8x2xi32>")
    result.append(outcome(threads, [join(threads, operation, 0, layout, number) for number in range(4)]))
""",
        SIMULATED,
        PARTS=layouts,
        after="13.2",
    )


MOVED = """
from mini_triton.backends.threads.instructions import Register
from mini_triton.backends.threads.layouts import Layout, SCALAR
from mini_triton.backends.threads.threads import Threads
from mini_triton.ir.parser import parse_module
from mini_triton.ir.types import shape_of
LAYOUTS = [Layout(*(tuple(map(tuple, part)) for part in parts)) for parts in PARTS]
class Numbered(Threads):
    def register(self, value, layout=SCALAR, number=0):
        parts = layout.flat(shape_of(value.type))
        found, thread = self.new("b32"), 1000 * self.operands.index(value)
        for bit, column in enumerate(parts[0]):
            thread ^= column * (number >> bit & 1)
        self.do("given", thread, *parts[1], *parts[2], results=(found,))
        return found
def prepared(lines):
    module = parse_module("module {\\n tt.func public @k() {\\n" + lines + "\\n tt.return\\n }\\n}")
    (function,) = module.body.operations
    operation = function.regions[0].block.operations[-2]
    threads = Numbered(module, 2, 90)
    threads.operands = operation.operands
    return threads, operation
def plain(operand):
    return list(operand) if isinstance(operand, Register) else operand
def outcome(threads, registers):
    made = [[i.opcode, plain(i.results[0]), list(map(plain, i.operands))] for i in threads.lists[0]]
    return [made, list(map(plain, registers))]
"""
"""`outcome(threads, registers)`: instructions as plain values. A register of an operand is an instruction "given"."""

SIMULATED = """
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Address, Register
from mini_triton.backends.threads.ptx import print_kernel
from mini_triton.emulator import emulate
import numpy as np
def restored(operand):
    return Register(*operand) if isinstance(operand, (list, tuple)) else operand
result = []
for made, registers in given:
    emitter = Emitter(2)
    for kind in emitter.counts:
        emitter.counts[kind] = 1 + max([r[1] for _, r, _ in made if r[0] == kind], default=-1)
    for opcode, found, operands in made:
        if opcode != "given":
            emitter.do(opcode, *map(restored, operands), results=(restored(found),))
            continue
        start, *columns = operands
        emitter.do("xor.b32", emitter.move_bits(tuple(columns)), start, results=(restored(found),))
    size = len(registers)
    base = emitter.op("mad.wide.s32", emitter.op("mov.u32", "%tid.x"), 4 * size, emitter.op("ld.param.b64", "[k_param_0]"))
    for number, register in enumerate(map(restored, registers)):
        register = emitter.op("selp.b32", 1, 0, register) if register.kind == "pred" else register
        emitter.do("st.global.b32", Address(base, 4 * number), register)
    emitter.do("ret")
    out = np.zeros((64, size), np.int32)
    emulate(print_kernel("k", ["b64"], emitter.lists[0], emitter.counts, 64, "sm_90"), (1, 1, 1), [out])
    result.append(out)
"""
"""A program: what the registers of each `outcome` contain in all threads."""


COMPUTE = """
from mini_triton.backends.threads import back_end
from mini_triton.backends.threads.instructions import Address, kind_of
from mini_triton.backends.threads.layouts import Layout, SCALAR
from mini_triton.backends.threads.ptx import print_kernel
from mini_triton.backends.threads.threads import Threads
from mini_triton.ir.parser import parse_module
def computed(text, types, layout=SCALAR):
    module = parse_module(text)
    (function,) = module.body.operations
    threads = Threads(module, 1, 90)
    threads.parameters(function)
    last = function.regions[0].block.operations[-2].result
    registers = [threads.register(last, layout, number) for number in layout.distinct]
    size = len(registers)
    base = threads.op("mad.wide.s32", threads.op("mov.u32", "%tid.x"), 8 * size, threads.op("ld.param.b64", "[k_param_0]"))
    for number, register in enumerate(registers):
        if register.kind == "pred":
            register = threads.op("selp.b32", 1, 0, register)
        if register.kind != "b64":
            register = threads.op(f"cvt.u64.u{register.kind[1:]}", register)
        threads.do("st.global.b64", Address(base, 8 * number), register)
    threads.do("ret")
    count = sum(i.opcode.split(".")[0] in COUNTED for i in threads.lists[0])
    return print_kernel("k", ["b64", *types], threads.lists[0], threads.counts, 32, "sm_90"), size, count
"""
"""`computed(text, types, layout)`: PTX that stores the last value of a kernel, and the number of some instructions."""


PLAIN = """
from mini_triton.backends.threads import back_end
from mini_triton.backends.threads.instructions import Address, Register, kind_of
from mini_triton.backends.threads.threads import PURE, Threads
from mini_triton.ir.parser import parse_module
def plain(operand):
    if isinstance(operand, Register):
        return ["register", *operand]
    if isinstance(operand, Address):
        return ["address", plain(operand.base), operand.offset]
    return [plain(part) for part in operand] if isinstance(operand, (tuple, list)) else operand
def told(threads):
    listed = [[i.opcode, *map(plain, (i.results, i.operands, i.guard)), i.negated] for i in threads.lists[0]]
    return listed, dict(threads.counts)
def threads_for(line, kinds):
    parameters = "".join(f", %{name}: {kind}" for name, kind in zip("xyz", kinds))
    module = parse_module(f"module {{ tt.func public @k(%p: !tt.ptr<i64>{parameters}) {{ {line} tt.return }} }}")
    (function,) = module.body.operations
    block = function.regions[0].block
    threads = Threads(module, 1, 90)
    return threads, [threads.new(kind_of(value.type)) for value in block.arguments], block.operations[0]
"""
"""`told(threads)`: instructions as plain values. `threads_for(line, kinds)`: registers for an operation's operands."""

REBUILT = """
import numpy as np
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Address, Instruction, Register
from mini_triton.backends.threads.ptx import print_kernel
from mini_triton.emulator import emulate
def live(operand):
    if not isinstance(operand, (list, tuple)):
        return operand
    if operand and operand[0] == "register":
        return Register(*operand[1:])
    if operand and operand[0] == "address":
        return Address(live(operand[1]), operand[2])
    return tuple(map(live, operand))
def run(instructions, counts, inputs, outputs, memory):
    emitter = Emitter(1)
    emitter.counts.update(counts)
    for register, bits in inputs:
        register = live(register)
        kind = "b16" if register.kind == "pred" else register.kind
        made = emitter.op(f"mov.{kind}", bits % (1 << int(kind[1:])))
        if kind != register.kind:
            emitter.do("setp.ne.s16", made, 0, results=(register,))
        else:
            emitter.copy(register, made)
    thread, address = emitter.op("mov.u32", "%tid.x"), emitter.op("ld.param.b64", "[k_param_1]")
    emitter.do("mad.wide.s32", thread, memory.strides[0], address, results=(Register("b64", 0),))
    for opcode, results, operands, guard, negated in instructions:
        emitter.add([Instruction(opcode, live(results), live(operands), live(guard), negated)])
    base = emitter.op("mad.wide.s32", thread, 8 * len(outputs), emitter.op("ld.param.b64", "[k_param_0]"))
    for number, register in enumerate(map(live, outputs)):
        if register.kind == "pred":
            register = emitter.op("selp.b32", 1, 0, register)
        if register.kind != "b64":
            register = emitter.op(f"cvt.u64.u{register.kind[1:]}", register)
        emitter.do("st.global.b64", Address(base, 8 * number), register)
    emitter.do("ret")
    found = np.zeros((32, max(1, len(outputs))), np.uint64)
    text = print_kernel("k", ["b64", "b64"], emitter.lists[0], emitter.counts, 32, "sm_90")
    return found, len(emulate(text, (1,), [found, memory]).errors)
"""
"""`run(instructions, counts, inputs, outputs, memory)`: the bits of registers after plain instructions have run.

Inputs are registers and their bits. Register %d0 is the address of the thread's row in the memory.
"""


def stored(arguments: object, bits: object) -> str:
    """A program: the elements that the PTX of each `computed` stores, each of so many bits."""
    return f"""
import numpy as np
from mini_triton.emulator import emulate
result = []
for (ptx, size, count), arguments, bits in zip(given, {arguments!r}, {bits!r}):
    found = np.zeros((32, size), np.uint64)
    emulate(ptx, (1,), [found, *arguments])
    result.append([count, found & np.uint64((1 << bits) - 1)])
"""


def number_of(random: Random, kind: str) -> int:
    """The bits of a moderate number of a type."""
    number = random.uniform(-120, 120)
    if kind[0] == "i":
        return int(number) % (1 << int(kind[1:]))
    if kind == "bf16":
        return int.from_bytes(struct.pack("<f", number), "little") >> 16
    return int.from_bytes(struct.pack({"f16": "<e", "f32": "<f", "f64": "<d"}[kind], number), "little")


def one_thread(random: Random) -> Iterator[Question]:
    """13.5 and 13.6."""
    yield ask(
        "13.5",
        "instructions that are needed",
        """
        from mini_triton.backends.threads.dead_code import drop_dead
        from mini_triton.backends.threads.instructions import Address, Instruction, Register
        result = []
        for drawn in PROGRAMS:
            program = []
            for kind, *numbers, guarded in drawn:
                a, b, c = (Register("b32", number) for number in numbers)
                guard = Register("pred", 0) if guarded else None
                if kind == "store":
                    program.append(Instruction("st.global.b32", (), (Address(a), b), guard))
                elif kind == "test":
                    program.append(Instruction("setp.lt.s32", (Register("pred", 0),), (a, b)))
                else:
                    program.append(Instruction("add.s32", (a,), (b, c), guard))
            kept = drop_dead(program)
            result.append([next(i for i, x in enumerate(program) if x is y) for y in kept])
        """,
        PROGRAMS=[
            [
                (random.choice(("add", "add", "add", "store", "test")), *(random.randrange(9) for _ in range(3)), random.random() < 0.2)
                for _ in range(random.randrange(4, 20))
            ]
            for _ in range(30)
        ],
    )  # fmt: skip
    tile = "tensor<256xi32>"
    lines = [f"%v0 = tt.make_range {{start = 0 : i32, end = 256 : i32}} : {tile}", f"%v1 = tt.splat %n : i32 -> {tile}"]
    for number in range(2, 10):
        name = random.choice(("addi", "subi", "muli", "xori", "maxsi", "minui"))
        operands = random.sample(range(number), 2)
        lines.append(f"%v{number} = arith.{name} %v{operands[0]}, %v{operands[1]} : {tile}")
    bits = [8 << random.randrange(4) for _ in range(8)]
    texts, arguments = ["\n".join(lines)], [[random.randrange(1 << 20)]]
    for width in bits:
        kind, name = f"i{width}", random.choice(("divsi", "divui", "remsi", "shrui", "minsi", "cmpi slt,", "cmpi ugt,"))
        texts.append(f"%r = arith.{name} %n, %m : {kind}")
        arguments.append([random.randrange(1 << (width - 1)), random.randrange(1, width)])
    yield ask(
        "13.5",
        "registers on demand",
        COMPUTE
        + """
result = []
layout = Layout(((1,), (32,)), ((2,), (4,), (8,), (16,), (64,)), ())
for text, width in zip(TEXTS, WIDTHS):
    tile = width == 0
    parameters = "%n: i32" if tile else f"%n: i{width}, %m: i{width}"
    text = f"module {{\\n tt.func public @k(%p: !tt.ptr<i64>, {parameters}) {{\\n {text}\\n tt.return\\n }}\\n}}"
    types = ["b32"] if tile else [f"b{width}"] * 2
    result.append(computed(text, types, layout if tile else SCALAR))
""",
        stored(arguments, [32, *(1 if "cmpi" in text else width for text, width in zip(texts[1:], bits, strict=True))]),
        after="13.1 13.2 13.3 13.4",
        TEXTS=texts,
        WIDTHS=[0, *bits],
        COUNTED=("sub", "max", "min"),
    )
    casts = [
        ("f16", "f32", 32, "arith.extf %n : f16 to f32"),
        ("bf16", "f32", 32, "arith.extf %n : bf16 to f32"),
        ("f32", "f16", 16, "arith.truncf %n : f32 to f16"),
        ("f64", "f16", 16, "arith.truncf %n : f64 to f16"),
        ("f64", "bf16", 16, "arith.truncf %n : f64 to bf16"),
        ("f16", "f64", 64, "arith.extf %n : f16 to f64"),
        ("f32", "i8", 8, "arith.fptosi %n : f32 to i8"),
        ("bf16", "i32", 32, "arith.fptosi %n : bf16 to i32"),
        ("i8", "i64", 64, "arith.extsi %n : i8 to i64"),
        ("i8", "i16", 16, "arith.extui %n : i8 to i16"),
        ("i64", "i1", 1, "arith.trunci %n : i64 to i1"),
        ("f16", "f16", 16, "math.fma %n, %n, %n : f16"),
        ("bf16", "bf16", 16, "arith.maximumf %n, %n : bf16"),
        ("f64", "f64", 64, "arith.minimumf %n, %n : f64"),
        ("f16", "f16", 16, "arith.divf %n, %n : f16"),
        ("f32", "f32", 32, "tt.precise_sqrt %n : f32"),
    ]
    chosen = random.sample(casts, 9)
    yield ask(
        "13.6",
        "floats and casts",
        PLAIN
        + """
result = []
for kind, line in LINES:
    threads, (_, operand), operation = threads_for(line, [kind])
    made = PURE[operation.name](threads, operation, [operand] * len(operation.operands))
    result.append([*told(threads), plain(operand), plain(made)])
""",
        REBUILT
        + f"""
result = []
numbers = {[(number_of(random, kind), bits) for kind, _, bits, _ in chosen]!r}
for (instructions, counts, operand, made), (number, bits) in zip(given, numbers):
    found, errors = run(instructions, counts, [(operand, number)], [made], np.zeros((32, 1), np.uint8))
    result.append([found & np.uint64((1 << bits) - 1), errors])
""",
        LINES=[(kind, f"%r = {line.replace('%n', '%x')}") for kind, _, _, line in chosen],
    )


def words_in_memory(random: Random) -> Iterator[Question]:
    """13.7."""
    sizes = {"I1": 1, "I8": 1, "I16": 2, "F16": 2, "BF16": 2, "F32": 4, "I64": 8}
    cases = []
    for _ in range(8):
        name = random.choice(list(sizes))
        count = 1 << random.randrange(5)
        while count * sizes[name] > 16:
            count //= 2
        cases.append((name, count, random.random() < 0.5, random.random() < 0.5))
    yield ask(
        "13.7",
        "words in memory",
        PLAIN
        + """
from mini_triton.backends.threads import words
from mini_triton.ir import types
result = []
for name, count, guarded, otherwise in CASES:
    type = getattr(types, name)
    threads, (address, *_), _ = threads_for("", [])
    others = [threads.new(kind_of(type)) for _ in range(count)] if otherwise else []
    guard = threads.new("pred") if guarded else None
    found = words.load(threads, "global", type, Address(address), count, guard, others)
    words.store(threads, "global", type, Address(address, 16), found)
    accesses = [[i.opcode, len(i.results)] for i in threads.lists[0] if ".global" in i.opcode]
    result.append([*told(threads), plain(guard), plain(others), accesses])
""",
        REBUILT
        + f"""
result = []
chosen = {[(random.randrange(2), 2 if name == "I1" else 255) for name, *_ in cases]!r}
for (instructions, counts, guard, others, accesses), (condition, limit) in zip(given, chosen):
    memory = np.arange(32 * 32, dtype=np.uint8).reshape(32, 32) * {random.randrange(1, 99, 2)}
    memory[:, :16] %= np.uint8(limit)
    inputs = [(register, {random.randrange(2)}) for register in others]
    found, errors = run(instructions, counts, inputs + [(guard, condition)] * bool(guard), [], memory)
    result.append([accesses, memory, errors])
""",
        CASES=cases,
    )


def control_flow(random: Random) -> Iterator[Question]:
    """13.8."""
    names = "abcdefgh"
    moves = []
    for _ in range(12):
        targets = random.sample(names, random.randrange(1, 8))
        moves.append((targets, [random.choice(names) for _ in targets]))
    yield ask(
        "13.8",
        "copies all at once",
        PLAIN
        + """
from mini_triton.backends.threads.control import assign
from mini_triton.backends.threads.layouts import SCALAR
class Held(Threads):
    def register(self, value, layout=SCALAR, number=0):
        return self.registers[value, layout][number]
result = []
for targets, sources in MOVES:
    threads, _, _ = threads_for("", [])
    threads.__class__ = Held
    for name in NAMES:
        threads.hold(name, SCALAR, {0: threads.new("b32")})
    assign(threads, targets, sources)
    result.append([*told(threads), [plain(threads.register(name)) for name in NAMES]])
""",
        REBUILT
        + """
result = []
for instructions, counts, registers in given:
    inputs = [(register, 10 + number) for number, register in enumerate(registers)]
    found, errors = run(instructions, counts, inputs, registers, np.zeros((32, 1), np.uint8))
    result.append([found[0], errors])
""",
        MOVES=moves,
        NAMES=names,
    )
    inner = random.sample(["a, b = b, a + i", "t = t + a * n", "b = b ^ i", "t = t - i", "a = a + n * n"], 4)
    text = f"""def kernel(out, n, m):
    at = tl.arange(0, 256)
    t = at + n
    a = m
    b = n ^ {random.randrange(99)}
    for i in range({random.randrange(-3, 3)}, n, {random.randrange(1, 3)}):
        {inner[0]}
        if a {random.choice("<>")} b:
            {inner[1]}
        else:
            {inner[2]}
        j = 0
        while j < (i & 3):
            j += 1
            {inner[3]}
    tl.store(out + at, t + a - b)
"""
    yield ask(
        "13.8",
        "a kernel with loops and branches",
        COMPILE
        + """
from mini_triton.backends.threads.back_end import compile_module
made = compile_module(built("@triton.jit\\n" + TEXT, SIGNATURE, {}), WARPS, 90)
result = made.ptx
""",
        f"""
import numpy as np
from mini_triton.emulator import emulate
result = []
for n, m in {[(random.randrange(9), random.randrange(-50, 50)) for _ in range(4)]!r}:
    out = np.zeros(256, np.int32)
    report = emulate(given, (1,), [out, n, m])
    result.append([out, len(report.errors)])
""",
        after="13.1 13.2 13.3 13.4 13.5 13.6 13.7",
        TEXT=text,
        SIGNATURE={"out": "*i32", "n": "i32", "m": "i32"},
        WARPS=random.choice((1, 2, 4)),
    )


def threads_together(random: Random) -> Iterator[Question]:
    """13.9 to 13.11."""
    parts = [1 << random.randrange(3) for _ in range(60)]
    yield ask(
        "13.9",
        "barriers in random code",
        """
        from mini_triton.backends.threads.barriers import add_barriers, collide, is_safe
        from mini_triton.backends.threads.instructions import Instruction, Register, Room
        GUARD = Register("pred", 0)
        def step(number, kind, start, size):
            if kind < 8:
                return Instruction("access", room=Room(start, start + size, kind % 3 == 0, number))
            if kind < 10:
                return Instruction("bar.sync", operands=(0,))
            return Instruction("bra", operands=(str(start % 4),), guard=GUARD)
        result = []
        for code in CODES:
            steps = [step(number, *row) for number, row in enumerate(code)]
            for number in (0, 3, 7, 11):
                steps.insert(number, Instruction("label", operands=(str((0, 3, 7, 11).index(number)),)))
            accesses = [s for s in steps if s.room]
            result.append([collide(s.room, [other.room for other in accesses[:3]]) for s in accesses])
            for some in (steps, accesses):
                chosen = {n for n, s in enumerate(some) if s.room and n % 3}
                done = add_barriers(some)
                kept = [s for s in done if any(s is other for other in some)]
                result.append([is_safe(some), is_safe(some, chosen), is_safe(done), len(kept) == len(some)])
                again = add_barriers(done)
                result.append([len(again) - len(done), sum(s.opcode == "bar.sync" for s in add_barriers(accesses))])
        """,
        CODES=[
            [(random.randrange(12), random.choice(parts), random.choice(parts)) for _ in range(14)] for _ in range(12)
        ],
    )
    kinds = random.sample(("b16", "b32", "b64", "pred"), 4)
    shuffles = [(random.choice(("bfly", "up", "down")), kind, random.randrange(32)) for kind in kinds * 3]
    yield ask(
        "13.10",
        "shuffles of registers of all kinds",
        """
        from mini_triton.backends.threads.emitter import Emitter
        from mini_triton.backends.threads.instructions import Register
        from mini_triton.backends.threads.reductions import shuffle
        def plain(operand):
            if isinstance(operand, (int, str)):
                return operand
            registers = [operand] if isinstance(operand, Register) else operand
            return [list(register) for register in registers]
        emitter = Emitter(2)
        held = {kind: emitter.new(kind) for kind in ("b16", "b32", "b64", "pred")}
        made = [shuffle(emitter, mode, held[kind], distance) for mode, kind, distance in SHUFFLES]
        result = [[i.opcode, plain(i.results), list(map(plain, i.operands))] for i in emitter.lists[0]]
        result = [result, emitter.counts, plain(made)]
        """,
        f"""
        import numpy as np
        from mini_triton.backends.threads.emitter import Emitter
        from mini_triton.backends.threads.instructions import Address, Register
        from mini_triton.backends.threads.ptx import print_kernel
        from mini_triton.emulator import emulate
        instructions, counts, made = given
        emitter = Emitter(2)
        emitter.counts = dict(counts)
        thread = emitter.op("mov.u32", "%tid.x")
        number = emitter.op("mul.lo.s32", thread, {random.randrange(1 << 20, 1 << 28) * 2 + 1})
        emitter.do("cvt.u16.u32", number, results=[Register("b16", 0)])
        emitter.do("mov.b32", number, results=[Register("b32", 0)])
        emitter.do("mad.wide.u32", number, {random.randrange(1 << 20, 1 << 28)}, 5, results=[Register("b64", 0)])
        emitter.do("setp.lt.s32", number, 0, results=[Register("pred", 0)])
        def operand(value):
            if isinstance(value, (int, str)):
                return value
            registers = tuple(Register(*pair) for pair in value)
            return registers if len(registers) > 1 else registers[0]
        for opcode, results, operands in instructions:
            results = tuple(Register(*pair) for pair in results)
            emitter.do(opcode, *map(operand, operands), results=results)
        base = emitter.op("mad.wide.s32", thread, 8 * len(made), emitter.op("ld.param.b64", "[k_param_0]"))
        for place, pair in enumerate(made):
            register = Register(*pair)
            if register.kind == "pred":
                register = emitter.op("selp.b32", 1, 0, register)
            if register.kind != "b64":
                register = emitter.op(f"cvt.u64.u{{register.kind[1:]}}", register)
            emitter.do("st.global.b64", Address(base, 8 * place), register)
        emitter.do("ret")
        found = np.zeros((64, len(made)), np.uint64)
        report = emulate(print_kernel("k", ["b64"], emitter.lists[0], emitter.counts, 64, "sm_90"), (1, 1, 1), [found])
        result = [found, len(report.errors), sum(opcode.startswith("shfl") for opcode, _, _ in instructions)]
        """,
        SHUFFLES=shuffles,
    )
    rows, columns = random.choice((1, 4, 16)), random.choice((8, 64, 256))
    axis, other = random.choice(((0, 0), (1, 0)))
    yield ask(
        "13.10",
        "reductions of rows, columns and tiles",
        COMPILE
        + """
from mini_triton.backends.threads.back_end import compile_module
made = compile_module(built(TEXT, {"out": "*i32", "x": "*i32", "y": "*fp16"}, {}), WARPS, 90)
result = [made.ptx, made.shared]
""",
        f"""
        import numpy as np
        from mini_triton.emulator import emulate
        random = np.random.default_rng({random.randrange(1 << 20)})
        x = random.integers(-9999, 9999, ({rows}, {columns})).astype(np.int32)
        y = random.integers(0, 9, x.shape).astype(np.float16)
        out = np.zeros(4, np.int32)
        report = emulate(given[0], (1, 1, 1), [out, x, y], shared=given[1])
        result = [out, len(report.errors), given[0].count("shfl"), given[0].count("bar.sync")]
        """,
        TEXT="@triton.jit\ndef kernel(out, x, y):\n"
        f"    at = tl.arange(0, {rows})[:, None] * {columns} + tl.arange(0, {columns})[None, :]\n"
        "    a, b = tl.load(x + at), tl.load(y + at)\n"
        f"    tl.store(out, tl.sum(tl.max(a, {axis}), {other}))\n"
        f"    tl.store(out + 1, tl.max(tl.sum(b, {1 - axis}), {other}).to(tl.int32))\n"
        f"    tl.store(out + 2, tl.{random.choice(('sum', 'max', 'xor_sum'))}(tl.argmax(a, {axis}), {other}))\n"
        f"    tl.store(out + 3, tl.min(tl.min(a ^ 5, {axis}), {other}))\n",
        WARPS=random.choice((1, 2, 4, 8)),
        after=" ".join(f"13.{number}" for number in range(1, 10)),
    )


def exchanges(random: Random) -> Iterator[Question]:
    """13.11, with functions on columns of its own."""

    def layout(bits: int) -> list[list[int]]:
        units = [1 << bit for bit in range(bits)] + [0] * max(0, 7 - bits)
        random.shuffle(units)
        return [units[7:], units[:5], units[5:7]]

    pairs = []
    for _ in range(14):
        bits = random.randrange(1, 11)
        source, target = layout(bits), layout(bits)
        if random.random() < 0.5:
            target = [random.sample(source[0], len(source[0])), *source[1:]]
        pairs.append([bits, source, target])
    yield ask(
        "13.11",
        "registers with other names, and places in shared memory",
        """
        from mini_triton.backends.threads import conversions, layouts, swizzles
        def apply(columns, number):
            found = 0
            for bit, column in enumerate(columns):
                found ^= column * (number >> bit & 1)
            return found
        def compose(outer, inner):
            return tuple(apply(outer, column) for column in inner)
        def invert(columns):
            known = {apply(columns, number): number for number in range(1 << len(columns))}
            return tuple(known[1 << bit] for bit in range(len(columns)))
        def is_independent(columns):
            sums = {0}
            for column in columns:
                if column in sums:
                    return False
                sums |= {column ^ other for other in sums}
            return True
        def index(self, register, thread=0):
            return (apply([v[0] for v in self.registers], register) ^ apply([v[0] for v in self.threads], thread),)
        for module in (conversions, layouts, swizzles):
            for function in (apply, compose, invert, is_independent):
                if hasattr(module, function.__name__):
                    setattr(module, function.__name__, function)
        layouts.Layout.index = index
        result = []
        for bits, *pair in PAIRS:
            made = [layouts.Layout(*(tuple((v,) for v in part) for part in parts)) for parts in pair]
            result.append(sorted(conversions.renaming(*made).items()))
            for size in (1, 2, 4, 8):
                result.append(list(swizzles.places(*(one.flat((1 << bits,)) for one in made), bits, size)))
        """,
        f"""
        from mini_triton.backends.threads.layouts import apply, is_independent
        from mini_triton.backends.threads.swizzles import LINE, WORD, shared_registers
        def conflicts(lanes, place_of, bytes, size):
            words = {{}}
            for lane in range(LINE // max(WORD, bytes)):
                at = place_of[apply(lanes, lane)] * size
                for word in range(at // WORD, at // WORD + max(1, bytes // WORD)):
                    words.setdefault(word % 32, set()).add(word)
            return sum(len(found) - 1 for found in words.values())
        answers, result = iter(given), []
        for bits, source, target in {pairs!r}:
            result.append(next(answers))
            for size in (1, 2, 4, 8):
                columns = next(answers)
                vector = shared_registers(tuple(source), tuple(target), size)
                result.append([len(columns) == bits, is_independent(columns), columns[: len(vector)] == vector])
                place_of = {{apply(columns, place): place for place in range(1 << bits)}}
                bytes = size << len(vector)
                if is_independent(columns):
                    result.append([conflicts(flat[1], place_of, bytes, size) for flat in (source, target)])
        """,
        PAIRS=pairs,
    )
    shape = random.choice(([8, 64], [32, 32], [64, 16], [2, 128]))
    kind = random.choice(("i32", "fp32", "i64"))
    yield ask(
        "13.11",
        "a transposed tile",
        COMPILE
        + """
from mini_triton.backends.threads.back_end import compile_module
made = compile_module(built(TEXT, {"out": KIND, "x": KIND}, {}), WARPS, 90)
result = [made.ptx, made.shared]
""",
        f"""
        import numpy as np
        from mini_triton.emulator import emulate
        dtype = {{"i32": np.int32, "fp32": np.float32, "i64": np.int64}}[{kind!r}]
        x = np.random.default_rng({random.randrange(1 << 20)}).integers(-9999, 9999, {shape!r}).astype(dtype)
        out = np.zeros_like(x.T)
        report = emulate(given[0], (1, 1, 1), [out, x], shared=given[1])
        total = report.total
        result = [out, len(report.errors), total.bank_ways == total.shared, given[0].count("bar.sync"), given[1]]
        """,
        TEXT="@triton.jit\ndef kernel(out, x):\n"
        f"    i, j = tl.arange(0, {shape[0]}), tl.arange(0, {shape[1]})\n"
        f"    tile = tl.load(x + i[:, None] * {shape[1]} + j[None, :])\n"
        f"    tl.store(out + j[:, None] * {shape[0]} + i[None, :], tl.trans(tile))\n",
        KIND=f"*{kind}",
        WARPS=random.choice((1, 2, 4)),
        after=" ".join(f"13.{number}" for number in range(1, 11)),
    )


SCANNED = """
from mini_triton.backends.threads import scans
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Register
from mini_triton.backends.threads.layouts import Layout
class Lanes(Emitter):
    def linear(self, columns):
        total = self.op("mov.b32", 0)
        for bit, column in enumerate(columns):
            part = self.op("and.b32", self.op("shr.u32", self.thread, bit), 1)
            total = self.op("add.s32", total, self.op("mul.lo.s32", part, column))
        return total
def choose(threads, condition, first, second):
    return threads.op("selp.b32", first, second, condition)
def shuffle(threads, mode, register, distance):
    return threads.op(f"shfl.sync.{mode}.b32", register, distance, 0 if mode == "up" else 31, -1)
scans.choose, scans.shuffle = choose, shuffle
def plain(operand):
    return [operand.kind, operand.number] if isinstance(operand, Register) else operand
result = []
for lanes, count, reverse, numbers in SCANS:
    threads = Lanes(4)
    def combine(first, second):
        return [threads.op("mul.lo.s32", first[0], second[0]), threads.op("mad.lo.s32", first[1], second[0], second[1])]
    bits = range(lanes.bit_length() - 1)
    layout = Layout((), tuple((1 << bit, 0) if bit in bits else (0, 1 << bit) for bit in range(5)), ((0, 32), (0, 64)))
    one = scans.OneScan(threads, layout, 0, reverse, combine)
    def element(number, factor):
        return threads.op("mad.lo.s32", threads.thread, factor, number)
    found = one.within_warp([[element(number, 3), element(number, 5)] for number in numbers])
    warps = tuple(1 << bit - 5 if bit >= 5 else 0 for bit in range(7))
    before = one.before_warp([[element(number, 7), element(number, 9)] for number in range(4)], warps)
    found.append(one.after(before, before, one.position(warps)))
    listed = [[i.opcode, list(map(plain, i.results)), list(map(plain, i.operands)), plain(i.guard), i.negated] for i in threads.lists[0]]
    result.append([listed, threads.counts, [plain(register) for one in found for register in one]])
"""
"""A scan's instructions, as lists, with the registers of its elements."""

EMULATED = """
import numpy as np
from mini_triton.backends.threads.instructions import Address, Instruction, Register
from mini_triton.backends.threads.ptx import print_kernel
from mini_triton.emulator import emulate
def known(operand):
    return Register(*operand) if isinstance(operand, list) else operand
result = []
for listed, counts, found in given:
    made = [Instruction(o, tuple(map(known, r)), tuple(map(known, a)), known(g), n) for o, r, a, g, n in listed]
    thread, base, address = (Register(kind, counts[kind]) for kind in ("b32", "b64", "pred"))
    place = Register("b64", counts["b64"] + 1)
    made.append(Instruction("mov.u32", (thread,), ("%tid.x",)))
    made.append(Instruction("ld.param.b64", (base,), ("[k_param_0]",)))
    made.append(Instruction("mad.wide.s32", (place,), (thread, 4 * len(found), base)))
    for number, register in enumerate(found):
        made.append(Instruction("st.global.b32", (), (Address(place, 4 * number), known(register))))
    made.append(Instruction("ret"))
    counts = {kind: count + 2 for kind, count in counts.items()}
    out = np.zeros((128, len(found)), np.int32)
    report = emulate(print_kernel("k", ["b64"], made, counts, 128, "sm_90"), (1, 1, 1), [out])
    out[:32, -2:] = 0  # nothing is before the first warp
    out[-32:, -2:] = 0  # nor before the last, in reverse
    shuffles = sum(i.opcode.startswith("shfl") for i in made)
    result += [out, len(report.errors), shuffles]
"""


def scans_and_lookups(random: Random) -> Iterator[Question]:
    """13.12."""
    yield ask(
        "13.12",
        "scans within a warp, and before a warp",
        SCANNED,
        EMULATED,
        SCANS=[
            (2 ** random.randrange(6), random.choice((1, 2, 4)), random.random() < 0.5, numbers)
            for numbers in ([random.randrange(20) for _ in range(count)] for count in (1, 2, 4, 3))
        ],
    )
    kinds = [random.choice(("i32", "i64")), random.choice(("i16", "i32", "i64"))]
    size, axis = random.choice((2, 8, 32)), random.randrange(2)
    yield ask(
        "13.12",
        "gathers and atomic operations in PTX",
        COMPILE
        + """
from mini_triton.backends.threads.back_end import compile_module
made = compile_module(built(TEXT, SIGNATURE, {}), WARPS, 90)
result = [made.ptx, made.shared]
""",
        f"""
        import numpy as np
        from mini_triton.emulator import emulate
        random = np.random.default_rng({random.randrange(1 << 20)})
        types = {{"i16": np.int16, "i32": np.int32, "i64": np.int64}}
        x = random.integers(-99, 99, (8, 32)).astype(types[{kinds[0]!r}])
        indices = random.integers(0, x.shape[{axis}], {((size, 32), (8, size))[axis]!r}).astype(types[{kinds[1]!r}])
        out, memory, old = np.zeros(indices.shape, x.dtype), np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
        ticket = np.zeros(1, np.int32)
        report = emulate(given[0], (1, 1, 1), [out, x, indices, memory, old, ticket], shared=given[1])
        result = [out, memory, old, ticket, len(report.errors)]
        """,
        TEXT="@triton.jit\ndef kernel(out, x, indices, memory, old, ticket):\n"
        "    i, j = tl.arange(0, 8)[:, None], tl.arange(0, 32)[None, :]\n    tile = tl.load(x + i * 32 + j)\n"
        f"    m, n = tl.arange(0, {(size, 8)[axis]})[:, None], tl.arange(0, {(32, size)[axis]})[None, :]\n"
        f"    at = m * {(32, size)[axis]} + n\n"
        f"    tl.store(out + at, tl.gather(tile, tl.load(indices + at), {axis}))\n"
        "    place = tl.arange(0, 64)\n"
        f"    found = tl.atomic_{random.choice(('add', 'max', 'xor', 'xchg'))}(memory + place, place * 3, mask=place % 5 > 1)\n"
        "    tl.store(old + place, found + tl.atomic_add(ticket, 7) + tl.atomic_add(ticket, 5))\n",
        SIGNATURE={"out": f"*{kinds[0]}", "x": f"*{kinds[0]}", "indices": f"*{kinds[1]}"}
        | dict.fromkeys(("memory", "old", "ticket"), "*i32"),
        WARPS=random.choice((1, 2, 4)),
        after=" ".join(f"13.{number}" for number in range(1, 12)),
    )


def machine_code(random: Random) -> Iterator[Question]:
    """13.13, with a stand-in for the assembler."""
    texts = [f"text {random.randrange(99)}" for _ in range(3)]
    requests = [(random.choice(texts), random.choice(("sm_80", "sm_90")), random.random() < 0.5) for _ in range(12)]
    spilled, other = random.randrange(4, 99), random.randrange(100, 999)
    names = random.sample(("add", "add_one", "one_add", "k"), 2)
    said = f"ptxas info    : Compiling entry function '{names[0]}' for 'sm_90'\n"
    parts = [
        f"ptxas info    : Function properties for {names[0]}\n    {2 * spilled} bytes stack frame, {spilled} bytes spill "
        f"stores, {spilled + 4} bytes spill loads\nptxas info    : Used {random.randrange(16, 256)} registers, used 1 "
        f"barriers, {2 * spilled} bytes cumulative stack size{random.choice(('', f', {16 * spilled} bytes smem'))}\n",
        f"ptxas info    : Function properties for {names[1]}\n    {other} bytes stack frame, {other} bytes spill stores, "
        f"{other} bytes spill loads\n",
    ]
    random.shuffle(parts)
    yield ask(
        "13.13",
        "machine code from the disk, and what a kernel uses",
        """
        import os, tempfile
        from dataclasses import astuple
        from types import SimpleNamespace
        from mini_triton.backends.threads import assembler
        runs = []
        def run(ptx, made, *options):
            runs.append(ptx)
            with open(made, "wb") as file:
                file.write(repr((ptx, options)).encode())
            return SAID if "--verbose" in options else ""
        assembler.run, assembler.version = run, lambda: "1"
        result = []
        with tempfile.TemporaryDirectory() as folder:
            os.environ["MINI_TRITON_CACHE_DIR"] = folder
            for ptx, target, fused in REQUESTS:
                result.append([assembler.assemble(ptx, target, fused).decode(), len(runs)])
            found = assembler.usage("text", "sm_90")
            result.append([found.registers, found.spilled, found.shared])
            code = SimpleNamespace(ptx="text", target="sm_90", threads=THREADS, shared=SHARED)
            found = assembler.occupancy_of(code)
            result.append([found.blocks, found.warps, list(found.limiters)])
            result.append(sum(len(files) for _, _, files in os.walk(folder)))
        """,
        REQUESTS=requests,
        SAID=said + "".join(parts),
        THREADS=random.choice((32, 128, 256)),
        SHARED=random.randrange(0, 60000),
    )
