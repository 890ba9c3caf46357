"""Task 6.1: operations one after the other become lines of Python, run for one program after the other.

The library with `load` and `store` is another task, so these tests put a simple one in its place.
"""

from __future__ import annotations

import ast
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen import compile_module
from mini_triton.codegen.library.memory import OutOfBounds
from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module

from tests.corpus import CASES
from tests.corpus.inputs import buffers, inputs
from tests.oracles import modules, values
from tests.support.m06_codegen import closeness
from tests.support.m06_codegen import library_doubles as doubles
from tests.support.m06_codegen import straight_line_kernels as straight_line
from tests.support.m06_codegen.exactness import DTYPES
from tests.support.m06_codegen.kernel_text import kernel
from tests.support.m06_codegen.straight_line_kernels import Step

NUMPY = {**DTYPES, "i1": np.dtype(bool)}
AWKWARD = (0.0, -0.0, 1.0, -1.5, 3.0, 1e-3, 60000.0, -1e30, math.inf, -math.inf, math.nan)


# --- a whole kernel


def test_vector_addition() -> None:
    """The kernel that everything begins with."""
    text = kernel(
        "x: *f32, y: *f32, out: *f32, n: i32",
        "%size = arith.constant 8 : i32",
        "%pid = tt.get_program_id x : i32",
        "%start = arith.muli %pid, %size : i32",
        "%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>",
        "%starts = tt.splat %start : i32 -> tensor<8xi32>",
        "%offsets = arith.addi %starts, %r : tensor<8xi32>",
        "%ns = tt.splat %n : i32 -> tensor<8xi32>",
        "%mask = arith.cmpi slt, %offsets, %ns : tensor<8xi32>",
        "%xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>",
        "%xp = tt.addptr %xs, %offsets : tensor<8x!tt.ptr<f32>>, tensor<8xi32>",
        "%a = tt.load %xp, %mask : tensor<8x!tt.ptr<f32>>",
        "%ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>",
        "%yp = tt.addptr %ys, %offsets : tensor<8x!tt.ptr<f32>>, tensor<8xi32>",
        "%b = tt.load %yp, %mask : tensor<8x!tt.ptr<f32>>",
        "%sum = arith.addf %a, %b : tensor<8xf32>",
        "%outs = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>",
        "%outp = tt.addptr %outs, %offsets : tensor<8x!tt.ptr<f32>>, tensor<8xi32>",
        "tt.store %outp, %sum, %mask : tensor<8x!tt.ptr<f32>>",
    )
    x, y = np.arange(21, dtype=np.float32), np.arange(21, dtype=np.float32) * 100
    *_, out, _ = doubles.run(text, (3,), [x, y, np.zeros(21, np.float32), 21])
    assert out.tolist() == [101.0 * i for i in range(21)]


@given(steps=straight_line.recipes, memory=straight_line.numbers, grid=st.sampled_from([(1,), (3,), (2, 1, 2)]))
def test_random_kernels(steps: list[Step], memory: list[int], grid: tuple[int, ...]) -> None:
    """What an interpreter of the IR says that each program stores."""
    straight_line.judge(steps, memory, grid, doubles.run)


STRAIGHT = (
    "add_kernel adam constant_branches_square dropout_low_memory early_return gather_rows messages pairwise".split()
)
STRAIGHT += "rotary shapes transpose".split()


@pytest.mark.parametrize("name", STRAIGHT)
def test_real_tritons_modules(name: str) -> None:
    """What compiled Triton computed on a GPU."""
    (case,) = [case for case in CASES if str(case) == name]
    text = modules.text(case)
    arguments, _ = inputs(case, values.SEED)
    got = dict(buffers(case, doubles.run(text, case.grid, arguments)))
    for name, expected in values.corpus(case).items():
        closeness.check(f"{name} of {case}", got[name], expected, closeness.rounding(parse_module(text)))


# --- lines


KERNEL = """\
def kernel(x, n):
    y = tl.load(x) + 1
    if n > 0:
        y *= n
        tl.store(x, y)
    tl.store(x + 1, y)
    return
"""
LINES = [
    "%one = arith.constant 1 : i32 loc(#loc2)",
    "%zero = arith.constant 0 : i32 loc(#loc2)",
    "%x_0 = tt.load %x : !tt.ptr<i32> loc(#loc2)",
    "%y = arith.addi %x_0, %one : i32 loc(#loc2)",
    "%c = arith.cmpi sgt, %n, %zero : i32 loc(#loc3)",
    "%y_1 = scf.if %c -> (i32) {",
    "  %y_0 = arith.muli %y, %n : i32 loc(#loc4)",
    "  tt.store %x, %y_0 : !tt.ptr<i32> loc(#loc5)",
    "  scf.yield %y_0 : i32 loc(#loc5)",
    "} else {",
    "  scf.yield %y : i32 loc(#loc3)",
    "} loc(#loc3)",
    "%p = tt.addptr %x, %one : !tt.ptr<i32>, i32 loc(#loc6)",
    "tt.store %p, %y_1 : !tt.ptr<i32> loc(#loc6)",
]


@pytest.fixture
def located(tmp_path: Path) -> str:
    """A module whose operations know the lines of `KERNEL` that they come from."""
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL, encoding="utf-8")
    text = kernel("x: *i32, n: i32", *LINES, end="tt.return loc(#loc7)")
    return text + "".join(f'#loc{line} = loc("{file.as_posix()}":{line}:0)\n' for line in range(2, 8))


def test_comments_say_the_kernels_lines(located: str) -> None:
    """Each begins with its number. A `return` writes nothing, so that it has none."""
    source = compile_module(parse_module(located), "plain").source
    ast.parse(source)
    lines = KERNEL.splitlines()
    expected = [f"# {number}: {lines[number - 1].strip()}".rstrip(":") for number in (2, 3, 4, 5, 6)]
    got = [line.strip().rstrip(":") for line in source.splitlines() if line.strip().startswith("#")]
    assert got == expected, f"expected the comments {expected}\ngot {got}\nof the source\n{source}"


@pytest.mark.parametrize(("call", "line"), [(0, 2), (1, 5), (2, 6)])
def test_an_error_knows_its_line(located: str, call: int, line: int) -> None:
    """Whoever runs the kernel looks it up: while an operation is written, it is `self.operation_now`."""
    calls = itertools.count()

    class Failing(doubles.Memory):
        def index(self, buffer: Any, offset: Any, mask: Any) -> Any:
            if next(calls) == call:
                raise OutOfBounds(buffer, 9, ())
            return super().index(buffer, offset, mask)

    with pytest.raises(OutOfBounds) as raised:
        doubles.run(located, (1,), [np.ones(2, np.int32), 3], memory=Failing())
    place = Path(raised.value.place).name
    assert place == f"kernel.py:{line}", f"the access comes from line {line}, but is said to be at {place!r}"
    assert raised.value.program == (0, 0, 0)


def test_order() -> None:
    """Loads and stores stay in the order of the kernel: memory changes between them."""
    text = kernel(
        "x: *i32, out: *i32",
        "%one = arith.constant 1 : i32",
        "%a = tt.load %x : !tt.ptr<i32>",
        "%next = arith.addi %a, %one : i32",
        "tt.store %x, %next : !tt.ptr<i32>",
        "%b = tt.load %x : !tt.ptr<i32>",
        "%product = arith.muli %a, %b : i32",
        "tt.store %out, %product : !tt.ptr<i32>",
        "tt.store %x, %one : !tt.ptr<i32>",
    )
    x, out = doubles.run(text, (1,), [np.array([6], np.int32), np.array([0], np.int32)])
    assert (x[0], out[0]) == (1, 6 * 7), f"x is {x[0]}, not 1, and out is {out[0]}, not 42, after\n{text}"


def test_operations_without_code() -> None:
    """Neither a method nor a template: the error names the operation, whatever it takes and gives."""
    for name, results in (("math.strange", 1), ("tt.call", 0), ("tt.call", 2)):
        module = parse_module(kernel("n: i32"))
        (function,) = module.body.operations
        block = function.regions[0].block
        (n,) = block.arguments
        block.insert(0, Operation(name, [n], [n.type] * results))
        refuses(module, name)


def refuses(module: Any, name: str) -> None:
    """There is no code for this operation."""
    __tracebackhide__ = True
    try:
        kernel = compile_module(parse_module(module) if isinstance(module, str) else module, "plain")
    except NotImplementedError as error:
        if str(error).startswith("Task "):
            raise
        assert name in str(error), f"the message names no {name}: {error}"
    else:
        raise AssertionError(f"no NotImplementedError names {name}; the source is\n{kernel.source}")
