"""The run time: a launch, from its arguments to the memory that it changes."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask
from tests.capstones.kernels import draw
from tests.capstones.running import ARGUMENTS, COMPILE, INTERPRET

_REFUSED = """
def outcome(call):
    try:
        return call()
    except NotImplementedError:
        raise
    except Exception as error:
        return kind_of(error)
"""


def questions(random: Random) -> Iterator[Question]:
    seed = random.randrange(1 << 20)
    names = random.sample("abcdefg", 4)
    yield ask(
        "7.1",
        "the binding of arguments to parameters",
        _REFUSED
        + """
from mini_triton.runtime.binding import REQUIRED, Parameter, bind
parameters = [Parameter(NAMES[0], REQUIRED), Parameter(NAMES[1], REQUIRED), Parameter(NAMES[2], 7), Parameter(NAMES[3], None)]
result = []
for arguments, keywords in CALLS:
    made = outcome(lambda: bind("kernel", parameters, tuple(arguments), keywords))
    result.append(made if isinstance(made, str) else [list(made[0].items()) if hasattr(made[0], "items") else made[0], str(made[1])])
""",
        NAMES=names,
        CALLS=[
            ([1, 2], {}), ([1], {names[1]: 3}), ([1, 2, 3, 4], {}), ([1, 2, 3, 4, 5], {}), ([], {}), ([1], {names[0]: 2}),
            ([random.randrange(99)], {names[3]: 5, names[1]: "x"}), ([1, 2], {"num_warps": 8}), ([1, 2], {"zz": 1}),
        ],
    )  # fmt: skip
    numbers = [0, 1, 2, 16, -16, 17, 2**31 - 1, 2**31, 2**63, 2**64, True, 1.5, 1e300, None]
    numbers += [random.randrange(2**40) for _ in range(3)] + [16 * random.randrange(2**40) for _ in range(3)]
    yield ask(
        "7.2",
        "the specialization of an argument",
        _REFUSED
        + """
import numpy as np
from mini_triton.runtime.binding import Parameter
from mini_triton.runtime.specialization import freeze, specialize, specialize_memory
def shown(made):
    type, divisible, value = made
    return [type, divisible, value is None]
result = []
for value in NUMBERS:
    for keywords in ({}, {"specialize": False}, {"specialize_alignment": False}):
        result.append(outcome(lambda: shown(specialize("kernel", Parameter("n", **keywords), value))))
for name in ("float16", "float32", "int8", "uint64", "bool"):
    for address in (ADDRESS, 16 * ADDRESS):
        result.append(outcome(lambda: shown(specialize_memory(np.dtype(name), address))))
result += [hash(freeze(a)) == hash(freeze(b)) for a, b in (([1, [2]], [1, [2]]), ([1], [1.0]), ([1], [2]), (0.0, -0.0))]
""",
        NUMBERS=numbers,
        ADDRESS=random.randrange(1, 99) * 2 + 1,
    )
    yield ask(
        "7.3",
        "the keys of kernels",
        COMPILE
        + """
from mini_triton.runtime.keys import compute_key, paths, references
from mini_triton.runtime.options import Options
from mini_triton.runtime.specialization import Specialized
import ast
numbers = itertools.repeat(0)
def key(text, *types):
    kernel = load(HEADER + text)["kernel"]
    return compute_key(kernel, references(kernel), {f"a{i}": Specialized(*t) for i, t in enumerate(types)}, Options())
usual = [("*fp32", True), ("i32", False)]
base = key(TEXT, *usual)
result = [key(other, *usual) == base for other in OTHERS]
result += [key(TEXT, ("*fp16", True), usual[1]) == base, key(TEXT, ("*fp32", False), usual[1]) == base]
result.append(sorted(paths(ast.parse(TEXT).body[-1])))
result.append(sorted(r.path for r in references(load(HEADER + TEXT)["kernel"])))
""",
        TEXT=(text := _keyed(random.randrange(99), "N * 2")),
        OTHERS=[text, _keyed(100, "N * 2"), text.replace("v + N", "v - N"), text.replace("a0 + 1", "a0 + 2")],
    )
    yield ask(
        "7.4",
        "kernels on disk",
        """
        import hashlib, json, warnings
        from mini_triton.runtime import cache
        result = []
        def written(entry):
            content = json.dumps(entry).encode()
            return hashlib.sha256(content).hexdigest().encode() + b"\\n" + content
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for key, entry in ENTRIES:
                result.append(cache.load(key))
                cache.store(key, entry)
                result.append([cache.load(key), cache.path_of(key).read_text()])
            path = cache.path_of(ENTRIES[0][0])
            path.write_bytes(data := written(OTHER))  # by another process
            result.append(cache.load(ENTRIES[0][0]))
            for wrong in (b"", data[: len(data) // 2], data + b"x", b"[]", bytes([data[0] ^ 1]) + data[1:]):
                path.write_bytes(wrong)
                result.append(cache.load(ENTRIES[0][0]) is None)
            result.append(len(caught) > 0)
        """,
        ENTRIES=[
            (f"{random.randrange(16**20):020x}", {"text": str(random.random()), "number": [True, "x"]})
            for _ in range(3)
        ],
        OTHER={"text": str(random.random())},
    )
    yield ask(
        "7.5",
        "the stages",
        COMPILE
        + """
from mini_triton.ir.printer import print_module
from mini_triton.runtime import pipeline
from mini_triton.runtime.options import Options
from mini_triton.runtime.pipeline import Compilation, build_module, run_stages, stages_for
from mini_triton.runtime.specialization import Specialized, specialize_constant
kernel = load(HEADER + TEXT)["kernel"]
arguments = {"x": Specialized("*fp32", True), "n": Specialized("i32"), "B": specialize_constant(SIZE)}
compilation = Compilation(kernel, arguments, {"B": SIZE}, Options(), hash="key")
module = build_module(None, compilation)
result = [print_module(module).count("tt.store"), print_module(module).count("divisibility")]
seen = []
class Step:
    pass
stages = [s for s in pipeline.STAGES if s.name in ("ttir", "passes")]
product, texts = run_stages(stages, compilation)
result += [list(texts), [text.count("tt.store") for text in texts.values()]]
""",
        TEXT="@triton.jit\ndef kernel(x, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(x + i, i + n, mask=i < n)\n",
        SIZE=2 ** random.randrange(2, 8),
    )
    choices = "abc", (1, 5, 6, 16, 2**40, 1.5), (4, 8), (4, 8)  # the array, `n`, `B`, and the warps
    launches = [tuple(map(random.choice, choices)) for _ in range(14)]
    yield ask(
        "7.6",
        "kernels that are found or compiled",
        COMPILE
        + """
import numpy as np
from mini_triton.runtime.options import Options
kernel = load(HEADER + TEXT)["kernel"]
found, result = [], []
x = np.zeros(64, np.float32)
for array, n, size, warps in CASES:
    array = {"a": x, "b": x.astype(np.int32), "c": x[1:]}[array]
    compiled = kernel.find({"x": array, "n": n, "B": size}, Options(num_warps=warps))
    if compiled not in found:
        found.append(compiled)
    result.append([found.index(compiled), compiled.asm["ttir"], type(compiled.asm["numpy"]).__name__])
""",
        INTERPRET
        + f"\nlaunches = {launches}"
        + """
result = []
for (number, text, kind), (array, n, size, warps) in zip(given, launches):
    parameters = parse_module(text).body.operations[0].regions[0].block.arguments
    values = [np.zeros(64, "i4" if array == "b" else "f4"), n][: len(parameters)]
    result.append([number, kind, text.count("tt.divisibility"), interpreted(text, (1, 1, 1), values)])
""",
        TEXT=f"@triton.jit\ndef kernel(x, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(x + i, i + n + {random.randrange(99)})\n",
        CASES=launches,
    )
    grids = [
        (random.randrange(99), random.randrange(9)),
        (3,),
        [1, 2, 3],
        (),
        (1, 2, 3, 4),
        (-1,),
        (2**31,),
        (1, 2**16),
        ("a",),
        5,
    ]
    yield ask(
        "7.7",
        "grids",
        _REFUSED
        + """
from mini_triton.runtime.grids import grid_of
result = [outcome(lambda: grid_of("kernel", grid, {})) for grid in GRIDS]
result += [outcome(lambda: grid_of("kernel", lambda meta: (meta["n"] // meta["B"], K), {"n": 100, "B": b})) for b in (3, 7)]
""",
        GRIDS=grids,
        K=random.randrange(9),
    )
    yield ask(
        "7.8",
        "launches that cannot work",
        _REFUSED
        + """
import numpy as np
from mini_triton.ir.storage import Buffer, OutOfBounds
from mini_triton.runtime.checks import check_devices, check_writable, explain_access
class Tensor:
    dtype, shape = "torch.float32", (4,)
    def __init__(self, device):
        self.device = device
    def data_ptr(self):
        return 4096
result = []
for devices in DEVICES:
    memory = {f"a{i}": np.zeros(4) if d == "array" else Tensor(d) for i, d in enumerate(devices)}
    result.append(outcome(lambda: check_devices("kernel", memory)))
frozen = np.zeros(4)
frozen.flags.writeable = False
for stored in ([], ["x"], ["y"], ["x", "y"]):
    result.append(outcome(lambda: check_writable("kernel", {"x": frozen, "y": np.zeros(4)}, stored)))
error = OutOfBounds(Buffer.of("x", np.zeros((2, 5))), ELEMENT, (0,))
error.program, error.place = (ELEMENT, 0, 1), "kernel.py:7"
made = explain_access("kernel", error, (2, 5))
result += [type(made).__name__, [word in str(made) for word in (f"x[{ELEMENT}]", "10 elements", "(2, 5)", "kernel.py:7")]]
""",
        ELEMENT=random.randrange(10, 99),
        DEVICES=[[random.choice(("array", "cpu", "cuda:0", "cuda:1", "meta")) for _ in range(3)] for _ in range(12)],
    )
    for kernel in draw(random):
        facts = (kernel.text, kernel.signature, kernel.constants, kernel.given, kernel.grid)
        if kernel.feature in ("arithmetic", "for", "branches", "combining"):
            yield ask(
                "7.9",
                f"a kernel ({kernel.feature}) that is launched",
                COMPILE
                + ARGUMENTS
                + f"\ntext, signature, constants, given, grid = {facts!r}\nlaunched = load(HEADER + text)['kernel']"
                + f"\nvalues = arguments({seed}, signature, given)"
                + "\nnames = [n for n in signature if n not in constants]"
                + "\nfor _ in range(2):\n    launched[grid](**dict(zip(names, values)), **constants)"
                + "\nresult = [v.ravel()[:512] for v in values if isinstance(v, np.ndarray)]",
            )
    yield ask(
        "7.9",
        "an out-of-bounds access",
        COMPILE
        + _REFUSED
        + """
import numpy as np
launched = load(HEADER + TEXT)["kernel"]
result = [outcome(lambda: launched[(GRID,)](np.zeros(size, np.float32), 4) and "ran") for size in (4 * GRID, 4 * GRID - 1)]
result = [r if r == "AccessError" else "ran" for r in result]
""",
        TEXT="@triton.jit\ndef kernel(x, n):\n    tl.store(x + tl.program_id(0) * n + tl.arange(0, 4), 1.0)\n",
        GRID=random.randrange(1, 9),
    )


def _keyed(number: int, expression: str) -> str:
    """Kernels with a global and a callee."""
    return (
        f"N: tl.constexpr = tl.constexpr({number})\n@triton.jit\ndef helper(v):\n    return v + N\n"
        f"@triton.jit\ndef kernel(a0, a1):\n    tl.store(a0 + 1, helper(a1) + {expression})\n"
    )
