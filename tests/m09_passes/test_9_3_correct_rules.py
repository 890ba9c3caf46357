"""Task 9.3: every rule keeps a function's results for all numbers, and rewriting with all rules ends."""

import functools
import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import VerificationError
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.ops.definition import definition
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.verifier import verify
from mini_triton.transforms.folding import FOLDING
from mini_triton.transforms.peepholes import GROUPS
from mini_triton.transforms.rewriting import Pattern, RewriteError, Rule, rewrite

from tests.checks import described, one_in
from tests.oracles import triton
from tests.support.m05_frontend.random_kernels import Kernel, kernels
from tests.support.m09_passes.passing import Shown, corpus, judge_random, put
from tests.support.m09_passes.rules import given_to, instance, outcome, same
from tests.support.m09_passes.snippets import Snippet

from .test_9_3_peepholes import SNIPPETS

TRIES = 400  # functions tried for each rule
ENOUGH = 40  # functions that must match

Group = Callable[[], list[Rule]]
Make = Callable[[], tuple[Module, Sequence[Any]]]
groups = pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)


def rules_of(group: Group) -> list[Rule]:
    """The rules of a group."""
    __tracebackhide__ = True
    return list(described(f"{group.__name__}()", group).succeeds("a list of rules"))


def judge(words: str, rules: Sequence[Rule], make: Make) -> bool:
    """Check that rules keep a function's results, to the last bit. Return whether any rule matched."""
    __tracebackhide__ = True
    module, arguments = make()
    expected = outcome(module, arguments)
    if expected is None:
        return False
    call = described(words, rewrite, module, rules)
    try:
        changed = call()
        verify(module)
    except (RewriteError, VerificationError) as error:
        tell(words, make, "a valid module", f"{type(error).__name__}: {error.message}", module)
    got = outcome(module, arguments)
    if got is None or not same(expected, got):
        tell(words, make, shown(expected), shown(got), module)
    return changed is True


def tell(words: str, make: Make, expected: str, got: str, after: Module) -> NoReturn:
    """Fail, and show the numbers and the function before and after the rewrite."""
    __tracebackhide__ = True
    before, arguments = make()
    names = [f"%{parameter.name}" for parameter in before.body.operations[0].regions[0].block.arguments]
    given = ", ".join(f"{name} = {line(argument)}" for name, argument in zip(names, arguments, strict=True))
    call = described(f"{words}, for {given}" if given else words, rewrite, before)
    call.fail(expected, Shown(got), f"\n{body(before)}\n  became\n{body(after)}")


def body(module: Module) -> str:
    """The lines of a module's only function."""
    return "\n".join(print_module(module).splitlines()[2:-2])


def shown(outcome: Sequence[Any] | None) -> str:
    """The returned values, and the final contents of short buffers."""
    if outcome is None:
        return "an access out of bounds"
    return ", ".join(line(array) for array in outcome if array.size < 32) or "other values in memory"


def line(value: Any) -> str:
    """Numbers in one line."""
    return str(value.tolist()) if isinstance(value, np.ndarray | np.generic) else str(value)


# --- each rule by itself


@groups
def test_rules_name_operations_that_exist(group: Group) -> None:
    for rule in rules_of(group):
        for name in names_in(rule.pattern):
            assert definition(name), f"the rule {rule.name}\n  expected  operations of the IR\n  got       {name}"


def names_in(pattern: Any) -> list[str]:
    """The names of the operations in a pattern."""
    if not isinstance(pattern, Pattern):
        return []
    return [pattern.name, *itertools.chain.from_iterable(map(names_in, pattern.operands))]


@groups
def test_every_rule_is_true(group: Group) -> None:
    """Each rule keeps results for random numbers, extreme integers, both zeros, infinities and NaN."""
    for rule in rules_of(group):
        if rule.pattern is None:
            continue
        fitted = 0
        for seed in range(TRIES):
            fitted += holds(rule, seed)
            if fitted == ENOUGH:
                break


def holds(rule: Rule, seed: int) -> bool:
    """Judge a rule by examples; report the smallest that refutes it. Return whether any example matched."""
    __tracebackhide__ = True
    if instance(rule, random.Random(seed)) is None:
        return False
    words, rules = f"The rule {rule.name}", [rule]
    try:
        return judge(words, rules, functools.partial(example, rule, seed))
    except AssertionError:
        found = {number: instance(rule, random.Random(number)) for number in range(TRIES)}
        sizes = {
            number: sum(np.size(getattr(a, "elements", a)) for a in pair[1]) for number, pair in found.items() if pair
        }
        for number in sorted(sizes, key=sizes.__getitem__):
            judge(words, rules, functools.partial(example, rule, number))
        raise


def example(rule: Rule, seed: int) -> tuple[Module, Sequence[Any]]:
    """A function that a rule matches, and arguments."""
    found = instance(rule, random.Random(seed))
    assert found
    return found


@groups
def test_rules_of_a_group_agree(group: Group) -> None:
    """All rules of a group at once, with folding, on functions that they match."""
    rules = [*FOLDING, *rules_of(group)]
    for text in texts(SNIPPETS[group.__name__]):
        judge_text(f"FOLDING and {group.__name__}()", rules, text)


def texts(snippets: Iterable[Snippet]) -> list[str]:
    return [text for snippet in snippets for text in snippet.texts]


def judge_text(words: str, rules: Sequence[Rule], text: str) -> None:
    """Judge rules by the function in a text, with random arguments."""
    __tracebackhide__ = True
    for seed in range(2):
        judge(words, rules, functools.partial(parsed, text, seed))


def parsed(text: str, seed: int) -> tuple[Module, Sequence[Any]]:
    """The module in a text, and arguments."""
    module = parse_module(text)
    types = [argument.type for argument in module.body.operations[0].regions[0].block.arguments]
    return module, given_to(types, random.Random(seed), harmless="tt.dot" in text)


# --- all rules at once


def peepholes(module: Operation) -> bool:
    """Folding and the rules of all groups."""
    return rewrite(module, [*FOLDING, *(rule for group in GROUPS for rule in group())])


def test_all_rules_agree() -> None:
    rules = [*FOLDING, *(rule for group in GROUPS for rule in rules_of(group))]
    for text in texts(itertools.chain.from_iterable(SNIPPETS.values())):
        judge_text("FOLDING and all peepholes", rules, text)


@given(kernel=kernels(), seed=st.integers(0, 2**32 - 1))
@one_in(10)
def test_random_kernels(kernel: Kernel, seed: int) -> None:
    judge_random(peepholes, kernel, seed)


def test_kernels_of_the_corpus() -> None:
    """Real Triton accepts the result, and a second run does not change it."""
    left = {name: print_module(put(peepholes, text).left) for name, text in corpus(8).items()}
    for (name, text), answer in zip(left.items(), triton.accepts_many([*left.values()]), strict=True):
        assert answer, triton.refusal(f"what is left of {name}", text, answer.diagnostic)
