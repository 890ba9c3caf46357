"""`tl.device_assert` and checks for overflow, in kernels that are compiled for debugging."""

import re
from typing import Any

import mini_triton
import numpy as np
import pytest
from mini_triton.codegen import compile_module
from mini_triton.ir import interpreter
from mini_triton.ir.device_assert import DeviceAssertionError
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer

from tests.oracles import triton
from tests.support.sources import load

KERNELS = """
import triton
import triton.language as tl

@triton.jit
def checked(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.device_assert(values > 0, "x is positive", mask=at < n)
    if tl.program_id(0) >= 2:
        assert n < 1000, f"{BLOCK} is too few"
    tl.store(out + at, values, mask=at < n)

@triton.jit
def computes(x, y, out, WHAT: tl.constexpr):
    at = tl.arange(0, 4)
    a, b = tl.load(x + at), tl.load(y + at)
    if WHAT == "add":
        a = a + b
    elif WHAT == "sub":
        a = a - b
    elif WHAT == "mul":
        a = a * b
    else:
        a = tl.add(a, b, sanitize_overflow=False)
    tl.store(out + at, a)

@triton.jit
def random(out):
    at = tl.arange(0, 64)
    tl.store(out + at, tl.rand(7, at) + tl.sum(at, 0) + tl.max(at, 0))

@triton.jit(debug=True)
def loops(x):
    for i in range(tl.load(x + tl.program_id(0))):
        assert i < 3

@triton.jit(debug=True)
def always(x):
    assert tl.load(x) == 1

@triton.jit
def named(x, debug):
    assert tl.load(x) == debug, "the parameter"
"""
FILE = "kernels_that_assert.py"
kernels = load(KERNELS, FILE)
OVERFLOWS = [
    ("add", np.int8, 127, 1),
    ("sub", np.int16, -(2**15), 1),
    ("mul", np.int32, 2**16, 2**15),
    ("add", np.uint8, 255, 1),
    ("sub", np.uint32, 0, 1),
    ("mul", np.uint16, 256, 256),
]


def positive(count: int = 16) -> np.ndarray:
    return np.arange(1, count + 1, dtype=np.int32)


def run(x: np.ndarray, n: int, **options: Any) -> np.ndarray:
    out = np.zeros(max(n, 48), np.int32)
    kernels["checked"][(3,)](np.resize(x, max(n, 48)), out, n, BLOCK=16, **options)
    return out


def test_assertions_that_hold() -> None:
    assert (run(positive(), 40, debug=True)[:40] == np.resize(positive(), 40)).all()


def test_what_does_not_hold() -> None:
    x = positive(48)
    x[21] = -1
    with pytest.raises(DeviceAssertionError) as caught:
        run(x, 40, debug=True)
    text = str(caught.value)
    assert f"{FILE}:9: checked: block: [1,0,0] Assertion `x is positive` failed." in text
    assert "[5]" in text and 'tl.device_assert(values > 0, "x is positive", mask=at < n)' in text
    assert caught.value.program == (1, 0, 0) and isinstance(caught.value, AssertionError)


def test_masked_lanes_and_inactive_programs_do_not_assert() -> None:
    x = positive(48)
    x[40:] = -1
    run(x, 40, debug=True)
    with pytest.raises(DeviceAssertionError, match=re.escape("block: [2,0,0] Assertion `16 is too few` failed.")):
        run(positive(1), 1000, debug=True)


def test_programs_that_have_left_a_loop_do_not_count() -> None:
    with pytest.raises(DeviceAssertionError) as caught:
        kernels["loops"][(5,)](np.array([1, 3, 0, 5, 2], np.int32))
    assert caught.value.program == (3, 0, 0)


def test_without_debug_nothing_is_built() -> None:
    run(-positive(), 40)
    compiled = kernels["checked"].warmup(np.int32, np.int32, 40, BLOCK=16)
    assert "tt.assert" not in compiled.asm["ttir"] and "programs.check" not in compiled.asm["numpy"]


def test_ways_to_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = np.zeros(1, np.int32)
    with pytest.raises(DeviceAssertionError, match="`` failed"):
        kernels["always"][(1,)](wrong)
    kernels["always"][(1,)](wrong, debug=False)
    kernels["named"][(1,)](wrong, debug=1)
    monkeypatch.setenv("MINI_TRITON_DEBUG", "1")
    assert mini_triton.knobs.runtime.debug
    with pytest.raises(DeviceAssertionError):
        kernels["always"][(1,)](wrong, debug=False)
    with pytest.raises(DeviceAssertionError):
        run(-positive(), 40)
    monkeypatch.setenv("MINI_TRITON_DEBUG", "0")
    run(-positive(), 40)


@pytest.mark.parametrize("name, dtype, x, y", OVERFLOWS)
def test_overflow(name: str, dtype: Any, x: int, y: int) -> None:
    def compute(x: int, y: int, what: str) -> np.ndarray:
        out = np.zeros(4, dtype)
        kernels["computes"][(1,)](np.full(4, x, dtype), np.full(4, y, dtype), out, WHAT=what, debug=True)
        return out

    width = 8 * np.dtype(dtype).itemsize
    with pytest.raises(DeviceAssertionError, match=f"`int{width} overflow detected for operation {name}`"):
        compute(x, y, name)
    compute(x, y, "add without a check")
    compute(x, 0, name)
    kernels["computes"][(1,)](
        *[np.full(4, n, dtype) for n in (x, y, 0)], WHAT=name, debug=True, sanitize_overflow=False
    )


def test_random_numbers_and_reductions_may_wrap() -> None:
    kernels["random"][(1,)](np.zeros(64, np.float32), debug=True)


@pytest.mark.parametrize("mode", ["interpreted", "batched", "fast"])
def test_each_back_end(mode: Any) -> None:
    x = np.array([3, 2, 1, 0], np.int32)
    text = kernels["computes"].warmup(np.int32, np.int32, np.int32, WHAT="sub", debug=True).texts["ttir"]
    arguments = [Buffer.of(name, np.array(x)) for name in "xyo"]
    arguments[1].data[:] = [0, 0, -(2**31), 0]
    with pytest.raises(DeviceAssertionError, match=r"\[2\]") as caught:
        if mode == "interpreted":
            interpreter.run(parse_module(text), (2,), arguments)
        else:
            compile_module(parse_module(text), mode)((2,), arguments)
    assert caught.value.program == (0, 0, 0) and caught.value.place == f"{FILE}:21"


@pytest.mark.parametrize("what", ["add", "sub", "mul", "add without a check"])
def test_as_real_triton_builds_them(what: str) -> None:
    for dtype in ("i8", "i32", "u16", "i64"):
        types = {"x": f"*{dtype}", "y": f"*{dtype}", "out": f"*{dtype}", "WHAT": "constexpr"}
        source = triton.Source(
            KERNELS, "computes", types, {"WHAT": what}, options={"debug": True, "sanitize_overflow": True}
        )
        (theirs,) = triton.frontends([source])
        compiled = mini_triton.compile(
            mini_triton.compiler.ASTSource(kernels["computes"], types, {"WHAT": what}), options={"debug": True}
        )
        assert triton.canonical(compiled.asm["ttir"]).count("tt.assert") == theirs.ops.get("tt.assert", 0)
        assert [*re.findall('tt.assert .*, (".*")', compiled.asm["ttir"])] == [
            *re.findall('tt.assert .*, (".*")', theirs.canonical)
        ]


def test_gpus_get_it() -> None:
    if not triton.available():
        pytest.skip("needs Triton")
    compiled = kernels["checked"].warmup(np.int32, np.int32, 40, BLOCK=16, debug=True)
    compiled.lower("sm_90")
    assert "__assertfail" in compiled.asm["ptx"]
