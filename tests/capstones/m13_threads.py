"""Layouts, instructions as data, and PTX, which the reference's emulator runs: the questions about milestone 13."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.running import COMPILE
from tests.capstones.threads_alone import control_flow, one_thread, words_in_memory
from tests.capstones.threads_together import exchanges, machine_code, scans_and_lookups, threads_together


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
