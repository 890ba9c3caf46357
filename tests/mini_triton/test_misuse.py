"""Mistakes of a first day: each message says what is wrong, and what to write instead."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kernels
import mini_triton as triton
import mini_triton.language as tl
import numpy as np
import pytest
from mini_triton import environment, sanitizer
from mini_triton.runtime import cache
from mini_triton.runtime.jit import BACKEND
from mini_triton.testing import Benchmark, do_bench, perf_report

from tests.support.sources import load

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
"""
double = load(SOURCE, "misused_kernel.py")["double"]
x = np.ones(16, np.float32)


HEAD = """
import numpy as np
import triton
import triton.language as tl


@triton.jit
def helper(x):
    tl.store(x, 0)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.DIRECTORY, str(tmp_path))


def tuned(**changed: Any) -> Any:
    return triton.autotune(**{"configs": [triton.Config({"BLOCK": 16})], "key": ["n"], **changed})(double)


def benchmark(time: Callable[..., Any], **changed: Any) -> Any:
    lines: dict[str, Any] = {"line_vals": ["a", "b"], "line_names": ["A", "B"]}
    given = Benchmark(x_names=["n"], x_vals=[1], line_arg="which", plot_name="", args={}, **{**lines, **changed})
    return perf_report(given)(time)


def in_kernel(body: str, parameters: str = "x, n") -> Any:
    """Launch a kernel of one line with an array and a number."""
    text = f"{HEAD}\n\n@triton.jit\ndef kernel({parameters}):\n    {body}\n"
    return load(text, f"misuse_{abs(hash(text))}.py")["kernel"][(1,)](x, 16)


CALLED = "double is a kernel, which only kernels can call: launch it on a grid, double[(1,)](...)"
NO_GRID = "double was launched without a grid: write double[(1,)](...)"

MISUSES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "uninitialized list": (
        lambda: sanitizer.uninitialized([1, 2]),
        *(TypeError, "[1, 2] is not memory: pass a NumPy array or a PyTorch tensor"),
    ),
    "call of a kernel": (lambda: double(x, 16, BLOCK=16), RuntimeError, CALLED),
    "call of a tuner": (lambda: tuned()(x, 16), RuntimeError, CALLED),
    "call with heuristics": (
        lambda: triton.heuristics({"BLOCK": lambda args: 16})(tuned())(x, 16),
        *(RuntimeError, CALLED),
    ),
    "run without a grid": (lambda: double.run(x, 16, BLOCK=16), TypeError, NO_GRID),
    "tuner without a grid": (lambda: tuned().run(x, 16), TypeError, NO_GRID),
    "plain configurations": (
        lambda: tuned(configs=[{"BLOCK": 64}]),
        *(TypeError, "configs holds {'BLOCK': 64}, not a Config: write triton.Config({'BLOCK': 64})"),
    ),
    "jit above autotune": (
        lambda: triton.jit(triton.autotune([], [])(double.fn)),
        *(TypeError, "write @triton.autotune above @triton.jit"),
    ),
    "jit above heuristics": (
        lambda: triton.jit(triton.heuristics({})(double.fn)),
        *(TypeError, "write @triton.heuristics above @triton.jit"),
    ),
    "typo in a name": (
        lambda: triton.autotunes,
        AttributeError,
        "triton has no autotunes, and Triton does not have it",
    ),
    "jit of a kernel": (lambda: triton.jit(double), TypeError, "write @triton.jit directly above its def"),
    "jit() of a kernel": (lambda: triton.jit(debug=True)(double), TypeError, "jit decorates a function, not <kernel"),
    "heuristics without functions": (
        lambda: triton.heuristics({"BLOCK": 64})(double),
        *(TypeError, "heuristics takes functions by name, {'BLOCK': lambda args: args['n']}, not {'BLOCK': 64}"),
    ),
    "lines without names": (
        lambda: benchmark(lambda n, which: n, line_names=["A"]),
        *(ValueError, "a line has a value and a name: 2 line_vals, 1 line_names"),
    ),
    "lines without styles": (
        lambda: benchmark(lambda n, which: n, styles=[("red", "-")]),
        *(ValueError, "a line has a value and a style: 2 line_vals, 1 styles"),
    ),
    "a benchmark that returns a function": (
        lambda: benchmark(lambda n, which: lambda: n).run(),
        *(TypeError, "<lambda> returned a function, not a number: return do_bench(function)"),
    ),
    "call of a benchmark": (lambda: benchmark(lambda n, which: n)(1, "a"), TypeError, ".run(print_data=True)"),
    "do_bench of a launch": (
        lambda: do_bench(double[(1,)](x, 16, BLOCK=16)),
        *(TypeError, "do_bench takes a function, not <compiled kernel double("),
    ),
    "a language outside of kernels": (lambda: tl.load(x), RuntimeError, "is there a @jit missing?"),
}
"""By description: the misuse, its error, and the error's message or a part of it."""

IN_KERNELS = {
    "tl.store(x, tl.log2(B))": "tl.log2 takes floats, not 8: write tl.log2(8.0)",
    "arange(0, B)": "arange is not defined: write tl.arange",
    "tl.arrange(0, B)": "tl has no arrange, and Triton does not have it either: did you mean arange?",
    "x.sun()": "tensor has no sun, and Triton does not have it either: did you mean sum?",
    "sum(tl.arange(0, B))": "sum is not defined: write tl.sum",
    "nothing(x)": "nothing is not defined",
    "tl.store(x, np.exp(1.0))": "np.exp cannot be called in a kernel: write tl.exp",
    "tl.store(x, np.angle(1.0))": "np.angle cannot be called in a kernel: decorate it with @jit or @constexpr_function",
    "helper[(1,)](x)": "a kernel cannot launch a grid: call helper(...)",
    "tl.store(x, int(tl.load(x)))": "which does not know its argument: write x.to(tl.int32)",
    "tl.store(x, triton.cdiv(n, B))": "which does not know its argument: write tl.cdiv",
    "tl.arange(0, n)": "arange's arguments must be of type tl.constexpr, and integers, not 0 and int32[]",
    "tl.arange(0, B / 2)": "arange's arguments must be of type tl.constexpr, and integers, not 0 and 4.0",
    "tl.arange(0, 100)": "arange's range must be a power of 2, not 100: use the next one, and a mask",
    "tl.zeros([B], np.float32)": "<class 'numpy.float32'> is not a dtype of the language, write tl.float32",
    "tl.load(x).to('float16')": "'str' object has no attribute 'scalar': 'float16' is not a dtype of the language",
    "tl.zeros(B, tl.float32)": "'int' object is not iterable: a shape is a tuple or a list, write [8]",
    "x[0] = 1": "__setitem__ is not supported in triton: use tl.store(x + i, y), or tl.where",
    "tl.store(x, x[0])": "unsupported tensor index: 0: use `:` and None, or tl.load(x + i) for memory",
    "tl.load(n)": "Unsupported ptr type int32 in `tl.load`: its first argument must be a pointer",
    "tl.store(x, 1 if tl.arange(0, B) > n else 0)": "is ambiguous: use tl.where",
    "tl.store(x, tl.arange(0, B) @ tl.arange(0, B))": "unsupported AST node type: MatMult: write tl.dot(a, b)",
    "f = lambda a: a": "unsupported AST node type: Lambda: write another function with @triton.jit",
    "import math": "unsupported AST node type: Import: import at the top of the file",
    "a = {B: B}": "unsupported AST node type: Dict: write a tuple",
}
"""Lines of a kernel, and a part of the error's message."""


@pytest.mark.parametrize("line, message", IN_KERNELS.items(), ids=IN_KERNELS.keys())
def test_misuse_in_a_kernel(line: str, message: str) -> None:
    with pytest.raises(triton.CompilationError, match=re.escape(message)):
        in_kernel(line, "x, n, B: tl.constexpr = 8")


@pytest.mark.parametrize("misuse, error, message", MISUSES.values(), ids=MISUSES.keys())
def test_misuse(misuse: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        misuse()


def test_the_advice_for_log2_works() -> None:
    in_kernel("tl.store(x, tl.log2(float(B)))", "x, n, B: tl.constexpr = 8")
    assert x[0] == 3


def test_names_in_key_that_are_not_parameters() -> None:
    """Real Triton ignores them silently."""
    with pytest.warns(UserWarning, match="autotune ignores names in key that are not parameters: m, k"):
        tuned(key=["m", "n", "k"])


def test_constexpr_of_the_package() -> None:
    """Real Triton has this name in its language only."""
    in_kernel(
        "tl.store(x, tl.arange(0, triton.constexpr(B)).shape[0] + triton.cdiv(B, 4))", "x, n, B: triton.constexpr = 8"
    )
    assert x[0] == 10


# --- environment variables


@pytest.mark.parametrize("variable", [environment.PRINT, environment.BOUNDS, BACKEND, cache.ALWAYS_COMPILE])
def test_environment_variables(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "bogus")
    kernel = triton.jit(double.fn)
    with pytest.raises(ValueError, match=rf"{variable} must be one of .*, not 'bogus'"):
        kernel[(1,)](x, 16, BLOCK=16)


@pytest.mark.parametrize(("value", "expected"), [("", False), ("0", False), ("Off", False), ("1", True), ("YES", True)])
def test_switches(value: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.ALWAYS_COMPILE, value)
    assert environment.is_set(cache.ALWAYS_COMPILE) is expected


def python(code: str, **variables: str) -> str:
    """The error output of a Python program that fails."""
    tree = str(Path(kernels.__file__).parents[1])
    variables = os.environ | {"PYTHONPATH": tree} | variables
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True)
    assert done.returncode
    return done.stderr


def test_the_compiler_of_the_kernels() -> None:
    said = python("import kernels.compiler", KERNELS_COMPILER="foo")
    assert "KERNELS_COMPILER must be one of mini_triton, triton, not 'foo'" in said


# --- missing packages


def test_a_demo_without_pytorch() -> None:
    said = python("import sys; sys.modules['torch'] = None\nfrom kernels import demo")
    assert said == "the demos need PyTorch, which is not installed: run `pip install torch`\n"
