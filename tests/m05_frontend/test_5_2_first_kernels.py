"""Task 5.2: from source to module: names, constants, attributes and calls, compared with real Triton's front end."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import UnsupportedLanguageConstruct
from mini_triton.ir.core import Module

from tests.checks import calling
from tests.oracles.triton import Source
from tests.support.m05_frontend.compilation import fail, judge, judge_expressions, kernel, refuses, sketch
from tests.support.sources import compiled

# --- the function


def built(source: Source) -> Module:
    """The module that our front end makes of a kernel."""
    return calling(compiled, source).succeeds()


def test_an_empty_kernel() -> None:
    judge([kernel("pass", {}), kernel('"""A docstring."""', {"x": "*fp32", "N": "=4"})])


def test_parameters() -> None:
    """Each argument that is not a constant is a parameter of the function, in order; some are divisible by 16."""
    types = ("*fp32", "i32", "*i8", "fp16", "u64", "bf16", "*u16", "i1", "fp64", "*fp8e5", "=4", "=None")
    arguments = {f"a{i}": type for i, type in enumerate(types)}
    source = kernel("tl.store(a0, a3)\ntl.device_print('shown', a4)\ntl.device_print('more', a10)", arguments)
    for divisible in ((), ("a0",), ("a1", "a6"), ("a0", "a2", "a4")):
        judge([dataclasses.replace(source, divisible=divisible)])


def test_the_function_in_the_module() -> None:
    """The module contains one function. It is public, has the kernel's name, and returns nothing."""
    source = kernel("tl.store(x, n)", {"x": "*fp32", "n": "i32"})
    source = dataclasses.replace(source, text=source.text.replace("def kernel", "def add"), kernel="add")
    functions = list(built(source).body.operations)
    if [operation.name for operation in functions] != ["tt.func"]:
        fail(source, "one tt.func", str(functions), "the kernel is the module's only function")
    (function,) = functions
    for name, expected in {"sym_name": "add", "sym_visibility": "public"}.items():
        if function.attributes[name] != expected:
            fail(
                source,
                f"{name} = {expected}",
                f"{name} = {function.attributes[name]}",
                "a launcher reads this attribute",
            )


def test_where_operations_come_from() -> None:
    """Operations have the location of their node, as in real Triton. The function and its return have the `def`'s."""
    source = kernel("tl.store(\n    x,\n    tl.exp(\n        f))", {"x": "*fp32", "f": "fp32"})
    lines = source.text.splitlines()
    (function,) = built(source).body.operations
    places = {operation.name: operation.loc for operation in function.walk()}
    named = {"tt.func": "def kernel", "tt.return": "def kernel", "tt.store": "tl.store", "math.exp": "tl.exp"}
    for name, text in named.items():
        ((line, column),) = [(i, row.index(text)) for i, row in enumerate(lines, 1) if text in row]
        loc = places[name]
        if loc is None or (loc.line, loc.column) != (line, column):
            fail(
                source,
                f"{name} at {line}:{column}",
                f"{name} at {loc}",
                "`visit` and your code set the builder's location",
            )


def test_a_builder_of_its_own() -> None:
    """Each kernel has its own builder. After a compilation, even a failed one, the language has no current builder."""
    first, second = (built(sketch(f"tl.store(x, {value})")) for value in ("f", "n"))
    assert [len(list(module.body.operations)) for module in (first, second)] == [1, 1]
    refuses(sketch("tl.store(missing, f)"), "missing is not defined")
    from mini_triton.language.context import current

    calling(current).raises(RuntimeError)


# --- names


def test_names() -> None:
    """Names mean parameters, constants, or the language's modules, functions and dtypes."""
    judge_expressions("n", "N", "YES", "SEVEN", "len", "n.to(SHORT)", "n.to(FLOAT)", "n.to(DTYPE)")
    judge_expressions("arange(0, 4)", "mathematics.exp(f)", "math.sqrt(4.0)", "min(n, 3)", "max(N, 3)", "int(2.5)")
    judge_expressions("NUMBER", "WORD", "ANNOTATED", "plain(n)", "Plain.value", "missing", "abs(n)", "id(n)", "open")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("missing", "missing is not defined"),
        ("abs", "abs is not defined"),
        ("NUMBER", "Cannot access global variable NUMBER"),
        ("plain", "Cannot access global variable plain"),
    ],
)
def test_names_that_kernels_cannot_see(text: str, message: str) -> None:
    """The error contains the name, and the location of the name."""
    refuses(sketch(f"tl.store(x, f)\ntl.store(\n    x,\n    {text})"), message, line=f"    {text}")


def test_what_hides_what() -> None:
    """A parameter hides a global, a global hides a function of Python."""
    globals_ = "SEVEN = tl.constexpr(7)\nmin = tl.constexpr(9)"
    judge([kernel("tl.store(x, SEVEN)\ntl.store(x, min)", {"x": "*fp32", "SEVEN": "i32"}, globals_)])
    hidden = kernel("tl.store(x, f)\ntl.store(x, min(n, 2))", {"x": "*fp32", "f": "fp32", "n": "i32"}, "min = 3")
    refuses(hidden, "Cannot access global variable min", line="min(n, 2)")


# --- constants and attributes


def test_constants() -> None:
    """A literal becomes a `constexpr`, which, unlike a plain number, has a `.value`."""
    judge_expressions("0", "True", "2147483648", "4294967296", "1e300", "1e-40", "1.5")
    judge_expressions("(3).value", "True.value", "N.value")


def test_attributes() -> None:
    judge_expressions("n.to(x.dtype.element_ty)", "n.to(f.dtype)")
    judge_expressions("DTYPE.primitive_bitwidth", "tl.arange(0, 4).numel", "tl.arange(0, 4).numel.value")


# --- calls


def test_calls_of_the_language() -> None:
    """Calls have positional and keyword arguments, call methods, and have other calls as arguments."""
    judge_expressions("tl.arange(0, N)", "tl.arange(0, end=N)", "tl.program_id(axis=0)", "tl.arange(0, 4).sum(axis=0)")
    judge_expressions("tl.load(x, n.to(tl.int1), other=0.0)", "tl.math.exp(f)", "tl.minimum(y=n, x=m)", "max(n, m)")
    judge_expressions("triton.cdiv(N, 3)", "triton.next_power_of_2(SEVEN)", "tl.cdiv(n, N)", "n(1)", "N()")


def test_calls_for_their_effect() -> None:
    """Statements are visited from top to bottom."""
    judge([sketch('"""A docstring."""\npass\ntl.store(x, f)\n3\nn\ntl.store(x, tl.load(x))\ntl.store(x, h)')])
    judge([sketch("tl.atomic_add(p, 1)\ntl.debug_barrier()\ntl.atomic_add(p, n)\ntl.store(p, 0, mask=n.to(tl.int1))")])


def test_nothing_comes_after_a_return() -> None:
    judge([sketch(body) for body in ("return", "tl.store(x, f)\nreturn\ntl.store(x, n)\nmissing")])
    for value in ("n", "1", "True"):
        refuses(sketch(f"tl.store(x, f)\nreturn {value}"), "returns nothing", line="def kernel")


ATOMICS = tuple(f"tl.atomic_add(p, {i})" for i in (1, 2, 3))
calls = st.recursive(
    st.sampled_from(("n", "m", "f", "N", "SEVEN", "0.5", "tl.arange(0, 4)", *ATOMICS)),
    lambda inner: st.one_of(
        st.builds("tl.maximum(y={}, x={})".format, inner, inner),
        st.builds("tl.where({}, {}, {})".format, inner, inner, inner),
        st.builds("tl.cast({}, tl.float32)".format, inner),
    ),
    max_leaves=5,
)


@given(calls)
def test_calls_of_calls(text: str) -> None:
    """Arguments are visited from left to right, each once: the order of atomics shows it."""
    judge_expressions(text)


def test_no_double_star() -> None:
    refuses(sketch("tl.store(x, f)\ntl.load(**T)"), "**", line="**T", error=UnsupportedLanguageConstruct)
