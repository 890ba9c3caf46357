"""Task 6.1: the interpreter evaluates operations, and runs blocks, loops, branches and calls."""

import textwrap
import types
import warnings
from typing import Any

import numpy as np
import pytest
from mini_triton.ir import interpreter
from mini_triton.ir.core import Block, Module, Operation
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import I32

from tests.checks import calling, described
from tests.mini_triton.explained_values import APPROXIMATE, OPEN
from tests.oracles import values
from tests.oracles.elementwise import QUESTIONS
from tests.support.m06_codegen import closeness
from tests.support.m06_codegen.exactness import DTYPES, wrapped
from tests.support.m06_codegen.kernels import compiled, kernel


def operations(*lines: str, parameters: str = "n: i32") -> dict[str, Operation]:
    """A kernel's operations, by the names of their first results, or else by their own names."""
    (function,) = parse_module(kernel(parameters, *lines)).body.operations
    return {o.results[0].name if o.results else o.name: o for o in function.walk()}


def entry(module: Module) -> Block:
    return module.body.operations[0].regions[0].block


# --- one operation


def asked(name: str) -> Operation:
    """The operation in a recorded question."""
    (function,) = parse_module(QUESTIONS[name].text).body.operations
    *_, operation = (o for o in function.walk() if o.name == QUESTIONS[name].operation.split()[0])
    return operation


@pytest.mark.parametrize("name", QUESTIONS)
def test_elementwise_operations(name: str) -> None:
    """For special numbers, the results equal a GPU's recorded results."""
    question = QUESTIONS[name]
    operation, operands = asked(name), question.operands()
    if "exact." in str(meaning(operation)):
        return  # functions of `exact` belong to task 6.12
    given = [x.astype(bool) if type == "i1" else x for x, type in zip(operands, question.types, strict=True)]
    with np.errstate(all="ignore"):
        (got,) = described(f"evaluate({name}, …)", interpreter.evaluate, operation, given)()
    dtype = np.dtype(bool) if question.result == "i1" else DTYPES[question.result]
    assert got.dtype == dtype, f"{name} gives elements of {got.dtype}, not of {dtype}"
    expected = values.answer(question)
    approximate = next(APPROXIMATE[k] for k in sorted(APPROXIMATE, key=len, reverse=True) if name.startswith(k))
    judged = ~next((OPEN[k].lanes(*operands) for k in OPEN if name.startswith(k)), np.zeros(expected.shape, bool))
    wrong = closeness.wrong(
        got.astype(expected.dtype) if question.result == "i1" else got, expected, approximate.rounding
    )
    if (wrong & judged).any():
        lane = int(np.flatnonzero(wrong & judged)[0])
        of = ", ".join(str(operand[lane]) for operand in operands)
        raise AssertionError(f"{name} of {of}\n  expected  {expected[lane]}\n  got       {got[lane]}")


def test_scalars_have_the_dtype_of_their_type() -> None:
    """`i8` wraps around at 8 bits, and a cast gives the dtype of the result."""
    found = operations(
        "%a = arith.constant 100 : i8",
        "%s = arith.addi %a, %a : i8",
        "%w = arith.extsi %a : i8 to i64",
        "%c = arith.cmpi slt, %a, %a : i8",
        "%k = arith.constant dense<1.5> : tensor<2x2xf16>",
    )
    hundred = np.int8(100)
    for name, operands, expected in (
        ("a", [], hundred),
        ("s", [hundred, hundred], np.int8(-56)),
        ("w", [hundred], np.int64(100)),
        ("c", [hundred, hundred], np.bool_(False)),
        ("k", [], np.full((2, 2), 1.5, np.float16)),
    ):
        with np.errstate(all="ignore"):
            (got,) = calling(interpreter.evaluate, found[name], operands)()
        assert (got.dtype, np.shape(got)) == (expected.dtype, np.shape(expected)), (
            f"{name} is {got!r}, not {expected!r}"
        )
        assert np.array_equal(got, expected), f"%{name} is {got!r}, not {expected!r}"


def test_a_scalar_is_a_numpy_scalar() -> None:
    """A value without dimensions is a `np.generic`, not an array without dimensions, and not a Python number."""
    found = operations(
        "%a = arith.constant 100 : i8",
        "%s = arith.addi %a, %a : i8",
        "%t = tt.make_range {end = 1 : i32, start = 0 : i32} : tensor<1xi32>",
        "%u = tt.unsplat %t : tensor<1xi32>",
    )
    for name, operands in (("a", []), ("s", [np.int8(100)] * 2), ("u", [np.zeros(1, np.int32)])):
        with np.errstate(all="ignore"):
            (got,) = calling(interpreter.evaluate, found[name], operands)()
        assert isinstance(got, np.generic), (
            f"%{name}\n  expected  a NumPy scalar\n  got       {type(got).__name__} {got!r}"
        )
    lines = """
        for i in range(0, n):
            tl.store(out + i, i * n)
    """
    body = parse_module(compiled(lines, out="*i32", n="i32"))
    program = interpreter.Program([buffer := interpreter.Buffer.of("out", np.zeros(4, np.int32))])
    program.run(entry(body), buffer.address(0), np.int32(3))
    for value, got in program.values.items():
        words = (
            f"%{value.name or '?'} : {value.type}\n  expected  a NumPy scalar\n  got       {type(got).__name__} {got!r}"
        )
        assert isinstance(got, np.generic), words


def test_attributes_complete_an_expression() -> None:
    """The expression of `tt.extern_elementwise` contains the attribute `symbol`, which names the function."""
    line = '%y = tt.extern_elementwise %x {{libname = "", libpath = "", pure = true, symbol = "{}"}} : (f32) -> f32'
    for symbol, expected in (("__nv_fabsf", 2.5), ("__nv_floorf", -3.0)):
        operation = operations(line.format(symbol), parameters="x: f32")["y"]
        call = described(f"evaluate({symbol}, [-2.5])", interpreter.evaluate, operation, [np.float32(-2.5)])
        (got,) = call.succeeds(f"[{expected}]", "`compile_expression` inserts the attributes into the expression")
        assert got == expected, f"{call}\n  expected  [{expected}]\n  got       [{got}]"


def test_several_results_and_none() -> None:
    """`tt.split` has two results. An operation whose result depends on more than its operands cannot be evaluated."""
    found = operations(
        "%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>",
        "%m = tt.reshape %r : tensor<4xi32> -> tensor<2x2xi32>",
        "%u, %v = tt.split %m : tensor<2x2xi32> -> tensor<2xi32>",
        "%pid = tt.get_program_id x : i32",
        "%l = tt.load %p : !tt.ptr<i32>",
        "scf.for %i = %n to %n step %n : i32 {\n}",
        parameters="n: i32, p: *i32",
    )
    halves = calling(interpreter.evaluate, found["u"], [np.array([[0, 1], [2, 3]], np.int32)])()
    assert [half.tolist() for half in halves] == [[0, 2], [1, 3]], (
        f"tt.split of [[0, 1], [2, 3]] is {halves}, not [0, 2] and [1, 3]"
    )
    for name, operands in (("pid", []), ("l", [np.int64(0)]), ("scf.for", [np.int32(0)] * 3)):
        calling(interpreter.evaluate, found[name], operands).returns(
            None, "the operation depends on more than its operands"
        )


# --- blocks


def running(program: interpreter.Program, block: Block, *arguments: Any) -> described:
    """The call that runs a block; a failure shows its operations."""
    shown = textwrap.indent("".join(map(print_module, block.operations)).rstrip(), "  ")
    names = ", ".join(f"%{argument.name} = {value}" for argument, value in zip(block.arguments, arguments, strict=True))
    return described(f"Program.run of this block with {names}\n{shown}", program.run, block, *arguments)


def test_a_block() -> None:
    """`run` keeps each value for later operations, and returns the values of the terminator's operands."""
    lines = ["%a = arith.addi %n, %n : i32", "%b = arith.muli %a, %n : i32", "%c = arith.subi %b, %a : i32"]
    block = entry(parse_module(kernel("n: i32", *lines)))
    program = interpreter.Program()
    assert list(running(program, block, np.int32(5))()) == [], "a kernel's tt.return has no operands"
    got = {value.name: int(number) for value, number in program.values.items()}
    assert got == {"n": 5, "a": 10, "b": 50, "c": 40}, (
        f"the values should be n = 5, a = 10, b = 50, c = 40, not {got}\n{lines}"
    )
    assert list(program.run(Block([I32]), np.int32(1))) == [], (
        "run of a block without a terminator should return nothing"
    )


def test_numpy_stays_quiet() -> None:
    """Wraparound, division by zero and overflow are ordinary arithmetic here, and cause no warning."""
    lines = ["%a = arith.muli %n, %n : i32", "%f = arith.sitofp %n : i32 to f32"]
    lines += ["%z = arith.constant 0.0 : f32", "%q = arith.divf %x, %z : f32", "%w = arith.mulf %x, %x : f32"]
    lines += ["%i = arith.divf %z, %z : f32"]
    block = entry(parse_module(kernel("n: i32, x: f32", lines[0], *lines[2:])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        running(interpreter.Program(), block, np.int32(2**31 - 1), np.float32(1e30)).succeeds()


def test_an_operation_without_a_meaning() -> None:
    """The error names the unknown operation."""
    module = parse_module(kernel("n: i32"))
    block = entry(module)
    block.insert(0, Operation("math.strange", [block.arguments[0]], [I32]))
    with pytest.raises(NotImplementedError) as raised:
        interpreter.Program().run(block, np.int32(1))
    if str(raised.value).startswith("Task "):
        raise raised.value
    assert "math.strange" in str(raised.value), f"the message does not name math.strange: {raised.value}"


def test_programs_know_where_they_are() -> None:
    """A program has its ids and the grid, so it can evaluate `tt.get_program_id` and `tt.get_num_programs`."""
    lines = [f"%{axis} = tt.get_program_id {axis} : i32" for axis in "xyz"]
    lines += [f"%{axis}_count = tt.get_num_programs {axis} : i32" for axis in "xyz"]
    program = interpreter.Program(grid=(4, 5, 6), ids=(1, 2, 3))
    running(program, entry(parse_module(kernel("n: i32", *lines))), np.int32(0)).succeeds()
    got = [int(number) for number in program.values.values()][1:]
    assert got == [1, 2, 3, 4, 5, 6], f"ids and counts are {got}, not [1, 2, 3, 4, 5, 6]"


# --- control flow


CONTROL_FLOW = {
    "a while loop": """
        rounds = n - n
        while n > k:
            tl.store(out + 2, rounds)
            n, rounds = n - 3, rounds + 1
        tl.store(out, n)
        tl.store(out + 1, rounds)
    """,
    "loops and branches in each other": """
        total, last = n - n, n - n
        for i in range(0, n):
            if i & 1 == 1:
                for j in range(i, k, 2):
                    total, last = total + j, total
            else:
                total = total * 3 - last
        tl.store(out, total)
        tl.store(out + 1, last)
    """,
    "a branch without else, and one that swaps": """
        if n > k:
            tl.store(out + 2, n)
        a, b = n, k
        if n > k:
            a, b = k, n
        tl.store(out, a)
        tl.store(out + 1, b)
    """,
}


@pytest.mark.parametrize("what", CONTROL_FLOW)
@pytest.mark.parametrize(("n", "k"), [(0, 0), (1, 0), (5, 2), (2, 7), (40, 3), (-3, 9)])
def test_control_flow(what: str, n: int, k: int) -> None:
    """Python and the IR compute the same results."""
    text, expected, out = CONTROL_FLOW[what], [-7] * 4, np.full(4, -7, np.int32)
    tl = types.SimpleNamespace(store=expected.__setitem__)
    exec(textwrap.dedent(text), {"tl": tl, "out": 0, "n": n, "k": k, "range": range})
    module = parse_module(compiled(text, out="*i32", n="i32", k="i32"))
    calling(interpreter.run, module, (1,), [interpreter.Buffer.of("out", out), n, k]).succeeds()
    got = out.tolist()
    assert got == expected, f"out for n = {n}, k = {k}\n  expected  {expected}\n  got       {got}\n{text}"


def test_what_the_first_block_forwards() -> None:
    """An `scf.while` returns the values that `scf.condition` forwards: here three, from two initial values."""
    lines = """
        %one = arith.constant 1 : i32
        %r:3 = scf.while (%a = %n, %c = %one) : (i32, i32) -> (i32, i32, i32) {
          %more = arith.cmpi slt, %a, %k : i32
          %next = arith.addi %a, %a : i32
          scf.condition(%more) %next, %a, %c : i32, i32, i32
        } do {
        ^bb0(%b: i32, %d: i32, %e: i32):
          %rounds = arith.addi %e, %one : i32
          scf.yield %b, %rounds : i32, i32
        }
    """
    text = kernel("n: i32, k: i32", lines)
    program, block = interpreter.Program(), entry(parse_module(text))
    because = "an scf.while returns the values that its first block forwards last"
    running(program, block, np.int32(3), np.int32(20)).succeeds(because=because)
    (loop,) = [operation for operation in block.operations if operation.results and operation.name == "scf.while"]
    got = [int(program.values[result]) for result in loop.results]
    assert got == [48, 24, 4], f"for %n = 3, %k = 20\n  expected  [48, 24, 4]\n  got       {got}\n{text}"


@pytest.mark.parametrize("type", ["i32", "i64"])
def test_the_induction_variable_wraps_around(type: str) -> None:
    """The induction variable has the bounds' dtype, so its square wraps around; but the loop ends at its upper bound.

    The second loop has one iteration, although its second index would wrap around to a number below the upper bound.
    """
    body = "%q = arith.muli %i, %i : {0}\n%t = arith.addi %s, %q : {0}\nscf.yield %t : {0}"
    lines = ["%z = arith.constant 0 : {0}", "%r = scf.for %i = %a to %b step %c iter_args(%s = %z) -> ({0}) : {0} {{"]
    text = kernel(f"a: {type}, b: {type}, c: {type}", *(line.format(type) for line in [*lines, body, "}}"]))
    dtype, top = np.dtype(f"int{type[1:]}").type, 2 ** (int(type[1:]) - 2)
    for bounds in ((top - 3, top, 2), (top + top // 2, top + top // 2 + 3, top + 3 * (top // 4))):
        program = interpreter.Program()
        program.run(entry(parse_module(text)), *map(dtype, bounds))
        got = next(int(number) for value, number in program.values.items() if value.name == "r")
        expected = wrapped(sum(i * i for i in range(*bounds)), type)
        assert got == expected, f"the sum of the squares of range{bounds} in {type} is {expected}, not {got}"


def test_calls() -> None:
    """A call runs the function that it names, and returns its results in order. It may call another function."""
    text = """
module {
  tt.func private @twice(%x: i32, %y: i32) -> (i32, i32) attributes {noinline = false} {
    %a = tt.call @sum(%x, %x) : (i32, i32) -> i32
    tt.return %y, %a : i32, i32
  }
  tt.func private @sum(%x: i32, %y: i32) -> i32 attributes {noinline = false} {
    %a = arith.addi %x, %y : i32
    tt.return %a : i32
  }
}
"""
    module: Any = parse_module(text)
    functions = {function.attributes["sym_name"]: function for function in module.body.operations}
    program = interpreter.Program(functions=functions)
    got = program.run(functions["twice"].regions[0].block, np.int32(4), np.int32(9))
    assert [int(number) for number in got] == [9, 8], f"@twice(4, 9) gives {got}, not (9, 8)\n{text}"


def test_every_program_of_a_grid() -> None:
    """Programs run in order, axis x fastest, and each stores to its own element."""
    lines = "at = tl.program_id(1) * 3 + tl.program_id(0)\ntl.store(out + at, at * at)"
    out = np.zeros(6, np.int32)
    module = parse_module(compiled(lines, out="*i32"))
    calling(interpreter.run, module, (3, 2), [interpreter.Buffer.of("out", out)]).succeeds()
    assert out.tolist() == [i * i for i in range(6)], f"out is {out.tolist()}, not the squares"
