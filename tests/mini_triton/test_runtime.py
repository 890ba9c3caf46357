"""The given parts of the runtime: annotations, tensors, a kernel's file, and a debugger's view."""

import importlib
import linecache
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import mini_triton.language as tl
import numpy as np
import pytest
from mini_triton.errors import CompilationError
from mini_triton.language.constexpr import constexpr
from mini_triton.runtime.binding import type_of

from tests.support.sources import load

KERNELS = """
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

@triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["x"], noinline=False, debug=True, repr=repr)
def careful(x, n, m):
    tl.store(x, n + m)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))


@pytest.fixture
def kernels() -> dict[str, Any]:
    return load(KERNELS, "kernels_of_the_runtime.py")


@pytest.mark.parametrize(
    "annotation, spelling",
    [
        *((tl.float32, "fp32"), ("tl.float32", "fp32"), ("fp32", "fp32"), (tl.uint8, "u8"), ("*fp16", "*fp16")),
        *((int, "i32"), (float, "fp32"), (bool, "u1"), ("int", "i32"), (tl.pointer_type(tl.int64), "*i64")),
        *((tl.int1, "u1"), (tl.float8e5, "fp8e5"), (tl.constexpr, ""), ("tl.tensor", ""), (str, ""), ("what", "")),
    ],
)
def test_annotations(annotation: Any, spelling: str) -> None:
    assert type_of(annotation) == spelling


GLOBALS = """
import triton
import triton.language as tl

STEP, SHADOWED = tl.constexpr(3), tl.constexpr(4)

@triton.jit
def fill(x):
    tl.store(x, STEP)

@triton.jit
def shadow(x):
    before = SHADOWED + 1
    SHADOWED = before * 2
    tl.store(x, SHADOWED)

@triton.jit
def uneven(x):
    tl.store(x + tl.arange(2, 7), 1)

@triton.jit(do_not_specialize=["N"])
def unclear(x, N: tl.constexpr):
    tl.store(x, N)
"""


@pytest.fixture
def readers() -> dict[str, Any]:
    """Kernels that read globals."""
    return load(GLOBALS, "readers_of_globals.py")


def test_a_global_changed_in_place(readers: dict[str, Any]) -> None:
    x = np.zeros(1, np.int32)
    readers["fill"][(1,)](x)
    readers["STEP"].value = 9
    with pytest.raises(RuntimeError, match=r"STEP has changed since fill was compiled, from constexpr\[3\]"):
        readers["fill"][(1,)](x)
    readers["STEP"].value = 3
    readers["fill"][(1,)](x)
    assert x == [3]


def test_a_global_read_before_a_local_has_its_name(readers: dict[str, Any]) -> None:
    x = np.zeros(1, np.int32)
    readers["shadow"][(1,)](x)
    assert x == [10]
    readers["SHADOWED"] = constexpr(5)
    with pytest.raises(RuntimeError, match="SHADOWED has changed"):
        readers["shadow"][(1,)](x)


CHOICES = """
import triton
import triton.language as tl

N = tl.constexpr(10)

@triton.jit
def in_a_branch(x, FLAG: tl.constexpr):
    if FLAG:
        N = 3
        tl.store(x, N)
    else:
        tl.store(x, N)

@triton.jit
def after_a_branch(x, FLAG: tl.constexpr):
    if FLAG:
        N = 3
    tl.store(x, N)

@triton.jit
def after_a_loop(x, FLAG: tl.constexpr):
    for N in tl.static_range(FLAG):
        pass
    tl.store(x, N)

@triton.jit
def read(v):
    return v + N

@triton.jit
def call(v, op=read):
    return op(v)

OPS = tl.constexpr((read,))

@triton.jit
def in_a_default(x, FLAG: tl.constexpr):
    tl.store(x, call(tl.program_id(0)))

@triton.jit
def in_a_tuple(x, FLAG: tl.constexpr):
    tl.store(x, OPS[0](tl.program_id(0)))
"""


@pytest.mark.parametrize("name", ["in_a_branch", "after_a_branch", "after_a_loop", "in_a_default", "in_a_tuple"])
def test_a_global_that_a_kernel_may_read(name: str) -> None:
    """A changed global is an error in the same process; another process does not find the old kernel on disk."""
    x = np.zeros(1, np.int32)
    for number in (10, 20):
        names = load(CHOICES, "kernels_with_choices.py")
        names["N"] = constexpr(number)
        names[name][(1,)](x, False)
        assert x == [number]
    names["N"] = constexpr(30)
    with pytest.raises(RuntimeError, match="N has changed"):
        names[name][(1,)](x, False)


def test_a_changed_function_in_a_default() -> None:
    x = np.zeros(1, np.int32)
    for text, expected in ((CHOICES, 10), (CHOICES.replace("v + N", "v - N"), -10)):
        load(text, "kernels_with_choices.py")["in_a_default"][(1,)](x, False)
        assert x == [expected]


def test_the_cause_of_an_error(readers: dict[str, Any]) -> None:
    """The cause of an error begins with Triton's message, after a launch and after `triton.compile`."""
    triton: Any = importlib.import_module("mini_triton")
    uneven = readers["uneven"]
    source = triton.compiler.ASTSource(fn=uneven, signature={"x": "*i32"}, constexprs={})
    for compile in (lambda: triton.compile(source), lambda: uneven[(1,)](np.zeros(1, np.int32))):
        with pytest.raises(CompilationError) as caught:
            compile()
        assert str(caught.value.__cause__).startswith("arange's range must be a power of 2")


def test_a_constexpr_in_do_not_specialize(readers: dict[str, Any]) -> None:
    with pytest.raises(CompilationError, match="N marked as constexpr and listed in do_not_specialize"):
        readers["unclear"][(1,)](np.zeros(1, np.int32), 5)


def test_keywords_of_the_decorator(kernels: dict[str, Any]) -> None:
    compiled = kernels["careful"].warmup(np.int32, 16, 16)
    assert "%x: !tt.ptr<i32>, %n: i32, %m: i32 {tt.divisibility = 16 : i32}" in compiled.asm["ttir"]
    assert kernels["careful"].warmup(np.int32, 1, 2).metadata.signature["n"] == "i32"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int32", "int64", "uint8"])
def test_tensors_are_not_copied(kernels: dict[str, Any], dtype: str) -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(100).to(getattr(torch, dtype))
    out = torch.zeros(2, 100, dtype=x.dtype)
    kernels["add"][(4,)](x, x, out[1], 100, BLOCK=32)
    assert torch.equal(out[1], x + x) and not out[0].any()


def test_tensors_that_need_gradients(kernels: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    x, out = torch.ones(8, requires_grad=True), torch.zeros(8)
    kernels["add"][(1,)](x, x, out, 8, BLOCK=8)
    assert torch.equal(out, torch.full((8,), 2.0))


class Reversed:
    """A tensor with one axis, in reverse order, which PyTorch cannot describe."""

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.dtype, self.shape = tensor, tensor.dtype, tensor.shape

    def stride(self) -> tuple[int, ...]:
        return (-1,)

    def data_ptr(self) -> int:
        return self.tensor.data_ptr() + self.tensor.element_size() * (len(self.tensor) - 1)


REVERSE = """
import triton
import triton.language as tl

@triton.jit
def copy(x, out, step, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at * step, tl.load(x + at * step, mask=at < n), mask=at < n)
"""


@pytest.fixture
def copies() -> dict[str, Any]:
    return load(REVERSE, "kernels_that_copy.py")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "uint8"])
def test_objects_that_describe_memory(copies: dict[str, Any], dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(7).to(getattr(torch, dtype))
    out = torch.zeros_like(x)
    copies["copy"][(1,)](Reversed(x), Reversed(out), -1, 5, BLOCK=8)
    assert out.tolist() == [0, 0, 2, 3, 4, 5, 6]
    monkeypatch.setenv("MINI_TRITON_BOUNDS", "off")
    copies["copy"][(1,)](Reversed(x), Reversed(out), 1, 1, BLOCK=8)
    assert out.tolist() == [0, 0, 2, 3, 4, 5, 6]
    monkeypatch.delenv("MINI_TRITON_BOUNDS")
    with pytest.raises(IndexError, match=r"x\[1\] is out of bounds; x has 7 elements"):
        copies["copy"][(1,)](Reversed(x), out, 1, 5, BLOCK=8)


def test_memory_without_a_shape(copies: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    x, shapeless = torch.zeros(8), Reversed(torch.zeros(8))
    del shapeless.shape
    with pytest.raises(TypeError, match="needs the shape of its memory, and this Reversed does not have a shape"):
        copies["copy"][(1,)](x, shapeless, -1, 5, BLOCK=8)


LIBRARY = """
import importlib

import triton
import triton.language as tl

device_library = importlib.import_module("triton.language.extra.libdevice")
cbrt, maximum = device_library.cbrt, importlib.import_module("triton.language").maximum

@triton.jit
def root(x):
    tl.store(x, maximum(cbrt(tl.load(x)), 1.0) + device_library.hypot(3.0, 4.0))
"""


def test_functions_that_a_library_looks_up_by_name() -> None:
    pytest.importorskip("triton")
    x = np.array([27.0], np.float32)
    load(LIBRARY, "kernel_with_a_library.py")["root"][(1,)](x)
    assert x == 8.0


def test_a_debugger_sees_the_generated_source(kernels: dict[str, Any]) -> None:
    compiled = kernels["add"].warmup(np.float32, np.float32, np.float32, 8, BLOCK=8)
    stepped: list[str] = []

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_name != "add":
            return None
        if event == "line":
            stepped.append(linecache.getline(frame.f_code.co_filename, frame.f_lineno))
        return trace

    x = np.ones(8, np.float32)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        kernels["add"][(1,)](x, x, x.copy(), 8, BLOCK=8)
    finally:
        sys.settrace(before)
    assert stepped and all(line in compiled.asm["numpy"] for line in stepped)
    assert any("memory.store" in line for line in stepped)
