"""Fusion: index expressions, and programs in PyTorch whose kernels the submission writes and runs."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.running import TAKEN

GRAPHS = """
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx
from mini_triton.fusion.backend import decompositions
from mini_triton.fusion.program import compile_graph
torch.manual_seed(SEED)
cases = []
def some(*shape):
    return torch.randn(shape)
def computed(function, *inputs, **options):
    cases.append((function, inputs, options))
def program_of(function, inputs, options):
    graph = make_fx(function, decomposition_table=decompositions(), tracing_mode="fake")(*inputs)
    return compile_graph(graph.graph, **options)
"""
"""`computed(function, *inputs)` adds a case; `program_of(*case)` compiles it."""

RUN = (
    TAKEN
    + """
import ast
from mini_triton.fusion import program
load = program.load
STATEMENTS = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Assign, ast.Expr, ast.Return, ast.Name, ast.Constant, ast.Tuple, ast.List,
    ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context,
)
NUMBERS = ("cdiv", "min", "max")
GIVEN = ("torch", "math", "reinterpret_tensor")
def is_number(node):
    \"\"\"Whether an expression only computes with numbers: PyTorch's operators may not compute for a kernel.\"\"\"
    match node:
        case ast.Constant() | ast.Attribute(ast.Name("math")):
            return True
        case ast.Call(ast.Attribute(attr="storage_offset"), []):
            return True
        case ast.Call(ast.Name(name), operands, []):
            return name in NUMBERS and all(map(is_number, operands))
        case ast.BinOp(left, _, right):
            return is_number(left) and is_number(right)
        case ast.UnaryOp(_, operand):
            return is_number(operand)
    return False
def inspected(source):
    \"\"\"The program's own function. Apart from kernels, a program may only allocate, launch, and call what PyTorch computes.\"\"\"
    assert source.startswith(program.HEADER), "a program without the usual imports"
    *kernels, main = ast.parse(source).body[len(ast.parse(program.HEADER).body):]
    for kernel in kernels:
        assert [ast.unparse(node) for node in kernel.decorator_list] == ["triton.jit"], "a function that is not a kernel"
        annotations = [node.annotation for node in ast.walk(kernel.args) if isinstance(node, ast.arg)]
        given = [*kernel.args.defaults, *kernel.args.kw_defaults, *annotations, kernel.returns]
        assert {ast.unparse(node) for node in given if node} <= {"tl.constexpr"}, "a kernel with defaults"
    names = {kernel.name for kernel in kernels}
    assert isinstance(main, ast.FunctionDef), "a program without a function"
    for name in taken(ast.unparse(main)):
        is_given = name in (*GIVEN, *NUMBERS, *names) or name.startswith("call_")
        assert is_given, f"a program that uses {name}"
    for node in ast.walk(main):
        assert isinstance(node, STATEMENTS) and (node is main or not isinstance(node, ast.FunctionDef)), (
            f"a program with {type(node).__name__}"
        )
        match node:
            case ast.Name(name, ast.Store()):
                assert name not in NUMBERS and name not in names and not name.startswith("call_"), f"a program that defines {name}"
            case ast.BinOp() | ast.UnaryOp():
                assert is_number(node), f"a program that computes {ast.unparse(node)}"
            case ast.Attribute(ast.Name("torch"), name):
                is_memory = name == "empty_strided" or isinstance(getattr(torch, name), torch.dtype)
                assert is_memory, f"a program that uses torch.{name}"
            case ast.Attribute(ast.Name("math")) | ast.Attribute(ast.Name(), "clear"):
                pass
            case ast.Attribute(attr=name):
                raise AssertionError(f"a program that uses {name}")
            case ast.Call(ast.Name(name)):
                assert name.startswith("call_") or name in GIVEN or is_number(node), f"a program that calls {name}"
            case ast.Call(ast.Subscript(ast.Name(name))):
                assert name in names, f"a program that launches {name}"
            case ast.Call(ast.Attribute()):
                pass
            case ast.Call():
                raise AssertionError(f"a program that calls {ast.unparse(node.func)}")
    return main
def run(source, case):
    \"\"\"What a program computes, how many kernels it launches, and how many buffers it allocates.\"\"\"
    calls = [node.func for node in ast.walk(inspected(source)) if isinstance(node, ast.Call)]
    launches = sum(isinstance(function, ast.Subscript) for function in calls)
    buffers = sum(ast.unparse(function) == "torch.empty_strided" for function in calls)
    program.load = lambda _: load(source)  # in place of the reference's source
    try:
        results = program_of(*case).run([x.clone() for x in case[1]])
    finally:
        program.load = load
    results = results if isinstance(results, (list, tuple)) else [results]
    return [[x.tolist() for x in results], launches, buffers]
result = [run(source, case) for source, case in zip(given, cases, strict=True)]
"""
)
"""Run the programs that a submission wrote, `given`, without the submission, on other inputs than it has seen."""


def questions(random: Random) -> Iterator[Question]:
    seed = random.randrange(1 << 20)
    m, n, k = (random.randrange(3, 40) for _ in range(3))

    def compute(task: str, about: str, code: str) -> Question:
        return ask(task, about, GRAPHS + code, needs="torch", SEED=seed)

    def write(task: str, about: str, cases: str) -> Question:
        later = GRAPHS.replace("SEED", str(seed + 1)) + cases + RUN
        sources = "\nresult = [program_of(*case).source for case in cases]"
        return ask(task, about, GRAPHS + cases + sources, later, needs="torch", SEED=seed)

    shape = [random.randrange(2, 7) for _ in range(3)]
    yield ask(
        "12.2",
        "index expressions",
        """
        import sympy
        from mini_triton.fusion.indexing import (
            Coordinate, Quotient, Remainder, broadcast_index, divide, ravel, remainder, unravel,
        )
        index = [Coordinate(f"i{axis}", size) for axis, size in enumerate(SHAPE)]
        flat = ravel(index, SHAPE)
        def at(expr, place):
            expr = sympy.sympify(expr).xreplace(dict(zip(index, map(sympy.Integer, place))))
            return int(expr.replace(Quotient, lambda a, b: a // b).replace(Remainder, lambda a, b: a % b))
        result = []
        for place in PLACES:
            for by in map(sympy.Integer, (1, SHAPE[2], SHAPE[1] * SHAPE[2], NUMBER)):
                result += [at(divide(flat, by), place), at(remainder(flat, by), place)]
            for shape in (SHAPE, SHAPE[::-1], [SHAPE[0], 1, SHAPE[1] * SHAPE[2]]):
                result.append([at(expr, place) for expr in unravel(flat, shape)])
            for shape in ((SHAPE[1], 1), (1, SHAPE[2]), ()):
                result.append([at(expr, place) for expr in broadcast_index(tuple(index), shape)])
        result += [[str(x) for x in unravel(flat, SHAPE)], str(divide(flat, sympy.Integer(SHAPE[2])).has(Quotient))]
        """,
        SHAPE=shape,
        NUMBER=random.randrange(2, 9),
        PLACES=[[random.randrange(size) for size in shape] for _ in range(5)],
        needs="sympy",
    )
    yield compute(
        "12.1",
        "the lowering of operators",
        f"""
from mini_triton.fusion.lowering.graph import HANDLERS, Unsupported, lower_graph
from mini_triton.fusion.tensors import Called
def refused(*_, **__):
    raise Unsupported("reason {seed}")
def broken(*_, **__):
    raise ZeroDivisionError
result = []
for handler in (None, refused, broken, lambda *arguments, **keywords: [len(arguments), sorted(keywords)]):
    HANDLERS["cummax"] = handler
    if handler is None:
        del HANDLERS["cummax"]
    graph = make_fx(lambda x: torch.cummax(x, 0))(some({m})).graph
    node = next(node for node in graph.nodes if node.op == "call_function")
    try:
        found = lower_graph(graph)[node]
        found = [[type(x).__name__, x.reason if handler else bool(x.reason)] if isinstance(x, Called) else x for x in found]
    except ZeroDivisionError:
        found = "an error"
    result.append(found)
""",
    )
    yield compute(
        "12.1",
        "a program for torch.compile",
        f"""
from mini_triton.fusion import backend
options = {{"fuse": False, "reuse": False}}
fast = torch.compile(lambda x: torch.cumsum(x, 0), backend=backend.mini_triton, options=options)
result = [fast(some({m})).tolist(), len(backend.programs), len(backend.programs[-1].kernels)]
""",
    )
    yield write(
        "12.1",
        "operators, each in its own kernel",
        f"""
apart = {{"fuse": False, "reuse": False}}
computed(lambda x, y: torch.sin(x * 2) + y, some({m}, {n}), some({n}), **apart)
computed(lambda x, i: (x / i, i * 2, i / 4, x > i), some({n}), torch.arange(1, {n + 1}), **apart)
""",
    )
    yield write(
        "12.2",
        "operators and views, each in its own kernel",
        f"""
apart = {{"fuse": False, "reuse": False}}
computed(lambda x, y: torch.sin(x.t() * 2)[1:] + y, some({n}, {m}), some({n}), **apart)
computed(lambda x: (x.reshape({n}, {m}).permute(1, 0) > 0).to(torch.float16) * 3, some({m}, {n}), **apart)
""",
    )
    yield write(
        "12.3",
        "which operators share a kernel",
        f"""
alone = {{"reuse": False}}
x, y, z = some({m}, {n}), some({m}, {n}), some({n})
computed(lambda x, y, z: torch.sin(x * 2 + y) * z, x, y, z, **alone)
computed(lambda x, y, z: (x + 1, y * 2, x - z), x, y, z, **alone)
computed(lambda x: (x + 1) * torch.cumsum(torch.sin(x + 1), 0), x, **alone)
computed(lambda x: (x.to(torch.float64) * 2, x.to(torch.float64) + 1), x, **alone)
""",
    )
    yield write(
        "12.4",
        "reductions",
        f"""
alone = {{"reuse": False}}
x, w = some({m}, {n}), some({n})
computed(lambda x, w: F.layer_norm(torch.relu(x), ({n},), w, w), x, w, **alone)
computed(lambda x: (x.sum(0), x.argmax(1), x.amin()), -x.abs() - 1, **alone)
long = some(2, {random.randrange(5000, 7000)})
computed(lambda x: (torch.logsumexp(x, 1), x.argmin(1)), long, **alone)
computed(lambda x: torch.softmax(x, 1).amax(1), long, **alone)
""",
    )
    yield write(
        "12.5",
        "products, and the buffers of a program",
        f"""
x, w, b = some({m}, {k}), some({n}, {k}), some({n})
computed(lambda x, w, b: torch.relu(F.linear(x, w, b)), x, w, b)
computed(lambda x: x @ x.t() @ x @ x.t() @ x / 1000, x)
computed(lambda x: [(a := x @ x.t()), (a, a @ a @ a / 1000)][-1], x)
computed(lambda x, w: torch.bmm(x.expand(2, {m}, {k}), w.t().expand(2, {k}, {n})) + 1, x, w)
""",
    )
    yield write(
        "12.6",
        "indices that are values, and results that consist of pieces",
        f"""
x, y = some({m}, {n}), some({k}, {n})
i = torch.randint(-{m}, {m}, ({k},))
computed(lambda x, i: x[i] * 2, x, i)
computed(lambda x, i: x.gather(0, i), x, torch.randint(0, {m}, ({k}, {n})))
computed(lambda x, y: torch.cat([x, y * 2, x]).sin(), x, y)
computed(lambda x, y: torch.slice_scatter(x, y, 1, 1, {n}, 2), x, some({m}, {n // 2}))
computed(lambda x, i: F.cross_entropy(x, i), x, torch.randint(0, {n}, ({m},)))
computed(lambda x, i: x.scatter(1, i, 2.0), x, torch.randint(0, {n}, ({m}, 1)))
""",
    )
    text, signature = pointwise(random)
    yield ask(
        "12.7",
        "a launch of Inductor's kernel",
        """
        import linecache
        from types import SimpleNamespace
        import torch
        from triton import Config
        from mini_triton.fusion.inductor import InductorKernel
        linecache.cache["written.py"] = len(TEXT), None, TEXT.splitlines(keepends=True), "written.py"
        names = {"__name__": "written", "__file__": "written.py"}
        exec(compile(TEXT, "written.py", "exec"), names)
        torch.manual_seed(SEED)
        result = []
        for size, kwargs in LAUNCHES:
            facts, meta = {"signature": SIGNATURE, "constants": {}}, {"grid_type": "Grid1D"}
            kernel = InductorKernel(SimpleNamespace(fn=names["fused"]), [Config(kwargs, num_warps=2, num_stages=3)], facts, meta)
            given = {"*fp32": lambda: torch.randn(size + 5), "i32": lambda: int(torch.randint(1, 5, ()))}
            values = {name: given[kind]() for name, kind in SIGNATURE.items() if kind in given} | {"xnumel": size}
            kernel.run(*(values[name] for name, kind in SIGNATURE.items() if kind in given), stream=0)
            result.append([x.tolist() for x in values.values() if not isinstance(x, int)])
        """,
        TEXT=text,
        SIGNATURE=signature,
        LAUNCHES=[
            (random.randrange(50, 900), {"XBLOCK": 2 ** random.randrange(4, 8)} | dict.fromkeys(more, 1))
            for more in ((), ("YBLOCK",))
        ],
        SEED=seed,
        needs="torch triton",
    )


def pointwise(random: Random) -> tuple[str, dict[str, str]]:
    """The source and the signature of a kernel `fused` as Inductor writes it: random arithmetic, repeated in a loop."""
    first, second, out, factor, times = names = random.sample("abcdefgh", 5)
    signature = dict(zip(names, ["*fp32"] * 3 + ["i32"] * 2, strict=True)) | {"xnumel": "i32", "XBLOCK": "constexpr"}
    signature = dict(random.sample([*signature.items()], len(signature)))

    def expression(depth: int) -> str:
        if not depth:
            return random.choice(("v", "w", "total", factor, f"{random.uniform(-2, 2):.2f}"))
        x, y = expression(depth - 1), expression(depth - 1)
        return random.choice((f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"tl.maximum({x}, {y} * 1.0)"))

    text = f"""import triton
import triton.language as tl
def fused({", ".join(name + ": tl.constexpr" * (name == "XBLOCK") for name in signature)}):
    i = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    v, w = tl.load({first} + i, i < xnumel), tl.load({second} + i, i < xnumel)
    total = v * XBLOCK
    for _ in range(0, {times}):
        total = tl.sin(total + v * {expression(3)}) - w
    tl.store({out} + i, total, i < xnumel)
"""
    return text, signature
