"""Layouts, tiles and products, whose PTX the reference's emulator runs: the questions about milestone 14."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.running import COMPILE

KERNEL = """@triton.jit
def kernel(out, x, y, DEPTH, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    px = x + m[:, None] * 128 + k[None, :]
    py = y + OF_Y
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, DEPTH, K):
        left = tl.load(px, mask=k[None, :] < DEPTH - start, other=0)
        right = tl.load(py, mask=k[:, None] < DEPTH - start, other=0)
        total = tl.dot(left, right, total)
        px += K
        py += K * STEP
    tl.store(out + m[:, None] * N + n[None, :], total)
"""


def questions(random: Random) -> Iterator[Question]:
    yield from fragments(random)
    yield from tiles(random)
    yield products(random)
    yield early_loads(random)
    yield descriptors(random)
    yield late_products(random)
    for task, capability, stages in (("14.4", 80, 3), ("14.5", 90, 1), ("14.6", 90, 3)):
        yield product(random, task, capability, stages)


def fragments(random: Random) -> Iterator[Question]:
    """14.1."""
    drawn = []
    for _ in range(6):
        groups = random.random() < 0.5
        rows, columns, copies = (
            random.choice((4, 8) if groups else (1, 2, 4)),
            random.choice((1, 2)),
            random.choice((1, 2)),
        )
        shape = 16 * rows << random.randrange(2), 8 * columns << random.randrange(4)
        drawn.append((shape, (rows, columns, copies, groups), 1 << random.randrange(6, 8), random.choice((1, 2, 4))))
    yield ask(
        "14.1",
        "layouts of products and of their factors",
        """
        from mini_triton.backends.threads.fragments import Arrangement, factor_layout, sum_layout
        result = []
        for shape, arranged, depth, size in DRAWN:
            layout = sum_layout(shape, Arrangement(*arranged))
            for found in (layout, factor_layout(layout, 0, depth, size), factor_layout(layout, 1, depth, size)):
                result.append([list(map(list, part)) for part in (found.registers, found.lanes, found.warps)])
        """,
        DRAWN=drawn,
    )


def tiles(random: Random) -> Iterator[Question]:
    """14.2."""
    drawn = []
    for _ in range(6):
        size, axis = random.choice((1, 2, 4)), random.randrange(2)
        shape = tuple(1 << random.randrange(5, 8) for _ in range(2))
        registers = [tuple(1 << bit if other == axis else 0 for other in (0, 1)) for bit in range(random.randrange(6))]
        drawn.append((shape, size, random.randrange(2), axis, registers))
    yield ask(
        "14.2",
        "matrices in shared memory",
        """
        from mini_triton.backends.threads.layouts import Layout
        from mini_triton.backends.threads.tiles import Tile, matrices, neighbors
        result = []
        for shape, size, fast, axis, registers in DRAWN:
            tile = Tile(shape, size, fast, 0)
            result.append([tile.place((row % shape[0], column % shape[1])) for row, column in PLACES])
            result.append([list(vector) for vector in matrices(tile, axis, [(16, 0)])])
            result.append(neighbors(Layout(tuple(registers), ((0, 0),) * 5, ()), tile))
        """,
        DRAWN=drawn,
        PLACES=[(random.randrange(128), random.randrange(128)) for _ in range(40)],
    )


def products(random: Random) -> Question:
    """14.3."""
    drawn, inputs = [], []
    for type in ("fp16", random.choice(("fp16", "bf16")), "fp32", "i8"):
        m, n, k = 16 << random.randrange(3), 8 << random.randrange(3), 32 << random.randrange(2)
        by_columns = random.random() < 0.5
        sums = "i32" if type == "i8" else "fp32"
        text = KERNEL.replace("tl.float32", {"i32": "tl.int32", "fp32": "tl.float32"}[sums])
        text = text.replace("right, total)", 'right, total, input_precision="tf32", out_dtype=total.dtype)')
        text = text.replace("OF_Y", "n[None, :] * 128 + k[:, None]" if by_columns else "k[:, None] * N + n[None, :]")
        text = text.replace("STEP", "1" if by_columns else "N")
        signature = {"out": f"*{sums}", "x": f"*{type}", "y": f"*{type}", "DEPTH": "i32"}
        drawn.append((text, signature, {"M": m, "N": n, "K": k}, 1 << random.randrange(3)))
        inputs.append((type, sums, m, n, by_columns, random.choice((32, 48, 112))))
    return ask(
        "14.3",
        "products of matrices of four types",
        COMPILE
        + """
from mini_triton.backends.threads.back_end import compile_module
from mini_triton.transforms.manager import optimize
from mini_triton.frontend.compiler import ast_to_ttir
result = []
for text, signature, shape, warps in DRAWN:
    kernel = load(HEADER + text)["kernel"]
    module = ast_to_ttir(kernel, signature=signature, constexprs=shape, divisible=tuple(signature))
    optimize(module)
    made = compile_module(module, warps, 80, 1)
    result.append([made.ptx, made.shared])
""",
        f"""
        import ml_dtypes
        import numpy as np
        from mini_triton.emulator import emulate
        types = dict(fp16=np.float16, bf16=ml_dtypes.bfloat16, fp32=np.float32, i8=np.int8, i32=np.int32)
        random, result = np.random.default_rng({random.randrange(1 << 20)}), []
        for (ptx, shared), (type, sums, m, n, by_columns, depth) in zip(given, {inputs!r}):
            shapes = (m, 128), ((n, 128) if by_columns else (128, n))
            x, y = (random.integers(-4, 5, shape).astype(types[type]) for shape in shapes)
            out = np.zeros((m, n), types[sums])
            report = emulate(ptx, (1, 1, 1), [out, x, y, depth], shared=shared)
            result.append([out, len(report.errors), report.total.tensor_cores, ptx.count("ldmatrix")])
        """,
        DRAWN=drawn,
    )  # fmt: skip


MOVES = (
    "at += STEP",
    "at = at * STEP + i",
    "at, other = other, at + STEP",
    "other = tl.load(y + at); at += STEP",
    "at += tl.load(y + i)",
    "at = other; other = tl.load(y + at)",
    "if i > STEP:\n            at += STEP",
    "if i > STEP:\n            other += STEP",
    "tl.store(out + at, other)",
)


def early_loads(random: Random) -> Question:
    """14.4."""
    texts = [
        f"""@triton.jit
def kernel(out, x, y, n):
    at = tl.arange(0, 32)
    other, total = at + 32, tl.zeros((32,), tl.float32)
    for i in range(n):
        total += tl.load(x + at)
        {move.replace("STEP", str(random.randrange(2, 99)))}
    tl.store(out + at, total.to(tl.int32) + other)
"""
        for move in random.sample(MOVES, 6)
    ]
    return ask(
        "14.4",
        "which loads run ahead",
        COMPILE
        + """
from mini_triton.transforms.pipelining import pipeline, runs_ahead
result = []
for text in TEXTS:
    module = built(text, {"out": "*i32", "x": "*fp32", "y": "*i32", "n": "i32"}, {})
    (loop,) = [operation for operation in module.walk() if operation.name == "scf.for"]
    loads = [operation for operation in loop.regions[0].block.operations if operation.name == "tt.load"]
    ahead = sorted(runs_ahead(load, loop) for load in loads)
    pipeline(module, 3, lambda load: "tensor" in str(load.result.type), lambda product: False)
    rings = sum(operation.name == "ttg.local_alloc" for operation in module.walk())
    result.append([ahead, rings])
""",
        TEXTS=texts,
    )


def descriptors(random: Random) -> Question:
    """14.5."""
    drawn = []
    for size in (1, 2, 4, 2, 2, 2):
        shape = [1 << random.randrange(5, 9), 32 // size << random.randrange(5)]
        fast = random.randrange(2)
        drawn.append((tuple(shape if fast else reversed(shape)), size, fast, 1024 * random.randrange(8)))
    return ask(
        "14.5",
        "fields of descriptors",
        """
        from mini_triton.backends.threads.tiles import Tile
        from mini_triton.backends.threads.warp_groups import fields
        result = [fields(Tile(*asked)) for asked in DRAWN]
        """,
        DRAWN=drawn,
    )


BODIES = (
    "u = tl.dot(a, b, u)",
    "u = tl.dot(a + a, b, u)",
    "u = tl.dot(a, b + b, u)",
    "u = tl.dot(a, b, u * FACTOR)",
    "u = tl.dot(a, b, u * FACTOR + u)",
    "u = tl.dot(a, b, u); v += u",
    "v += u; u = tl.dot(a, b, u)",
    "u, v = tl.dot(a, b, v), u",
    "u = tl.dot(a, b); v += 1.0",
    "u = tl.dot(a, b, u) * FACTOR; v = tl.dot(a, b, v)",
)


def late_products(random: Random) -> Question:
    """14.6."""
    bodies = random.sample(BODIES, 6)
    texts = [
        f"""@triton.jit
def kernel(out, x, y, n):
    at = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    u, v = tl.zeros((32, 32), tl.float32), tl.zeros((32, 32), tl.float32)
    for i in range(n):
        a, b = tl.load(x + at), tl.load(y + at)
        {body.replace("FACTOR", str(random.randrange(2, 9)) + ".0")}
        at += 1024
    tl.store(out + at, u + v)
"""
        for body in bodies
    ]
    return ask(
        "14.6",
        "which products may be late",
        COMPILE
        + """
from mini_triton.transforms.manager import optimize
from mini_triton.transforms.pipelining import Pipeline
result = []
for text in TEXTS:
    module = built(text, {"out": "*fp32", "x": "*fp16", "y": "*fp16", "n": "i32"}, {})
    optimize(module)
    pipeline = Pipeline.__new__(Pipeline)
    (pipeline.loop,) = [operation for operation in module.walk() if operation.name == "scf.for"]
    pipeline.body = pipeline.loop.regions[0].block
    operations = pipeline.body.operations
    pipeline.loads = [operation for operation in operations if operation.name == "tt.load"]
    products = [operation for operation in operations if operation.name == "tt.dot"]
    result.append([pipeline.only_sums(product, wait) for product in products for wait in (False, True)])
""",
        TEXTS=texts,
    )


def product(random: Random, task: str, capability: int, stages: int) -> Question:
    """A product by the instructions of one task."""
    by_columns = random.random() < 0.5
    depth = random.choice((32, 48, 96, 112))
    opcode = {"14.4": "cp.async", "14.5": "wgmma.mma", "14.6": "wait_group.sync.aligned 1"}[task]
    text = KERNEL.replace("OF_Y", "n[None, :] * 128 + k[:, None]" if by_columns else "k[:, None] * N + n[None, :]")
    return ask(
        task,
        "a product of matrices",
        COMPILE
        + """
from mini_triton.backends.threads.back_end import compile_module
from mini_triton.transforms.manager import optimize
from mini_triton.frontend.compiler import ast_to_ttir
signature = {"out": "*fp32", "x": "*fp16", "y": "*fp16", "DEPTH": "i32"}
module = ast_to_ttir(load(HEADER + TEXT)["kernel"], signature=signature, constexprs=SHAPE, divisible=tuple(signature))
optimize(module)
made = compile_module(module, 4, CAPABILITY, STAGES)
result = [made.ptx, made.shared]
""",
        f"""
        import numpy as np
        from mini_triton.emulator import emulate
        random = np.random.default_rng({random.randrange(1 << 20)})
        x, y = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((64, 128), {(32, 128) if by_columns else (128, 32)!r}))
        out = np.zeros((64, 32), np.float32)
        report = emulate(given[0], (1, 1, 1), [out, x, y, {depth}], shared=given[1])
        result = [out, len(report.errors), {opcode!r} in given[0]]
        """,
        TEXT=text.replace("STEP", "1" if by_columns else "N"),
        SHAPE={"M": 64, "N": 32, "K": 32},
        CAPABILITY=capability,
        STAGES=stages,
    )  # fmt: skip
