"""Random kernels made of loops and branches, as Python text.

What is drawn is plain data: a line of text is a simple statement, and ("for", "range(n)", [...]) a statement with
others inside. The simple ones keep the type of every name, so whatever is drawn is well-typed. No name is ever bound
to another's value as it is (`a = b`): loops of Triton take two such names for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.oracles.triton import Source
from tests.support.m05_frontend.compilation import kernel

Statement = Any  # str, or a tuple of a word, a line, and one or two lists of statements

ARGUMENTS = {"out": "*fp32", "x": "*fp32", "n": "i32", "wide": "i64", "unsigned": "u32", "N": "=4", "STEP": "=3"}
"""The parameters. `N` and `STEP` are constants."""

BEFORE = {
    "a": "a = n + 1",
    "b": "b = n * 2",
    "f": "f = 0.5",
    "g": "g = n * 0.1",
    "u": "u = tl.zeros([8], tl.float32)",
    "v": "v = tl.arange(0, 8)",
    "p": "p = x + tl.arange(0, 8)",
    "t": "t = (n + 3, 0.25)",
}
"""How names get their first values, those that are used."""

AFTER = {
    **{name: f"tl.store(out, {name})" for name in "abfg"},
    **{name: f"tl.store(out + tl.arange(0, 8), {name})" for name in "uv"},
    "p": "tl.store(p, 1.0)",
    "t": "tl.store(out, t[0] + t[1])",
}
"""What makes their last values count."""

SIMPLE = (
    "a += {i}",
    "b = b * a",
    "a = a + 2",
    "f = f * 2.0",
    "g += f",
    "u += tl.load(p)",
    "u = u * f",
    "v = v + a",
    "p += 8",
    "p += {i}",
    "t = (t[0] + {i}, t[1] * f)",
    "a, b = b + 1, a - {i}",
    "f, g = g * 0.5, f + 1.0",
    "f = tl.sum(u)",
    "tl.store(out, f)",
    "tl.store(out + {i}, a)",
    "w = a * 3\nb += w",
    "z = f * 3\ng += z",
    "pass",
)
"""Statements without others inside; {i} is the variable of the loop around them, if there is one."""

CHOICES = (
    "a = b + 1 if n > 3 else a - 1",
    "f = (g + 1.0 if a > 3 else 2.0) if n > 0 else f * 0.5",
    "p = p + 1 if {i} > 3 else p + a",
    "u += 2 if b else 5",
    "f = tl.load(x) if a > 0 else 0.0",
    "a = a + (n > 3 or b > 3)",
    "a += not (a > 3 and {i} > 3)",
    "b = b + (a if N > 3 else undefined)",
)

RANGES = (
    "range({i})",
    "range(3)",
    "range(a)",
    "range(b, n)",
    "range(0, n, 2)",
    "range(n, 0, -1)",
    "range(n, b, -STEP)",
    "range(0, a, STEP)",
    "range(N)",
    "tl.range(n)",
    "tl.range(0, n, 2, num_stages=3)",
    "range(wide)",
    "range(wide, n, -1)",
    "range(0, unsigned, 2)",
)

CONDITIONS = (
    "{i} > 3",
    "a > b",
    "n > 3 and f < 1.0",
    "not a == b",
    "f > 0.5 or b < 2",
    "a",
    "g",
    "tl.sum(v) > 3",
    "a > 0 and N > 3",
    "N > 5 or b < 3",
)

LASTING = tuple(condition for condition in CONDITIONS if condition not in ("a", "g"))
"""What a `while` may ask: it takes no numbers."""


def blocks(branches: bool) -> st.SearchStrategy[list[Statement]]:
    """Lists of statements; with `branches` not only loops over ranges."""
    simple = st.sampled_from(SIMPLE + CHOICES * branches)

    def compound(inner: st.SearchStrategy[list[Statement]]) -> st.SearchStrategy[list[Statement]]:
        loop = st.tuples(st.just("for"), st.sampled_from(RANGES), inner)
        unrolled = st.tuples(st.just("for"), st.just("tl.static_range(2)"), inner)
        kinds = [loop, loop, simple, simple]
        if branches:
            branch = st.tuples(st.just("if"), st.sampled_from(CONDITIONS), inner)
            both = st.tuples(st.just("if"), st.sampled_from(CONDITIONS), inner, inner)
            kinds += [branch, both, st.tuples(st.just("while"), st.sampled_from(LASTING), inner)]
        else:
            kinds += [unrolled, st.tuples(st.just("if"), st.sampled_from(("N > 3", "N > 4")), inner)]
        return st.lists(st.one_of(kinds), min_size=1, max_size=4)

    return st.recursive(st.lists(simple, min_size=1, max_size=3), compound, max_leaves=6)


def source(statements: Sequence[Statement]) -> Source:
    """The kernel with these statements, and with the parameters that they use."""
    text = body(statements)
    used = {"out", *re.findall(r"\w+", text)}
    return kernel(text, {name: type for name, type in ARGUMENTS.items() if name in used})


def body(statements: Sequence[Statement]) -> str:
    """Its text: first values, the statements, and stores of the last values, of those names that occur."""
    lines = list(_lines(statements, "n", 0))
    used = set(re.findall(r"\b[a-z]\b", "\n".join(lines)))
    before = [line for name, line in BEFORE.items() if name in used]
    return "\n".join([*before, *lines, *(line for name, line in AFTER.items() if name in used)])


def _lines(statements: Sequence[Statement], variable: str, depth: int) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, str):
            yield from statement.replace("{i}", variable).splitlines()
            continue
        word, head, inner, *otherwise = statement
        head, within = head.replace("{i}", variable), variable
        if word == "for":
            kind = "".join(f"_{kind}" for kind in ("wide", "unsigned", "static") if kind in head)
            name = f"{'ijk'[depth]}{kind}" if depth < 3 else f"i{depth}{kind}"  # one name has one dtype all over
            within = f"{name}.to(tl.int32)" if kind in ("_wide", "_unsigned") else name
            head = f"{name} in {head}"
        yield f"{word} {head}:"
        yield from (f"    {line}" for line in _lines(inner, within, depth + (word == "for")))
        if otherwise:
            yield "else:"
            yield from (f"    {line}" for line in _lines(otherwise[0], variable, depth))


# --- returns


def exits(value: str) -> st.SearchStrategy[list[Statement]]:
    """Statements with branches and returns of such values; "{a}" in `value` is an expression of `a`."""
    simple = st.sampled_from(("a += 2", "a = a * n", "tl.store(out + a, n)", "n = n - a", "b = a - 1\na = b * 2"))
    ending = st.sampled_from(("a", "a * 2", "n + 1")).map(lambda a: f"return {value.format(a=a)}".rstrip())
    condition = st.sampled_from(("a > 3", "n > a", "a", "n > 4 and a < 2"))

    def compound(inner: st.SearchStrategy[list[Statement]]) -> st.SearchStrategy[list[Statement]]:
        branch = st.tuples(st.just("if"), condition, inner)
        both = st.tuples(st.just("if"), condition, inner, inner)
        return st.lists(simple | branch | both, min_size=1, max_size=3) | st.tuples(simple, ending).map(list)

    leaf = st.lists(simple, min_size=1, max_size=2) | ending.map(lambda line: [line])
    return st.recursive(leaf, compound, max_leaves=6)


def function(name: str, statements: Sequence[Statement]) -> str:
    """A function of `out`, `a` and `n` with this body."""
    lines = _lines(statements, "n", 0)
    return "\n".join(["@triton.jit", f"def {name}(out, a, n):", *(f"    {line}" for line in lines), ""])


def without_returns(statements: Sequence[Statement]) -> list[Statement]:
    """The same statements, but what comes after a `return` is in an `else`, and `return x` is `result = x`."""
    for i, statement in enumerate(statements):
        if returns(statement):
            if isinstance(statement, str):
                value = statement.removeprefix("return").strip()
                return [*statements[:i], f"result = {value}" if value else "pass"]
            word, condition, then, *otherwise = statement
            rest = statements[i + 1 :]
            branches = [[*branch, *rest] for branch in (then, otherwise[0] if otherwise else [])]
            return [*statements[:i], (word, condition, *([*without_returns(branch), "pass"] for branch in branches))]
    return list(statements)


def returns(statement: Statement) -> bool:
    """Whether there is a `return` in it."""
    if isinstance(statement, str):
        return statement.startswith("return")
    return any(returns(inner) for branch in statement[2:] for inner in branch)
