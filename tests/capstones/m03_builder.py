"""The builder: the modules that it builds run, and compute the right results."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.running import INTERPRET

_BUILD = """
from mini_triton.errors import Loc
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Module
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import F16, F32, F64, I1, I8, I32, I64, PointerType, TensorType
import mini_triton.ir.types as kinds
builder = Builder()
"""


def questions(random: Random) -> Iterator[Question]:
    places = [random.randrange(5) for _ in range(6)]
    yield ask(
        "3.1",
        "where the builder inserts operations",
        _BUILD
        + """
block, inner = Block([F32, F32]), Block([])
x, y = block.arguments
result = []
try:
    builder.operation("arith.addf", x, y)
except Exception as error:
    result.append(kind_of(error))
with builder.at_end(block), builder.location(Loc("a.py", LINE)):
    made = [builder.operation("arith.addf", x, y) for _ in range(3)]
    for place in PLACES:
        with builder.before(made[place % len(made)]), builder.location(Loc("b.py", place)):
            made.append(builder.operation("arith.mulf", x, y))
        with builder.at_end(inner):
            made.append(builder.operation("arith.subf", x, y))
    with builder.location(None):
        made.append(builder.operation("arith.divf", x, y))
for b in (block, inner):
    result.append([[o.name, o.loc and [o.loc.file, o.loc.line]] for o in b.operations])
""",
        LINE=random.randrange(1, 99),
        PLACES=[place for place in places if place < 3] or [1],
    )
    numbers: list[tuple[object, str, list[int]]] = []
    for width in (8, 16, 32, 64):
        numbers += [(random.randrange(-(2 ** (width - 1)), 2**width), f"I{width}", [2**k] * (k > 0)) for k in range(3)]
        numbers.append((2**width, f"I{width}", []))
    numbers += [(random.gauss(0, 9), name, [4]) for name in ("F16", "F32", "F64")]
    numbers += [(True, "I1", []), (2, "I1", []), (1.5, "I32", []), (3, "F32", [2, 2]), (False, "I8", [])]
    yield ask(
        "3.2",
        "constants",
        _BUILD
        + """
result = []
for value, name, shape in NUMBERS:
    element = getattr(kinds, name)
    block = Block([])
    try:
        with builder.at_end(block):
            made = builder.constant(value, TensorType(tuple(shape), element) if shape else element)
        result.append([str(made.type), [[o.name, [str(r.type) for r in o.results]] for o in block.operations]])
        result[-1].append([o.attributes["value"] for o in block.operations if "value" in o.attributes])
    except Exception as error:
        result.append([kind_of(error), len(block.operations)])
""",
        NUMBERS=numbers,
    )
    shapes = [[2 ** random.randrange(3) for _ in range(random.randrange(3))] for _ in range(12)]
    shapes += [[4, 1], [1, 8], [8], [4, 8], []]
    yield ask(
        "3.3",
        "operands that broadcast",
        _BUILD
        + """
def typed(element, shape):
    return TensorType(tuple(shape), element) if shape else element
def shown(*values):
    return [str(v.type) for v in values]
result = []
for one, other in PAIRS:
    f, g = typed(F32, one), typed(F32, other)
    p, i, m = typed(PointerType(F32), one), typed(I32, other), typed(I1, other)
    block = Block([f, g, p, i, m])
    f, g, p, i, m = block.arguments
    for action in (
        lambda: builder.broadcast(f, g), lambda: [builder.add(f, g)], lambda: [builder.compare("slt", i, i)],
        lambda: [builder.addptr(p, i)], lambda: [builder.load(p, m)], lambda: [builder.load(p, m, g)],
        lambda: builder.store(p, g, m), lambda: [builder.expand_dims(f, AXIS)],
        lambda: [builder.broadcast_to(f, (4, 8))], lambda: [builder.compare("olt", f, g)],
        lambda: [builder.mul(i, i)], lambda: [builder.elementwise("arith.select", m, f, g)],
    ):
        before = len(block.operations)
        try:
            with builder.at_end(block):
                result.append(shown(*(action() or [])))
            result[-1].append(sorted(o.name for o in block.operations[before:]))
        except Exception as error:
            result.append(kind_of(error))
""",
        PAIRS=[(random.choice(shapes), random.choice(shapes)) for _ in range(20)],
        AXIS=random.randrange(-2, 3),
    )
    yield ask(
        "3.4",
        "casts",
        _BUILD
        + """
from importlib import import_module
dtypes = import_module("mini_triton.language.dtypes")
result = []
for source, target, shape in CASES:
    element = getattr(dtypes, source).ir_type
    block = Block([TensorType(tuple(shape), element) if shape else element])
    with builder.at_end(block):
        made = builder.cast(block.arguments[0], dtypes.cast_steps(getattr(dtypes, source), getattr(dtypes, target)))
    result.append([str(made.type), [o.name for o in block.operations]])
""",
        CASES=[
            (*random.sample(("int8", "int32", "uint16", "float16", "float32", "float64", "int1", "int64"), 2), shape)
            for shape in ([], [4], [2, 4], [8], [1])
            for _ in range(4)
        ],
    )
    rounds = random.randrange(2, 9)
    yield ask(
        "3.5",
        "loops and branches",
        _BUILD
        + """
from mini_triton.ir.core import Operation, Region
from mini_triton.ir.scopes import condition, for_, if_, while_, yield_
from mini_triton.ir.types import FunctionType
block = Block([PointerType(I32), I32], ["x", "n"])
p, n = block.arguments
def number(value, type=I32):
    return builder.create("arith.constant", value=value, result=type)
with builder.at_end(block):
    one, zero = number(1), number(0)
    with for_(builder, zero, n, one, [zero, number(START)]) as loop:
        a, b = loop.carried
        flag = builder.create("arith.cmpi", a, loop.variable, predicate="PREDICATE")
        with if_(builder, flag) as branch:
            with branch.then():
                yield_(builder, builder.create("arith.addi", a, b))
            with branch.otherwise():
                yield_(builder, builder.create("arith.subi", b, loop.variable))
        yield_(builder, branch.results[0], builder.create("arith.addi", b, one))
    with while_(builder, [loop.results[0], one]) as spin:
        with spin.before() as (v, k):
            condition(builder, builder.create("arith.cmpi", k, n, predicate="slt"), v, k)
        with spin.after() as (v, k):
            yield_(builder, builder.create("arith.muli", v, number(3)), builder.create("arith.addi", k, one))
    with if_(builder, builder.create("arith.cmpi", n, one, predicate="sgt")) as only:
        with only.then():
            builder.operation("tt.store", p, spin.results[0])
    builder.operation("tt.return")
kernel = Operation("tt.func", [], [], {
    "sym_name": "kernel", "sym_visibility": "public",
    "function_type": FunctionType((PointerType(I32), I32), ())}, [Region([block])])
module = Module()
module.body.append(kernel)
result = print_module(module)
""".replace("PREDICATE", random.choice(("slt", "sgt", "eq", "ne"))),
        INTERPRET + f"\nresult = interpreted(given, (1,), [np.zeros(4, np.int32), {rounds}])",
        START=random.randrange(1, 9),
    )
    yield ask(
        "3.6",
        "functions and calls",
        _BUILD
        + """
from mini_triton.ir.scopes import call, function, return_
module = Module()
with function(builder, module, "helper", {"a": I32, "b": I32}, [I32, I32], public=False) as helper:
    a, b = helper.arguments
    return_(builder, builder.create("arith.muli", a, b), builder.create("arith.subi", a, b))
with function(builder, module, "NAME", {"x": PointerType(I32), "n": I32}, divisibility={"x": 16}) as kernel:
    x, n = kernel.arguments
    product, difference = call(builder, helper, n, builder.create("arith.constant", value=TIMES, result=I32))
    builder.operation("tt.store", x, builder.create("arith.addi", product, difference))
result = print_module(module)
""".replace("NAME", random.choice(("kernel", "main", "start"))),
        INTERPRET
        + "\nresult = interpreted(given, (1,), [np.zeros(4, np.int32), 7])"
        + "\nresult.append(sorted(str(o.attributes) for o in parse_module(given).body.operations))",
        TIMES=random.randrange(2, 99),
    )
    block, length = 2 ** random.randrange(3, 8), random.randrange(1, 300)
    yield ask(
        "3.7",
        "the vector addition",
        "from kernels.by_hand import vector_add\nfrom mini_triton.ir.printer import print_module\n"
        f"result = print_module(vector_add({block}))",
        INTERPRET
        + "x, y, out = (np.random.default_rng(i).normal(size=512).astype(np.float32) for i in range(3))"
        + f"\nresult = interpreted(given, (-(-{length} // {block}),), [x, y, out, {length}])",
    )
    m, n, k = (random.randrange(5, 30) for _ in range(3))
    tiles = [random.choice((16, 32)) for _ in range(3)]
    yield ask(
        "3.7",
        "the matrix product",
        "from kernels.by_hand import matmul\nfrom mini_triton.ir.printer import print_module\n"
        f"result = print_module(matmul(*{tiles}))",
        INTERPRET
        + f"\nm, n, k = {m}, {n}, {k}\nrandom = np.random.default_rng(0)"
        + "\na, b = (random.normal(size=size).astype(np.float16) for size in ((m, k), (k, n)))"
        + "\nc = np.zeros((m, n), np.float16)"
        + f"\nresult = interpreted(given, (-(-m // {tiles[0]}), -(-n // {tiles[1]})), [a, b, c, m, n, k, k, n, n])[2]",
        without="mini_triton.ir.parser",
    )
