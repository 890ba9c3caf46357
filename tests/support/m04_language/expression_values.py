"""Compare the values of the language's expressions with those of real Triton.

    judge_values({"seed": "i32", "x": "u64"}, ["tl.rand(seed, x)"], {"seed": 7, "x": 8})

Scenes are those of `expressions.py`, with scalars only. Two ways to compute the same thing are equal here: in both
modules, ours and that of real Triton's front end, the arguments become constants, and real Triton's canonicalizer
folds what depends on them. Types must be equal as well.
"""

import functools
import math
import re
from collections.abc import Mapping, Sequence

from tests.oracles import triton
from tests.support.m04_language.expressions import Arguments, Scene

HEADER = re.compile(r"tt\.func public @kernel\((.*?)\).*\{")
SHOWN = re.compile(r"tt\.print .* isSigned = array<i32: (\d)>\} : (%\S+) : (\S+)")

Types = tuple[tuple[str, str], ...]


def judge_values(
    arguments: Arguments, expressions: Sequence[str], inputs: Mapping[str, float], tolerance: float = 0.0
) -> None:
    """Compare the values of expressions on these inputs; fails with the first that differs."""
    __tracebackhide__ = True
    scene = Scene(arguments)
    ours = values(arguments, expressions, inputs)
    theirs = _folded(_theirs(tuple(arguments.items()), tuple(expressions)), inputs)
    for expression, (our_type, got), (type, expected) in zip(expressions, ours, theirs, strict=True):
        if our_type != type:
            scene.fail(expression, type, our_type, "this is its type in real Triton")
        if got != expected and not (tolerance and math.isclose(number(got), number(expected), abs_tol=tolerance)):
            shown = ", ".join(f"{name} = {inputs[name]}" for name in inputs if name in scene.used([expression]))
            scene.fail(expression, expected, got, f"real Triton's operations compute this from {shown}")


def values(arguments: Arguments, expressions: Sequence[str], inputs: Mapping[str, float]) -> list[tuple[str, str]]:
    """The types and the values of expressions by our language, as MLIR spells them; a refusal fails the test."""
    __tracebackhide__ = True
    return _folded(_ours(tuple(arguments.items()), tuple(expressions)), inputs)


def number(constant: str) -> float:
    """A constant, or the one number of a block. MLIR writes infinity and NaN as hex: neither is a number."""
    word = constant.removeprefix("dense<").removesuffix(">")
    return math.nan if word.startswith("0x") else float(word)


def _folded(module: str, inputs: Mapping[str, float]) -> list[tuple[str, str]]:
    """The types, with the signedness of integers, and the values that a module prints, in order."""
    header = HEADER.search(module)
    assert header, module
    parameters = [parameter.split(": ") for parameter in header[1].split(", ")]
    constants = [
        f"{name} = arith.constant {value if type.startswith('i') else format(value, '.17e')} : {type}"
        for (name, type), value in zip(parameters, inputs.values(), strict=True)
    ]
    text = module.replace(header[0], "\n".join(["tt.func public @kernel() {", *constants]))
    text = re.sub(
        r"%(\w+) = tt\.mulhiui", r"%low\1, %\1 = arith.mului_extended", text
    )  # the canonicalizer folds this operation
    text = re.sub(r"tt\.bitcast (.*) -> (.*)", r"arith.bitcast \1 to \2", text)
    folded = triton.canonical(text)
    known = dict(re.findall(r"(%\S+) = arith\.constant (.*?)(?: : .*)?$", folded, re.MULTILINE))
    return [(f"{type}, {'not ' * (signed == '0')}signed", known[name]) for signed, name, type in SHOWN.findall(folded)]


@functools.cache
def _ours(types: Types, expressions: tuple[str, ...]) -> str:
    """The expressions, compiled by our language."""
    __tracebackhide__ = True
    scene = Scene(dict(types))
    outcomes, text = scene.outcomes(expressions)
    for expression, outcome in zip(expressions, outcomes, strict=True):
        if isinstance(outcome, Exception):
            scene.fail(expression, "a result", outcome, "real Triton accepts it")
    return triton.canonical(text)


@functools.cache
def _theirs(types: Types, expressions: tuple[str, ...]) -> str:
    """The expressions, compiled by real Triton's front end, which is asked once."""
    (answer,) = triton.frontends([Scene(dict(types)).source(expressions)])
    assert answer, f"the test is wrong, real Triton refuses {expressions}: {answer.diagnostic}"
    return answer.canonical
