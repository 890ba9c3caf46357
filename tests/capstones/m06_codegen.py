"""Code generation: kernels run by the interpreter and as NumPy code."""

import math
from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.kernels import draw
from tests.capstones.running import ARGUMENTS, COMPILE, INSPECT

_TASKS = {
    "simple": "6.5", "arithmetic": "6.5", "assignment": "6.5", "static": "6.5", "exact": "6.5", "combining": "6.6",
    "branch": "6.7", "branches": "6.8", "for": "6.8", "products": "6.8", "atomics": "6.9",
}  # fmt: skip
_INTERPRETED = ("arithmetic", "combining", "for", "branches", "atomics")
_ARGUMENTS = (
    ARGUMENTS
    + """
from mini_triton.ir.storage import Buffer
def launched(kernel, grid, values):
    kernel(grid, [Buffer.of("x", v) if isinstance(v, np.ndarray) else v for v in values])
    return [v.ravel()[:512] for v in values if isinstance(v, np.ndarray)]
"""
)
_INTERPRET = (
    COMPILE
    + _ARGUMENTS
    + """
from functools import partial
from mini_triton.ir import interpreter
def interpreted(text, signature, constants, given, grid, seed):
    return launched(partial(interpreter.run, built(text, signature, constants)), grid, arguments(seed, signature, given))
"""
)
_GENERATE = (
    COMPILE
    + """
from mini_triton.codegen.numpy_gen import generate
from mini_triton.analysis.pointers import origins
def generated(text, signature, constants, modes):
    (function,) = built(text, signature, constants).body.operations
    return [generate(function, mode, origins(function))[0] for mode in modes]
"""
)
_RUN = (
    COMPILE
    + _ARGUMENTS
    + INSPECT
    + """
from dataclasses import replace
from mini_triton.codegen import compile_module
from mini_triton.codegen.numpy_gen import HEADER as IMPORTS
imported = {}
exec(IMPORTS, imported)
def ran(sources, text, signature, constants, given, grid, modes, seed):
    results = []
    for source, mode in zip(sources, modes, strict=True):
        inspected(source, IMPORTS, imported)
        kernel = replace(compile_module(built(text, signature, constants), mode), source=source)
        results.append(launched(kernel, grid, arguments(seed, signature, given)))
    return results
"""
)
"""Run the source that a submission generated, with the reference's library, on inputs that the submission has not seen."""
_SCALARS = """
module {{
  tt.func public @kernel(%a: i32, %n: i32) -> (i32, i32) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %k = arith.constant {0} : i32
    %sum:2 = scf.for %i = %zero to %n step %one iter_args(%s = %a, %t = %k) -> (i32, i32) : i32 {{
      %c = arith.cmpi slt, %s, %t : i32
      %r = scf.if %c -> (i32) {{
        %x = arith.muli %s, %k : i32
        scf.yield %x : i32
      }} else {{
        %y = arith.subi %t, %i : i32
        scf.yield %y : i32
      }}
      %u = arith.addi %t, %r : i32
      scf.yield %r, %u : i32, i32
    }}
    %end:2 = scf.while(%p = %sum#0, %q = %zero) : (i32, i32) -> (i32, i32) {{
      %c = arith.cmpi slt, %q, %n : i32
      scf.condition(%c) %p, %q : i32, i32
    }} do {{
    ^bb0(%p: i32, %q: i32):
      %x = arith.xori %p, %k : i32
      %y = arith.addi %q, %one : i32
      scf.yield %x, %y : i32, i32
    }}
    tt.return %end#0, %sum#1 : i32, i32
  }}
}}
"""


def questions(random: Random) -> Iterator[Question]:
    seed = random.randrange(1 << 20)
    yield ask(
        "6.1",
        "the values of an interpreted function",
        """
        import numpy as np
        from mini_triton.ir.interpreter import Program
        from mini_triton.ir.parser import parse_module
        (function,) = parse_module(TEXT).body.operations
        result = [Program().run(function.regions[0].block, np.int32(a), np.int32(n)) for a, n in PAIRS]
        """,
        TEXT=_SCALARS.format(random.randrange(2, 50)),
        PAIRS=[(random.randrange(-99, 99), random.randrange(40)) for _ in range(5)],
    )
    for kernel in draw(random):
        compiled, launch = (kernel.text, kernel.signature, kernel.constants), (kernel.given, kernel.grid)
        about = f"a kernel ({kernel.feature}) that runs"
        if kernel.feature in _INTERPRETED:
            yield ask("6.2", about, f"{_INTERPRET}\nresult = interpreted(*{(*compiled, *launch, seed)!r})")
        modes = ("batched",) if "while" in kernel.text else ("batched", "fast")  # in "fast", a `while` needs task 6.9
        yield ask(
            _TASKS[kernel.feature],
            about,
            f"{_GENERATE}\nresult = generated(*{(*compiled, modes)!r})",
            f"{_RUN}\nresult = ran(given, *{(*compiled, *launch, modes, seed)!r})",
            after="6.6" if kernel.feature == "products" else "",
        )
    yield ask(
        "6.3",
        "loads and stores",
        """
        import numpy as np
        from mini_triton.codegen.library.memory import load, store
        from mini_triton.ir.storage import Buffer
        random = np.random.default_rng(SEED)
        result = []
        for length, shape, reach in CASES:
            data = random.integers(-99, 99, length).astype(np.int32)
            buffer = Buffer.of("x", data)
            offset = random.integers(0, reach, shape)
            mask = random.random(shape) < 0.7
            for call in (
                lambda: load(buffer, offset), lambda: load(buffer, offset, mask, np.int32(7)),
                lambda: load(buffer, offset, offset < length, np.zeros(shape, np.int32)),
                lambda: store(buffer, offset, offset.astype(np.int32), mask & (offset < length)),
                lambda: store(buffer, offset, np.int32(5)),
            ):
                try:
                    result.append(call())
                except Exception as error:
                    result.append(kind_of(error))
                result.append(data.copy())
        """,
        SEED=seed,
        CASES=[(random.randrange(20, 90), (random.randrange(1, 5), 8), random.choice((20, 100))) for _ in range(6)],
    )
    yield ask(
        "6.6",
        "reductions, scans and products of tiles",
        """
        import numpy as np
        from mini_triton.codegen.library import combine
        random = np.random.default_rng(SEED)
        def composed(a, b, c, d):
            return a * c, b * c + d
        result = []
        for axis in (-1, -2):
            for dtype in (np.int8, np.int32, np.float32, np.float16, np.bool_):
                x, y = (random.integers(-2, 3, (3, 8, 4)).astype(dtype) for _ in range(2))
                for function in (np.add, np.multiply, np.maximum):
                    result += [*combine.reduce(function, (x,), axis), *combine.scan(function, (x,), axis)]
                    result += [*combine.scan(function, (y,), axis, reverse=True)]
            pair = tuple(random.integers(-2, 3, (2, 3, 8, 4)))
            result += [*combine.reduce(composed, pair, axis), *combine.scan(composed, pair, axis)]
        a, b = random.integers(-99, 99, (2, 16, 16)), random.integers(-99, 99, (16, 16))
        for dtype, total in ((np.int8, np.int32), (np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float64)):
            for c in (np.zeros((), total)[()], random.integers(-99, 99, (2, 16, 16)).astype(total)):
                result.append(combine.dot(a.astype(dtype), b.astype(dtype), c))
                result.append(str(result[-1].dtype))
        """,
        SEED=seed,
    )
    yield ask(
        "6.9",
        "atomics",
        """
        import numpy as np
        from mini_triton.codegen.library import atomics
        from mini_triton.ir.storage import Buffer
        random = np.random.default_rng(SEED)
        result = []
        for name in NAMES:
            memory, index = random.integers(-99, 99, 6).astype(np.int32), random.integers(0, 6, (4, 5))
            values, mask = random.integers(-99, 99, (4, 5)).astype(np.int32), random.random((4, 5)) < 0.8
            atomics.rmw(name, Buffer("x", memory), index, values, (4, 5), mask, result=False)
            result.append(memory.copy())
            for value in values[0]:  # the order of equal operations makes no difference
                read = atomics.rmw(name, Buffer("x", memory), index, np.full((4, 5), value), (4, 5), mask)
                result += [sorted(read.ravel().tolist()), memory.copy()]
        for wanted, new in PAIRS:
            memory = np.array([wanted, new, -0.0, 0.0, nan], np.float32)
            values = np.full((4, 5), new, np.float32)
            read = atomics.cas(Buffer("x", memory), random.integers(0, 5, (4, 5)), np.float32(wanted), values, (4, 5))
            result += [sorted(map(str, read.ravel())), str(memory)]
        """,
        SEED=seed,
        NAMES=random.sample(("add", "and", "or", "xor", "max", "min"), 6),
        PAIRS=[(random.choice((0.0, -0.0, 1.5, math.nan)), float(random.randrange(2, 9))) for _ in range(5)],
    )
    conditions = ("i", "tl.load(x)", "tl.atomic_add(y, 0)", "i + tl.load(y)", "tl.load(y) * 2")
    yield ask(
        "6.9",
        "loops that wait",
        COMPILE
        + """
from mini_triton.analysis.pointers import origins, waits
result = []
for condition, written in LOOPS:
    text = f"@triton.jit\\ndef kernel(x, y, n):\\n    i = n * 1\\n    while {condition} < n:\\n        i += 1\\n    tl.store({written}, i)\\n"
    function = built(text, {"x": "*i32", "y": "*i32", "n": "i32"}, {}).body.operations[0]
    result.append(waits(function, origins(function)))
""",
        LOOPS=[(random.choice(conditions), random.choice("xy")) for _ in range(12)],
    )
    grid = [random.randrange(1, 6) for _ in range(3)]
    yield ask(
        "6.4",
        "the axes along which values vary, and the programs' ids",
        COMPILE
        + """
from mini_triton.analysis.axes import Varying
from mini_triton.codegen.library.programs import Programs
total = GRID[0] * GRID[1] * GRID[2]
result = [Programs(tuple(GRID), first, total).id(axis) for axis in range(3) for first in (0, total // 2)]
function = built(TEXT, {"x": "*fp32", "y": "*i32", "n": "i32"}, {}).body.operations[0]
axes = Varying(function).axes
for operation in function.walk():
    if operation.name in ("tt.store", "tt.load", "tt.reduce"):
        result.append([operation.name, [str(sorted(axes.get(v, ()))) for v in operation.operands]])
""",
        GRID=grid,
        TEXT="@triton.jit\ndef kernel(x, y, n):\n    i = tl.arange(0, 8)\n    p = tl.program_id(0)\n"
        f"    a = tl.load(x + i + p * {random.randrange(9)})\n    b = tl.load(y + i[:, None] * n + tl.arange(0, 4)[None, :])\n"
        "    tl.store(x + i, tl.sum(b, 1) + a)\n    tl.store(y + p, tl.sum(b))\n    tl.store(y, n)\n"
        "    tl.store(x + i[:, None] * 4 + tl.arange(0, 4)[None, :], tl.trans(tl.trans(b)) + p)\n",
    )
    terms = [f"{random.choice(('pid', 'rows', 'cols', 'later'))} * {random.randrange(-9, 9)} + {random.randrange(-99, 99)}"
             for _ in range(8)]  # fmt: skip
    texts = [f"({x}) {o} ({y})" for x, y in zip(terms, terms[::-1], strict=True) for o in ("+", "-", "<", ">=", "==")]
    texts += [f"({texts[i]}) & ({texts[i + 1]})" for i in range(2, len(texts) - 1, 5)]
    yield ask(
        "6.10",
        "positions and masks that are not stored",
        """
        import numpy as np
        from mini_triton.codegen.library import lazy
        from mini_triton.codegen.library.programs import LazyPrograms
        programs = LazyPrograms((7, 3, 1), 2, 9)
        names = {
            "pid": programs.id(0)[:, None, None], "rows": lazy.arange(0, 4)[None, :, None],
            "cols": lazy.arange(0, 8)[None, None, :], "later": lazy.arange(50, 58)[None, None, :],
        }
        result = []
        with np.errstate(all="ignore"):
            for text in TEXTS:
                value = eval(text, dict(names))
                result.append([type(value).__name__, str(value.dtype), np.asarray(value)])
        """,
        TEXTS=texts,
    )
    yield ask(
        "6.11",
        "accesses that are slices",
        """
        import numpy as np
        from mini_triton.codegen.library import lazy, memory
        from mini_triton.codegen.library.programs import LazyPrograms
        from mini_triton.ir.storage import Buffer
        pid = LazyPrograms((7, 3, 1), 2, 6).id(0)[:, None, None]
        rows, cols = lazy.arange(0, 4)[None, :, None], lazy.arange(0, 8)[None, None, :]
        result = []
        for p, r, c, begin, row, column, length, origin in CASES:
            offset = (pid * p + rows * r + cols * c + begin).astype(np.int64)
            mask = (rows < row) & (cols >= column)
            data = np.arange(length)
            buffer = Buffer("x", data, origin)
            for call in (
                lambda: memory.load(buffer, offset), lambda: memory.load(buffer, offset, mask),
                lambda: memory.load(buffer, offset, mask, np.int64(-7)),
                lambda: memory.store(buffer, offset, np.int64(-5), mask),
                lambda: memory.store(buffer, offset, np.int64(-6)),
            ):
                try:
                    result.append(call())
                except Exception as error:
                    result.append([kind_of(error), list(getattr(error, "lane", ()))])
                result.append(data.copy())
        """,
        CASES=[
            (random.randrange(40), random.choice((8, 9, -11)), random.choice((1, 1, -1)), random.randrange(10, 60),
             random.randrange(5), random.randrange(9), random.choice((400, 400, 60)), random.choice((0, 40)))
            for _ in range(8)
        ],
        after="6.10",
    )  # fmt: skip
    yield ask(
        "6.11",
        "the size of chunks",
        COMPILE
        + """
from mini_triton.codegen.kernel import chunk_size
from mini_triton.analysis.pointers import origins
result = []
for size in SIZES:
    text = f"@triton.jit\\ndef kernel(x):\\n    i = tl.arange(0, {size})\\n    tl.store(x + i, tl.load(x + i) + 1)\\n"
    function = built(text, {"x": "*fp32"}, {}).body.operations[0]
    result.append(chunk_size(function, origins(function)))
""",
        SIZES=random.sample([2**k for k in range(3, 18)], 4),
    )
    yield ask(
        "6.12",
        "exact arithmetic",
        """
        import numpy as np
        from mini_triton.exact import casts, floats, integers
        random = np.random.default_rng(SEED)
        result = []
        with np.errstate(all="ignore"):
            for width in (8, 16, 32, 64):
                low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
                x, y = (random.integers(low, high, 40, endpoint=True).astype(f"i{width // 8}") for _ in range(2))
                y[0], x[0] = -1, low
                y[y == 0] = 3
                small = np.abs(y % width).astype(y.dtype)
                result += [f(x, y) for f in (integers.divsi, integers.remsi)]
                result += [f(x, small) for f in (integers.shli, integers.shrsi, integers.shrui)]
                result.append(integers.unsigned(x))
                if width == 64:
                    result.append(integers.upper_half(integers.unsigned(x), integers.unsigned(y)))
            for dtype in (np.float16, np.float32, np.float64):
                f = (random.normal(size=60) * 10.0 ** random.integers(-6, 6, 60)).astype(dtype)
                g = (random.normal(size=60)).astype(dtype)
                f[:4], g[2:6] = [np.nan, np.inf, -np.inf, 0.0], [np.nan, 1, -0.0, np.inf]
                result += [h(f, g) for h in (floats.maximumf, floats.maxnumf, floats.minimumf, floats.minnumf)]
                result += [casts.saturated(f, np.dtype(t)) for t in ("i1", "i4", "i8")]
                if dtype != np.float16:
                    result += [casts.toward_zero(f, np.dtype("f2")), casts.rounded(f, np.dtype("f2"))]
                    result += [casts.fp_to_fp(f, np.dtype("f2"), "rtz")]
        """,
        SEED=seed,
    )
