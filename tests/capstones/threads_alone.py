"""Questions about 13.5 to 13.8: what a thread computes by itself."""

import struct
from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.running import COMPILE

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
def described(threads):
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
"""`described(threads)`: instructions as plain values. `threads_for(line, kinds)`: registers for an operation's operands."""

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
    result.append([*described(threads), plain(operand), plain(made)])
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
    result.append([*described(threads), plain(guard), plain(others), accesses])
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
    result.append([*described(threads), [plain(threads.register(name)) for name in NAMES]])
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
