"""Expressions of the language beside real Triton's, by the numbers that come out.

    judge_values({"seed": "i32", "x": "i32[8]"}, ["tl.rand(seed, x)"], {"seed": 7, "x": range(8)})

Scenes are those of `language.py`. But here two ways to compute the same thing are equal: the modules of both sides,
ours and the one of real Triton's front end, run in the NumPy interpreter on the same inputs. Types must be equal as
well. Each module is made once, however many inputs it runs on.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module

from tests.oracles import triton
from tests.support.interpreter import Machine
from tests.support.m04_language.expressions import Arguments, Scene

Inputs = Mapping[str, Any]


def judge_values(arguments: Arguments, expressions: Sequence[str], inputs: Inputs, tolerance: float = 0.0) -> None:
    """Compare the values of expressions, each a tensor; fails with the first that differs, and where it does.

    A scalar's input is a number, a block's a sequence of numbers. Without tolerance all bits must be equal.
    """
    __tracebackhide__ = True
    scene = Scene(arguments)
    ours = values(arguments, expressions, inputs)
    theirs = _printed(_theirs(tuple(arguments.items()), tuple(expressions)), arguments, inputs)
    for expression, (our_type, got), (type, expected) in zip(expressions, ours, theirs, strict=True):
        if our_type != type:
            scene.fail(expression, type, our_type, "that is its type in real Triton")
        wrong = np.argwhere(~alike(got, expected, tolerance))
        if len(wrong):
            at = tuple(map(int, wrong[0]))
            shown = _shown({name: value for name, value in inputs.items() if name in scene.used([expression])}, at)
            place = f"{shown}, element {list(at)}" if at else shown
            right, mine = (_word(array[at], type) for array in (expected, got))
            scene.fail(expression, right, mine, f"that is what real Triton's operations make of {place}")


def values(arguments: Arguments, expressions: Sequence[str], inputs: Inputs) -> list[tuple[str, Any]]:
    """The types and the values of expressions by our language; a refusal fails the test."""
    __tracebackhide__ = True
    return _printed(_ours(tuple(arguments.items()), tuple(expressions)), arguments, inputs)


def alike(x: Any, y: Any, tolerance: float) -> Any:
    """Element by element, whether two arrays are equal. NaN is NaN, and without tolerance 0.0 is not -0.0."""
    if tolerance:
        return np.isclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)
    return (x == y) & (np.signbit(x) == np.signbit(y)) | (x != x) & (y != y)


def _shown(inputs: Inputs, at: tuple[int, ...]) -> str:
    """The inputs, of blocks of one dimension the element that is meant."""
    words = []
    for name, value in inputs.items():
        number = value if np.ndim(value) == 0 else value[at[0]] if len(at) == np.ndim(value) == 1 else list(value)
        words.append(f"{name} = {number}")
    return ", ".join(words)


def _word(number: Any, type: str) -> str:
    """A number of this type; an unsigned integer by its bits, in hex."""
    width = re.search(r"\bi(\d+)>?, not signed", type.replace("xi", "x i"))
    return f"0x{int(number) % 2 ** int(width[1]):0{int(width[1]) // 4}x}" if width else str(number)


def _printed(module: Operation, arguments: Arguments, inputs: Inputs) -> list[tuple[str, Any]]:
    """The type, with the sign of integers, and the value of all that a module prints, in order."""
    memory: list[Any] = []
    operands = []
    for name in arguments:
        blocks = np.ndim(inputs[name]) > 0
        operands.append(len(memory) if blocks else inputs[name])
        memory += list(np.ravel(inputs[name])) if blocks else []
    (function,) = module.regions[0].block.operations
    machine = Machine(np.array(memory))
    machine.run(function.regions[0].block, *operands)
    return [(_type(operation), value) for operation, value in machine.printed]


def _type(operation: Operation) -> str:
    signed = operation.attributes["isSigned"] == (1,)
    return f"{operation.operands[0].type}, {'signed' if signed else 'not signed'}"


@functools.cache
def _ours(types: tuple[tuple[str, str], ...], expressions: tuple[str, ...]) -> Operation:
    """What our language makes of them."""
    __tracebackhide__ = True
    scene = Scene(dict(types))
    outcomes, text = scene.outcomes(expressions)
    for expression, outcome in zip(expressions, outcomes, strict=True):
        if isinstance(outcome, Exception):
            scene.fail(expression, "a result", outcome, "real Triton accepts it")
    return parse_module(text)


@functools.cache
def _theirs(types: tuple[tuple[str, str], ...], expressions: tuple[str, ...]) -> Operation:
    """What real Triton's front end makes of them. It is asked once."""
    (answer,) = triton.frontends([Scene(dict(types)).source(expressions)])
    assert answer, f"the test is wrong, real Triton refuses {expressions}: {answer.diagnostic}"
    return parse_module(answer.canonical)
