"""Task 6.5: straight-line operations become lines of Python."""

import ast
import textwrap
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from mini_triton.analysis.pointers import origins
from mini_triton.codegen import accesses, compile_module
from mini_triton.codegen.emitter import Emitter
from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module

from tests.checks import described
from tests.support.m06_codegen.kernels import judge_counted, kernel

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
    """A comment begins with the number of the kernel's line. No code, and so no comment, belongs to a `return`."""
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
    """A template contains operands, the result's dtype and attributes."""
    lines = ["%t_ = arith.constant dense<3> : tensor<4xi64>", *ELEMENTWISE]
    (function,) = parse_module(kernel("a: i32, b: i32, x: f32, h: f16", *lines)).body.operations
    (operation,) = [o for o in function.walk() if o.results and o.results[0].name == name]
    emit = Emitter(function, "batched", origins(function), {})
    emit.names.update({value: value.name if value.name != "t_" else "t__2" for value in operation.operands})
    call = described(f"emit.expression({operation.name}, {template!r})", emit.expression, operation, template)
    call.returns(expected, "the operands' texts, the result's dtype and the attributes are filled in")


def test_operations_without_code() -> None:
    """Without a handler or a meaning, the error names the operation, for any operands and results."""
    for name, results in (("math.strange", 1), ("tt.call", 0), ("tt.call", 2)):
        module = parse_module(kernel("n: i32"))
        block = module.body.operations[0].regions[0].block
        (n,) = block.arguments
        block.insert(0, Operation(name, [n], [n.type] * results))
        refuses(module, name)


def refuses(module: Any, name: str) -> None:
    """Require an error that names this operation."""
    __tracebackhide__ = True
    with pytest.raises(NotImplementedError) as raised:
        compile_module(module, "batched")
    if str(raised.value).startswith("Task "):
        raise raised.value
    assert name in str(raised.value), f"the message does not name {name}: {raised.value}"


# --- memory

MEMORY = {
    "in the order of the kernel: memory changes between them": """
        a = tl.load(x)
        tl.store(x, a + 1)
        b = tl.load(x)
        tl.store(out, a * b)
        tl.store(x, 1)
    """,
    "a load": "tl.store(out + r, tl.load(x + r))",
    "a load with a mask": "tl.store(out + r, tl.load(x + r, mask=r < 2))",
    "a load with something instead of memory": "tl.store(out + r, tl.load(x + r, mask=r < 2, other=2 * r))",
    "a store": "tl.store(x + r, 2 * r)",
    "a store with a mask": "tl.store(x + r, 2 * r, mask=r < 2)",
    "single elements": """
        tl.store(out, tl.load(x, mask=n > 0, other=k))
        tl.store(out + 1, tl.load(x + 1, mask=n > 0))
        tl.store(out + tl.full((), 3, tl.int64), k, mask=n > 0)
    """,
}


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("what", MEMORY)
def test_loads_and_stores(what: str, n: int) -> None:
    """A load's operands are offsets, a mask and `other`; a store's are offsets, a value and a mask."""
    judge_counted(
        f"r = tl.arange(0, 4)\n{textwrap.dedent(MEMORY[what])}", [n], f"loads and stores run as in the kernel ({what})"
    )


DECIDING = {
    "%y = tt.load %x, %c, %v : !tt.ptr<i32>": ("%x, %c", "a mask"),
    "tt.store %x, %v : !tt.ptr<i32>": ("%x, %v", "a value"),
    "tt.store %x, %v, %c : !tt.ptr<i32>": ("%x, %v, %c", "a value and a mask"),
}


@pytest.mark.parametrize("line", DECIDING)
def test_the_operands_that_decide_an_access(line: str) -> None:
    """In a branch, programs that store different values to one element need the branch's mask (task 6.7)."""
    (function,) = parse_module(kernel("x: *i32, v: i32, c: i1", line)).body.operations
    (access,) = [operation for operation in function.walk() if operation.name in ("tt.load", "tt.store")]
    emit, asked = Emitter(function, "batched", origins(function), {}), []
    emit.names.update({value: str(value.name) for value in access.operands})

    def note(emit: Emitter, values: Any, mask: Any) -> str:
        asked.extend(values)
        return ""

    with mock.patch.object(accesses, "mask_of", note):
        write = accesses.load if access.results else accesses.store
        described(f"accesses.{write.__name__}(emit, {line!r})", write, emit, access).succeeds()
    expected, differ = DECIDING[line]
    got = [name for name in expected.split(", ") if name in [f"%{value.name}" for value in asked]]
    assert ", ".join(got) == expected, (
        f"The values that `{write.__name__}` gives to `mask_of` for {line}\n  expected  {expected}\n"
        f"  got       {', '.join(got) or 'none'}\n  because   programs may differ in nothing but {differ}"
    )
