"""The slice: from a function's source to operations, to text, and to NumPy."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask

FUNCTIONS = """
def function(text):
    \"\"\"The function that a new file with this text defines.\"\"\"
    file = f"kernels_{abs(hash(text))}.py"
    with open(file, "w") as opened:
        opened.write(text)
    namespace = {"__name__": "kernels", "tl": None}
    exec(compile(text, file, "exec"), namespace)
    return next(value for value in namespace.values() if hasattr(value, "__code__"))
"""
"""`function(text)`: a function whose source Python can find."""

OPERATIONS = """
import ast
from first.slice import Kernel, Op, Type
def types(texts):
    return {name: Type(*value) if isinstance(value, list) else value for name, value in texts.items()}
def described(kernel, value):
    \"\"\"A value as the tree of operations that compute it.\"\"\"
    if not isinstance(value, Op):
        return repr(value)
    if value.name == "parameter":
        return [name for name, one in kernel.parameters.items() if one is value]
    attributes = {name: f"{type(one).__name__} {one}" for name, one in value.attributes.items()}
    return [value.name, str(value.type), attributes, [described(kernel, operand) for operand in value.operands]]
def in_order(kernel):
    known = set(map(id, kernel.parameters.values()))
    for op in kernel.ops:
        if any(id(operand) not in known for operand in op.operands):
            return False
        known.add(id(op))
    return True
def outcome(kernel, function, *arguments):
    try:
        return described(kernel, function(*arguments))
    except SyntaxError:
        return "refused"
"""
"""`described(kernel, value)`: an operation and its operands, as plain values."""

KERNEL = """\
def {name}(x, out, n, BLOCK):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside)
    at = {places}
    tl.store(out + at, {value}, mask=inside)
"""


def questions(random: Random) -> Iterator[Question]:
    def number() -> int:
        return random.randrange(2, 90)

    def expression(depth: int, names: str = "abc") -> str:
        if depth == 0:
            return random.choice((*names, str(number())))
        return f"({expression(depth - 1, names)} {random.choice('+-*')} {expression(random.randrange(depth), names)})"

    indent = " " * 4 * random.randrange(2)
    lines = [*("#" * random.randrange(5)), *(["if True:"] if indent else [])]
    lines += [f"{indent}def kernel(x, y):", f"{indent}    z = x + {number()}", f"{indent}    return {expression(2)}"]
    yield ask(
        "0.1",
        "the syntax tree of a function",
        FUNCTIONS
        + """
import ast
from first.slice import read
tree = read(function(TEXT))
result = [ast.dump(tree), [[type(node).__name__, node.lineno] for node in ast.walk(tree) if hasattr(node, "lineno")]]
""",
        TEXT="\n".join([*lines, ""]),
    )
    yield ask(
        "0.2",
        "the operations of expressions",
        OPERATIONS
        + """
result = []
for text, arguments in CASES:
    kernel = Kernel("kernel", **types(arguments))
    result += [outcome(kernel, kernel.expression, ast.parse(text, mode="eval").body), in_order(kernel)]
""",
        CASES=[
            *((expression(random.randrange(4)), dict.fromkeys("abc", ["i32"])) for _ in range(6)),
            (f"a - b * {number()}.5", {"a": ["f32"], "b": ["f32"]}),
            (f"tl.arange({(start := number())}, SIZE) + a", {"SIZE": start + 64, "a": ["i32", 64]}),
            (f"tl.program_id(0) * {number()} < a", {"a": ["i32"]}),
            ("tl.load(p, mask=m) * a", {"p": ["!tt.ptr<f32>", 8], "m": ["i1", 8], "a": ["f32", 8]}),
            ("a < b < c", dict.fromkeys("abc", ["i32"])),
            ("unknown + a", {"a": ["i32"]}),
            ("tl.emit(a)", {"a": ["i32"]}),
        ],
    )
    sizes = [None, None, 8, number()]
    yield ask(
        "0.3",
        "a number that meets a tile",
        OPERATIONS
        + """
result = []
for element, left, right in CASES:
    kernel = Kernel("kernel", a=Type(element, left), b=Type(element, right))
    try:
        result += [described(kernel, op) for op in kernel.alike(*kernel.parameters.values())]
    except SyntaxError:
        result.append("refused")
""",
        CASES=[
            (random.choice(("i32", "f32", "!tt.ptr<f32>")), left, right)
            for left in sizes
            for right in sizes
            if left != right
        ],
    )
    yield ask(
        "0.4",
        "the statements of a kernel",
        OPERATIONS
        + """
result = []
for text in CASES:
    kernel = Kernel("kernel", a=Type("i32"), b=Type("i32", 8), p=Type("!tt.ptr<f32>", 8), SIZE=8)
    for statement in ast.parse(text).body:
        result.append(outcome(kernel, kernel.statement, statement))
    result += [in_order(kernel), {name: described(kernel, value) for name, value in kernel.names.items()}]
    result.append([described(kernel, op) for op in kernel.ops if op.name == "tt.store"])
""",
        CASES=[
            f"c = {expression(2, 'ab')}\nd = c\na = a + {number()}\nc = {expression(1, 'acd')}",
            f"'It stores.'\nm = b < {number()}\ntl.store(p, tl.load(p, mask=m) + 1.0, mask=m)",
            "a[0] = b",
            "import os",
        ],
    )
    size = random.randrange(5, 12)
    shape = random.choice(((8,), (2, 4)))
    yield ask(
        "0.5",
        "masked loads and stores",
        """
        import numpy as np
        from first.slice import load, store
        array = np.arange(SIZE, dtype="float32") + FIRST
        mask, at, value = (np.array(values).reshape(SHAPE) for values in (MASK, AT, VALUES))
        at = np.where(mask, at, at * 10**6 - 10**7)
        result = [load(array, at, mask), array.copy()]
        store(array, at, value.astype("float32"), mask)
        result.append(array)
        """,
        SIZE=size + 8,
        FIRST=number(),
        SHAPE=shape,
        MASK=[random.random() < 0.6 for _ in range(8)],
        AT=random.sample(range(size + 8), 8),
        VALUES=[number() for _ in range(8)],
    )
    kernels = [
        KERNEL.format(name="scale", places="at", value=f"value * {number()}.0 - value"),
        KERNEL.format(name="reverse", places="n - 1 - at", value=f"{number()}.0 - value"),
        KERNEL.format(name="wrapping", places="at", value=f"value * {number()}.5"),
    ]
    yield ask(
        "0.6",
        "launches of whole grids",
        FUNCTIONS
        + """
import numpy as np
from first.slice import I32, POINTER, compile_kernel, launch
result = []
for text, block, grid, n in LAUNCHES:
    kernel = compile_kernel(function(text), x=POINTER, out=POINTER, n=I32, BLOCK=block)
    x, out = np.arange(n + 9, dtype=np.float32) * np.float32(0.5), np.full(n + 9, -7, np.float32)
    launch(kernel, grid, {"x": x, "out": out, "n": n})
    result += [x, out]
""",
        LAUNCHES=[(text, 2 ** random.randrange(2, 6), random.randrange(1, 9), number()) for text in kernels],
    )
    operations = [
        ("arith.addi", ["i32"], ["i32"], {}, 2),
        ("tt.make_range", ["i32", number()], ["i32"], {"start": ("int32", number()), "end": ("int32", number())}, 0),
        ("arith.constant", ["f32"], ["f32"], {"value": ("float32", number() / 8)}, 0),
        ("arith.cmpi", ["i1", 8], ["i32", 8], {"predicate": ("int64", 2)}, 2),
        ("tt.store", ["()"], ["f32", number()], {}, 3),
    ]
    yield ask(
        "0.7",
        "operations as text",
        """
        import numpy as np
        from first.slice import Op, Type, line
        result = []
        for name, made, operand, attributes, count in CASES:
            operands = tuple(Op("parameter", type=Type(*operand)) for _ in range(count))
            values = {name: getattr(np, kind)(value) for name, (kind, value) in attributes.items()}
            op = Op(name, operands, Type(*made), values)
            result.append(line(op, {one: f"%{i + FIRST}" for i, one in enumerate((*operands, op))}))
        """,
        """
        import re
        result = [re.sub(r'\\s*([^\\w\\s%"-])\\s*', r"\\1", line.strip()) for line in given]
        """,
        CASES=random.sample(operations, 4),
        FIRST=number(),
    )
    yield ask(
        "0.8",
        "arguments that are multiples of 16",
        """
        import numpy as np
        from first.slice import multiples_of_16
        memory = np.zeros(4096, np.uint8)
        start = -memory.ctypes.data % 16
        arrays = {f"a{i}": memory[start + i:start + i + 64] for i in PLACES}
        result = sorted(multiples_of_16(arrays | {f"n{n}": n for n in NUMBERS}))
        """,
        PLACES=[0, *random.sample(range(1, 100), 4), 16 * number()],
        NUMBERS=[0, 1, 16 * number(), *random.sample(range(2, 500), 4)],
    )
