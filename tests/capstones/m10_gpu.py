"""The way to a GPU, as far as possible without a GPU: machine code of real Triton, and its layouts and PTX."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.running import ARGUMENTS, COMPILE, INSPECT


def questions(random: Random) -> Iterator[Question]:
    number = random.randrange(10, 130)
    yield ask(
        "10.1",
        "a hand-off to real Triton",
        COMPILE
        + """
from mini_triton.backends.handoff import capability_of, lower
def outcome(name):
    try:
        return capability_of(name)
    except Exception as error:
        return kind_of(error)
result = [outcome(name) for name in NAMES]
text = "@triton.jit\\ndef kernel(x, n):\\n    i = tl.arange(0, 64)\\n    tl.store(x + i, tl.load(x + i) * NUMBER, mask=i < n)\\n"
ttir = print_module(built(text, {"x": "*fp32", "n": "i32"}, {}))
made = lower("kernel", ttir, ["*fp32", "i32"], 80, {"num_warps": WARPS})
result += [made.capability, sorted(made.asm), made.asm["ttgir"].count("tt.store"), "maxntid" in made.asm["ptx"]]
result += [made.asm["ptx"].count(word) for word in ("ld.global", "st.global", "mul.f32", "setp", "bra")]
try:
    lower("kernel", "module {", [], 80)
except Exception as error:
    result.append(kind_of(error))
""",
        NAMES=[f"sm_{number}", "sm_9", f"sm_{number}a", str(number), "sm_1000", ""],
        NUMBER=round(random.uniform(1, 9), 3),
        WARPS=random.choice((1, 2, 4)),
        needs="triton",
    )
    yield ask(
        "10.2",
        "a launch on a GPU",
        """
        from types import SimpleNamespace
        from mini_triton.backends.launch import Launcher, gpu_of
        def on(device):
            return SimpleNamespace(get_device=lambda: device) if device is not None else object()
        result = []
        for devices in DEVICES:
            try:
                result.append(gpu_of("kernel", {f"a{i}": on(d) for i, d in enumerate(devices)}))
            except Exception as error:
                result.append(kind_of(error))
        seen = []
        kernel = SimpleNamespace(launch=lambda grid, arguments: seen.append([list(grid), list(arguments)]))
        for grid in GRIDS:
            try:
                Launcher(SimpleNamespace(kernel=kernel), 0)(grid, [1, 2])
            except NotImplementedError:
                raise
            except Exception as error:
                seen.append("no GPU")
            result.append(len(seen))
        """,
        DEVICES=[[random.choice((0, 0, 0, 1, -1, None)) for _ in range(random.randrange(1, 4))] for _ in range(15)],
        GRIDS=[(0, 1, 1), (1, 0, 1), (2, 3, 0)],
    )
    sizes = [2**k for k in range(6)]

    def layout() -> str:
        def pair() -> str:
            return ", ".join(str(random.choice(sizes[:4])) for _ in range(2))

        order = random.choice(("0, 1", "1, 0"))
        lanes = random.choice(("1, 32", "2, 16", "8, 4", "32, 1"))
        return f"sizePerThread = [{pair()}], threadsPerWarp = [{lanes}], warpsPerCTA = [{pair()}], order = [{order}]"

    lines = [f"#blocked{i or ''} = #ttg.blocked<{{{layout()}}}>" for i in range(3)]
    ptx = []
    for _ in range(12):
        ptx += [
            random.choice(("ld", "st"))
            + ".global"
            + random.choice(("", ".v2", ".v4"))
            + random.choice((".b32", ".f32", ".b16"))
            + " x;",
            f"cp.async.c{random.choice('ag')}.shared.global [ %r5 + 0 ], [ %rd3 + 0 ], 0x{random.choice(('4', '8', '10'))};",
            "ld.shared.b32 x;",
        ]
    yield ask(
        "10.3",
        "layouts in TTGIR, and accesses in PTX",
        """
        from mini_triton.backends.layouts import layouts
        from mini_triton.backends.ptx import accesses
        found = layouts(TTGIR)
        result = [sorted(found), [layout.owner(*place) for layout in found.values() for place in PLACES]]
        result.append(sorted([*kind, count] for kind, count in accesses(PTX).items()))
        """,
        TTGIR="\n".join([*lines, "module {", "}"]),
        PLACES=[(random.randrange(64), random.randrange(64)) for _ in range(20)],
        PTX="\n".join(ptx),
    )
    entries = [
        "*fp32:16",
        "i32",
        "i32:1",
        "64",
        "None",
        "True",
        "1e-5",
        "fp16",
        "*i8",
        "i32:16",
        "u8",
        "i1",
        "fp32:1",
        "i32:2",
    ]
    yield ask(
        "10.4",
        "kernels compiled ahead of time",
        """
        from mini_triton.tools import compile, link
        from mini_triton.tools.variant import Variant, c_type, read_entry
        def outcome(function, *arguments):
            try:
                return function(*arguments)
            except NotImplementedError:
                raise
            except Exception as error:
                return "refused"
        def entry(text):
            made = read_entry(text)
            return [made.type, made.value, made.hint]
        result = [outcome(entry, text) for text in ENTRIES]
        result += [outcome(c_type, text.partition(":")[0]) for text in ENTRIES if text[0] in "*iuf"]
        texts = [text for text in ENTRIES if not isinstance(outcome(read_entry, text), str)]
        variant = Variant("add", texts, {f"a{i}": read_entry(text) for i, text in enumerate(texts)}, 4, 3)
        result += [variant.suffix, outcome(compile.sizes_of, GRID, {"BLOCK": 64, "a": 1}), outcome(compile.sizes_of, "n, 1", {})]
        compiled = [
            link.Compiled(f"add_{i:08x}_0d", algorithm, {"x": "CUdeviceptr", "n": "int32_t", "m": "int64_t"}, hints)
            for i, (algorithm, hints) in enumerate(VARIANTS)
        ]
        groups = link.group(compiled)
        result += [[key, [v.name for v in variants]] for key, variants in groups.items()]
        result += [outcome(link.group, [])]
        for variants in groups.values():
            text = link.write_dispatcher("add", variants)
            result.append([v.name in text for v in variants])
        for v in compiled:
            condition = link.condition(v).replace("(uintptr_t)", "").replace("&&", " and ")
            result.append([bool(eval(condition, dict(x=x, n=n, m=m))) for x in (16, 8) for n in (1, 32) for m in (1, 5)])
        """,
        ENTRIES=random.sample(entries, 9),
        GRID=f"(n + BLOCK - 1) / BLOCK, a * {number}, BLOCKS",
        VARIANTS=[(random.choice(("1024_w4", "64_w4")), [random.choice((16, None)), random.choice((1, 16, None)), random.choice((1, None))])
                  for _ in range(6)],
    )  # fmt: skip
    m, n, k = (2 ** random.randrange(1, 5) for _ in range(3))
    signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "stride": "i32"}
    launches = [(random.randrange(5 * m), stride) for stride in (1, random.randrange(2, 9), -1, 5000)]
    yield ask(
        "10.5",
        "loops for Numba",
        COMPILE
        + """
import numpy as np
from mini_triton.codegen.numba_gen.plan import source_index
from mini_triton.codegen.numba_gen.program import generate
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import F32, TensorType
def shaped(shape):
    return TensorType(tuple(shape), F32) if shape else F32
result = []
for name, source, target, attributes, index in OPERATIONS:
    operation = Operation(name, [Value(shaped(source))], [shaped(target)], {k: tuple(v) if isinstance(v, list) else v for k, v in attributes.items()})
    result.append(source_index(operation, tuple(index)))
result = [result, generate(built(TEXT, SIGNATURE, {}))]
""",
        COMPILE
        + ARGUMENTS
        + INSPECT
        + f"""
from mini_triton import exact
from mini_triton.codegen.numba_gen import program
indices, source = given
names = {{name: getattr(np, name) for name in program.NUMBERS}} | {{"np": np, "exact": exact, "prange": range}}
names |= {{"njit": lambda **_: lambda function: function, "on_stack": np.empty, "vectors_of": lambda width: None}}
names |= {{"end_of_run": lambda numbers, first, step: first + 1 + int(np.argmax([*(np.diff(numbers[first:]) != step), True]))}}
functions = inspected(source, program.HEADER.format(programs="the programs of a grid in parallel"), names)
exec(compile(functions, "<generated>", "exec"), names)
result = [indices]
for n, stride in {launches!r}:
    values = arguments({random.randrange(1 << 20)}, {signature!r}, {{"n": np.int32(n), "stride": np.int32(stride)}})
    failed = np.zeros(5, bool)
    with np.errstate(all="ignore"):
        names["launch"](0, 5, 1, 1, failed, *values)
    result += [failed, *(value[:512] for value in values[:3])]
""",
        OPERATIONS=random.sample(
            [
                ("tt.splat", (), (4,), {}, ("i0",)),
                ("tt.expand_dims", (4,), (4, 1), {"axis": 1}, ("i0", "0")),
                ("tt.expand_dims", (4,), (1, 4), {"axis": 0}, ("0", "i1")),
                ("tt.broadcast", (4, 1), (4, 8), {}, ("i0", "i1")),
                ("tt.broadcast", (1, 8), (4, 8), {}, ("i0", "i1")),
                ("tt.trans", (4, 8), (8, 4), {"order": [1, 0]}, ("i0", "i1")),
                ("tt.trans", (2, 4, 8), (8, 2, 4), {"order": [2, 0, 1]}, ("i0", "i1", "i2")),
            ],
            5,
        ),
        SIGNATURE=signature,
        TEXT=f"@triton.jit\ndef kernel(x, y, out, n, stride):\n    p = tl.program_id(0)\n    i = tl.arange(0, {m})\n"
        f"    j = tl.arange(0, {n})\n    at = p * {m} + i\n    a = tl.load(x + at * {k}, mask=at < n, other={number})\n"
        f"    b = tl.load(y + j * stride)\n    t = a[:, None] {random.choice('+-*')} b[None, :] * {number}\n"
        f"    tl.store(out + p * {m * n} + {m * (n - 1)} - j[:, None] * {m} + i[None, :], tl.trans(t) + j[:, None])\n",
    )
