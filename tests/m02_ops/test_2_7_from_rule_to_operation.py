"""Task 2.7: the signature of a type rule declares an operation; `create` makes operations as declared."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from mini_triton.errors import Loc, VerificationError
from mini_triton.ir.core import Block, Region
from mini_triton.ir.ops import definition
from mini_triton.ir.ops.definition import OpDefinition, Schema, create, op, schema_of
from mini_triton.ir.types import F32, I1, I32, TensorType

from tests.checks import described
from tests.oracles import triton
from tests.support.m02_ops.generic_form import build, kernel
from tests.support.m02_ops.programs import EVERY, Step, program, recipes
from tests.support.m02_ops.rules import applying

T = TensorType((8,), F32)
REGIONS = [Region([Block()])]
LOC = Loc("kernel.py", 7, 3)


# --- various rules


def nothing() -> None: ...
def binary(lhs, rhs): ...
def masked(ptr, mask=None, other=None): ...
def loop(lower, upper, *inits, regions): ...
def flags(*, axis, reverse=False, count=1, word=""): ...
def cast(input, *, rounding="rtne", result): ...
def call(*args, callee, result=()): ...
def empty(*, regions=()): ...
def many(ptr, mask=None, *rest, sem="relaxed", scope, regions, result): ...


SCHEMAS: dict[Callable[..., Any], Schema] = {
    nothing: Schema(),
    masked: Schema(operands=("ptr", "mask", "other"), optional=("mask", "other")),
    flags: Schema(attributes=("axis", "reverse", "count", "word"), defaults={"reverse": False, "count": 1, "word": ""}),
    empty: Schema(takes_regions=True),
    call: Schema(variadic="args", attributes=("callee",), takes_result=True),
    many: Schema(
        operands=("ptr", "mask"),
        optional=("mask",),
        variadic="rest",
        attributes=("sem", "scope"),
        defaults={"sem": "relaxed"},
        takes_result=True,
        needs_result=True,
        takes_regions=True,
    ),
}


def signature(rule: Callable[..., Any]) -> str:
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(rule).parameters.values()]
    return f"def {rule.__name__}{inspect.Signature(parameters)}"


@pytest.mark.parametrize("rule", SCHEMAS, ids=lambda rule: rule.__name__)
def test_schemas(rule: Callable[..., Any]) -> None:
    asked = described(f"schema_of({signature(rule)})", schema_of, rule)
    got, expected = asked.succeeds(), SCHEMAS[rule]
    for name in vars(expected):
        described(f"schema_of({signature(rule)}).{name}", getattr, got, name).returns(getattr(expected, name))


# --- running a rule


class Recorder:
    """A rule that records its arguments, and returns a given result."""

    def __init__(self, like: Callable[..., Any], gives: Any = None) -> None:
        self.__signature__ = inspect.signature(like)
        self.__name__ = like.__name__
        self.gives = gives
        self.seen: tuple[Any, ...] = ()

    def __call__(self, *operands: Any, **keywords: Any) -> Any:
        self.seen = (operands, keywords)
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


class in_mlir(applying, described):
    """A description of a call; types of results are spelled as in MLIR."""


def running(rule: Recorder, *arguments: Any) -> described:
    shown = ", ".join(str([str(part) for part in a]) if isinstance(a, list | tuple) else str(a) for a in arguments)
    words = f"the result_types({shown}) of an operation with the rule {signature(rule)}"
    return in_mlir(words, OpDefinition("test.op", rule).result_types, *arguments)


CALLS: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (binary, ([I32, I32], {}), ((I32, I32), {})),
    (masked, ([I32], {}), ((I32,), {})),
    (masked, ([I32, I1], {}), ((I32, I1), {})),
    (flags, ([], {"axis": 1, "count": 3}), ((), {"axis": 1, "count": 3})),
    (flags, ([], {"axis": 0, "tt.divisibility": 16, "a.b": 1}), ((), {"axis": 0})),
    (cast, ([I32], {}, (F32,)), ((I32,), {"result": F32})),
    (call, ([I32] * 3, {"callee": "f"}, (F32, I32)), ((I32,) * 3, {"callee": "f", "result": (F32, I32)})),
    (call, ([], {"callee": "f"}, ()), ((), {"callee": "f", "result": ()})),
    (loop, (iter([I32, I32]), {}, (), iter(REGIONS)), ((I32, I32), {"regions": REGIONS})),
    (loop, ([I32, I32, F32], {}), ((I32, I32, F32), {"regions": []})),
    (many, ([I32], {"scope": "gpu"}, (F32,)), ((I32,), {"scope": "gpu", "result": F32, "regions": []})),
    (binary, ([I32, I32], {}, (I32,), iter(())), ((I32, I32), {})),
]


@pytest.mark.parametrize(("like", "arguments", "expected"), CALLS)
def test_what_a_rule_is_called_with(
    like: Callable[..., Any], arguments: tuple[Any, ...], expected: tuple[Any, ...]
) -> None:
    rule = Recorder(like)
    asked = running(rule, *arguments)
    asked.returns(())
    if rule.seen != expected:
        asked.fail(f"the rule is called with {expected}", f"it is called with {rule.seen}")


def test_what_a_rule_gives() -> None:
    for gives, expected in ((None, ()), (T, (T,)), ((T, I32), (T, I32)), ((), ())):
        running(Recorder(binary, gives), [I32, I32], {}).returns(expected)
    for error in (TypeError("because"), ValueError("because")):
        running(Recorder(binary, error), [I32, I32], {}).raises(TypeError, "because")
    running(Recorder(binary, KeyError("x")), [I32, I32], {}).raises(KeyError, because="other errors propagate")


MISFITS: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...]]] = [
    (binary, ([I32], {}), ()),
    (binary, ([I32] * 3, {}), ()),
    (nothing, ([I32], {}), ()),
    (masked, ([], {}), ()),
    (masked, ([I32] * 4, {}), ()),
    (loop, ([I32], {}), ()),
    (many, ([], {"scope": "gpu"}, (F32,)), ()),
    (flags, ([], {}), ("axis",)),
    (flags, ([], {"axis": 1, "speed": 3}), ("speed",)),
    (cast, ([I32], {}), ()),
    (cast, ([I32], {"result": F32}, (F32,)), ("result",)),
    (binary, ([I32, I32], {}, (I32,), REGIONS), ()),
    (binary, ([I32, I32], {}, (), iter(REGIONS)), ()),
]


@pytest.mark.parametrize(("like", "arguments", "names"), MISFITS)
def test_what_does_not_fit_the_schema(
    like: Callable[..., Any], arguments: tuple[Any, ...], names: tuple[str, ...]
) -> None:
    """The rule must not be called."""
    rule = Recorder(like, gives=T)
    running(rule, *arguments).raises(TypeError, *names)
    assert not rule.seen, f"{signature(rule)} should not be called with {arguments}"


# --- making operations


@pytest.fixture
def declarations(monkeypatch: pytest.MonkeyPatch) -> None:
    """The declarations, to which a test may add its own."""
    definition.definition("builtin.module")  # loads the declarations
    monkeypatch.setattr(definition, "_DEFINITIONS", dict(definition._DEFINITIONS))


def creating(name: str, *operands: Any, **options: Any) -> described:
    shown = [repr(name), *(f"%{operand.name}" for operand in operands), *(f"{k}={v}" for k, v in options.items())]
    return described(f"create({', '.join(shown)})", create, name, *operands, **options)


def test_operations_are_made_as_declared(declarations: None) -> None:
    @op("test.scan")
    def scan(source, *, axis, reverse=False, count=1, result, regions):
        return source, result

    (x,), region = Block([T], ["x"]).arguments, Region([Block()])
    asked = creating("test.scan", x, axis=1, reverse=False, result=F32, regions=iter([region]), loc=LOC, **{"tt.a": 5})
    made = asked.succeeds()
    got = (made.name, made.operands, made.attributes, made.regions, made.loc, made.parent)
    expected = ("test.scan", (x,), {"axis": 1, "tt.a": 5}, [region], LOC, None)
    assert got == expected, f"{asked}\n  expected  {expected}\n  got       {got}"
    assert [result.type for result in made.results] == [T, F32], "the rule gives the types of the results"
    assert [use.number for use in x.uses] == [0] and region.parent is made
    for options, kept in (({"reverse": True, "count": 0}, {"reverse": True, "count": 0}), ({"reverse": 0}, {})):
        asked = creating("test.scan", x, axis=1, result=F32, regions=[region], **options)
        made = asked.succeeds()
        assert made.attributes == {"axis": 1} | kept and made.loc is None, f"{asked} has {made.attributes}, {made.loc}"


def test_any_number_of_given_results(declarations: None) -> None:
    @op("test.call")
    def call(*, result=()):
        return result

    for result, types in (((), []), (F32, [F32]), ((F32,), [F32]), ((F32, I32), [F32, I32])):
        made = creating("test.call", result=result).succeeds()
        assert [value.type for value in made.results] == types, f"the rule returns the types that it is given, {result}"


def test_operations_that_cannot_be_made(declarations: None) -> None:
    op("test.cast")(Recorder(cast, TypeError("i32 is not a float")))
    (x,) = Block([I32], ["x"]).arguments
    for options, words in (
        ({"result": F32}, ("test.cast", "i32 is not a float")),
        ({}, ("test.cast",)),
        ({"result": F32, "speed": 3}, ("test.cast", "speed")),
    ):
        creating("test.cast", x, loc=LOC, **options).raises(VerificationError, *words)
    op("test.broken")(Recorder(nothing, KeyError("x")))
    creating("test.broken").raises(KeyError, because="other errors propagate")
    creating("test.unheard_of", loc=LOC).raises(VerificationError, "test.unheard_of")
    for name in ("test.cast", "test.unheard_of"):
        with pytest.raises(VerificationError) as caught:
            create(name, x, result=F32, loc=LOC)
        assert caught.value.loc == LOC, "the error should hold the operation's location"
    assert not x.uses, "a refused operation must not remain a user of its operands"


def must_type(text: str) -> None:
    """Require that `create` gives each operation the result types that real Triton accepts."""
    __tracebackhide__ = True
    answer = triton.accepts(text)
    assert answer, f"the test is wrong: {answer.diagnostic}"
    for built in build(text).walk():  # `build` calls no type rule
        wish = tuple(result.type for result in built.results)
        declared = definition.definition(built.name)
        result = wish if declared and declared.schema.takes_result else ()
        asked = creating(built.name, *built.operands, result=result, regions=built.regions, **built.attributes)
        got = tuple(result.type for result in asked.succeeds().results)
        if got != wish:
            asked.fail(f"results of the types {[str(type) for type in wish]}", [str(type) for type in got])


def test_every_operation() -> None:
    must_type(kernel(EVERY))


@given(recipe=recipes())
def test_operations_of_random_programs(recipe: list[Step]) -> None:
    must_type(program(recipe))
