"""Type rules compared with real Triton: a call to a rule, and the same operation as text.

    judge([Call(load, "tt.load", ("!tt.ptr<f32>", "i1"), [("f32",), ("i1",)], attributes=...)])

Real Triton reads the operation once with each of the listed result types. The rule must return the type that real
Triton accepts; if real Triton accepts none, the rule must refuse.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from mini_triton.ir.core import Operation
from mini_triton.ir.types import Type

from tests.checks import NO_ANSWER, calling
from tests.oracles import triton
from tests.support.m02_ops import generic_form as ir
from tests.support.m02_ops.generic_form import attributes_of, reason, type_of

Results = tuple[str, ...]
REFUSED = None


@dataclass(frozen=True)
class Call:
    """A call of `rule` with operand types (None for an operand that is not there), attributes and regions as text."""

    rule: Callable[..., Any]
    name: str
    operands: Sequence[str | None]
    offers: Sequence[Results]  # the result types to ask real Triton about
    attributes: str = ""
    given: str = ""  # the result type, for a rule that takes it
    regions: Sequence[str] = ()
    outside: Mapping[str, str] | None = None  # values that the regions use besides the operands
    stricter: str = ""  # why we refuse what real Triton's parser may accept
    because: str = ""  # why real Triton refuses, where its own words mislead
    refusals: tuple[type[Exception], ...] = (TypeError,)

    def __str__(self) -> str:
        words = [*map(str, self.operands)]
        words += [f"{name}={value!r}" for name, value in attributes_of(self.name, self.attributes).items()]
        words += [f"result={self.given}"] if self.given else []
        return f"{self.rule.__name__}({', '.join(words + ['regions=[...]'] * bool(self.regions))})"

    @property
    def takes_regions(self) -> bool:
        return "regions" in inspect.signature(self.rule).parameters

    def outcome(self) -> Results | Exception:
        """The answer of the rule under test: result types, or an error."""
        options = attributes_of(self.name, self.attributes)
        if self.given:
            options["result"] = type_of(self.given)
        if self.takes_regions:
            (function,) = ir.build(self.text(())).regions[0].block.operations
            options["regions"] = function.regions[0].block.operations[0].regions
        operands = [type_of(operand) if operand else None for operand in self.operands]
        try:
            types = self.rule(*operands, **options)
        except NO_ANSWER:
            raise
        except Exception as error:
            return error
        return () if types is None else tuple(map(str, types)) if isinstance(types, tuple) else (str(types),)

    def text(self, results: Results) -> str:
        """A module around the operation, with results of these types."""
        parameters = {f"v{i}": type for i, type in enumerate(self.operands) if type}
        named = [(f"r{i}", type) for i, type in enumerate(results)]
        line = ir.op(self.name, parameters.items(), named, self.attributes, self.regions)
        return ir.module(ir.function(parameters | dict(self.outside or {}), line, ir.RETURN))


class applying(calling):
    """A call to a type rule or of its helpers, shown with types as MLIR writes them."""

    def shown(self, value: Any) -> str:
        if type(value) is tuple:
            return f"({', '.join(map(self.shown, value))}{',' * (len(value) == 1)})"
        try:
            return (
                str(value) if isinstance(value, Type) else value.name if isinstance(value, Operation) else repr(value)
            )
        except Exception:  # the learner's `str` of a type fails
            return repr(value)


def judge(calls: Iterable[Call]) -> None:
    """Compare the rules with real Triton; fails with the first call that differs."""
    __tracebackhide__ = True
    calls = list(calls)
    outcomes = [call.outcome() for call in calls]
    texts = [call.text(offer) for call in calls if not call.stricter for offer in dict.fromkeys(call.offers)]
    answers = iter(triton.accepts_many(texts) if texts else ())
    wrong = []
    for call, outcome in zip(calls, outcomes, strict=True):
        if call.stricter:
            expected, because = REFUSED, call.stricter
        else:
            expected, because = _verdict(call, outcome, {offer: next(answers) for offer in dict.fromkeys(call.offers)})
        if not _agrees(call, outcome, expected):
            wrong.append((call, outcome, expected, because))
    if wrong:
        wrong.sort(key=lambda found: bool(found[0].stricter))  # answers of real Triton come first
        _fail(*wrong[0], others=len(wrong) - 1)


def _verdict(
    call: Call, outcome: Results | Exception, answers: Mapping[Results, triton.Answer]
) -> tuple[Results | None, str]:
    accepted = [offer for offer, answer in answers.items() if answer]
    assert len(accepted) <= 1, f"the test is wrong: real Triton takes {call} for any of {accepted}"
    if accepted:
        return accepted[0], f"real Triton accepts this {call.name}{' with this result' if accepted[0] else ''}"
    about = outcome if isinstance(outcome, tuple) and outcome in answers else next(iter(answers))
    return REFUSED, f"real Triton refuses this {call.name}: {call.because or reason(answers[about])}"


def _agrees(call: Call, outcome: Results | Exception, expected: Results | None) -> bool:
    if expected is not REFUSED:
        return outcome == expected
    unpacking = (ValueError,) if call.takes_regions else ()  # `region.block` and `(region,) = regions` raise it
    return isinstance(outcome, (*call.refusals, *unpacking))


def _fail(call: Call, outcome: Results | Exception, expected: Results | None, because: str, others: int) -> NoReturn:
    __tracebackhide__ = True
    wanted = "a TypeError" if expected is REFUSED else _shown(expected)
    got = f"{type(outcome).__name__}: {outcome}" if isinstance(outcome, Exception) else _shown(outcome)
    lines = [str(call), f"  expected  {wanted}", f"  got       {got}", f"  because   {because}"]
    if call.regions:
        lines += ["  in", *call.text(expected or ()).splitlines()[4:-4]]
    if others:
        lines.append(f"  ({others} more {'call is' if others == 1 else 'calls are'} wrong)")
    if not isinstance(outcome, Exception):
        call.outcome()  # repeated as the last call, from which the grader finds the function at fault
    failure = AssertionError("\n".join(lines))
    vars(failure)["last_call"] = True
    raise failure.with_traceback(outcome.__traceback__ if isinstance(outcome, Exception) else None) from None


def _shown(types: Results) -> str:
    return types[0] if len(types) == 1 else f"({', '.join(types)})" if types else "no result"
