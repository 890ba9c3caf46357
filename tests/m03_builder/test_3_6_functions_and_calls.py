"""Task 3.6: functions with named parameters, their order in a module, and calls."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import Loc, VerificationError
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, Module
from mini_triton.ir.printer import print_module
from mini_triton.ir.scopes import call, for_, function, return_
from mini_triton.ir.types import F32, I32, FunctionType, TensorType, Type
from mini_triton.ir.verifier import verify

from tests.checks import described
from tests.oracles import triton
from tests.support.m02_ops.generic_form import type_of
from tests.support.m03_builder.bench import module_around
from tests.support.m03_builder.exceptions import Stop, stopped

LINE = Loc("kernel.py", 7)
TYPES = ("i32", "i64", "f16", "f32", "!tt.ptr<f32>", "tensor<8xf32>", "tensor<4x2x!tt.ptr<f16>>")
NUMBERS = ("i8", "i32", "i64")

names = st.sampled_from(["x", "y", "out", "n", "stride_a", "BLOCK", "_"])
parameters = st.dictionaries(names, st.sampled_from(TYPES), max_size=5)
alignments = st.dictionaries(names, st.sampled_from([1, 8, 16]), max_size=4)


def types_of(inputs: dict[str, str]) -> dict[str, Type]:
    return {name: type_of(type) for name, type in inputs.items()}


# --- functions


@given(
    name=st.sampled_from(["kernel", "add_kernel", "k1", "_k"]),
    inputs=parameters,
    returned=st.lists(st.integers(0, 4), max_size=3),
    public=st.booleans(),
    divisibility=st.none() | alignments,
)
def test_a_function_is_as_declared(
    name: str, inputs: dict[str, str], returned: list[int], public: bool, divisibility: dict[str, int] | None
) -> None:
    """The function has the declared name, visibility, parameters, alignments and results; real Triton reads them."""
    builder, module = Builder(), Module()
    promised = divisibility or {}
    chosen = [[*inputs][i % len(inputs)] for i in returned if inputs]
    results = [type_of(inputs[parameter]) for parameter in chosen]
    with function(builder, module, name, types_of(inputs), results, public=public, divisibility=divisibility) as built:
        by_name = dict(zip(inputs, built.arguments, strict=True))
        return_(builder, *(by_name[parameter] for parameter in chosen))
    type = FunctionType(tuple(types_of(inputs).values()), tuple(results))
    assert (built.name, built.type) == (name, type), (
        f"the `with` should yield the Function {name} of type {type}, not {built.name} of type {built.type}"
    )
    (made,) = module.body.operations
    visibility = "public" if public else "private"
    assert made.name == "tt.func"
    expected = {"sym_name": name, "function_type": type, "sym_visibility": visibility}
    assert made.attributes == expected, f"attributes\n  expected  {expected}\n  got       {made.attributes}"
    arguments = made.regions[0].block.arguments
    assert tuple(arguments) == tuple(built.arguments), "the Function's arguments should be those of its block"
    assert [argument.name for argument in arguments] == [*inputs], "parameters should keep their names"
    verify(module)
    wanted = header(name, visibility, inputs, [inputs[parameter] for parameter in chosen], promised)
    read = triton.parse(print_module(module))
    got = next((line.strip() for line in read.splitlines() if f"@{name}(" in line), read)
    because = "real Triton reads this from the printed module"
    assert wanted in read, f"the function's first line\n  expected  {wanted}\n  got       {got}\n  because   {because}"


def header(name: str, visibility: str, inputs: dict[str, str], results: list[str], known: dict[str, int]) -> str:
    """The first line of a function as real Triton prints it."""
    arguments = [
        f"%arg{i}: {type}" + (f" {{tt.divisibility = {known[parameter]} : i32}}" if parameter in known else "")
        for i, (parameter, type) in enumerate(inputs.items())
    ]
    arrow = f" -> {results[0]}" if len(results) == 1 else f" -> ({', '.join(results)})" if results else ""
    return f"tt.func {visibility} @{name}({', '.join(arguments)}){arrow} {{"


def test_functions_follow_one_another_in_the_module() -> None:
    """A complete function goes to the module's end, so a function that is built inside another comes before it.

    A function without results needs no `return_`. Its location is the line of its `with`.
    """
    builder, module, elsewhere = Builder(), Module(), Block()
    with builder.at_end(elsewhere), builder.location(LINE):
        with function(builder, module, "first", {}, public=False):
            pass
        with function(builder, module, "kernel", {"n": I32}) as kernel, builder.location(Loc("kernel.py", 8, 4)):
            with function(builder, module, "inner", {"x": F32}, [F32], public=False) as inner:
                return_(builder, *inner.arguments)
            builder.operation("arith.addi", *kernel.arguments * 2)
        last = builder.operation("arith.constant", value=0, result=I32)
    got = [operation.attributes["sym_name"] for operation in module.body.operations]
    assert got == ["first", "inner", "kernel"], f"the module holds {got}"
    assert elsewhere.operations == [last], "afterwards the insertion point is the old one"
    verify(module)
    first, _, made = module.body.operations
    assert first.loc == made.loc == LINE, (
        f"the functions should have the location {LINE}, not {first.loc} and {made.loc}"
    )
    sum, end = made.regions[0].block.operations
    assert (sum.name, end.name) == ("arith.addi", "tt.return") and sum.loc == Loc("kernel.py", 8, 4)
    assert made.attributes["sym_visibility"] == "public", "a function should be public without `public=False`"


# --- what goes wrong


def test_an_exception_leaves_no_function() -> None:
    builder, module, elsewhere = Builder(), Module(), Block()
    with builder.at_end(elsewhere):
        with stopped("function"):
            with function(builder, module, "kernel", {"n": I32}) as kernel:
                (n,) = kernel.arguments
                with for_(builder, n, n, n):
                    raise Stop
        assert module.body.operations == [], "an exception in the body should leave no function in the module"
        last = builder.operation("gpu.barrier")
    assert elsewhere.operations == [last], "afterwards the insertion point is the old one"


@pytest.mark.parametrize(
    ("results", "returned"), [([], [0]), ([I32], []), ([F32], [0]), ([I32], [0, 0]), ([I32, F32], [1, 0])]
)
def test_what_is_returned_must_be_what_is_declared(results: list[Type], returned: list[int]) -> None:
    builder, module = Builder(), Module()

    def returning() -> None:
        with function(builder, module, "kernel", {"i": I32, "x": F32}, results, public=False) as kernel:
            return_(builder, *(kernel.arguments[i] for i in returned))

    words = f"a function that declares {[*map(str, results)]} and returns parameters {returned} of (i32, f32)"
    described(words, returning).raises(VerificationError)
    assert not module.body.operations, "a function that its type rule refuses must not be in the module"


# --- calls


@given(
    inputs=st.lists(st.sampled_from(NUMBERS), max_size=4),
    returned=st.lists(st.integers(0, 3), max_size=4),
    twice=st.booleans(),
)
def test_calls(inputs: list[str], returned: list[int], twice: bool) -> None:
    """A function that returns some of its parameters is called once, or a second time on its own results."""
    builder, module = Builder(), Module()
    returned = [i % len(inputs) for i in returned if inputs]
    types = [type_of(name) for name in inputs]
    parameters = {f"p{i}": type for i, type in enumerate(types)}
    with function(builder, module, "shuffle", parameters, [types[i] for i in returned], public=False) as shuffle:
        return_(builder, *(shuffle.arguments[i] for i in returned))
    again = twice and [types[i] for i in returned] == types
    with function(builder, module, "caller", parameters, [types[i] for i in returned]) as caller:
        results = call(builder, shuffle, *caller.arguments)
        assert isinstance(results, tuple), f"`call` should return a tuple of results, got {results!r}"
        got_types = [result.type for result in results]
        assert got_types == [types[i] for i in returned], f"the results have types {[*map(str, got_types)]}"
        if again:
            results = call(builder, shuffle, *results)
        return_(builder, *results)
    verify(module)
    order = [returned[i] for i in returned] if again else returned
    text = print_module(module)
    answer = triton.accepts(text)
    assert answer, triton.refusal("the call", text, answer.diagnostic)
    inlined = triton.canonical(print_module(module)).rpartition("tt.return")[2]
    got = [int(number) for number in re.findall(r"%arg(\d+)", inlined)]
    assert got == order, (
        f"shuffle returns its parameters {returned}; after real Triton inlines it, caller returns its own parameters\n"
        f"  expected  {order}\n  got       {got}\n{print_module(module)}"
    )


def test_a_call_must_fit() -> None:
    """The arguments are checked when the call is built, and the message names the function."""
    builder, module = Builder(), Module()
    with function(builder, module, "scale", {"x": F32, "n": I32}, [F32], public=False) as scale:
        return_(builder, scale.arguments[0])
    block = Block([F32, I32, TensorType((8,), F32)])
    x, n, tensor = block.arguments
    for arguments in ((), (x,), (n, x), (x, x), (x, n, n), (tensor, n)):
        with builder.at_end(block):
            given = ", ".join(str(argument.type) for argument in arguments)
            words = f"call of scale, which takes (f32, i32), with ({given})"
            described(words, call, builder, scale, *arguments).raises(TypeError, "scale")
    assert not block.operations, "a call with wrong arguments must not be inserted"
    with builder.at_end(block):
        call(builder, scale, x, n)
    text = print_module(module_around(block))
    assert "tt.call @scale" in text, text
