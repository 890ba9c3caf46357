"""The front end: modules that it makes from kernels' source, judged by running them."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.kernels import Kernel, draw
from tests.capstones.running import COMPILE, INTERPRET

_TASKS = {
    "simple": "5.2", "arithmetic": "5.3", "assignment": "5.4", "static": "5.5", "for": "5.7", "branches": "5.8", "branch": "5.8",
    "combining": "5.7", "products": "5.7", "atomics": "5.4", "exact": "5.4",
}  # fmt: skip
_NOT_PYTHON = (
    "tl = missing",
    "break",
    "global tl",
    "yield missing",
    "del tl",
)  # the ends of functions that Python cannot run
_WRONG = (
    "tl.store(out, missing)",
    "a = 1\nfor i in range(0, n):\n    a = tl.zeros((4,), tl.float32)\ntl.store(out, a)",
    "if n > 1:\n    a = 1.5\nelse:\n    a = tl.arange(0, 4)\ntl.store(out, a)",
    "b = n\nwhile b < 3:\n    b = b + out",
    "tl.store(out, n +\n         (tl.arange(0, 4) + tl.arange(0, 8)))",
    "if n > 2:\n    late = 1\ntl.store(out, late)",
)


def compiling(tasks: str, kernel: Kernel, end: str, seed: int) -> Question:
    """A question about the behavior of a kernel's module. The kernel's text gets an `end`, which nothing reaches."""
    return ask(
        tasks,
        f"a kernel ({kernel.feature})",
        COMPILE + f"\nresult = print_module(built({kernel.text + end!r}, {kernel.signature!r}, {kernel.constants!r}))",
        INTERPRET
        + f"\nresult = interpreted(given, {kernel.grid!r}, arguments({seed}, {kernel.signature!r}, {kernel.given!r}))",
    )


def questions(random: Random) -> Iterator[Question]:
    seed = random.randrange(1 << 20)
    names = random.sample("abcdefgh", 6)
    p, q, r, s, t, u = names
    texts = [
        f"{p} += {q} * {r}\nfor {s} in range({t}):\n    {u}, ({p}, {q}) = f({s})",
        f"if {p}:\n    while {q}:\n        {r}[{s}] = {t}\n    {u}.{p} = {q}\n{s} = {p}",
        f"{t} = [{p}, {q}]\n{r}: int = {s}\nreturn {u}",
    ]
    yield ask(
        "5.1",
        "the names that a piece of source reads and writes",
        """
        import ast
        from mini_triton.frontend.names import read, written
        result = [[written(ast.parse(text).body), read(ast.parse(text).body)] for text in TEXTS]
        """,
        TEXTS=texts,
    )
    for kernel in draw(random):
        is_straight = _TASKS[kernel.feature] in ("5.2", "5.3", "5.4")
        end = f"    return\n    {random.choice(_NOT_PYTHON)}\n" if is_straight else ""
        yield compiling(_TASKS[kernel.feature], kernel, end, seed)
    yield ask(
        "5.6",
        "values that cross control flow",
        """
        from mini_triton.frontend.values import describe, flatten, rebuild
        from mini_triton.ir.core import Block
        from mini_triton.ir.types import F32, I32, TensorType
        from importlib import import_module
        dtypes = import_module("mini_triton.language.dtypes")
        from mini_triton.language.tensor import tensor
        block = Block([F32, I32, TensorType((4,), F32)])
        x, y, z = (tensor(a, t) for a, t in zip(block.arguments, (dtypes.float32, dtypes.int32, dtypes.float32)))
        other = Block([F32, I32, TensorType((4,), F32)]).arguments
        result = []
        for text in TEXTS:
            value = eval(text, {"x": x, "y": y, "z": z})
            flat = flatten(value)
            made = rebuild(value, [other[list(block.arguments).index(v.handle)] for v in flat])
            again = [list(other).index(v.handle) for v in flatten(made)]
            result.append([[list(block.arguments).index(v.handle) for v in flat], again, describe(value)])
        """,
        TEXTS=[random.choice(("(x, y)", "(y, (z, x))", "x")), "((x,), z, (y, y))", "z", "()"],
    )
    first = random.randrange(len(_WRONG))
    yield ask(
        "5.9",
        "the lines of errors",
        COMPILE
        + """
from mini_triton.errors import CompilationError
result = []
for body in BODIES:
    lines = "".join(f"    {line}\\n" for line in body.splitlines())
    try:
        built("@triton.jit\\ndef kernel(out, n):\\n" + "    tl.store(out, n)\\n" * BEFORE + lines, dict(out="*fp32", n="i32"), {})
        result.append("compiled")
    except CompilationError as error:
        result.append([kind_of(error), error.loc and error.loc.line, error.loc and error.loc.column])
""",
        BODIES=_WRONG[first:] + _WRONG[:first],
        BEFORE=random.randrange(5),
    )
