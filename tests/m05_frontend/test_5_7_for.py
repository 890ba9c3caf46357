"""Task 5.7: loops over ranges, compared with real Triton's front end."""

import itertools

import pytest
from hypothesis import given
from mini_triton.errors import UnsupportedLanguageConstruct
from mini_triton.ir.printer import print_module

from tests.checks import calling, one_in
from tests.oracles import triton
from tests.support.m05_frontend.compilation import fail, judge, judge_statements, kernel, outcome, refuses
from tests.support.m05_frontend.random_kernels import LOOPS, Kernel, kernels
from tests.support.m05_frontend.random_kernels import judge as judge_random
from tests.support.sources import compiled

ARGUMENTS = {"x": "*i32", "n": "i32", "f": "fp32", "N": "=4"}
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


def judge_bodies(*bodies: str, before: str = "") -> None:
    """Kernels with these bodies compile to the IR that real Triton makes."""
    __tracebackhide__ = True
    judge([kernel(body, ARGUMENTS, before) for body in bodies])


def test_one_loop() -> None:
    """The sum of all numbers below n."""
    judge_bodies("total = 0\nfor i in range(n):\n    total += i\ntl.store(x, total)")


# --- carried values


def test_what_a_loop_carries() -> None:
    """Names with a tensor before the loop that are reassigned in it, even if only the loop reads them."""
    judge_bodies(
        "a = n * 2\nfor i in range(n):\n    tl.store(x + i, a)\ntl.store(x, a)",
        "for i in range(n):\n    n = n + i\ntl.store(x, n)",
        "a = n * 2\nb = n * 3\nfor i in range(n):\n    a, b = b + 1, a + i\ntl.store(x, a - b)",
        "a = 0\nfor i in range(n):\n    a = n\ntl.store(x, a)",
        "a = n * 2\nfor i in range(n):\n    a = a\ntl.store(x, a)",
        "p = x\nfor i in range(n):\n    tl.store(p, i)\n    p += 1\ntl.store(p, n)",
        "v = tl.full([4], 1, tl.uint8)\nfor i in range(n):\n    v = v >> 1\ntl.store(x, tl.sum(v).to(tl.int32))",
        "b = n > 3\nfor i in range(n):\n    b = b & (i > 2)\ntl.store(x, b)",
        "t = ((n, f), n * 2)\nfor i in range(n):\n    t = ((t[1] + i, t[0][1] * 2), t[0][0])\ntl.store(x, t[1])",
        "t = (n, 3)\nfor i in range(n):\n    t = (t[0] + t[1], t[1] + 1)\ntl.store(x, t[0])",
        "t = (tl.arange(0, 4), x)\nfor i in range(n):\n    t = (t[0] + i, t[1] + 1)\ntl.store(t[1] + t[0], n)",
    )


def test_nothing_else_is_carried() -> None:
    source = kernel("a = n * 2\nb = n * 3\nfor i in range(n):\n    b += a\ntl.store(x, b)", ARGUMENTS)
    module = calling(compiled, source).succeeds()
    (loop,) = [operation for operation in module.walk() if operation.name == "scf.for"]
    if len(loop.results) != 1:
        fail(source, "an scf.for with one result", print_module(module), "the loop changes b only")


def test_a_block_pointer_is_carried() -> None:
    """The loop carries a block pointer's offsets, which are tensors, and changes them."""
    body = (
        "p = tl.make_block_ptr(x, (n, 16), (16, 1), (0, 0), (4, 16), (1, 0))\n"
        "for i in range(n):\n"
        "    tl.store(p, tl.load(p) + 1)\n"
        "    p = tl.advance(p, (4, 0))\n"
        "tl.store(p, tl.load(p))"
    )
    source = kernel(body, ARGUMENTS)
    text = outcome(source)
    if isinstance(text, Exception):
        fail(source, "a module", text, "a block pointer consists of tensors, which `parts` finds")
    answer = triton.accepts(text)
    if not answer:
        fail(source, "IR that real Triton accepts", text, answer.diagnostic)
    (loop,) = [line for line in triton.canonical(text).splitlines() if "scf.for" in line]
    assert "iter_args" in loop and "i64" in loop, f"{body}\nThe loop does not carry the offsets: {loop}"


def test_a_name_bound_in_the_loop_ends_with_it() -> None:
    for body, name, line in (
        ("for i in range(n):\n    y = i\ntl.store(x, y)", "y", "tl.store"),
        ("for i in range(n):\n    for j in range(i):\n        y = i\n    tl.store(x, y)", "y", "tl.store"),
        ("for i in range(n):\n    z = y\n    y = i\ntl.store(x, z)", "y", "z = y"),
        ("for i in range(n):\n    t = (n, i)\nt = (t[0], 1)", "t", "t = (t[0], 1)"),
    ):
        refuses(kernel(body, ARGUMENTS), name, line=line)
        judge_bodies(body)
    judge_bodies(
        "for i in range(n):\n    y = i * 2\n    tl.store(x + i, y)\ny = f\ntl.store(x, y)",
        "for i in range(n):\n    y = i * 2\n    for j in range(y):\n        y += j\n    tl.store(x + i, y)",
    )


def test_constants_are_not_carried() -> None:
    """A value that the compiler knows is the same in all iterations; a new value would differ between iterations."""
    for before, change in {
        "": "N = N + 1",
        "pass": "N = 3",
        "C: tl.constexpr = 3": "C = i",
        "t = None": "t = i",
        "t = tl.float32": "t = tl.float16",
    }.items():
        refuses(kernel(f"{before}\nfor i in range(n):\n    {change}", ARGUMENTS), change[0], "reassign", line=change)
    judge_bodies(
        "for i in range(n):\n    C: tl.constexpr = 4\n    tl.store(x + C, i)",
        "C: tl.constexpr = 3\nfor i in range(n):\n    tl.store(x + C, i)\ntl.store(x, C)",
        "for i in range(n):\n    t = tl.float32\n    tl.store(x, i.to(t))",
        "for k in tl.static_range(2):\n    n += k\n"
        "for i in range(n):\n    for k in tl.static_range(4):\n        n += k * i\n"
        "tl.store(x, n)",
        "for i in range(n):\n    if N > 8:\n        N = 3\n    tl.store(x + i, N)",
    )


# --- the loop's own variable


@pytest.mark.parametrize("step", ["1", "3", "-1", "step_u16"])
def test_its_dtype(step: str) -> None:
    """All three bounds decide its dtype: `//` shows its signedness, a store its width."""
    lower = ["0", *(f"lower_{dtype}" for dtype in INTEGERS)]
    upper = [f"upper_{dtype}" for dtype in INTEGERS]
    ranges = [f"range({start}, {stop}, {step})" for start, stop in itertools.product(lower, upper)]
    names = [*lower[1:], *upper, "step_u16"]
    judge_statements(
        [f"for i in {text}:\n    tl.store(x + i, i // 2)" for text in ranges],
        {"x": "*i64"} | {name: name.rpartition("_")[2] for name in names},
        {},
    )


def test_negative_steps() -> None:
    """A literal, a constant and a computed constant are known to be negative. A variable's value is not known."""
    ranges = ("range(n, 2, -3)", "range(n, 0, -N)", "range(n, 0, N - 6)", "range(n, 0, -n)")
    judge_bodies(
        *(f"for i in {of}:\n    tl.store(x + i, i)" for of in (*ranges, "tl.range(n, 0, -1, num_stages=2)")),
        "s = -2\nfor i in range(n, 0, s):\n    tl.store(x + i, i)",
        "for i in range(10, n, -2):\n    n += i\ntl.store(x, n)",
        "for i in range(n, 0, -1):\n    for j in range(i, -1, -1):\n        n = n * 2 - j\ntl.store(x, n)",
    )


def test_bounds_that_are_not_integers() -> None:
    for head in ("range(f)", "range(n * 1.5)", "range(2.5)", "range(x)", "range(tl.arange(0, 4))", "range(0, n, f)"):
        source = kernel(f"for i in {head}:\n    tl.store(x, i)", ARGUMENTS)
        refuses(source, "integer", line=head)
        judge([source])


def test_the_variable_in_the_body() -> None:
    """The body may assign it another value, which lasts until the next iteration."""
    judge_bodies(
        "for i in range(n):\n    i = i * 2 + 1\n    tl.store(x + i, i)",
        "for i in range(n):\n    i += 0.5\n    tl.store(x, i)",
        "i = f\nfor i in range(n):\n    tl.store(x + i, i)",
    )


def test_the_variable_after_the_loop() -> None:
    """After the loop, Triton gives the variable a poison value, so we lose the name, even if it had a value before."""
    loop = "for i in range(n):\n    tl.store(x + i, i)\n"
    for before, after in itertools.product(("", "i = n * 2\n"), ("tl.store(x, i)", "i = i + 1", "i += 1")):
        refuses(kernel(before + loop + after, ARGUMENTS), "i", line=after)
    judge_bodies(f"{loop}i = f\ntl.store(x, i)", f"i = n * 2\n{loop}i = f\ntl.store(x, i)")


def test_a_target_that_had_a_value() -> None:
    """The loop does not carry its target, whatever the body assigns. After the loop, the name is lost."""
    loop = "i = n * 2\nfor i in range(n):\n    i = i + 1\n    tl.store(x + i, i)"
    judge_bodies(loop, loop.replace("range(n)", "range(i)"), loop.replace("i + 1", "i + 0.5").replace("x + i", "x"))
    refuses(kernel(f"{loop}\ntl.store(x, i)", ARGUMENTS), "i", line="tl.store(x, i)")


def test_a_target_of_an_inner_loop_that_had_a_value() -> None:
    """The outer loop cannot carry a name that the inner loop loses. (Real Triton carries a poison value.)"""
    inner = "for {0} in range(4):\n        tl.store(x + {0}, {0})"
    for name, before in (("i", "i = n * 2\n"), ("n", ""), ("f", "")):
        for outer in ("for j in range(n):\n    ", "for j in range(n):\n    n += j\n    "):
            source = kernel(before + outer + inner.format(name), ARGUMENTS)
            refuses(source, f"{name} is lost", line=f"for {name} in range(4)")
    refuses(kernel(f"for j in range(n):\n    {inner.format('N')}", ARGUMENTS), "N", "reassign", line="for N")
    judge_bodies(
        f"i = n * 2\nfor j in range(n):\n    {inner.format('i')}\n    i = j\ntl.store(x, i)",
        f"for i in range(n):\n    {inner.format('i')}",
        f"for j in range(n):\n    {inner.format('i')}\ni = n\ntl.store(x, i)",
    )


# --- types


@pytest.mark.parametrize("first", ["n", "n.to(tl.uint32)", "tl.arange(0, 4)", "(n, f)", "x"])
def test_a_carried_value_keeps_its_type(first: str) -> None:
    """A carried value also keeps its signedness, which the IR does not store."""
    others = {"n": "n.to(tl.uint32)", "tl.arange(0, 4)": "tl.arange(0, 8)", "x": "x.to(tl.pointer_type(tl.uint32))"}
    for second in ("f", others.get(first, "n")):
        source = kernel(f"y = {first}\nfor i in range(n):\n    n += i\n    y = {second}", ARGUMENTS)
        refuses(source, "y", "initial type", "(line 6)", "re-assigned", line=f"    y = {second}")
        assert not triton.frontends([source])[0], "the test is wrong: real Triton accepts this"
    swapped = "t = (n, n.to(tl.uint32))\nfor i in range(n):\n    t = (t[1], t[0])"
    refuses(kernel(swapped, ARGUMENTS), "(int32[], uint32[])", "(uint32[], int32[])", line="t[1]")


# --- return, functions, options


def test_a_return_in_a_loop() -> None:
    words = "Cannot have `return` statements inside `while` or `for` statements"
    for body in (
        "for i in range(n):\n    if N == 4:\n        return",
        "for i in range(n):\n    for j in range(n):\n        tl.store(x, j)\n    return",
        "for i in range(n):\n    for j in tl.static_range(2):\n        tl.store(x, j)\n    return",
    ):
        source = kernel(body, ARGUMENTS)
        refuses(source, words, line="return", error=UnsupportedLanguageConstruct)
        assert not triton.frontends([source])[0], "the test is wrong: real Triton accepts this"


def test_functions_in_loops() -> None:
    """A function has its own names; the loop around the call does not carry them."""
    body = "    a = n * times\n    for i in range(times):\n        a += i\n    return a\n"
    judge_bodies(
        "a = f\nfor i in range(n):\n    tl.store(x + i, double(i))\ntl.store(x, a)\nreturn",
        "for i in range(n):\n    n = double(n, i)\ntl.store(x, n)",
        "for i in range(double(n)):\n    n += double(double(i), n)\ntl.store(x, n)",
        before=f"@triton.jit\ndef double(n, times=2):\n{body}",
    )


def test_options() -> None:
    """The options of `tl.range` reach the operation."""
    judge_bodies(
        *(
            f"for i in tl.range(n, {option}):\n    tl.store(x + i, n)"
            for option in ("num_stages=3", "loop_unroll_factor=2", "flatten=True", "disallow_acc_multi_buffer=True")
        )
    )


@one_in(4)
@given(kernel=kernels(grammar=LOOPS))
def test_random_loops(kernel: Kernel) -> None:
    """Nested loops over ranges of every kind carry one or several scalars, blocks and pointers."""
    judge_random(kernel)
