"""Task 7.3: the dependencies of a compiled kernel, and its key, which covers them."""

import ast
import builtins
import dis
import itertools
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.language.constexpr import constexpr
from mini_triton.runtime import keys as runtime_keys
from mini_triton.runtime.keys import Reference, compute_key, functions_in, paths, references
from mini_triton.runtime.options import Options
from mini_triton.runtime.specialization import Specialized, specialize_constant

from tests.checks import described
from tests.support.m07_jit.options import OTHER_OPTIONS
from tests.support.sources import load

# --- paths

EXPRESSIONS = (
    "a",
    "b",
    "x",
    "s.a",
    "s.t.b",
    "f(a)",
    "s.f(b, a)",
    "a + B",
    "x.a + y.t.b",
    "x[a]",
    "min(x, b)",
    "s.t.f(x).y",
    "(a, x)[0].b",
)
STATEMENTS = (
    "{n} = {e}",
    "{n} += {e}",
    "{e}",
    "for {n} in range({e}):\n    {n} = {e}",
    "if {e}:\n    {n}, c = {e}, 1",
    "if {e}:\n    {n} = {e}\nelse:\n    f({n})",
    "if {e}:\n    {n} = {e}\nelse:\n    {n}, c = {e}, 1",
    "if {e}:\n    if x:\n        {n} = {e}\n    else:\n        b = {n}\nelse:\n    a = b = {n} = {e}",
    "while {e}:\n    {n}, c = {e}, 1",
    "f({n}, key={e})",
)
statements = st.lists(
    st.tuples(st.sampled_from(STATEMENTS), st.sampled_from(["a", "b", "c", "y"]), st.sampled_from(EXPRESSIONS)),
    min_size=1,
    max_size=4,
)


def ways_through(statements: list[ast.stmt]) -> list[list[str]]:
    """The statements that run, for each choice of branches. A loop runs once or not at all."""
    if not statements:
        return [[]]
    first, *rest = statements
    head: ast.AST
    match first:
        case ast.If(test, body, orelse):
            head, branches = test, [ways_through(body), ways_through(orelse)]
        case ast.While(test, body):
            head, branches = test, [ways_through(body), [[]]]
        case ast.For(target, iter, body):
            head, branches = iter, [[[f"{ast.unparse(target)} = 0", *way] for way in ways_through(body)], [[]]]
        case _:
            head, branches = first, [[[]]]
    ways = [way for branch in branches for way in branch]
    return [[ast.unparse(head), *way, *after] for way in ways for after in ways_through(rest)]


def read_by_python(text: str, parameters: set[str]) -> set[str]:
    """The names that Python's compiler reads before these statements assign them, with the attributes read from them.

    Outside functions, the compiler reads every name by `LOAD_NAME`. Its code is in execution order.
    """
    own = set(parameters)
    found: set[str] = set()
    path = ""
    for instruction in dis.get_instructions(compile(text, "body", "exec")):
        if instruction.opname == "STORE_NAME":
            own.add(str(instruction.argval))
        if instruction.opname == "LOAD_NAME":
            path = str(instruction.argval) if instruction.argval not in own else ""
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and path:
            path += f".{instruction.argval}"
        elif instruction.opname not in ("CACHE", "PUSH_NULL", "PRECALL"):
            path = ""
        if path:
            found.add(path)
    return found


@given(st.sampled_from(["x, y", "x, /, y", "x, y, /", "x, *y", "x, *, y", "x, **y", "x: s.a, y=B"]), statements)
@example("x, *, y", [("{e}", "a", "x.a + y.t.b")])
@example("x, *y", [("{e}", "a", "y[a]")])
@example("x, **y", [("{e}", "a", "x.a + y.t.b")])
@example("x: s.a, y=B", [("{e}", "a", "f(a)")])
@example("x, y", [("{e}", "a", "a + B")])
@example("x, y, /", [("{e}", "a", "x[a]")])
@example("x, y", [("{n} = {e}", "a", "a"), ("{e}", "a", "a")])
@example("x, y", [("{n} = {e}", "a", "b"), ("{n} = {e}", "b", "a")])
@example("x, y", [("{n} = {e}", "a", "x"), ("{n} = {e}", "b", "a")])
@example("x, y", [("if x:\n    {n} = {e}\nelse:\n    f({n})", "a", "x")])
@example("x, y", [("if x:\n    {n} = {e}", "a", "x"), ("{e}", "b", "a")])
@example("x, y", [("if x:\n    {n} = {e}\nelse:\n    {n} = y", "a", "x"), ("{e}", "b", "a")])
@example("x, y", [("while x:\n    {n} = {e}", "a", "x"), ("{e}", "b", "a")])
@example("x, y", [("for {n} in range(y):\n    f({n})", "a", "x"), ("{e}", "b", "a")])
def test_paths(parameters: str, drawn: list[tuple[str, str, str]]) -> None:
    lines = [line for form, name, expression in drawn for line in form.format(n=name, e=expression).splitlines()]
    text = "\n    ".join([f"def kernel({parameters}) -> s.t:", *lines]) + "\n"
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    asked = described(f"paths(tree of\n{text})", paths, tree)
    because = "on some path, Python reads these names before the body assigns them; `sorted` has sorted them"
    own = {node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)}
    read = [read_by_python("\n".join(way), own) for way in ways_through(tree.body)]
    asked.returns(sorted(set.union(*read)), because)


@pytest.mark.parametrize(
    "body", ["y = [N for N in (1, 2)]", "N: int", "if x:\n        N = 1\n    else:\n        return"]
)
def test_statements_that_may_assign_nothing(body: str) -> None:
    text = f"def kernel(x, int):\n    {body}\n    tl.store(x, N)\n"
    (tree,) = ast.parse(text).body
    because = "a comprehension may have no elements, an annotation assigns nothing, and a branch that returns counts"
    described(f"paths(tree of\n{text})", paths, tree).returns(["N", "tl", "tl.store"], because)


# --- references

KERNELS = """
import triton
import triton.language as tl
@triton.jit
def deepest(v):
    return v - DEEPEST
@triton.jit
def innermost(v):
    return deepest(v) * INNERMOST
@triton.jit
def inner(v):
    return innermost(v) + settings.INNER
@triton.jit
def kernel(x, n, GIVEN: tl.constexpr):
    LOCAL: tl.constexpr = 2
    tl.store(x, inner(n) + innermost(n) + tl.math.abs(n) + OUTER + LOCAL)
"""
FOUND = {
    "kernel": ["OUTER", "inner", "innermost"],
    "inner": ["innermost", "settings.INNER"],
    "innermost": ["INNERMOST", "deepest"],
    "deepest": ["DEEPEST"],
}


def module(**names: Any) -> ModuleType:
    made = ModuleType("settings")
    vars(made).update(names)
    return made


def kernels(text: str = KERNELS, **names: Any) -> dict[str, Any]:
    """The names that a text defines, if it reads the given names. The file name is always the same."""
    numbers = {name: constexpr(i) for i, name in enumerate(("DEEPEST", "INNERMOST", "OUTER"), 1)}
    known = {**numbers, "settings": module(INNER=constexpr(4)), **names}
    namespace = load(text, "kernels_of_one_file.py")
    for name, value in known.items():
        namespace.setdefault(name, value)
    return namespace


CIRCLES = """
import triton
@triton.jit
def ping(x, N):
    return pong(x, N - 1) if N > 0 else x + OUTER
@triton.jit
def pong(x, N):
    return ping(x, N - 1) if N > 0 else x + DEEPEST
"""
COMPILE_TIME = """
import triton
import triton.language as tl
@triton.constexpr_function
def rounded(n):
    return n // DEEPEST * DEEPEST
@triton.constexpr_function
def halved(n):
    return rounded(n) // 2 if n < 100 else halved(n // 2)
@triton.jit
def kernel(x, N: tl.constexpr):
    tl.store(x, rounded(N) + halved(N) + triton.cdiv(N, 2))
"""
PASSED_ON = """
import triton
import triton.language as tl
@triton.jit
def plus(v):
    return v + OUTER
@triton.jit
def minus(v):
    return v - DEEPEST
@triton.jit
def twice(v, f: tl.constexpr = plus):
    return f(f(v))
PAIR = tl.constexpr((twice, (minus, 1)))
@triton.jit
def kernel(x, n, GIVEN: tl.constexpr):
    tl.store(x, PAIR[0](PAIR[1][0](n)))
"""
CLOSURES = """
import triton
import triton.language as tl
def make(SIZE):
    @triton.jit
    def kernel(x):
        tl.store(x, SIZE)
    return kernel
small, large = make(tl.constexpr(2)), make(tl.constexpr(4))
"""


@pytest.mark.parametrize(
    "text, asked, expected, because",
    [
        (
            KERNELS,
            ["kernel"],
            FOUND,
            "modules and the language are not references; each function is visited once, in order",
        ),
        (
            *(KERNELS, ["innermost", "kernel"]),
            {name: FOUND[name] for name in ("innermost", "kernel", "deepest", "inner")},
            "`references` takes several functions",
        ),
        (KERNELS, ["deepest", "deepest"], {"deepest": FOUND["deepest"]}, "each function is visited once"),
        (CIRCLES, ["ping"], {"ping": ["OUTER", "pong"], "pong": ["DEEPEST", "ping"]}, "each function is visited once"),
        (
            *(COMPILE_TIME, ["kernel"]),
            {"kernel": ["halved", "rounded"], "halved": ["halved", "rounded"], "rounded": ["DEEPEST"]},
            "the search visits each constexpr_function once, but no function of triton itself",
        ),
        (
            *(PASSED_ON, ["kernel"], {"kernel": ["PAIR"], "minus": ["DEEPEST"], "plus": ["OUTER"]}),
            "the search visits the functions in a tuple, and those in a callee's defaults",
        ),
    ],
)
def test_references(text: str, asked: list[str], expected: dict[str, list[str]], because: str) -> None:
    names = kernels(text)

    def read() -> dict[str, list[str]]:
        """The paths by function, sorted."""
        found = references(*(names[function] for function in asked))
        callers = dict.fromkeys(reference.function.fn.__name__ for reference in found)
        return {name: sorted(r.path for r in found if r.function.fn.__name__ == name) for name in callers}

    described(f"what is found by references({', '.join(asked)}) in\n{text}", read).returns(expected, because)


def test_values_of_references() -> None:
    names = kernels()
    values = {(r.function.fn.__name__, r.path): r.value for r in references(names["kernel"])}
    assert values["kernel", "inner"] is names["inner"], "the value of the reference `inner` should be the function"
    assert values["inner", "settings.INNER"] is names["settings"].INNER, (
        "the value of `settings.INNER` should be the attribute"
    )
    closures = kernels(CLOSURES)
    for name, value in {"small": 2, "large": 4}.items():
        words = f"the values that references({name}) finds in\n{CLOSURES}"
        asked = described(words, lambda name=name: [reference.value.value for reference in references(closures[name])])
        asked.returns([value], because="a kernel may also read a name of the function around it")


# --- the key

ARGUMENTS = {"x": Specialized("*fp32", True), "n": Specialized("i32"), "GIVEN": specialize_constant(8)}
ALONE = """
import triton
import triton.language as tl
@triton.jit
def kernel(x, n, GIVEN: tl.constexpr):
    tl.store(x, n)
"""


def key_of(
    text: str = KERNELS, arguments: dict[str, Specialized] | None = None, options: Options | None = None, **names: Any
) -> str:
    """The key of the kernel that a text defines. Given names, arguments and options replace the defaults."""
    return key(kernels(text, **names)["kernel"], ARGUMENTS | (arguments or {}), options or Options())


def key(kernel: Any, arguments: dict[str, Specialized], options: Options) -> str:
    """The key of a kernel, for arguments that may be functions."""
    given = functions_in([argument.value for argument in arguments.values()])
    return compute_key(kernel, references(kernel, *given), arguments, options)


def changed(old: str, new: str) -> str:
    assert KERNELS.count(old) == 1
    return KERNELS.replace(old, new)


def all_differ(keys: dict[Any, str], because: str) -> None:
    for a, b in itertools.combinations(keys, 2):
        described(f"key of {a} == key of {b}", lambda a=a, b=b: keys[a] == keys[b]).returns(False, because)


def test_what_a_key_depends_on() -> None:
    keys = {
        "the unchanged kernel": key_of(),
        "a different source of the kernel": key_of(changed("+ OUTER + LOCAL", "- OUTER + LOCAL")),
        "a different source of a callee": key_of(changed("innermost(v) +", "innermost(v) -")),
        "a different source of a callee's callee": key_of(changed("deepest(v) * INNERMOST", "deepest(v) + INNERMOST")),
        "a different source of a third-level callee": key_of(changed("v - DEEPEST", "v + DEEPEST")),
        "a different global of the kernel": key_of(OUTER=constexpr(5)),
        "a global of a different type": key_of(OUTER=constexpr(3.0)),
        "a global True": key_of(OUTER=constexpr(True)),
        "a global 1": key_of(OUTER=constexpr(1)),
        "a different global of a callee": key_of(settings=module(INNER=constexpr(5))),
        "a different global of a callee's callee": key_of(INNERMOST=constexpr(5)),
        "a different global of a third-level callee": key_of(DEEPEST=constexpr(5)),
        "two globals exchanged": key_of(INNERMOST=constexpr(3), OUTER=constexpr(2)),
        "another dtype": key_of(arguments={"x": Specialized("*fp16", True)}),
        "an address that is not a multiple of 16": key_of(arguments={"x": Specialized("*fp32")}),
        "an integer that is a multiple of 16": key_of(arguments={"n": Specialized("i32", True)}),
        "the integer 1": key_of(arguments={"n": specialize_constant(1)}),
        "a wide integer": key_of(arguments={"n": Specialized("i64")}),
        "another constant": key_of(arguments={"GIVEN": specialize_constant(9)}),
        "a constant of a different type": key_of(arguments={"GIVEN": specialize_constant(8.0)}),
        "a constant string": key_of(arguments={"GIVEN": specialize_constant("8")}),
        "a constant tuple": key_of(arguments={"GIVEN": specialize_constant((8,))}),
        "constants exchanged": key_of(arguments={"n": specialize_constant(8), "GIVEN": specialize_constant(1)}),
        **{f"another {name}": key_of(options=Options(**{name: value})) for name, value in OTHER_OPTIONS.items()},
        "a kernel that calls no function": key_of(ALONE),
        "a kernel that calls no function, one line further down": key_of("\n" + ALONE),
        "functions in a tuple and in a default": key_of(PASSED_ON),
        "another function in the tuple": key_of(PASSED_ON.replace("((twice, (minus", "((twice, (twice")),
        "another source of the function in the tuple": key_of(PASSED_ON.replace("v - DEEPEST", "v * DEEPEST")),
        "another source of the function in the default": key_of(PASSED_ON.replace("v + OUTER", "v * OUTER")),
        "another global of the function in the default": key_of(PASSED_ON, OUTER=constexpr(5)),
        "a callee with a default of 2": key_of("FACTOR = 2" + changed("innermost(v):", "innermost(v, by=FACTOR):")),
        "a callee with a default of 3": key_of("FACTOR = 3" + changed("innermost(v):", "innermost(v, by=FACTOR):")),
    }
    all_differ(keys, because="the compiled kernels may differ")


def test_every_version_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before, versions = key_of(), runtime_keys.versions()
    keys = {"the unchanged versions": before}
    for i, version in enumerate(versions):
        changed = [*versions[:i], f"another {version}", *versions[i + 1 :]]
        monkeypatch.setattr(runtime_keys, "versions", lambda changed=changed: changed)
        keys[f"versions()[{i}] changed"] = key_of()
    all_differ(keys, because="a different version may compile a different kernel")


TWO_CALLEES = """
import triton
import triton.language as tl
@triton.jit
def kernel(x, n, GIVEN: tl.constexpr):
    tl.store(x, left(n) + right(n))
"""
CALLEE = """
import triton
@triton.jit
def scaled(v):
    return v * SCALE
"""


def test_globals_of_two_callees_with_one_name() -> None:
    def key_for(left: int, right: int) -> str:
        callees = {}
        for file, scale in (("left", left), ("right", right)):
            callees[file] = load(CALLEE, f"{file}.py")["scaled"]
            callees[file].fn.__globals__.update(SCALE=constexpr(scale), __name__=file)
            callees[file].fn.__module__ = file
        return key_of(TWO_CALLEES, **callees)

    keys = {f"SCALE = {a} in left.py, {b} in right.py": key_for(a, b) for a in (1, 2) for b in (1, 2)}
    all_differ(keys, because=f"each of the two functions reads a SCALE of its own file, for\n{TWO_CALLEES}")


def test_all_of_each_reference() -> None:
    kernel, keys = kernels()["kernel"], {}
    for module, name in itertools.product(("left", "left_"), ("_outer.<locals>.scaled", "outer.<locals>.scaled")):
        reader = load(CALLEE)["scaled"]
        reader.fn.__module__, reader.fn.__qualname__ = module, name
        for path, value in itertools.product(("SCALE", "settings.SCALE"), (1, constexpr(1), 1.0)):
            words = f"compute_key(kernel, [Reference({module}.{name}, {path!r}, {value!r})], ...)"
            keys[words] = compute_key(kernel, [Reference(reader, path, value)], ARGUMENTS, Options())
    all_differ(keys, because="the key depends on the module and the name of the reader, on the path, and on the value")


def test_all_of_each_argument() -> None:
    kernel, keys = kernels()["kernel"], {}
    for names, multiples in itertools.product(("abc", "abd"), itertools.product((True, False), repeat=3)):
        arguments = {name: Specialized("i32", multiple) for name, multiple in zip(names, multiples, strict=True)}
        keys[f"compute_key(kernel, [], {arguments}, ...)"] = compute_key(kernel, [], arguments, Options())
    all_differ(keys, because="the key depends on each argument's name and on each fact about it")


def test_the_key_of_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    first, hash = key_of(), builtins.hash
    monkeypatch.setattr(builtins, "hash", lambda value: hash(value) ^ 1)
    described("key of the kernel in a process in which `hash` returns other numbers", key_of).returns(
        first, because="every process must find the kernel that another process has compiled"
    )
    described("type(key of the kernel)", lambda: type(first)).returns(str)


def test_what_a_key_does_not_depend_on() -> None:
    first = key_of()
    others = {
        "the same text, loaded once more": key_of(),
        "a name that nothing reads": key_of(UNUSED=constexpr(1)),
        "a further attribute of a module": key_of(settings=module(INNER=constexpr(4), OTHER=constexpr(1))),
        "a further function that is not called": key_of(KERNELS + "@triton.jit\ndef other(x):\n    pass\n"),
        "an equal value": key_of(OUTER=constexpr(int("3"))),
    }
    for words, other in others.items():
        described(f"key of the kernel == key with {words}", lambda other=other: other == first).returns(
            True, because="the compiled kernels are equal, and another process must find the first kernel"
        )


CALLS_ITS_ARGUMENT = """
import triton
import triton.language as tl
@triton.jit
def plus(v):
    return v + STEP
@triton.jit
def minus(v):
    return v - STEP
@triton.jit
def kernel(x, F: tl.constexpr):
    tl.store(x, F(tl.load(x)))
"""


def test_functions_as_arguments() -> None:
    keys = {}
    for body, step in itertools.product(("v + STEP", "v * STEP"), (1, 2)):
        names = kernels(CALLS_ITS_ARGUMENT.replace("v + STEP", body), STEP=constexpr(step))
        plus = names["plus"]
        for shown, value in {"plus": plus, "minus": names["minus"], "(plus, 1)": (plus, 1)}.items():
            arguments = {"x": Specialized("*fp32"), "F": specialize_constant(value)}
            words = f"F = {shown}, STEP = {step}" + f", where plus returns {body}" * (shown != "minus")
            keys[words] = key(names["kernel"], arguments, Options())
    all_differ(
        keys, because=f"the function and everything that it reads are part of the kernel, in\n{CALLS_ITS_ARGUMENT}"
    )
