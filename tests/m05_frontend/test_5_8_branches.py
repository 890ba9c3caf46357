"""Task 5.8: `if`, `while`, `x if c else y`, `and`, `or`, `not`, compared with real Triton's front end."""

import pytest
from hypothesis import given
from mini_triton.errors import UnsupportedLanguageConstruct
from mini_triton.ir.printer import print_module

from tests import corpus
from tests.checks import calling, one_in
from tests.oracles import triton
from tests.support.m05_frontend.compilation import fail, judge, judge_statements, kernel, refuses
from tests.support.m05_frontend.random_kernels import Kernel, kernels
from tests.support.m05_frontend.random_kernels import judge as judge_random
from tests.support.sources import compiled

ARGUMENTS = {"x": "*i32", "n": "i32", "f": "fp32", "N": "=4", "NONE": "=None"}
AMBIGUOUS = "Boolean value of Tensor with more than one value is ambiguous"


def judge_bodies(*bodies: str, before: str = "") -> None:
    """Kernels with these bodies compile to the IR that real Triton makes."""
    __tracebackhide__ = True
    judge([kernel(body, ARGUMENTS, before) for body in bodies])


def judge_stores(*values: str) -> None:
    """Stores of these values compile to the IR that real Triton makes, or both compilers refuse them."""
    __tracebackhide__ = True
    judge_statements([f"tl.store(x, {value})" for value in values], ARGUMENTS, {})


# --- if


def test_what_an_if_results_in() -> None:
    """The results of an `if` are the names that a branch changes, or that both branches bind."""
    judge_bodies(
        "if n > 3:\n    n = n + 1\ntl.store(x, n)",
        "if n > 3:\n    y = 1\nelif n > 2:\n    y = 2\nelse:\n    y = n\ntl.store(x, y)",
        "if n > 3:\n    a = n\n    b = 1\nelse:\n    b = 2\n    a = 3\ntl.store(x + b, a)",
        "a = n\nb = 3\nif n > 3:\n    a, b = b, a\ntl.store(x + b, a)",
        "if n > 3:\n    p = x\nelse:\n    p = x + n\ntl.store(p, n)",
        "t = ((n, f), 3)\nif n > 3:\n    t = ((3, 0.5), n)\nelse:\n    t = ((4, f), 3)\ntl.store(x, t[0][1] + t[1])",
        "y = f\nif n > 3:\n    y = n\nelse:\n    y = n\ntl.store(x, y)",
        "y = None\nif n > 3:\n    y = n\nelse:\n    y = 3\ntl.store(x, y)",
        "if n > 3:\n    pass\nelse:\n    tl.store(x + 1, n)",
        "if n > 3:\n    C: tl.constexpr = 4\n    tl.store(x, C)\nelse:\n    C: tl.constexpr = 5\n    tl.store(x, C)",
        "if n > 3:\n    for k in tl.static_range(2):\n        n += k\n"
        "else:\n    for k in tl.static_range(4):\n        n *= k\ntl.store(x, n)",
    )


def test_a_name_of_one_branch_only() -> None:
    """A name that is bound on only some paths is lost; so is a constant with two values. The error is at the use."""
    for body in (
        "if n > 3:\n    y = n + 1\ntl.store(x, y)",
        "if n > 3:\n    pass\nelse:\n    y = n + 1\ntl.store(x, y)",
        "if n > 3:\n    if n > 4:\n        y = n\nelse:\n    y = n + 1\ntl.store(x, y)",
        "if n > 3:\n    y: tl.constexpr = 4\nelse:\n    y: tl.constexpr = 5\ntl.store(x, y)",
        "if n > 3:\n    z = 0\nelse:\n    for y in range(n):\n        tl.store(x, n)\ntl.store(x, y)",
    ):
        source = kernel(f"tl.store(x, n)\n{body}", ARGUMENTS)
        refuses(source, "y", "line 7", line="tl.store(x, y)")
        judge([source])
    refuses(
        kernel("for i in range(n):\n    if i > 3:\n        y = i\n    tl.store(x, y)", ARGUMENTS), "y", line="(x, y)"
    )
    no_more = kernel("y = None\nif n > 3:\n    y = n\ntl.store(x, y)", ARGUMENTS)
    refuses(no_more, "y", "line 7", line="tl.store(x, y)")
    judge([no_more])
    judge_bodies(
        "y = None\nif n > 3:\n    y = n\n    tl.store(x, y)\ny = f\ntl.store(x, y)",
        "y = None\nif n > 3:\n    tl.store(x, n)\nelse:\n    y = n\n    tl.store(x, y)",
        "for k in range(n):\n    y = NONE\n    if k > 3:\n        if k > 4:\n            y = k\n    tl.store(x, k)",
        "if n > 3:\n    y = n\n    tl.store(x, y)\ny = f\ntl.store(x, y)",
        "if n > 3:\n    y = n\nelse:\n    y = f\n    y = 3\ntl.store(x, y)",
    )


def test_where_a_name_of_both_branches_got_its_value() -> None:
    """A later error about the name points at the later one of the assignments in the branches."""
    for branches in (
        "if n > 3:\n        y = f * 2\n    else:\n        y = f  # later",
        "if n > 3:\n        y = f  # later",
        "if n > 3:\n        pass\n    else:\n        y = f  # later",
        "if n > 3:\n        tl.store(x, n)\n    else:\n        y = y + 1  # later\n    n += 1",
    ):
        source = kernel(f"y = 0\nfor i in range(n):\n    y = 0.5\n    {branches}", ARGUMENTS)
        refuses(source, "y", "initial type", "re-assigned", line="# later")
        assert not triton.frontends([source])[0], "the test is wrong: real Triton accepts this"


CONDITIONS = ("n", "f", "x", "n > 3", "not n > 3", "n > 3 and f < 1", "n > 3 or f < 1", "n == 3 or N == 3", "f != f")
ONE_ELEMENT = ("tl.full((1,), n, tl.int32)", "tl.full((1, 1), n, tl.int32) > 3", "tl.full((1,), f, tl.float32)")
MANY_ELEMENTS = ("tl.arange(0, 4)", "tl.arange(0, 4) > 3", "tl.zeros((1, 2), tl.float32)", "x + tl.arange(0, 2)")


def test_conditions_of_the_running_kernel() -> None:
    """A condition is a scalar or a tensor with one element, and is true if it is not zero."""
    statements = [f"if {condition}:\n    tl.store(x + {i}, n)" for i, condition in enumerate(CONDITIONS + ONE_ELEMENT)]
    judge_statements(statements, ARGUMENTS, {})


@pytest.mark.parametrize("condition", MANY_ELEMENTS)
def test_blocks_do_not_decide(condition: str) -> None:
    for body in (f"if {condition}:\n    tl.store(x, n)", f"tl.store(x, n if {condition} else 3)"):
        source = kernel(body, ARGUMENTS)
        refuses(source, AMBIGUOUS, line=condition, error=UnsupportedLanguageConstruct)
        judge([source])
    source = kernel(f"while {condition}:\n    tl.store(x, n)", ARGUMENTS)
    refuses(source, line=condition)
    judge([source])


# --- early returns


def test_early_returns() -> None:
    """Statements after the `if` belong to the other path. (Real Triton jumps to them.)"""
    judge_bodies(
        "if n > 3:\n    return\n    tl.store(x, n)\ntl.store(x + 1, 2)",
        "if n > 3:\n    tl.store(x, 1)\n    return\nelse:\n    tl.store(x, 2)\nn += 1\ntl.store(x, n)",
        "if n > 3:\n    if f > 1:\n        return\n    else:\n        n = 2\nelse:\n    n += 1\ntl.store(x, n)",
        "if N == 4:\n    return\ntl.store(x, n)",
        "if n > 3:\n    if N == 4:\n        return\ntl.store(x, n)",
        "if n > 3:\n    y = n\n    return\ny = f\ntl.store(x, y)",
        "if n > 3:\n    for i in range(n):\n        n += i\n    tl.store(x, n)\n    return\ntl.store(x, 3)",
    )


FUNCTIONS = """
@triton.jit
def way(a, n):
    if a > n:
        return a * 2
    if n > 4:
        if a > 5:
            return n
        a += 1
    return a + n
@triton.jit
def pair(a, f):
    if a > 3:
        return f, (a, 3)
    else:
        return 0.5, (4, a)
@triton.jit
def stores(x, a):
    if a > 3:
        return
    tl.store(x, a)
"""


def test_functions_that_return_early() -> None:
    """The caller gets the result of the path that is taken."""
    judge_bodies(
        "tl.store(x, way(n * 2, n) + way(n, 3))",
        "f, t = pair(n, f)\ntl.store(x + t[0], f)\ntl.store(x, t[1])",
        "stores(x, n)\nstores(x, n + 1)\ntl.store(x, 5)",
        before=FUNCTIONS,
    )


@pytest.mark.parametrize("loop", ["for i in range(n)", "while n > 3"])
def test_a_return_in_an_if_in_a_loop(loop: str) -> None:
    """The return is refused, even if it cannot be reached."""
    for body in ("return", "if N == 5:\n            return\n        n = n - 1"):
        source = kernel(f"{loop}:\n    if n > 3:\n        {body}", ARGUMENTS)
        refuses(source, "Cannot have `return` statements inside", error=UnsupportedLanguageConstruct)


@pytest.mark.parametrize("otherwise", ["    return {}", "    else:\n        return {}"])
def test_results_of_two_types(otherwise: str) -> None:
    """The error contains `Return type mismatch` and both types."""
    for first, second, *names in (
        ("1", "2.0", "int32[]", "fp32[]"),
        ("tl.arange(0, 4)", "tl.arange(0, 8)", "int32[4]", "int32[8]"),
        ("n", "n.to(tl.uint32)", "int32[]", "uint32[]"),
        ("(n, n)", "(n, f)", "(int32[], int32[])", "(int32[], fp32[])"),
        ("(n, n)", "n", "(int32[], int32[])", "int32[]"),
    ):
        function = f"def way(n, f):\n    if n > 3:\n        return {first}\n{otherwise.format(second)}\n"
        source = kernel("way(n, f)", ARGUMENTS, f"@triton.jit\n{function}")
        refuses(source, "Return type mismatch", *names, line="if n > 3")
        assert not triton.frontends([source])[0], "the test is wrong, real Triton accepts this"


# --- while


def test_while() -> None:
    """The loop carries the values that its body changes, and tests its condition before each iteration."""
    judge_bodies(
        "while n > 3:\n    n = n - 1\ntl.store(x, n)",
        "while n > tl.load(x):\n    n -= 1\ntl.store(x, n)",
        "a = n * 2\nwhile n > 3:\n    n, a = a, n - 1\ntl.store(x + a, n)",
        "while n > 3:\n    while n > 5:\n        n -= 1\n    n -= 2\ntl.store(x, n)\nreturn",
        "t = (n, 3)\nwhile t[0] > 3:\n    t = (t[0] - 1, t[1] * 2)\ntl.store(x, t[0] + t[1])",
        "p = x\nwhile tl.load(p) > 0:\n    p += 1\ntl.store(p, n)",
        "while not n == 3:\n    n -= 1\ntl.store(x, n)",
        "while n > 3:\n    for i in range(n):\n        y = n - i\n        n = y\ntl.store(x, n)",
    )


def test_what_while_refuses() -> None:
    for body, line, *words in (
        ("while N > 3:\n    n = n - 1", "while N"),
        ("while True:\n    n = n - 1", "while True"),
        ("while NONE:\n    n = n - 1", "while NONE"),
        ("while (\n    N\n):\n    tl.store(x, 1)", "        N"),
        ("while (\n    n\n):\n    tl.store(x, 1)", "        n"),
        ("while n > 3:\n    n -= 1\nelse:\n    n = 3", "while n", "else"),
        ("while n > 3:\n    y = n\n    n = n - 1\ntl.store(x, y)", "tl.store(x, y)", "y"),
        ("while y > 3:\n    y = n\n", "while y", "y"),
        ("while n > 3:\n    N = n\n", "N = n", "N", "reassign"),
        ("u = n.to(tl.uint32)\nwhile n > 3:\n    u = n - 1", "    u = n", "u"),
        ("while n > 3:\n    for n in range(3):\n        tl.store(x, n)", "for n", "n is lost"),
        ("while n > 3:\n    break", "break", "Break"),
        ("while n > 3:\n    n -= 1\n    return", "return", "Cannot have `return` statements inside"),
        ("while n > 3:\n    for i in range(n):\n        n -= i\n    return", "return", "Cannot have `return`"),
    ):
        refuses(kernel(body, ARGUMENTS), *words, line=line)


# --- expressions


def test_conditional_expressions() -> None:
    unknown = ("3 if n > 3 else 4", "1 if n else 7", "1 if f else 7", "1 if x else 7", "tl.load(x) if n > 3 else n")
    nested = ("(1 if n > 2 else 2) if n > 3 else (3 if n > 4 else n)", "(n if n > 3 else 4) + (n if n > 4 else 5)")
    known = ("3 if N > 3 else undefined", "undefined if NONE else f", "4.0 if N > 3 else n")
    judge_stores(*unknown, *nested, *known)
    judge_bodies(
        "p = x if n > 3 else x + 1\ntl.store(p, 1)",
        "tl.store(x + tl.arange(0, 4 if N > 3 else 8), n)",
        "y = 3 if N > 3 else 4.0\nz: tl.constexpr = 3 if N > 3 else 4\ntl.store(x + z, y)",
        "for i in range(n if n > 3 else 3):\n    n = n + i if n > i else n\ntl.store(x, n)",
    )


def test_a_constant_belongs_to_its_branch() -> None:
    source = kernel("tl.store(x, 5 if n > 3 else n)", ARGUMENTS)
    module = calling(compiled, source).succeeds()
    (branch,) = [operation for operation in module.walk() if operation.name == "scf.if"]
    if [operation.name for operation in branch.regions[0].block.operations] != ["arith.constant", "scf.yield"]:
        fail(source, "a constant 5 in the first branch", print_module(module), "only the first branch needs this value")


def test_conditional_expressions_of_two_types() -> None:
    words = "Ternary expression with dynamic condition has inconsistent types"
    for value, *names in (
        ("n if n > 3 else 4.0", "int32[]", "fp32[]"),
        ("3 if n > 3 else f", "int32[]", "fp32[]"),
        ("tl.arange(0, 4) if n > 3 else n", "int32[4]", "int32[]"),
        ("x if n > 3 else n", "pointer<int32>[]", "int32[]"),
        ("tl.zeros((4,), tl.int32) if n > 3 else tl.zeros((4,), tl.uint32)", "int32[4]", "uint32[4]"),
    ):
        source = kernel(f"y = {value}", ARGUMENTS)
        refuses(source, words, *names, line=value)
        judge([source])


def test_and_or_not() -> None:
    """Tensors are combined bitwise. A value that the compiler knows decides the result, or is omitted."""
    v = "tl.arange(0, 4) > 2"
    tensors = ("(n > 3) and (n < 10) and (f > 3)", "n > 3 and n < 10 or f > 3", "n > 3 and n", "n and n", "f or n > 3")
    decide = (
        "N > 3 or n > 3",
        "N < 3 or n > 3",
        "N > 3 and n > 3",
        "N < 3 and n > 3",
        "N and n",
        "n and N",
        "0 or n",
        "n and f and 0",
    )
    behind = ("n > 3 or N > 3 or n < 10", "n > 3 or N < 3 or n < 10", "n > 3 and N < 3", "n > 3 and N > 3")
    known = ("N and 3", "N or undefined", "N < 3 and undefined", "n > 3 and N < 3 and undefined", "0 or 2.5")
    negated = ("not n > 3", "not (n > 3 and f < 3)", "not N", "not NONE", "not not N", "not n", "not f")
    judge_stores(*tensors, *decide, *behind, *known, *negated, "n > 3 and undefined")
    judge_bodies(
        "y = N and 3\nz: tl.constexpr = not N or 2\ntl.store(x + z, y)",
        "y = n > 3 or n < 2\nz = not y\ntl.store(x, y)\ntl.store(x + 1, z)",
        f"v = {v}\ntl.store(x + tl.arange(0, 4), not v)\ntl.store(x + tl.arange(0, 4), v and n > 3)",
    )


# --- whole kernels

NETWORKS = (
    "softmax_row",
    "layer_norm_backward_lock",
    "matmul_activation",
    "attention_forward_causal",
    "conv2d_implicit_gemm",
)


def test_the_kernels_of_neural_networks() -> None:
    """The text of our IR has the same operations as real Triton's."""
    judge([case.source() for case in corpus.CASES if str(case) in NETWORKS])


@one_in(3)
@given(kernel=kernels())
def test_random_kernels(kernel: Kernel) -> None:
    """Kernels with operators, memory, reductions, helpers, loops, branches and early returns."""
    judge_random(kernel)
