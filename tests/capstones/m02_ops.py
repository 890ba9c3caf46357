"""Operations: their type rules, values and uses, the verifier and the printer."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask

_TYPES = """
from mini_triton.ir import types
from mini_triton.ir.types import PointerType, TensorType
def type_of(spelling):
    name, shape = spelling
    element = PointerType(getattr(types, name[1:])) if name[0] == "*" else getattr(types, name)
    return TensorType(tuple(shape), element) if shape else element
def outcome(function, *arguments, **keywords):
    try:
        return repr([str(type) for type in wrap(function(*arguments, **keywords))])
    except Exception as error:
        return kind_of(error)
def wrap(types):
    return types if isinstance(types, tuple) else (types,)
"""
_ELEMENTS = ("I1", "I8", "I16", "I32", "I64", "F16", "BF16", "F32", "F64", "*F32", "*I8")
_SHAPES: tuple[list[int], ...] = ([], [8], [1], [2, 4], [4, 4], [2, 2, 2])
_MODULE = """
module {{
  tt.func public @kernel(%x: !tt.ptr<f32>, %n: i32) {{
    %zero = arith.constant 0 : i32
    %step = arith.constant {step} : i32
    %start = arith.constant {number} : f32
    %at = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<{size}x!tt.ptr<f32>>
    %there = tt.addptr %base, %at : tensor<{size}x!tt.ptr<f32>>, tensor<{size}xi32>
    %many = tt.splat %n : i32 -> tensor<{size}xi32>
    %mask = arith.cmpi slt, %at, %many : tensor<{size}xi32>
    %got = tt.load %there, %mask : tensor<{size}x!tt.ptr<f32>>
    %sum = "tt.reduce"(%got) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %c = arith.{combine} %a, %b : f32
      tt.reduce.return %c : f32
    }}) : (tensor<{size}xf32>) -> f32
    %all = scf.for %i = %zero to %n step %step iter_args(%carried = %start) -> (f32) : i32 {{
      %next = arith.{combine} %carried, {operand} : f32
      scf.yield %next : f32
    }}
    tt.store %x, %all : !tt.ptr<f32>
    tt.return
  }}
}}
"""


def questions(random: Random) -> Iterator[Question]:
    def some() -> tuple[str, list[int]]:
        return random.choice(_ELEMENTS), random.choice(_SHAPES)

    def two() -> tuple[tuple[str, list[int]], tuple[str, list[int]]]:
        first = some()
        return first, first if random.random() < 0.5 else some()

    links = [(random.randrange(i), random.randrange(i)) for i in range(1, 8)]
    yield ask(
        "2.1",
        "values and their uses",
        """
        from mini_triton.ir.core import Block, Operation, Region
        from mini_triton.ir.types import I32
        block = Block([I32])
        values = [block.arguments[0]]
        for one, other in LINKS:
            operation = Operation("arith.addi", [values[one], values[other]], [I32])
            block.append(operation)
            values.append(operation.results[0])
        outer = Operation("scf.execute_region", [], [], {}, [Region([block])])
        numbers = {id(value): number for number, value in enumerate(values)}
        def uses():
            return [sorted((numbers[id(use.user.results[0])], use.number) for use in value.uses) for value in values]
        result = [uses(), [o.name for o in outer.walk()], block.operations[0].parent_op is outer, outer.parent_op is None]
        values[OLD].replace_all_uses_with(values[0])
        result += [uses(), [[numbers[id(v)] for v in o.operands] for o in block.operations]]
        block.operations[-1].set_operand(0, values[NEW])
        result.append(uses())
        for operation in list(block.operations)[::-1]:
            try:
                operation.erase()
                result.append(len(block.operations))
            except Exception as error:
                result.append(kind_of(error))
        """,
        LINKS=links,
        OLD=random.randrange(1, 7),
        NEW=random.randrange(4),
    )
    rules = ("same_integers", "same_floats")
    casts = ("wider_float", "wider_integer", "bitcast")
    yield ask(
        "2.2",
        "the rules of elementwise operations",
        _TYPES
        + """
from mini_triton.ir.ops import elementwise
result = []
for (lhs, rhs), third, rule, cast in CASES:
    lhs, rhs, third = map(type_of, (lhs, rhs, third))
    result.append(outcome(getattr(elementwise, rule), lhs, rhs))
    result.append(outcome(elementwise.cmpi, lhs, rhs, predicate="slt"))
    result.append(outcome(elementwise.cmpf, lhs, rhs, predicate="olt"))
    result.append(outcome(elementwise.select, third, lhs, rhs))
    result.append(outcome(getattr(elementwise, cast), lhs, result=rhs))
""",
        CASES=[(two(), ("I1", random.choice(_SHAPES)), random.choice(rules), random.choice(casts)) for _ in range(60)],
    )
    yield ask(
        "2.3",
        "the rules of memory operations",
        _TYPES
        + """
from mini_triton.ir.ops import memory
result = []
for (ptr, other), value, mask in CASES:
    ptr, other, value, mask = map(type_of, (ptr, other, value, mask))
    result.append(outcome(memory.pointee, ptr))
    result.append(outcome(memory.addptr, ptr, other))
    result.append(outcome(memory.load, ptr))
    result.append(outcome(memory.load, ptr, mask))
    result.append(outcome(memory.load, ptr, mask, value))
    result.append(outcome(memory.store, ptr, value, mask))
    result.append(outcome(memory.atomic_cas, ptr, value, value, sem="acq_rel", scope="gpu"))
    for kind in ("add", "fadd", "xchg", "umax"):
        result.append(outcome(memory.atomic_rmw, ptr, value, mask, atomic_rmw_op=kind, sem="relaxed", scope="gpu"))
""",
        CASES=[
            (((random.choice(("*F32", "*I8", "I32")), shape), ("I32", shape)), (kind, shape), ("I1", other))
            for shape, other, kind in (
                (random.choice(_SHAPES), random.choice(_SHAPES), random.choice(("F32", "I8"))) for _ in range(40)
            )
        ]
        + [
            (((kind, shape), ("I64", shape)), (kind[1:], shape), ("I1", shape))
            for kind in ("*F32", "*I8")
            for shape in _SHAPES
        ],
    )
    yield ask(
        "2.4",
        "the rules of shape operations",
        _TYPES
        + """
from mini_triton.ir.ops import shape
result = []
for source, target, axis, order, start, end in CASES:
    source, target = type_of(source), type_of(target)
    result.append(outcome(shape.make_range, start=start, end=end))
    result.append(outcome(shape.splat, source, result=target))
    result.append(outcome(shape.expand_dims, source, axis=axis))
    result.append(outcome(shape.broadcast, source, result=target))
    result.append(outcome(shape.reshape, source, allow_reorder=False, result=target))
    result.append(outcome(shape.trans, source, order=tuple(order)))
    result.append(outcome(shape.join, source, target))
    result.append(outcome(shape.split, source))
""",
        CASES=[
            (source, target, random.randrange(-1, 4), random.sample(range(3), k), 0, 2 ** random.randrange(5))
            for (source, target), k in ((two(), random.randrange(1, 4)) for _ in range(60))
        ]
        + [(("F32", [4, 1]), ("F32", [4, 8]), 1, [1, 0], 0, 8), (("F32", [2, 2]), ("F32", [2, 2]), 0, [1, 0], 4, 8)],
    )
    yield ask(
        "2.5",
        "the rules of dot, reduce and scan",
        _TYPES
        + """
from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.ops import reduction
def region(element, end, same):
    block = Block([element, element])
    operation = Operation(end, [block.arguments[0]] if same else [], [])
    block.append(operation)
    return [Region([block])]
result = []
for m, n, k, other, a, c in DOTS:
    result.append(outcome(reduction.dot, type_of((a, [m, k])), type_of((a, [other, n])), type_of((c, [m, n])),
                          inputPrecision="ieee"))
for (name, shape), axis, same in FOLDS:
    source = type_of((name, shape))
    element = type_of((name, []))
    result.append(outcome(reduction.reduce, source, axis=axis, regions=region(element, "tt.reduce.return", same)))
    result.append(outcome(reduction.scan, source, axis=axis, reverse=False,
                          regions=region(element, "tt.scan.return", same)))
""",
        DOTS=[
            (
                16,
                32,
                16,
                random.choice((16, 32)),
                random.choice(("F16", "BF16", "F32", "I8")),
                random.choice(("F32", "I32")),
            )
            for _ in range(12)
        ],
        FOLDS=[(some(), random.randrange(3), random.random() < 0.8) for _ in range(30)],
    )
    yield ask(
        "2.6",
        "the rules of loops and branches",
        _TYPES
        + """
from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.ops import control_flow
def region(arguments, end, count):
    block = Block([type_of(t) for t in arguments])
    operation = Operation(end, list(block.arguments)[len(block.arguments) - count:] if count else [], [])
    block.append(operation)
    return Region([block])
result = []
for carried, extra, end in CASES:
    kinds = [type_of(t) for t in carried]
    bound = type_of(("I32", []))
    body = region([("I32", []), *carried], end, max(0, len(carried) - extra))
    result.append(outcome(control_flow.for_, bound, bound, bound, *kinds, regions=[body]))
    branches = [region(carried, end, len(carried)), region(carried, "scf.yield", len(carried))]
    result.append(outcome(control_flow.if_, type_of(("I1", [])), regions=branches))
    before = region([*carried, ("I1", [])], "scf.condition", 1)
    result.append(outcome(control_flow.while_, *kinds, type_of(("I1", [])), regions=[before, region([], end, 0)]))
    result.append(outcome(control_flow.condition, *kinds))
    try:
        result.append(control_flow.end_of(body, "scf.yield").name)
    except Exception as error:
        result.append(kind_of(error))
""",
        CASES=[
            (
                [some() for _ in range(random.randrange(3))],
                random.randrange(2),
                random.choice(("scf.yield", "tt.return")),
            )
            for _ in range(25)
        ],
    )
    names = random.sample(("ptr", "mask", "value", "lhs", "index", "order"), 4)
    yield ask(
        "2.7",
        "operations made by their rules",
        f"""
from mini_triton.ir.core import Block
from mini_triton.ir.ops.definition import create, schema_of
from mini_triton.ir.types import F32, I32
def first({names[0]}, {names[1]}=None, *{names[2]}, {names[3]}, times={random.randrange(9)}, result=None, regions): ...
def second(*{names[0]}, {names[1]}={random.randrange(9)}, result): ...
result = []
for rule in (first, second):
    schema = schema_of(rule)
    result.append([[name, value if isinstance(value, (bool, dict)) else str(value)] for name, value in vars(schema).items()])
x, y, z = Block([F32, F32, I32]).arguments
for name, operands, attributes in CASES:
    try:
        made = create(name, *(dict(x=x, y=y, z=z)[o] for o in operands), **attributes)
        result.append([made.name, [str(r.type) for r in made.results], str(sorted(made.attributes.items()))])
    except Exception as error:
        result.append(kind_of(error))
""",
        CASES=[
            *(("arith.addf", random.sample("xyz", 2), {}) for _ in range(4)),
            ("tt.make_range", [], {"start": 0, "end": 2 ** random.randrange(1, 9)}),
            ("arith.cmpi", ["z", "z"], {"predicate": random.choice(("slt", "sgt", "eq"))}),
            ("arith.cmpi", ["z", "z"], {"predicate": "less"}),
            ("tt.make_range", [], {"start": 0}),
            ("arith.addf", ["x"], {}),
            ("no.such", ["x"], {}),
        ],
    )
    texts = [_module(random) for _ in range(3)]
    wrong = [
        texts[0].replace("arith.constant 0 : i32", "arith.constant 0 : i64"),
        texts[1].replace("%next = ", "%other = ").replace("scf.yield %next", "scf.yield %carried"),
        texts[2].replace("      scf.yield %next : f32\n", ""),
        texts[0].replace("    tt.return\n", ""),
    ]
    yield ask(
        "2.8",
        "the verifier",
        """
        from mini_triton.ir.core import Block, Operation, Region
        from mini_triton.ir.parser import parse_module
        from mini_triton.ir.verifier import verify
        result = []
        for text in TEXTS:
            try:
                verify(parse_module(text))
                result.append("verified")
            except Exception as error:
                result.append(kind_of(error))
        for move in (3, 5, 8):
            module = parse_module(TEXTS[0])
            operations = module.body.operations[0].regions[0].block.operations
            operation = operations[-2]
            operation.set_operand(1, operations[move].results[0])
            try:
                verify(module)
                result.append("verified")
            except Exception as error:
                result.append(kind_of(error))
        """,
        TEXTS=[*texts, *wrong],
    )
    numbers = [(random.choice((1.5, -0.0, 1e-5, 1e22, 0.1, float("inf"), random.gauss(0, 1e3))), f) for f in
               ("F16", "BF16", "F32", "F64")]  # fmt: skip
    integers = [(random.randrange(-(2 ** (w - 1)), 2 ** (w - 1)), f"I{w}") for w in (8, 16, 32, 64) for _ in range(3)]
    yield ask(
        "2.9",
        "numbers as MLIR writes them",
        """
        from mini_triton.ir import types
        from mini_triton.ir.printer import format_number
        result = [[format_number(value, getattr(types, name)), name.lower()] for value, name in NUMBERS]
        result += [[format_number(flag, types.I1), "i1"] for flag in (True, False)]
        """,
        """
        from mini_triton.ir.parser import parse_module
        from mini_triton.ir.printer import print_module
        around = "module {\\ntt.func public @k() {\\n%c = arith.constant NUMBER : TYPE\\ntt.return\\n}\\n}"
        texts = [around.replace("NUMBER", number).replace(" : TYPE", f" : {type}" * (type != "i1")) for number, type in given]
        result = [print_module(parse_module(text)) for text in texts]
        """,
        NUMBERS=[*((float(value), name) for value, name in numbers), *integers],
    )
    yield ask(
        "2.10",
        "a loop as MLIR writes it",
        """
        from mini_triton.ir.core import Block, Module, Operation, Region
        from mini_triton.ir.printer import print_module
        from mini_triton.ir.types import F32, I32, FunctionType, PointerType
        types = [PointerType(F32), I32, F32]
        block, body = Block(types, NAMES), Block([I32, F32], ["i", "carried"])
        x, n, start = block.arguments
        values = [start, body.arguments[1]]
        for name, lhs, rhs in OPERATIONS:
            body.append(Operation(name, [values[lhs], values[rhs]], [F32]))
            values += body.operations[-1].results
        body.append(Operation("scf.yield", values[-1:]))
        loop = Operation("scf.for", [n, n, n, start], [F32], {"tt.num_stages": STAGES}, [Region([body])])
        for operation in (loop, Operation("tt.store", [x, loop.results[0]]), Operation("tt.return")):
            block.append(operation)
        facts = {"sym_name": "kernel", "sym_visibility": "public", "function_type": FunctionType(tuple(types), ())}
        module = Module()
        module.body.append(Operation("tt.func", [], [], facts, [Region([block])]))
        result = [print_module(module), print_module(module, generic=True)]
        """,
        """
        from mini_triton.ir.parser import parse_module
        from mini_triton.ir.printer import print_module
        result = [print_module(parse_module(text)) for text in given]
        """,
        NAMES=random.sample("pqrstu", 3),
        OPERATIONS=[
            (random.choice(("arith.addf", "arith.mulf", "arith.subf")), random.randrange(i), random.randrange(i))
            for i in range(2, 7)
        ],
        STAGES=random.randrange(1, 5),
    )
    yield ask(
        "2.10",
        "modules as MLIR writes them",
        """
        from mini_triton.ir.parser import parse_module
        from mini_triton.ir.printer import print_module
        result = [print_module(parse_module(text)) for text in TEXTS]
        """,
        """
        from mini_triton.ir.parser import parse_module
        from mini_triton.ir.printer import print_module
        result = [print_module(parse_module(text)) for text in given]
        """,
        TEXTS=texts,
        after="2.2 2.3 2.4 2.5 2.6",
    )


def _module(random: Random) -> str:
    return _MODULE.format(
        step=random.randrange(1, 5),
        number=f"{random.uniform(-9, 9):e}",
        size=2 ** random.randrange(2, 8),
        combine=random.choice(("addf", "mulf", "maximumf")),
        operand=random.choice(("%sum", "%start")),
    )
