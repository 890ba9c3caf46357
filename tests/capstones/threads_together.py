"""Questions about 13.9 to 13.13: what threads exchange, and machine code."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.running import COMPILE


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
