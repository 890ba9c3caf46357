"""Task 6.5: operations one after the other become lines of Python."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mini_triton.codegen import compile_module
from mini_triton.codegen.emitter import Emitter
from mini_triton.codegen.pointers import origins
from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module

from tests.checks import described
from tests.support.m06_codegen.kernels import kernel, tensor
from tests.support.m06_codegen.numpy_backend import run

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


def test_comments_say_the_kernels_lines(tmp_path: Path) -> None:
    """Each begins with its number. A `return` writes nothing, so it has none."""
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL, encoding="utf-8")
    located = kernel("x: *i32, n: i32", *LINES, end="tt.return loc(#loc7)")
    located += "".join(f'#loc{line} = loc("{file.as_posix()}":{line}:0)\n' for line in range(2, 8))
    source = compile_module(parse_module(located), "batched").source
    ast.parse(source)
    lines = KERNEL.splitlines()
    expected = [f"# {number}: {lines[number - 1].strip()}".rstrip(":") for number in (2, 3, 4, 5, 6)]
    got = [line.strip().rstrip(":") for line in source.splitlines() if line.strip().startswith("#")]
    assert got == expected, f"expected the comments {expected}\ngot {got}\nof the source\n{source}"


# --- expressions


ELEMENTWISE = (
    "%s = arith.addi %a, %b : i32",
    "%f = tt.fp_to_fp %x, rounding = rtz : f32 -> f16",
    "%w = tt.fp_to_fp %h : f16 -> f32",
    "%t = arith.trunci %t_ : tensor<4xi64> to tensor<4xi1>",
    "%z = math.fma %x, %x, %x : f32",
)
EXPRESSIONS = (
    ("s", "{0} + {1}", "a + b"),
    ("s", "{1} - {0} * {0}", "b - a * a"),
    ("s", "g({operands})", "g(a, b)"),
    ("s", "{0}.astype({dtype})", "a.astype(np.int32)"),
    ("f", "round({0}, {dtype}, {rounding!r})", "round(x, np.float16, 'rtz')"),
    ("w", "round({0}, {dtype}, {rounding!r})", "round(h, np.float32, '')"),
    ("t", "{0}.astype({dtype})", "t__2.astype(np.bool_)"),
    ("z", "f({operands})", "f(x, x, x)"),
)


@pytest.mark.parametrize(("name", "template", "expected"), EXPRESSIONS)
def test_templates_are_filled_in(name: str, template: str, expected: str) -> None:
    """Operands, the dtype of the result, attributes."""
    lines = ["%t_ = arith.constant dense<3> : tensor<4xi64>", *ELEMENTWISE]
    (function,) = parse_module(kernel("a: i32, b: i32, x: f32, h: f16", *lines)).body.operations
    (operation,) = [o for o in function.walk() if o.results and o.results[0].name == name]
    emit = Emitter(function, "batched", origins(function), {})
    emit.names.update({value: value.name if value.name != "t_" else "t__2" for value in operation.operands})
    call = described(f"emit.expression({operation.name}, {template!r})", emit.expression, operation, template)
    call.returns(expected, "the template, with the operands' texts and the operation's words in it")


def test_operations_without_code() -> None:
    """Neither a handler nor a meaning: the error names the operation, whatever it takes and gives."""
    for name, results in (("math.strange", 1), ("tt.call", 0), ("tt.call", 2)):
        module = parse_module(kernel("n: i32"))
        block = module.body.operations[0].regions[0].block
        (n,) = block.arguments
        block.insert(0, Operation(name, [n], [n.type] * results))
        refuses(module, name)


def refuses(module: Any, name: str) -> None:
    """There is no code for this operation."""
    __tracebackhide__ = True
    with pytest.raises(NotImplementedError) as raised:
        compile_module(module, "batched")
    if str(raised.value).startswith("Task "):
        raise raised.value
    assert name in str(raised.value), f"the message does not name {name}: {raised.value}"


# --- memory


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
    x, out = run(text, (1,), [np.array([6], np.int32), np.array([0], np.int32)])
    assert (x[0], out[0]) == (1, 6 * 7), f"x is {x[0]}, not 1, and out is {out[0]}, not 42, after\n{text}"


ACCESSES = {
    "%a = tt.load %p : tensor<4x!tt.ptr<i32>>": [10, 11, 12, 13],
    "%a = tt.load %p, %m : tensor<4x!tt.ptr<i32>>": [10, 11, 0, 0],
    "%a = tt.load %p, %m, %v : tensor<4x!tt.ptr<i32>>": [10, 11, 4, 6],
    "tt.store %p, %v : tensor<4x!tt.ptr<i32>>": [0, 2, 4, 6],
    "tt.store %p, %v, %m : tensor<4x!tt.ptr<i32>>": [0, 2, 12, 13],
}


@pytest.mark.parametrize("line", ACCESSES)
def test_loads_and_stores(line: str) -> None:
    """Offsets, then a mask, then what there is instead of memory; for a store the value comes before the mask."""
    pointers = tensor("!tt.ptr<i32>", 4)
    text = kernel(
        "x: *i32, out: *i32",
        "%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>",
        "%two = arith.constant dense<2> : tensor<4xi32>",
        "%m = arith.cmpi slt, %r, %two : tensor<4xi32>",
        "%v = arith.muli %r, %two : tensor<4xi32>",
        f"%ps = tt.splat %x : !tt.ptr<i32> -> {pointers}",
        f"%p = tt.addptr %ps, %r : {pointers}, tensor<4xi32>",
        line,
        f"%os = tt.splat %out : !tt.ptr<i32> -> {pointers}",
        f"%o = tt.addptr %os, %r : {pointers}, tensor<4xi32>",
        f"tt.store %o, %a : {pointers}" if "load" in line else "",
    )
    x, out = run(text, (1,), [np.arange(10, 14, dtype=np.int32), np.zeros(4, np.int32)])
    got = (out if "load" in line else x).tolist()
    assert got == ACCESSES[line], f"{line}\n  expected  {ACCESSES[line]}\n  got       {got}\n{text}"


def test_scalar_accesses() -> None:
    """With a mask, and with another value for where it is false."""
    text = kernel(
        "x: *f32, out: *f32, c: i1, d: f32",
        "%one = arith.constant 1 : i32",
        "%two = arith.constant 2 : i64",
        "%a = tt.load %x, %c, %d : !tt.ptr<f32>",
        "tt.store %out, %a : !tt.ptr<f32>",
        "%p = tt.addptr %x, %one : !tt.ptr<f32>, i32",
        "%b = tt.load %p, %c : !tt.ptr<f32>",
        "%q = tt.addptr %out, %one : !tt.ptr<f32>, i32",
        "tt.store %q, %b : !tt.ptr<f32>",
        "%s = tt.addptr %q, %two : !tt.ptr<f32>, i64",
        "tt.store %s, %d, %c : !tt.ptr<f32>",
    )
    x = np.array([3, 4], np.float32)
    for condition, expected in ((True, [3, 4, 9, 7]), (False, [7, 0, 9, 9])):
        _, out, *_ = run(text, (1,), [x, np.full(4, 9, np.float32), condition, 7.0])
        assert out.tolist() == expected, (
            f"%out of the kernel\n  for %c = {condition}, %x = [3, 4], %d = 7\n"
            f"  expected  {expected}\n  got       {out.tolist()}\n{text}"
        )
