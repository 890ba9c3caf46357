"""Programs that import `triton`, unchanged, on mini_triton: scripts, modules and tests, in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mini_triton.tools import run as command

from tests.oracles import triton

ROOT = Path(__file__).parents[2]
KERNEL = """\
import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


"""
WITH_TORCH = "import torch\n" + KERNEL  # which takes seconds
ON_ARRAYS = """\
x, out = np.arange(5.0), np.zeros(5)
add[(1,)](x, x, out, {n}, BLOCK=8)
"""
ON_CUDA = """\
x = torch.arange(5, device="cuda")
out = torch.empty_like(x)
add[(1,)](x, x, out, 5, BLOCK=8)
print(out.tolist())
"""


def start(folder: Path, *arguments: str, tool: str = "") -> subprocess.CompletedProcess[str]:
    """`mini-triton run`, or another module, as a shell in this folder calls it, on a machine without a GPU."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "solutions"), "CUDA_VISIBLE_DEVICES": ""}
    process = [sys.executable, "-m", *([tool] if tool else ["mini_triton", "run"]), *arguments]
    return subprocess.run(process, cwd=folder, env=environment, capture_output=True, text=True)


def execute(folder: Path, program: str, *arguments: str) -> str:
    """The output of a program, which must end without an error."""
    folder.joinpath("program.py").write_text(program)
    done = start(folder, *arguments, "program.py")
    assert not done.returncode, done.stderr
    return done.stdout


NAMES = """\
import importlib.metadata, importlib.util, sys
import mini_triton, mini_triton.errors, mini_triton.runtime.jit, mini_triton.language.extra.libdevice
import triton, triton.language as tl, triton.language.core, triton.testing, triton.tools.tensor_descriptor
import triton.compiler.errors, triton.runtime.autotuner, triton.backends.compiler
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as same
from triton.runtime import driver
from triton.runtime.driver import driver as active_driver
from triton.runtime.cache import triton_key

assert triton is mini_triton and triton.jit is mini_triton.jit and tl is mini_triton.language
assert libdevice is same is mini_triton.language.extra.libdevice
assert triton.runtime.jit is importlib.import_module("triton.runtime.jit") is mini_triton.runtime.jit
assert triton.compiler.errors is mini_triton.errors
assert driver.active is active_driver.active
assert importlib.util.find_spec("triton") and importlib.util.find_spec("triton.tools.link")
assert importlib.util.find_spec("triton.nothing") is None
assert importlib.metadata.version("triton") == triton.__version__
files = [module.__file__ for module in set(sys.modules.values()) if getattr(module, "__file__", None)]
ours = [file for file in files if "mini_triton" in file]
assert len(ours) == len(set(ours)), "a module was executed twice"
try:
    import triton.experimental.gluon
except ModuleNotFoundError as error:
    print(error)
"""


def test_names_of_modules(tmp_path: Path) -> None:
    assert execute(tmp_path, NAMES).startswith("mini_triton does not have triton.experimental: ")


SETTING = """\
import json, sys
print(json.dumps([__name__, sys.argv[1:], sys.path[0]]))
"""


def test_a_program_sees_what_it_sees_under_python(tmp_path: Path) -> None:
    """Its name, its arguments, the folder of its imports, for a script and for a module."""
    tmp_path.joinpath("inside").mkdir()
    for name in ("inside/script.py", "module.py"):
        tmp_path.joinpath(name).write_text(SETTING)
    words = ("--sanitize", "-m", "x")
    for program in (("inside/script.py",), ("-m", "module")):
        mine = start(tmp_path, *program, *words)
        if program[0] == "-m":
            expected = start(tmp_path, *words, tool="module")
        else:
            expected = subprocess.run(
                [sys.executable, *program, *words], cwd=tmp_path, capture_output=True, text=True, check=True
            )
        assert mine.stdout == expected.stdout != "", mine.stderr


@pytest.mark.parametrize(
    "ending",
    [
        "1 / 0",
        "sys.exit(3)",
        "sys.exit('why')",
        "raise KeyboardInterrupt",
        "x = (",
        "raise ModuleNotFoundError(name='torch')",
    ],
)
@pytest.mark.parametrize("as_module", [False, True])
def test_exit_codes_and_tracebacks(tmp_path: Path, ending: str, as_module: bool) -> None:
    """They are those of `python`: the command's own frames do not occur."""
    path = tmp_path / "program.py"
    path.write_text(f"import sys\n\n\ndef end():\n    {ending}\n\n\nend()\n")
    mine = start(tmp_path, "-m", "program") if as_module else start(tmp_path, "program.py")
    expected = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True)
    assert (mine.returncode, mine.stderr) == (expected.returncode, expected.stderr)


def test_what_the_command_refuses(tmp_path: Path) -> None:
    for arguments, code, message in (
        (["nowhere.py"], 2, "there is no file nowhere.py"),
        (["-m", "nowhere"], 1, "No module named nowhere"),
        ([], 2, "name a script"),
        (["--backend", "cobol", "x.py"], 2, "numba"),
    ):
        done = start(tmp_path, *arguments)
        assert done.returncode == code and message in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 1, "AccessError: add: x[5] is out of bounds"),
        (["--bounds", "warn"], 0, "reads x[5] and 1 more"),
        (["--bounds", "off"], 0, ""),
    ],
)
def test_bounds(tmp_path: Path, options: list[str], code: int, message: str) -> None:
    tmp_path.joinpath("program.py").write_text(KERNEL + ON_ARRAYS.format(n=7))
    done = start(tmp_path, *options, "program.py")
    assert done.returncode == code and message in done.stderr and bool(done.stderr) == bool(message)


def test_the_sanitizer(tmp_path: Path) -> None:
    """All programs write other values to the same elements."""
    kernel = KERNEL.replace("tl.program_id(0) * BLOCK + ", "").replace("+ tl.load(y", "+ tl.program_id(0) + tl.load(y")
    tmp_path.joinpath("program.py").write_text(kernel + ON_ARRAYS.format(n=5).replace("(1,)", "(2,)"))
    for options, finds in ((["--sanitize"], True), (["--sanitize=races"], True), (["--sanitize=masked"], False)):
        done = start(tmp_path, *options, "program.py")
        assert ("races: " in done.stderr) == finds == bool(done.returncode), done.stderr
    assert command.spell_out(["--bounds", "off", "--sanitize", "a.py", "--sanitize"]) == [
        *("--bounds", "off", "--sanitize=1", "a.py", "--sanitize")
    ]


FRESH = """\
x = torch.arange(5)
for y in torch.empty(5, device="cuda"), torch.empty_like(x), np.empty(5, np.float32):
    try:
        add[(1,)](x, y, torch.empty(5), 5, BLOCK=8)
    except Exception as error:
        print("uninitialized: y[0] is read, but was never written, and 4 more" in str(error))
"""


def test_fresh_memory_is_uninitialized(tmp_path: Path) -> None:
    assert execute(tmp_path, WITH_TORCH + FRESH, "--sanitize") == 3 * "True\n"


def test_the_back_end(tmp_path: Path) -> None:
    """It is the default of launches, and a launch may name another."""
    pytest.importorskip("numba")
    launch = "add.warmup(*3 * [np.float32], 8, BLOCK=8, grid=(1,){}).metadata.backend"
    program = KERNEL + f"print({launch.format('')}, {launch.format(', backend=' + repr('numpy'))})"
    assert execute(tmp_path, program, "--backend", "numba").split() == ["numba", "numpy"]
    assert execute(tmp_path, program).split() == ["numpy", "numpy"]


# --- programs that ask for a GPU


def test_cuda_tensors_on_the_cpu(tmp_path: Path) -> None:
    """A program on a machine without a GPU computes the same, and its first such line is named once."""
    tmp_path.joinpath("program.py").write_text(WITH_TORCH + ON_CUDA)
    done = start(tmp_path, "program.py")
    assert (done.returncode, done.stdout) == (0, "[0, 2, 4, 6, 8]\n"), done.stderr
    assert done.stderr.count("\n") == 1 and "program.py:13 asks for a GPU" in done.stderr
    assert start(tmp_path, "--device", "cpu", "program.py").stderr == ""


def test_a_missing_gpu_is_explained(tmp_path: Path) -> None:
    tmp_path.joinpath("program.py").write_text(WITH_TORCH + ON_CUDA)
    done = start(tmp_path, "--device", "cuda", "program.py")
    assert done.returncode == 1
    assert "program.py:13 needs a GPU" in done.stderr and "--device cuda" in done.stderr.splitlines()[-1]


WAYS_TO_CUDA = """\
import torch

device = torch.device("cuda", 0)
model = torch.nn.Linear(3, 2, device="cuda").to("cuda:0").cuda()
assert torch.cuda.is_available() and torch.cuda.device_count() == 1
one = torch.ones(3)
tensors = [one.cuda(), one.to(device), one.to("cuda", torch.float32), one.to(device="cuda:0"), one.pin_memory()]
tensors += [torch.ones(3, device=0), torch.ones(3, device="cuda", pin_memory=True), torch.ones_like(one, device=device)]
with torch.cuda.device(0), torch.cuda.stream(torch.cuda.Stream()):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for x in tensors:
        assert x.is_cuda and x.device == device and model(x).is_cuda and x.tolist() == [1, 1, 1]
        model(x).sum().backward()
    end.record()
torch.cuda.synchronize()
torch.cuda.manual_seed(3)
assert start.elapsed_time(end) > 0 and torch.cuda.current_stream().cuda_stream == 0
assert torch.cuda.get_device_properties(device).multi_processor_count >= 1
compiled = torch.compile(lambda x: x.sin() + torch.ones(3, device="cuda"), fullgraph=True, backend="aot_eager")
torch.testing.assert_close(compiled(x), x.sin() + 1)
"""


def test_ways_to_ask_for_a_gpu(tmp_path: Path) -> None:
    execute(tmp_path, WAYS_TO_CUDA)


# --- other users of Triton in the same process


def test_hand_off_to_real_triton(tmp_path: Path) -> None:
    """Real Triton compiles for a GPU while the program's `triton` is mini_triton, before and after."""
    triton.version()
    program = """
import sys
kernel = add.warmup(*3 * [torch.float32], 1024, BLOCK=256, grid=(4,))
assert kernel.asm["sass"] and ".target sm_90" in kernel.asm["ptx"] and "nothing" not in kernel.asm
assert kernel.lower("sm_80").asm["ptx"].count("ld.global") == 2 and ".target sm_80" in kernel.asm["ptx"]
import triton.runtime.jit
assert triton.jit is sys.modules["mini_triton"].jit and triton.runtime.jit.JITFunction is type(add)
assert all(sys.modules[name].__name__.startswith("mini_triton") for name in sys.modules if name.startswith("triton"))
from triton.backends.compiler import GPUTarget
source = triton.compiler.ASTSource(add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 64})
assert ".target sm_80" in triton.compile(source, target=GPUTarget("cuda", 80, 32)).asm["ptx"]
"""
    execute(tmp_path, WITH_TORCH + program)


OPERATOR = """
from torch.library import triton_op, wrap_triton
from torch.utils import _triton


@triton.autotune([triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 64})], key=["n"])
@triton.jit
def scale(x, factor, NEGATED: tl.constexpr, out, bias, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n) * (-factor if NEGATED else factor)
    if bias is not None:
        value += tl.load(bias + i, mask=i < n)
    tl.store(out + i, value, mask=i < n)


def scaled(x, bias):
    out = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)
    scale[grid](x + 1, 2.5, True, out, bias, x.numel())
    scale[grid](out, 0.5, False, out, None, x.numel())
    return out.sin()


@triton_op("of_test_run::plus", mutates_args={})
def plus(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(add)[(triton.cdiv(x.numel(), 16),)](x, y, out, x.numel(), 16)
    return out


def twice(x, y):
    out = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 16),)](x, y, out, x.numel(), BLOCK=16)
    return 2 * out


x, y = torch.rand(100), torch.rand(100)
assert _triton.has_triton_package() and _triton.has_triton() and _triton.get_triton_version() >= (3, 6)
everything = torch.compile(fullgraph=True, dynamic=True)
for compile in (lambda f: f, torch.compile(backend="aot_eager"), torch.compile, everything):
    got = compile(lambda x, y: (scaled(x, y), plus(x, y) * 2, twice(x, y), x.cos().sum()))(x, y)
    torch.testing.assert_close(got, (((y - 2.5 * (x + 1)) / 2).sin(), (x + y) * 2, (x + y) * 2, x.cos().sum()))
from mini_triton.fusion.backend import mini_triton
torch.testing.assert_close(torch.compile(lambda x: x.sin().sum(), backend=mini_triton)(x), x.sin().sum())
"""


def test_pytorch_with_kernels(tmp_path: Path) -> None:
    """Custom operators, compiled functions that launch kernels, and both compilers of plain functions."""
    execute(tmp_path, WITH_TORCH + OPERATOR)


HOST = """
import os
from triton import knobs

x, out = torch.arange(5, device="cuda"), torch.zeros(5, dtype=torch.int64, device="cuda")
active = triton.runtime.driver.active
assert (active.get_current_target().backend, active.get_current_target().arch) == ("cuda", 90)
assert x.device == active.get_active_torch_device()
kernel = add.warmup(x, x, out, 5, BLOCK=8, grid=(1,), extern_libs={"libdevice": "/nowhere/libdevice.10.bc"})
kernel._init_handles()
kernel[(1, 1, 1)](x, x, out, 5, 8)
assert out.tolist() == [0, 2, 4, 6, 8] and kernel.n_regs > 0 and kernel.metadata.shared >= 0
for wrong, error in ((lambda: kernel[(1, 1, 1)](x, x, out, 5), ValueError), (lambda: knobs.nvidia, AttributeError)):
    try:
        wrong()
        raise SystemExit("no error")
    except error:
        pass
try:
    add[(1,)](x, x, out, 5, BLOCK=8, extern_libs={"mine": "mine.bc"})
except ValueError as error:
    assert "mine" in str(error)
product = triton.JITFunction(add.fn)
product._unsafe_update_src(add.src.replace(" + tl.load(y", " * tl.load(y"))
product[(1,)](x, x, out, 5, BLOCK=8)
assert out.tolist() == [0, 1, 4, 9, 16]
before = dict(os.environ)
with knobs.cache.scope(), knobs.runtime.scope():
    knobs.cache.dir, knobs.runtime.debug = "somewhere", True
    assert str(knobs.cache.dir) == "somewhere" and knobs.runtime.debug
    try:
        knobs.runtime.launch_enter_hook = print
    except AttributeError as error:
        assert "launch_enter_hook" in str(error)
assert os.environ == before and not knobs.runtime.debug
files = triton.runtime.cache.FileCacheManager("of-test-run")
assert open(files.put(b"1", "a.bin")).read() == "1" and files.get_file("b.bin") is None
files.put_group("a", {"a.bin": files.get_file("a.bin"), "b.bin": "/nowhere/b.bin"})
assert files.get_group("a") == {"a.bin": files.get_file("a.bin")} and files.get_group("b") is None
print("ended")
"""


def test_what_host_programs_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets, launches of compiled kernels, knobs and files in the cache."""
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    assert execute(tmp_path, WITH_TORCH + HOST) == "ended\n"


# --- pytest

ADDED = """
import pytest


@pytest.mark.parametrize("device", ["cuda"])
def test_sum(device):
    x = torch.arange(5, device=device)
    out = torch.empty_like(x)
    add[(1,)](x, x, out, 5, BLOCK=8)
    assert out.tolist() == [0, 2, 4, 6, 8]
"""
OUTSIDE = """
def test_outside():
    x = np.arange(5)
    add[(1,)](x, x, x, 7, BLOCK=8)
"""


def test_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the others take longer to load than these tests run
    tmp_path.joinpath("conftest.py").write_text("import triton\n\nassert triton.__name__ == 'mini_triton'\n")
    tmp_path.joinpath("test_added.py").write_text(WITH_TORCH + ADDED)
    tmp_path.joinpath("test_outside.py").write_text(KERNEL + OUTSIDE)
    for options, passed in (
        ([], 1),
        (["test_outside.py", "--mini-triton-bounds", "off"], 1),
        (["test_added.py", "--mini-triton-device", "cuda"], 0),
    ):
        done = start(tmp_path, "-p", "mini_triton.pytest", *options, tool="pytest")
        assert f"{passed} passed" in done.stdout or not passed, done.stdout
        assert "in place of Triton; CUDA tensors are on the" in done.stdout
        assert ("out of bounds" in done.stdout, "needs a GPU" in done.stdout) == (not options, not passed)
