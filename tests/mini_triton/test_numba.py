"""The back end for Numba: single numbers are computed as `exact` does, launches as the NumPy back end does."""

import contextlib
import functools
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba")

import mini_triton as triton  # noqa: E402
import mini_triton.language as tl  # noqa: E402
from mini_triton import exact  # noqa: E402
from mini_triton.codegen import compile_module  # noqa: E402
from mini_triton.codegen.numba_gen import library, rows  # noqa: E402
from mini_triton.codegen.numba_gen.kernel import NumbaKernel  # noqa: E402
from mini_triton.codegen.numba_gen.plan import Unsupported  # noqa: E402
from mini_triton.codegen.numba_gen.program import generate  # noqa: E402

from tests.corpus import CASES  # noqa: E402
from tests.corpus.cases import Case  # noqa: E402
from tests.corpus.inputs import buffers, inputs  # noqa: E402
from tests.oracles import values  # noqa: E402
from tests.oracles.triton import Source  # noqa: E402
from tests.support import sources  # noqa: E402
from tests.support.m05_frontend.random_kernels import launch, write  # noqa: E402
from tests.support.m06_codegen import closeness, numpy_backend  # noqa: E402

ULP = {"exp": 0.9, "exp2": 0.9, "log": 0.9, "log2": 1.4, "erf": 1.2}
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.5, 3e38, -1e-45, np.inf, -np.inf, np.nan]
INTEGERS = [0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 12345, 31, 32]
FIRST = [
    case for case in CASES if str(case) in ("add_kernel", "reduce_axes", "pointer_walk", "branch_in_loop", "compact")
]
"""Few of the corpus, because each takes seconds to compile; all of them: `pytest --examples 2000`."""


def each_pair(names: list[str], numbers: list[Any], dtype: Any) -> None:
    """Numba's and NumPy's functions of two numbers agree in every bit, except for those of a NaN."""
    functions = ", ".join(f"exact.{name}(x, y)" for name in names)
    compiled = numba.njit(error_model="numpy")(eval(f"lambda x, y: ({functions},)", {"exact": exact}))
    for x in map(dtype, numbers):
        for y in map(dtype, numbers):
            with np.errstate(all="ignore"):
                expected = [getattr(exact, name)(x, y) for name in names]
            for name, mine, right in zip(names, compiled(x, y), expected, strict=True):
                same = mine != mine and right != right or dtype(mine).tobytes() == dtype(right).tobytes()
                assert same, f"{name}({x!r}, {y!r}) is {mine}, not {right}"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_larger_and_smaller(dtype: Any) -> None:
    each_pair(["maximumf", "minimumf", "maxnumf", "minnumf"], FLOATS, dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers(dtype: Any) -> None:
    each_pair("divsi remsi divui remui ceildivsi shli shrsi shrui maxui minui mulhiui".split(), INTEGERS, dtype)


@pytest.mark.parametrize("name", ULP)
def test_stated_errors(name: str) -> None:
    """Within the stated units in the last place of the result; special values are exact."""
    function, wanted = getattr(library, f"{name}_f32"), getattr(np, name, None)
    draw = np.random.default_rng(1)
    x = np.concatenate([draw.normal(0, 30, 20_000), draw.lognormal(0, 20, 20_000), FLOATS]).astype(np.float32)

    @numba.njit(error_model="numpy")
    def apply(x: Any, out: Any) -> None:
        for i in range(len(x)):
            out[i] = function(x[i])

    got = np.empty_like(x)
    apply(x, got)
    with np.errstate(all="ignore"):
        right = (wanted or exact.erf)(x.astype(np.float64))
        rounded = right.astype(np.float32)
        error = np.abs(got - right) / np.spacing(np.abs(rounded))
    finite = np.isfinite(rounded)
    worst = int(np.argmax(np.where(finite, error, 0)))
    assert error[worst] <= ULP[name], f"{name}({x[worst]!r}) is {got[worst]!r}: {error[worst]:.2f} ulp off"
    assert np.array_equal(got[~finite], rounded[~finite], equal_nan=True)


@pytest.mark.parametrize("size", [128, 256, 512, 1024, 8192])
def test_sums_are_added_as_numpy_does(size: int) -> None:
    for row in (np.random.default_rng(size).normal(size=size).astype(np.float32), np.full(size, -0.0, np.float32)):
        assert np.float32(rows.pairwise_sum(row)).tobytes() == np.add.reduce(row).tobytes()


@pytest.mark.parametrize("name", ["maximumf", "minimumf", "maxnumf", "minnumf"])
@pytest.mark.parametrize("size", [8, 32, 256, 2048])
def test_the_largest_and_the_smallest_of_a_row(name: str, size: int) -> None:
    """NaN, signed zeros and infinities are treated as by the function of two numbers."""
    draw = np.random.default_rng(size)
    for numbers in (FLOATS, FLOATS[:2], [np.nan, -np.inf], [np.nan, np.inf], [np.nan], [0.0, -0.0, -1.0], [-0.0, 1.0]):
        row = draw.choice(np.array(numbers, np.float32), size)
        with np.errstate(all="ignore"):
            expected = functools.reduce(getattr(exact, name), row)
        got = np.float32(getattr(rows, f"row_{name}")(row))
        assert got.tobytes() == expected.tobytes() or (got != got and expected != expected), (row, got, expected)


@contextlib.contextmanager
def functions_of_loops() -> Iterator[None]:
    """NumPy calls the loops' `exp` and the like, so that both back ends must agree to the bit.

    No tolerance would be right: a kernel may compute a large number by `exp`, and then its cosine.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("sin", "cos", "exp", "log", "log2", "exp2", "erf"):
            module = exact if name in ("exp2", "erf") else np
            function = getattr(library, name, getattr(module, name))
            one = eval("lambda x: function(x)", {"function": function})
            patch.setattr(module, name, numba.vectorize(["float32(float32)", "float64(float64)"])(one))
        yield


@pytest.mark.parametrize("number", [8, 64])  # the second magnifies errors of `exp`, by a cosine
def test_random_kernels(number: int, tmp_path: Path) -> None:
    """Kernels with functions like `exp` agree to the bit if both back ends call the same ones."""
    kernel = write(random.Random(100000 + number), exact=False)
    asked = launch(kernel, number)
    assert isinstance(asked.kernel, Source)
    module = sources.compiled(asked.kernel)
    try:
        source = generate(module)
    except Unsupported:
        return
    after, given, reachable = numpy_backend.prepare(module, asked.arguments)
    NumbaKernel(source, compile_module(module), tmp_path)(tuple(asked.grid), given, reachable)
    with functions_of_loops():
        expected = numpy_backend.run(module, asked.grid, asked.arguments, mode="fast")
    for mine, right in zip(after, expected, strict=True):
        if isinstance(mine, np.ndarray):
            closeness.check(f"results of\n{kernel.source}\n", mine, right)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_corpus(case: Case, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """To the bit, unless a function has a stated error: then as close as rounding allows."""
    if case not in FIRST and (request.config.getoption("--examples", default=0) or 0) < 2000:
        pytest.skip("with --examples 2000")
    module = sources.compiled(case.source(), str(case.path))
    try:
        source = generate(module)
    except Unsupported:
        return
    arguments, hidden = inputs(case, values.SEED)
    after, given, reachable = numpy_backend.prepare(module, arguments, hidden)
    plain = compile_module(module)
    NumbaKernel(source, plain, tmp_path)(case.grid, given, reachable)
    expected = numpy_backend.run(module, case.grid, arguments, hidden, "fast", chunk=int(plain.chunk == 1))
    inexact = any(o.name.startswith("math.") or o.name == "tt.dot" for o in module.walk())
    rounding = closeness.rounding(module) if inexact else closeness.EXACT
    for (name, mine), (_, right) in zip(buffers(case, after), buffers(case, expected), strict=True):
        closeness.check(f"{name} of {case}", mine, right, rounding)


TWICE = """
import numpy as np
from kernels.vector_add import add
print(add(np.ones(100, np.float32), np.ones(100, np.float32)).sum())
"""


def test_arrays_on_the_stack_last_without_optimisation() -> None:
    """An array is in the frame of the function that asks for it, whether LLVM inlines other functions or not."""
    script = f"import sys; sys.path.insert(0, {str(Path(exact.__file__).parents[2])!r})\n{REVERSED}"
    for level in ("0", "3"):
        done = subprocess.run([sys.executable, "-c", script], env={"NUMBA_OPT": level}, capture_output=True, text=True)
        assert done.stdout == "63.0 63.0\n", (level, done)


REVERSED = """
import numba, numpy as np
from mini_triton.codegen.numba_gen.rows import on_stack
@numba.njit
def add_reversed(x):
    a, total = on_stack(64, np.float32), on_stack(64, np.float32)
    for i in range(64):
        a[i] = x[i]
    for i in range(64):
        total[i] = x[i] + a[63 - i]
    return total.min(), total.max()
print(*add_reversed(np.arange(64, dtype=np.float32)))
"""


def test_stores_to_views_stay(tmp_path: Path) -> None:
    """Numba must not erase them as dead after inlining another function, such as an array on the stack."""
    kernel = write(random.Random(300000), exact=False)  # it stores booleans, as bytes, and keeps a tensor in a loop
    asked = launch(kernel, 0)
    assert isinstance(asked.kernel, Source)
    module = sources.compiled(asked.kernel)
    source = generate(module)
    assert "on_stack(" in source and ".view(" in source
    after, given, reachable = numpy_backend.prepare(module, asked.arguments)
    NumbaKernel(source, compile_module(module), tmp_path)(tuple(asked.grid), given, reachable)
    expected = numpy_backend.run(module, asked.grid, asked.arguments, mode="fast")
    for mine, right in zip(after, expected, strict=True):
        if isinstance(mine, np.ndarray):
            closeness.check(f"results of\n{kernel.source}\n", mine, right)


@triton.jit
def store_transposed(x, out):
    at = tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    value = tl.load(x + at)
    for step in range(2):
        tl.store(out + step * 64 + at, tl.trans(value))
        value = value * 2 + 1


def test_a_carried_tensor_is_read_before_it_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop may not overwrite it element by element while a store reads other elements."""
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    x, out = np.arange(64, dtype=np.float32).reshape(8, 8), np.zeros((2, 8, 8), np.float32)
    store_transposed[(1,)](x, out, backend="numba")
    assert (out == [x.T, x.T * 2 + 1]).all()


@triton.jit
def store_gathered(x, chosen, out):
    at = tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(chosen + at), 1))


def test_all_elements_are_written_before_some_are_gathered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loops that write the source of `tl.gather` end before loops of the same shape read it at other indices."""
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    x, out = np.arange(1, 65, dtype=np.float32).reshape(8, 8), np.zeros((8, 8), np.float32)
    chosen = np.random.default_rng(0).integers(0, 8, (8, 8), dtype=np.int32)
    store_gathered[(1,)](x, chosen, out, backend="numba")
    assert (out == np.take_along_axis(x, chosen, 1)).all()


@triton.jit
def move_in_place(x, y):
    at = tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(x + at, tl.trans(tl.load(x + at)))  # other elements
    flat = tl.arange(0, 64)
    tl.store(y + flat + 1, tl.load(y + flat))
    place = y + flat // 2  # two elements share an address
    tl.store(place, tl.load(place) + 1)


@triton.jit
def read_what_was_stored(x, y):
    at = tl.arange(0, 64)
    tl.store(x + at, at)
    tl.store(y + at, tl.load(x + at))


@triton.jit
def use_what_was_loaded_before(x, y):
    at = tl.arange(0, 64)
    values = tl.load(x + at) & 63
    tl.store(x + at, at)
    tl.atomic_add(y + values, values)
    tl.store(x + at, tl.histogram(values, 64))


@triton.jit
def update_at_loaded_places(x, y):
    at = tl.arange(0, 64)
    tl.atomic_add(x + (tl.load(x + at) & 63), 1)
    tl.store(y + at, tl.atomic_add(x + (at + 1) % 64, tl.load(x + at)))


@triton.jit
def update_repeated_addresses(x, y):
    window = x + tl.arange(0, 8)[:, None] + tl.arange(0, 8)[None, :]
    tl.store(window, tl.load(window) + 1)
    at = tl.arange(0, 64)
    same = x + at * (tl.load(y) * 0)
    tl.store(same, tl.load(same) + 1)
    tl.store(y + at % 8, at)
    tl.store(y + at % 8, 100, mask=at < 8)


@triton.jit
def gather_from_carried(x, y):
    at = tl.arange(0, 64)
    value = at
    for step in range(3):
        tl.store(y + at, tl.gather(value, tl.load(x + at) & 63, 0))
        value = value + step
    tl.store(x + at, tl.gather(value, tl.load(x + at) & 63, 0))


IN_PLACE = [move_in_place, read_what_was_stored, use_what_was_loaded_before, update_at_loaded_places]
IN_PLACE += [update_repeated_addresses]


@pytest.mark.parametrize("kernel", [*IN_PLACE, gather_from_carried], ids=lambda kernel: kernel.fn.__name__)
def test_elements_are_read_and_written_in_order(kernel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    given = np.random.default_rng(0).integers(0, 1000, (2, 65), dtype=np.int32)
    results = []
    for backend in ("numpy", "numba"):
        x, y = given.copy()
        kernel[(1,)](x, y, backend=backend)
        results.append((x.tolist(), y.tolist()))
    assert results[0] == results[1]


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    """Nothing new appears in the folder where Numba keeps machine code."""
    root = Path(exact.__file__).parents[2]
    script = f"import sys; sys.path.insert(0, {str(root)!r})\n{TWICE}"
    environment = {"MINI_TRITON_BACKEND": "numba", "MINI_TRITON_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    files = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        assert done.stdout == "200.0\n", done.stderr
        files.append({path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")})
    assert files[0] and files[0] == files[1]


APART = """
import sys
import numpy as np
import mini_triton as triton, mini_triton.language as tl

@triton.jit
def smallest(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.min(tl.load(x + at, at < n, float("inf")), 0), at < n)

@triton.jit
def largest(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.max(tl.load(x + at, at < n, float("-inf")), 0), at < n)

for name in sys.argv[1:]:
    out = np.zeros(1000, np.float32)
    globals()[name][1,](np.arange(1, 1001, dtype=np.float32), out, 1000, BLOCK=1024)
    print(out.max())
"""


def test_kernels_of_several_processes_run_in_one(tmp_path: Path) -> None:
    """Numba numbers functions in the order in which a process compiles them, so machine code of two processes has the
    same numbers for different functions."""
    (tmp_path / "apart.py").write_text(APART)
    environment = {"MINI_TRITON_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path), "MINI_TRITON_BACKEND": "numba"}
    environment["PYTHONPATH"] = str(Path(exact.__file__).parents[2])
    for names, shown in (["smallest"], "1.0\n"), (["largest"], "1000.0\n"), (["smallest", "largest"], "1.0\n1000.0\n"):
        command = [sys.executable, str(tmp_path / "apart.py"), *names]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.stdout == shown, (names, done)


ODD = """
import torch
import mini_triton as triton, mini_triton.language as tl

@triton.jit
def odd(x, _x, run, grid, a0, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(_x + i, tl.load(x + i, i < a0) + run * grid, i < a0)

@triton.jit
def without_pointers(n):
    tl.static_assert(n.dtype == tl.int32)

for _ in range(2):
    y = torch.zeros(100)
    odd[2,](torch.ones(100), y, 2.0, 3.0, 100, BLOCK=64)
    without_pointers[2,](3)
    print(y.sum().item())
"""


def test_any_names_and_kinds_of_parameters(tmp_path: Path) -> None:
    """The function that repeats a launch is generated; the kernel's names may not clash with its own."""
    pytest.importorskip("torch")
    (tmp_path / "odd.py").write_text(ODD)
    root = Path(exact.__file__).parents[2]
    environment = {"MINI_TRITON_BACKEND": "numba", "PYTHONPATH": str(root), "HOME": str(tmp_path)}
    command = [sys.executable, str(tmp_path / "odd.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout == "700.0\n700.0\n", done.stderr


def test_a_repeated_launch_looks_at_its_arguments() -> None:
    """Later launches use a faster path for tensors; results and errors are the same."""
    pytest.importorskip("torch")
    script = f"import sys; sys.path.insert(0, {str(Path(exact.__file__).parents[2])!r})\n{AGAIN}"
    environment = {"MINI_TRITON_BACKEND": "numba", "MINI_TRITON_PRINT": "backend", "NUMBA_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        environment |= {"MINI_TRITON_CACHE_DIR": folder, "HOME": folder}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "20.0",
        "20.0",
        "20.0",
        "add_kernel: NumPy runs this kernel instead of Numba: arguments overlap, and one is stored to",
        "40.0",
        "add_kernel: NumPy runs this kernel instead of Numba: gaps in x, y",
        "x[1] is out of bounds",
        "40.0",
        "40.0",
        "add_kernel: NumPy runs this kernel instead of Numba: program 0 may access memory outside an argument",
        "x[10] is out of bounds",
    ], done.stderr


AGAIN = """
import torch
from kernels.vector_add import add_kernel
x, out = torch.ones(10), torch.zeros(16)
def launch(x, out, n):
    try:
        add_kernel[1,](x, x, out, n, BLOCK=16)
        print(float(out[:10].sum()))
    except IndexError as error:
        print(str(error).split(": ")[1].split(";")[0])
launch(x, out, 10)
launch(x, out, 10)
launch(x.clone().requires_grad_(), out, 10)
launch(out, out, 10)
launch(torch.ones(20)[::2], out, 10)
launch(torch.ones(0), out, 0)
launch(torch.ones(0), out, 0)
launch(x, out, 11)
"""
