"""Task 9.10: facts through control flow, and widths of accesses, compared with real Triton's layouts and PTX."""

import functools
import textwrap
from typing import Any

import numpy as np
import pytest
from mini_triton.analysis.axis_info import AxisAnalysis, Facts
from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.transforms.coalescing import Access, Limits, accesses, limits
from mini_triton.transforms.manager import optimize

from tests.checks import calling, described
from tests.oracles import triton
from tests.oracles.triton import Source
from tests.support import sources
from tests.support.m06_codegen import numpy_backend
from tests.support.m09_passes.facts import interpreted
from tests.support.m09_passes.widths import Instruction, chosen, instructions

# --- control flow

FUNCTION = """
tt.func public @kernel(%m: i32 {{tt.divisibility = 16 : i32}}, %n: i32, %c: i1) {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  %eight = arith.constant 8 : i32
  %many = arith.constant 64 : i32
  %range = tt.make_range {{start = 0 : i32, end = 64 : i32}} : tensor<64xi32>
  %twos = arith.constant dense<2> : tensor<64xi32>
  %ones = tt.splat %n : i32 -> tensor<64xi32>
{}
  tt.return
}}
"""


def known(lines: str) -> described:
    """The facts about `%value`, which the last of these lines defines, without its `value`."""

    def analyze() -> Any:
        module = parse_module(FUNCTION.format(lines))
        value = module.body.operations[0].regions[0].block.operations[-2].results[0]
        (facts,) = AxisAnalysis(module)[value]
        return facts._replace(value=None)

    return described(f"AxisAnalysis(module)[%value], where `m` is a multiple of 16:\n{lines}\n", analyze)


def test_branches() -> None:
    known("""
  %value = scf.if %c -> (i32) {
    scf.yield %eight : i32
  } else {
    scf.yield %four : i32
  }""").returns(Facts(1, 4, 1), "`%value` is 8 or 4")
    known("""
  %value = scf.if %c -> (tensor<64xi32>) {
    %next = arith.addi %range, %twos : tensor<64xi32>
    scf.yield %next : tensor<64xi32>
  } else {
    scf.yield %range : tensor<64xi32>
  }""").returns(Facts(64, 2, 1), "both values count up; one of them begins with 2")
    known("""
  scf.if %c {
    %next = arith.addi %zero, %n : i32
  }
  %value = arith.addi %m, %m : i32""").returns(Facts(1, 16, 1), "a branch without results has no second block")


def test_values_inside_branches() -> None:
    lines = """
  scf.if %c {
    %first = arith.addi %m, %m : i32
  } else {
    %second = arith.addi %eight, %eight : i32
  }"""
    for name, divisibility in (("first", 16), ("second", 8)):

        def analyze(name: str = name) -> Any:
            module = parse_module(FUNCTION.format(lines))
            found = {value.name: value for operation in module.walk() for value in operation.results}
            return AxisAnalysis(module)[found[name]]

        asked = described(f"AxisAnalysis(module)[%{name}], where `m` is a multiple of 16:\n{lines}\n", analyze)
        asked.returns((Facts(1, divisibility, 1),), "values inside branches also have facts")


def loop(step: str, first: str = "%zero", by: str = "%one", type: str = "i32") -> str:
    """A loop that carries a value `%x`, which is `%next` after an iteration."""
    return f"""
  %value = scf.for %i = %zero to %n step {by} iter_args(%x = {first}) -> ({type}) : i32 {{
    {step}
    scf.yield %next : {type}
  }}"""


def test_loops() -> None:
    known(loop("%next = arith.addi %x, %eight : i32")).returns(Facts(1, 8, 1), "`%value` is 0, 8, 16, ...")
    known(loop("%next = arith.addi %x, %eight : i32", "%four")).returns(Facts(1, 4, 1), "`%value` is 4, 12, 20, ...")
    known(loop("%next = arith.addi %x, %four : i32", "%m")).returns(
        Facts(1, 4, 1), "in the second iteration, `x` is m + 4"
    )
    known(loop("%next = arith.addi %x, %n : i32", "%m")).returns(Facts(1, 1, 1), "`n` may be any number")
    known(loop("%next = arith.muli %x, %n : i32", "%eight")).returns(
        Facts(1, 8, 1), "a product with a multiple of 8 is a multiple of 8"
    )
    tensor = "tensor<64xi32>"
    known(loop(f"%next = arith.addi %x, %twos : {tensor}", "%range", type=tensor)).returns(Facts(64, 2, 1))
    known(loop(f"%next = arith.addi %x, %ones : {tensor}", "%range", type=tensor)).returns(Facts(64, 1, 1))
    known(loop(f"%next = arith.addi %x, %range : {tensor}", "%range", type=tensor)).returns(
        Facts(1, 1, 1), "in the second iteration, `x` is 0 2 4 6 ..."
    )


def test_induction_variables() -> None:
    for by, expected in (("%one", 1), ("%four", 4), ("%m", 16), ("%n", 1)):
        step = "%next = arith.addi %i, %zero : i32"
        known(loop(step, "%zero", by)).returns(Facts(1, expected, 1), f"`i` is 0, {by}, 2 * {by}, ...")
    lines = loop("%next = arith.addi %i, %zero : i32", "%many", "%eight").replace("%i = %zero", "%i = %four")
    known(lines).returns(Facts(1, 4, 1), "`i` is 4, 12, 20, ...")


def test_facts_that_change_over_several_iterations() -> None:
    known("""
  %value, %second, %third = scf.for %i = %zero to %n step %one
      iter_args(%x = %many, %y = %eight, %z = %four) -> (i32, i32, i32) : i32 {
    %next = arith.addi %z, %two : i32
    scf.yield %y, %z, %next : i32, i32, i32
  }""").returns(Facts(1, 2, 1), "the 6 of the first iteration is in `x` three iterations later")


def test_loops_in_loops() -> None:
    known("""
  %value = scf.for %i = %zero to %n step %one iter_args(%x = %eight) -> (i32) : i32 {
    %next = scf.for %j = %zero to %n step %four iter_args(%y = %x) -> (i32) : i32 {
      %sum = arith.addi %y, %j : i32
      scf.yield %sum : i32
    }
    scf.yield %next : i32
  }""").returns(Facts(1, 4, 1), "multiples of 4 are added to 8")
    known("""
  %value, %step = scf.for %i = %zero to %n step %one iter_args(%x = %zero, %s = %m) -> (i32, i32) : i32 {
    %next = scf.for %j = %zero to %n step %s iter_args(%y = %x) -> (i32) : i32 {
      %sum = arith.addi %y, %j : i32
      scf.yield %sum : i32
    }
    scf.yield %next, %two : i32, i32
  }""").returns(Facts(1, 2, 1), "the inner loop's step is 2 from the second iteration on")


def test_loops_with_conditions() -> None:
    known("""
  %value:2 = scf.while (%x = %zero, %y = %m) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %x, %n : i32
    scf.condition(%more) %y, %x : i32, i32
  } do {
  ^bb0(%a: i32, %b: i32):
    %next = arith.addi %b, %four : i32
    %sum = arith.addi %a, %next : i32
    scf.yield %next, %sum : i32, i32
  }""").returns(Facts(1, 4, 1), "the first result is the first forwarded value: m + 4 + 8 + ...")
    known("""
  %value = scf.while (%x = %zero) : (i32) -> (i32) {
    %more = arith.cmpi slt, %x, %n : i32
    %half = arith.muli %x, %four : i32
    scf.condition(%more) %half : i32
  } do {
  ^bb0(%a: i32):
    %next = arith.addi %a, %eight : i32
    scf.yield %next : i32
  }""").returns(Facts(1, 32, 1), "the loop carries 0, 8, 40, ..., and forwards each number times 4")


HEAD = """
import triton
import triton.language as tl

@triton.jit
def kernel(out, m, n):
    at = tl.arange(0, 4096)
    where = out + at
    zero = tl.full([4096], 0, tl.int8)
"""
LOOPS = {
    "steps of 8": """
for i in range(n):
    tl.store(where, zero)
    where += 8
""",
    "steps of m": """
for i in range(n):
    tl.store(where, zero)
    where += m
""",
    "steps of n": """
for i in range(n):
    tl.store(where, zero)
    where += n
""",
    "the induction variable": """
for i in range(0, n, 4):
    tl.store(out + i + at, zero)
""",
    "from 2 in steps of 4": """
for i in range(2, n, 4):
    tl.store(out + i + at, zero)
""",
    "down": """
for i in range(n, 0, -1):
    tl.store(out + i * 4 + at, zero)
""",
    "two loops": """
for i in range(n):
    for j in range(n):
        tl.store(where + 8 * j, zero)
    where += 16
""",
    "the inner loop moves": """
for i in range(n):
    for j in range(n):
        tl.store(where, zero)
        where += 4
""",
    "after a loop": """
for i in range(n):
    where += 2
tl.store(where, zero)
""",
    "while": """
i = 0
while i < n:
    tl.store(where, zero)
    where += 4
    i += 1
""",
    "while, with a number": """
i = m
while i < 100:
    tl.store(out + i + at, zero)
    i += 8
""",
    "a branch": """
if n > 5:
    where += 8
tl.store(where, zero)
""",
    "two branches": """
if n > 5:
    where += 8
else:
    where += 2
tl.store(where, zero)
""",
    "inside a branch": """
if n > 5:
    tl.store(where, zero)
""",
    "inside the other branch": """
if n > 5:
    tl.debug_barrier()
else:
    tl.store(where + 8, zero)
""",
    "a branch in a loop": """
for i in range(n):
    tl.store(where, zero)
    if i % 2 == 0:
        where += 4
""",
    "strides grow": """
for i in range(n):
    tl.store(out + at, zero)
    at += at
""",
    "an exchange": """
a = m
b = m + 4
for i in range(n):
    tl.store(out + a + at, zero)
    a, b = b, a
""",
}


@functools.cache
def compiled(lines: str) -> str:
    """A kernel's module, as our front end makes it."""
    text = HEAD + textwrap.indent(lines, "    ")
    return print_module(
        sources.compiled(Source(text, "kernel", {"out": "*i8", "m": "i32", "n": "i32"}, {}, ("out", "m")))
    )


@functools.cache
def layouts() -> dict[str, list[tuple[str, int, int]]]:
    """The facts that real Triton finds."""
    texts = triton.coalesced([compiled(lines) for lines in LOOPS.values()])
    return dict(zip(LOOPS, map(chosen, texts), strict=True))


@pytest.mark.parametrize("name", LOOPS)
def test_loops_as_in_real_triton(name: str) -> None:
    module = parse_module(compiled(LOOPS[name]))
    analysis = calling(AxisAnalysis, module).succeeds()
    (pointers,) = [operation.operands[0] for operation in module.walk() if operation.name == "tt.store"]
    ((_, _, theirs),) = layouts()[name]
    (facts,) = analysis[pointers]
    ours = min(facts.contiguity, facts.divisibility, 16)
    asked = described(f"AxisAnalysis(module)[the pointers of the store], for{LOOPS[name]}", lambda: None)
    if ours < theirs:
        because = f"real Triton stores {theirs} bytes at a time"
        asked.fail(f"contiguity and divisibility of {theirs} or more", facts, because)


@pytest.mark.parametrize("name", LOOPS)
def test_facts_in_loops_are_true(name: str) -> None:
    module = parse_module(compiled(LOOPS[name]))
    for m, n in ((16, 7), (48, 6)):
        with interpreted(module):
            numpy_backend.run(module, (1,), [np.zeros(1 << 19, np.int8), m, n], mode="interpreted")


# --- accesses

ACCESS = """
tt.func public @kernel(
    %p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>, %m: i32 {tt.divisibility = 16 : i32}, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %at = tt.addptr %base, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %loose = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %last = tt.splat %m : i32 -> tensor<1024xi32>
  %any = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %range, %last : tensor<1024xi32>
  %bad = arith.cmpi slt, %range, %any : tensor<1024xi32>
  %far = tt.addptr %base, %any : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %odd = tt.addptr %at, %any : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  ACCESS
  tt.return
}
"""


def limited(access: str, threads: int = 128, axis: int = 0, text: str = ACCESS) -> described:
    """The limits on the width of one access."""

    def ask() -> Any:
        module = parse_module(text.replace("ACCESS", access))
        (operation,) = (o for o in module.walk() if o.name in ("tt.load", "tt.store"))
        return limits(operation, AxisAnalysis(module), axis, threads)

    return described(
        f"limits(operation, analysis, axis={axis}, threads={threads}), where the operation is\n  {access}\n", ask
    )


def test_limits() -> None:
    load, store = "%v = tt.load {} : tensor<1024x!tt.ptr<f32>>", "tt.store {} : tensor<1024x!tt.ptr<f32>>"
    limited(load.format("%at")).returns(Limits(1024, 4, 8, 1024), "16 bytes are 4 elements")
    limited(load.format("%at"), 512).returns(Limits(1024, 4, 2, 1024))
    limited(load.format("%at"), 4096).returns(Limits(1024, 4, 1, 1024), "some threads have nothing to do")
    limited(load.format("%at, %mask")).returns(Limits(1024, 4, 8, 16), "`m` is a multiple of 16")
    limited(load.format("%at, %bad")).returns(Limits(1024, 4, 8, 1), "`n` may be any number")
    limited(load.format("%odd")).returns(Limits(1024, 1, 8, 1024), "an address plus 4 * n")
    limited(load.format("%loose")).returns(
        Limits(1, 1, 8, 1024), "`q` may be any address; a thread can always access one element"
    )
    limited(load.format("%far")).returns(Limits(1, 1, 8, 1024), "all elements have the same address")
    limited("%v = arith.constant dense<0.0> : tensor<1024xf32>\n  " + store.format("%at, %v, %mask")).returns(
        Limits(1024, 4, 8, 16), "the mask of a store comes after the value"
    )
    limited("%v = arith.constant dense<0.0> : tensor<1024xf32>\n  " + store.format("%at, %v")).returns(
        Limits(1024, 4, 8, 1024)
    )


TILE = """
tt.func public @kernel(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %rows = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %columns = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %column = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %row_end = tt.splat %n : i32 -> tensor<16x1xi32>
  %column_end = tt.splat %n : i32 -> tensor<1x64xi32>
  %row_inside = arith.cmpi slt, %row, %row_end : tensor<16x1xi32>
  %column_inside = arith.cmpi slt, %column, %column_end : tensor<1x64xi32>
  %row_mask = tt.broadcast %row_inside : tensor<16x1xi1> -> tensor<16x64xi1>
  %column_mask = tt.broadcast %column_inside : tensor<1x64xi1> -> tensor<16x64xi1>
  %row_all = tt.broadcast %row : tensor<16x1xi32> -> tensor<16x64xi32>
  %column_all = tt.broadcast %column : tensor<1x64xi32> -> tensor<16x64xi32>
  %width = arith.constant dense<64> : tensor<16x64xi32>
  %height = arith.constant dense<16> : tensor<16x64xi32>
  %row_far = arith.muli %row_all, %width : tensor<16x64xi32>
  %column_far = arith.muli %column_all, %height : tensor<16x64xi32>
  %by_row = arith.addi %row_far, %column_all : tensor<16x64xi32>
  %by_column = arith.addi %column_far, %row_all : tensor<16x64xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<16x64x!tt.ptr<f32>>
  %row_by_row = tt.addptr %base, %by_row : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
  %column_by_column = tt.addptr %base, %by_column : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
  ACCESS
  tt.return
}
"""


@pytest.mark.parametrize(
    "pointers, mask, axis, expected",
    [
        ("%row_by_row", "", 1, Limits(64, 4, 8, 64)),
        ("%column_by_column", "", 0, Limits(16, 4, 8, 16)),
        ("%row_by_row", "%row_mask", 1, Limits(64, 4, 8, 64)),
        ("%row_by_row", "%column_mask", 1, Limits(64, 4, 8, 1)),
        ("%column_by_column", "%row_mask", 0, Limits(16, 4, 8, 1)),
        ("%column_by_column", "%column_mask", 0, Limits(16, 4, 8, 16)),
    ],
)
def test_limits_of_tiles(pointers: str, mask: str, axis: int, expected: Limits) -> None:
    load = f"%v = tt.load {', '.join(filter(None, (pointers, mask)))} : tensor<16x64x!tt.ptr<f32>>"
    differs = mask[1:].removesuffix("_mask")
    because = f"the mask is `{differs} < n`, so each {differs} has one mask value" if mask else "there is no mask"
    because = f"axis 0 counts rows, axis 1 columns; {because}"
    limited(load, axis=axis, text=TILE).returns(expected, because)


@pytest.mark.parametrize(
    "element, found, expected",
    [
        ("f32", Limits(64, 64, 64, 64), 16),
        ("f32", Limits(64, 2, 64, 64), 8),
        ("f32", Limits(64, 64, 64, 1), 4),
        ("f16", Limits(64, 64, 64, 64), 16),
        ("f16", Limits(4, 64, 64, 64), 8),
        ("i8", Limits(64, 64, 8, 64), 8),
        ("f64", Limits(64, 64, 64, 64), 16),
        ("f64", Limits(1, 1, 1, 1), 8),
        ("i1", Limits(4, 8, 8, 8), 4),
    ],
)
def test_bytes(element: str, found: Limits, expected: int) -> None:
    text = f"""
    tt.func public @kernel(%p: tensor<64x!tt.ptr<{element}>>) {{
      %v = tt.load %p : tensor<64x!tt.ptr<{element}>>
      tt.return
    }}"""
    operation: Operation = next(o for o in parse_module(text).walk() if o.name == "tt.load")
    described(f"Access(load of {element}, 0, {found}).bytes", lambda: Access(operation, 0, found).bytes).returns(
        expected
    )


KERNEL = """
import triton
import triton.language as tl

@triton.jit
def kernel(a, b, c, d, out, m, n):
    at = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    wide = tl.load(a + at)
    masked = tl.load(a + at, mask=at < m)
    alone = tl.load(a + at, mask=at < n)
    strided = tl.load(a + at * 2)
    shifted = tl.load(a + at + 2)
    same = tl.load(a + at // 4)
    ring = tl.load(a + at % m)
    halves = tl.load(b + at)
    some = tl.load(b + at, mask=at < m + 4, other=0.0)
    bytes = tl.load(c + at)
    loose = tl.load(d + at)
    total = wide + masked + alone + strided + shifted + same + ring + halves + some + bytes + loose
    tl.store(out + at, total)
    tl.store(out + n + at, total)
    tl.store(out + at, total, mask=at >= n)
    rows = tl.arange(0, 16)[:, None]
    columns = tl.arange(0, 64)[None, :]
    tile = tl.load(a + rows * m + columns)
    turned = tl.load(a + rows + columns * m)
    short = tl.load(a + rows % 2 + columns * n)
    tl.store(out + rows * m + columns, tile + turned + short)
"""


@pytest.mark.parametrize("warps", [1, 4, 8])
def test_widths_as_in_real_tritons_ptx(warps: int) -> None:
    signature = {"a": "*fp32", "b": "*fp16", "c": "*i8", "d": "*fp32", "out": "*fp32", "m": "i32", "n": "i32"}
    module = sources.compiled(Source(KERNEL, "kernel", signature, {}, ("a", "b", "c", "out", "m")), "kernel.py")
    optimize(module)
    found = list(calling(accesses, module, warps).succeeds())
    (ptx,) = triton.assembled([print_module(module, locations=True)], num_warps=warps)
    theirs = instructions(ptx)
    for access in found:
        kind, loc = access.operation.name[3:], access.operation.loc
        assert loc
        line = KERNEL.splitlines()[loc.line - 1].strip()
        asked = described(f"the bytes of the {kind} in `{line}`, {warps} warps", lambda access=access: access.bytes)
        (width,) = theirs[Instruction(kind, loc.line, loc.column)]
        asked.returns(width, f"an access of real Triton's PTX has {width} bytes; ours has {access.limits}")
