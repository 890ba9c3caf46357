"""Threads: layouts, instructions as data, and PTX, which the reference's emulator runs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask


def questions(random: Random) -> Iterator[Question]:
    yield from who_holds_what(random)
    yield from one_thread(random)
    yield from threads_together(random)


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


def one_thread(random: Random) -> Iterator[Question]:
    """13.5 to 13.8."""
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


def threads_together(random: Random) -> Iterator[Question]:
    """13.9 to 13.13."""
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
