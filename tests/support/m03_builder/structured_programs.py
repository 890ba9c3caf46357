"""Random structured programs as plain data: built with the builder on one side, run as plain Python on the other.

A program is a list of statements. Values have one of three kinds, and are known by kind and number, modulo how many
there are, so that every program is legal:

    ("step", "i32", 0, 1)                           a new value: the difference of two; a pointer moved by an i32
    ("for", 3, ["i32"], [...])                      three times, carrying the newest values of these kinds
    ("if", 0, 1, ["ptr"], [...], [...])             if number 0 < number 1: the newest values of either branch result
    ("if", 0, 1, [], [...], None)                   no else
    ("while", 3, ["i32"], ["tensor"], [...], [...]) carries the first kinds, passes the second to the body

What is made inside is not visible outside: only results are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Value
from mini_triton.ir.scopes import condition, for_, if_, while_, yield_
from mini_triton.ir.types import I32, Type

from tests.support.type_names import of_shape

Kind = str
Program = list[Any]
Env = dict[Kind, list[Any]]

KINDS: tuple[Kind, ...] = ("i32", "tensor", "ptr")
TYPES: dict[Kind, Type] = {
    "i32": I32,
    "tensor": of_shape((4,), "i32"),
    "ptr": of_shape((), "!tt.ptr<f32>"),
}
PARAMETERS: tuple[Kind, ...] = KINDS * 2
ARGUMENTS: tuple[Any, ...] = (7, np.array([1, -2, 30, 4]), 100, -5, np.array([9, 8, -7, 60]), 200)

_kind = st.sampled_from(KINDS)
_kinds = st.lists(_kind, max_size=3)
_number = st.integers(0, 5)
_count = st.integers(0, 3)
_step = st.tuples(st.just("step"), _kind, _number, _number)


def _compound(statement: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    body = st.lists(statement, max_size=3)
    return st.one_of(
        st.tuples(st.just("for"), _count, _kinds, body),
        st.tuples(st.just("if"), _number, _number, _kinds, body, body),
        st.tuples(st.just("if"), _number, _number, st.just([]), body, st.none()),
        st.tuples(st.just("while"), _count, _kinds, _kinds, body, body),
    )


programs: st.SearchStrategy[Program] = st.lists(st.recursive(_step, _compound, max_leaves=8), min_size=1, max_size=4)


def newest(env: Env, kinds: Sequence[Kind]) -> list[Any]:
    """The newest values of these kinds; of a kind that is there twice, the last two, and so on."""
    return [env[kind][-1 - min(kinds[i + 1 :].count(kind), len(env[kind]) - 1)] for i, kind in enumerate(kinds)]


def with_values(env: Env, kinds: Sequence[Kind], values: Sequence[Any]) -> Env:
    """The environment with newer values, in a copy."""
    assert len(kinds) == len(values), f"there should be {len(kinds)} values ({', '.join(kinds)}), got {len(values)}"
    copy = {kind: list(known) for kind, known in env.items()}
    for kind, value in zip(kinds, values, strict=True):
        copy[kind].append(value)
    return copy


class Built:
    """The program as IR. Uses what task 3.5 is about, and `Builder.create` for all else."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def run(self, program: Program, env: Env) -> Env:
        """Build at the insertion point; gives the values known at the end."""
        for name, *arguments in program:
            kinds, values = getattr(self, f"_{name}")(env, *arguments)
            env = with_values(env, kinds, values)
        return env

    def _constant(self, value: int) -> Value:
        return self.builder.create("arith.constant", value=value, result=I32)

    def _step(self, env: Env, kind: Kind, i: int, j: int) -> tuple[list[Kind], list[Value]]:
        others = env["i32" if kind == "ptr" else kind]
        operands = env[kind][i % len(env[kind])], others[j % len(others)]
        return [kind], [self.builder.create("tt.addptr" if kind == "ptr" else "arith.subi", *operands)]

    def _for(self, env: Env, count: int, kinds: list[Kind], body: Program) -> tuple[list[Kind], Sequence[Value]]:
        bounds = self._constant(0), self._constant(count), self._constant(1)
        with for_(self.builder, *bounds, newest(env, kinds)) as loop:
            inner = self.run(body, with_values(env, ["i32", *kinds], [loop.variable, *loop.carried]))
            self._yield(inner, kinds)
        return kinds, loop.results

    def _if(
        self, env: Env, i: int, j: int, kinds: list[Kind], then: Program, otherwise: Program | None
    ) -> tuple[list[Kind], Sequence[Value]]:
        lhs, rhs = (env["i32"][k % len(env["i32"])] for k in (i, j))
        with if_(self.builder, self.builder.create("arith.cmpi", lhs, rhs, predicate="slt")) as branch:
            with branch.then():
                self._yield(self.run(then, env), kinds)
            if otherwise is not None:
                with branch.otherwise():
                    self._yield(self.run(otherwise, env), kinds)
        return kinds, branch.results

    def _while(
        self, env: Env, count: int, kinds: list[Kind], passed: list[Kind], before: Program, after: Program
    ) -> tuple[list[Kind], Sequence[Value]]:
        limit, one = self._constant(count), self._constant(1)
        with while_(self.builder, [self._constant(0), *newest(env, kinds)]) as loop:
            with loop.before() as (counter, *carried):
                inner = self.run(before, with_values(env, kinds, carried))
                goes_on = self.builder.create("arith.cmpi", counter, limit, predicate="slt")
                following = self.builder.create("arith.addi", counter, one)
                condition(self.builder, goes_on, *newest(inner, passed), following)
            with loop.after() as received:
                got = ", ".join(str(value.type) for value in received)
                wanted = ", ".join(str(TYPES[kind]) for kind in (*passed, "i32"))
                assert got == wanted, f"`after` receives what `condition` forwards: ({wanted}), not ({got})"
                *arguments, counter = received
                inner = self.run(after, with_values(env, passed, arguments))
                yield_(self.builder, counter, *newest(inner, kinds))
        return [*passed, "i32"], loop.results

    def _yield(self, env: Env, kinds: list[Kind]) -> None:
        if kinds:
            yield_(self.builder, *newest(env, kinds))


class Plain:
    """The program as Python runs it."""

    def run(self, program: Program, env: Env) -> Env:
        """The values known at the end."""
        for name, *arguments in program:
            kinds, values = getattr(self, f"_{name}")(env, *arguments)
            env = with_values(env, kinds, values)
        return env

    def _step(self, env: Env, kind: Kind, i: int, j: int) -> tuple[list[Kind], list[Any]]:
        others = env["i32" if kind == "ptr" else kind]
        x, y = env[kind][i % len(env[kind])], others[j % len(others)]
        with np.errstate(over="ignore"):
            return [kind], [x + y if kind == "ptr" else x - y]

    def _for(self, env: Env, count: int, kinds: list[Kind], body: Program) -> tuple[list[Kind], list[Any]]:
        carried = newest(env, kinds)
        for i in range(count):
            carried = newest(self.run(body, with_values(env, ["i32", *kinds], [np.int32(i), *carried])), kinds)
        return kinds, carried

    def _if(
        self, env: Env, i: int, j: int, kinds: list[Kind], then: Program, otherwise: Program | None
    ) -> tuple[list[Kind], list[Any]]:
        lhs, rhs = (env["i32"][k % len(env["i32"])] for k in (i, j))
        return kinds, newest(self.run(then if lhs < rhs else otherwise or [], env), kinds)

    def _while(
        self, env: Env, count: int, kinds: list[Kind], passed: list[Kind], before: Program, after: Program
    ) -> tuple[list[Kind], list[Any]]:
        carried, counter = newest(env, kinds), np.int32(0)
        while True:
            forwarded = newest(self.run(before, with_values(env, kinds, carried)), passed)
            if not counter < count:
                return [*passed, "i32"], [*forwarded, counter + 1]
            counter += 1
            carried = newest(self.run(after, with_values(env, passed, forwarded)), kinds)


def environment(values: Sequence[Any]) -> Env:
    """The values of the parameters, by kind."""
    return with_values({kind: [] for kind in KINDS}, PARAMETERS, values)


def expected(program: Program) -> list[Any]:
    """The newest values of each kind after the program has run on `ARGUMENTS` in Python."""
    arguments = [
        np.int64(value) if kind == "ptr" else np.asarray(value, np.int32)
        for kind, value in zip(PARAMETERS, ARGUMENTS, strict=True)
    ]
    return newest(Plain().run(program, environment(arguments)), KINDS)
