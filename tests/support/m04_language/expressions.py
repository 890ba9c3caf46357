"""Compare expressions of the language with real Triton's front end.

    judge({"x": "i8[4]", "y": "u8"}, ["x + y", "x < 3"])

Values are given by name and type, as a launch spells types: `i8` a scalar, `fp16[4, 8]` a block, `*fp32[8]` a block of
pointers; `=4` is a number that the compiler knows, `constexpr(4)` the same as a `constexpr`. Each expression is traced
with our language and compiled by real Triton. Both must accept it or both refuse it; its dtype and shape must be the
same, and after real Triton's canonicalizer also what is computed from what.

Expressions may call functions of `helpers`. An expression without a result, such as `tl.store(p, x)`, is compared by
its effect. The elements of a tuple need one expression each.
"""

import ast
import itertools
import math
import re
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import mini_triton.language as tl
from mini_triton.errors import CompilationError
from mini_triton.ir.core import Value
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import I32, TensorType
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.language.context import current
from mini_triton.language.dtypes import dtype, int1, literal_dtype
from mini_triton.language.signature import parse_type
from mini_triton.language.tensor import tensor
from mini_triton.language.tracing import trace

from tests.checks import NO_ANSWER, described
from tests.oracles import triton
from tests.oracles.triton import Made, Source
from tests.support.m05_frontend.difference import difference

REFUSALS = (TypeError, ValueError, CompilationError)
WITHOUT_RESULT = re.compile(r"\w+\.(store|assume|debug_barrier|(static|device)_(print|assert))\(")
PRINTED = re.compile(r'tt\.print " shown (\d+): " \{hex = false, isSigned = array<i32: (\d)>\} : %\S+ : (.*)')

Arguments = Mapping[str, str]


NO_RESULT = "no result"


def spelled(element: str, signed: bool, shape: tuple[int, ...]) -> str:
    """The type of an expression: its element type in the IR, a `u` for an unsigned integer, and its shape."""
    unsigned = re.fullmatch(r"i(\d+)", element) and element != "i1" and not signed
    return f"{'u' if unsigned else ''}{element}{list(shape) if shape else ''}"


def judge(arguments: Arguments, expressions: Sequence[str], helpers: str = "") -> None:
    """Compare our language with real Triton on these expressions; fails with the first that differs."""
    __tracebackhide__ = True
    if not expressions:
        return
    scene = Scene(arguments, helpers)
    outcomes, ours = scene.outcomes(expressions)
    found = list(zip(expressions, outcomes, strict=True))
    accepted = [expression for expression, outcome in found if isinstance(outcome, str)]
    refused = [(expression, outcome) for expression, outcome in found if isinstance(outcome, Exception)]
    together, *alone = triton.frontends([scene.source(accepted), *(scene.source([one]) for one, _ in refused)])
    for (expression, outcome), answer in zip(refused, alone, strict=True):
        if answer:
            scene.fail(expression, next(iter(_types(answer, [expression]))), outcome, "real Triton accepts it")
        if not isinstance(outcome, REFUSALS):
            scene.fail(expression, "a TypeError or a ValueError", outcome, _words(answer))
    if not together:
        for expression, answer in zip(
            accepted, triton.frontends([scene.source([one]) for one in accepted]), strict=True
        ):
            if not answer:
                scene.fail(expression, "a TypeError or a ValueError", dict(found)[expression], _words(answer))
        raise AssertionError(f"the test is wrong, real Triton refuses {accepted}: {together.diagnostic}")
    types = (outcome for outcome in outcomes if isinstance(outcome, str))
    for expression, got, expected in zip(accepted, types, _types(together, accepted), strict=True):
        if got != expected:
            scene.fail(expression, expected, got, "this is its type in real Triton")
    scene.compare(accepted, ours, together.canonical)


class Scene:
    """Values by name, and functions that expressions may call."""

    def __init__(self, arguments: Arguments, helpers: str = "") -> None:
        self.arguments, self.helpers = arguments, helpers
        known = re.compile(r"(=|constexpr\()(.*?)\)?")
        found = {name: match for name, text in arguments.items() if (match := known.fullmatch(text))}
        self.constants = {name: literal_eval(match[2]) for name, match in found.items()}
        self.constexprs = [name for name, match in found.items() if match[1] != "="]
        self.types = {name: _parsed(text) for name, text in arguments.items() if name not in self.constants}
        self.signature = {name: _spelled(*type) for name, type in self.types.items()}

    def outcomes(self, expressions: Sequence[str]) -> tuple[list[str | Exception], str]:
        """The type of each expression in our language, or the error with which it is refused; and the module.

        Operations that a refused expression leaves in the module are dead, so real Triton's canonicalizer erases them.
        """
        outcomes: list[str | Exception] = []

        def body(names: dict[str, Any]) -> None:
            accepted = itertools.count()
            for expression in expressions:
                try:
                    value = self._value(expression, names)
                except NO_ANSWER:
                    raise
                except Exception as error:
                    outcomes.append(error)
                else:
                    number = next(accepted)
                    outcomes.append(_shown(number, value) if _has_result(expression) else NO_RESULT)

        text = self._traced(body)
        return outcomes, text

    def refuses(self, expression: str, error: type[Exception], *names: str) -> None:
        """Require that our language refuses the expression with this class of error, and these names in its message."""
        __tracebackhide__ = True
        values: list[Any] = []

        def value() -> Any:
            self._traced(lambda known: values.append(self._value(expression, known)))
            return values[0]

        described(self._told(expression), value).raises(error, *names)

    def builds_alike(self, expression: str, other: str) -> None:
        """Require that our language builds the same module from both expressions."""
        got, expected = (self.outcomes([text])[1] for text in (expression, other))
        assert got == expected, (
            f"{self._told(expression)}\n  should build what {other} builds\n{expected}\n  got\n{got}"
        )

    def _traced(self, body: Callable[[dict[str, Any]], Any]) -> str:
        """The module of a kernel in which `body` is called with all names."""

        def kernel(**inputs: tensor) -> None:
            names: dict[str, Any] = {"tl": tl, "__name__": "kernels"}
            exec(self.helpers.replace("@triton.jit\n", ""), names)
            names |= self.constants | {name: constexpr(self.constants[name]) for name in self.constexprs}
            names |= {name: _argument(value, *self.types[name]) for name, value in inputs.items()}
            body(names)

        return print_module(trace(kernel, self.signature))

    def _value(self, expression: str, names: dict[str, Any]) -> Any:
        """The value of an expression; a test must use only expressions that give a tensor, a number or None."""
        value = unwrap(eval(expression, names))
        if _has_result(expression) and not isinstance(value, tensor | bool | int | float):
            raise AssertionError(f"{value!r} is not a tensor")
        if not _has_result(expression) and value is not None:
            raise AssertionError(f"the call returns {value!r}; it should return None")
        return value

    def source(self, expressions: Sequence[str]) -> Source:
        """The kernel that real Triton compiles for these expressions."""
        lines = ["import triton", "import triton.language as tl", self.helpers, "@triton.jit"]
        marked = [f"{name}: tl.constexpr" if name in self.constants else name for name in self.arguments]
        lines.append(f"def kernel({', '.join(marked)}):")
        used = self.used(expressions)
        body = [_loaded(name, *type) for name, type in self.types.items() if type[1] and name in used]
        for i, expression in enumerate(expressions):
            body.append(f'tl.device_print("shown {i}", {expression})' if _has_result(expression) else expression)
        text = "\n".join(lines + [f"    {line}" for line in body or ["pass"]])
        return Source(text, "kernel", self.signature | dict.fromkeys(self.constants, "constexpr"), self.constants)

    def compare(self, expressions: Sequence[str], ours: str, theirs: str) -> None:
        """Fail where the computation differs from real Triton's."""
        __tracebackhide__ = True
        if not (found := self._difference(ours, theirs)):
            return
        blamed = "; ".join(expressions)
        for expression in expressions:  # alone, the blame is clear
            (answer,) = triton.frontends([self.source([expression])])
            if alone := self._difference(self.outcomes([expression])[1], answer.canonical):
                blamed, found = expression, alone
                break
        raise AssertionError(f"{self._told(blamed)}\n{found}")

    def _difference(self, ours: str, theirs: str) -> str:
        found = difference(_comparable(triton.canonical(ours)), _comparable(theirs), list(self.types))
        return re.sub(r'tt\.print " shown \d+: " \{.*\} : (%\S+) : .*', r"the result \1", found)

    def fail(self, expression: str, expected: Any, got: Any, because: str) -> NoReturn:
        """Fail because the expression builds the wrong operations."""
        __tracebackhide__ = True
        self.outcomes([expression])  # repeated as the last call, from which the grader finds the function at fault
        said = f"{type(got).__name__}: {got}" if isinstance(got, Exception) else got
        lines = [self._told(expression), f"  expected  {expected}", f"  got       {said}", f"  because   {because}"]
        failure = AssertionError("\n".join(lines))
        vars(failure)["last_call"] = True
        raise failure.with_traceback(got.__traceback__ if isinstance(got, Exception) else None) from None

    def _told(self, expression: str) -> str:
        """An expression, and the names in it."""
        used = self.used([expression])
        words = ", ".join(f"{name}: {spelling}" for name, spelling in self.arguments.items() if name in used)
        called = [text for text in self.helpers.split("@triton.jit\n") if used & {*re.findall(r"^def (\w+)", text)}]
        where = "\n".join(filter(None, (words, "\n".join(called).strip())))
        return expression + "\n  where     " + where.replace("\n", "\n            ") if where else expression

    def used(self, expressions: Sequence[str]) -> set[str]:
        """All names in the expressions."""
        return {node.id for text in expressions for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


# --- values


def _parsed(spelling: str) -> tuple[str, tuple[int, ...]]:
    """`i8[4, 1]` is `("i8", (4, 1))`."""
    element, bracket, shape = spelling.removesuffix("]").partition("[")
    return element, tuple(map(int, shape.split(","))) if bracket else ()


def _spelled(element: str, shape: tuple[int, ...]) -> str:
    """The type of the parameter from which the value is made: blocks are loaded, booleans as bytes."""
    if not shape or element.startswith("*"):
        return element
    return "*i8" if element == "i1" else f"*{element}"


def _loaded(name: str, element: str, shape: tuple[int, ...]) -> str:
    """The source line with which real Triton makes a block from an argument."""
    moved = f"{name} + tl.reshape(tl.arange(0, {math.prod(shape)}), {shape})"
    if element.startswith("*"):
        return f"{name} = {moved}"
    return f"{name} = tl.load({moved})" + ".to(tl.int1)" * (element == "i1")


def _argument(value: tensor, element: str, shape: tuple[int, ...]) -> tensor:
    """The argument's value in our module, made by the builder alone."""
    if not shape:
        return value
    builder = current()
    numbers = builder.create("tt.make_range", start=0, end=math.prod(shape))
    numbers = builder.create("tt.reshape", numbers, result=TensorType(shape, I32))
    handle: Value = builder.addptr(value.handle, numbers)
    if element.startswith("*"):
        return tensor(handle, value.dtype)
    handle = builder.load(handle)
    if element == "i1":
        handle = builder.cast(handle, [("arith.cmpi", int1)])
    return tensor(handle, parse_type(element))


def _has_result(expression: str) -> bool:
    return not WITHOUT_RESULT.match(expression)


def _shown(i: int, value: Any) -> str:
    """The value's type. The kernel prints the value, so that the canonicalizer keeps the operations."""
    builder = current()
    if isinstance(value, bool | int | float):
        value = tensor(builder.constant(value, literal_dtype(value).ir_type), literal_dtype(value))
    element = value.dtype
    signed = isinstance(element, dtype) and element.is_int() and element.signed
    builder.operation("tt.print", value.handle, prefix=f" shown {i}: ", hex=False, isSigned=(int(signed),))
    return spelled(str(element.ir_type), signed, value.shape)


# --- real Triton's answers


def _types(answer: Made, expressions: Sequence[str]) -> Iterator[str]:
    """The type of each expression."""
    found = {int(number): (signed, type) for number, signed, type in PRINTED.findall(answer.canonical)}
    for i, _ in enumerate(expressions):
        if i not in found:
            yield NO_RESULT
            continue
        signed, type = found[i]
        *dims, element = type.removeprefix("tensor<").removesuffix(">" * type.startswith("tensor<")).split("x")
        yield spelled(element, signed == "1", tuple(map(int, dims)))


def _words(answer: Made) -> str:
    return f"real Triton refuses: {answer.error}: {answer.diagnostic}"


def _comparable(text: str) -> str:
    """The text with one spelling of what can be computed in several ways."""
    return _negations(_atomics(text) if "tt.atomic_rmw" in text else text)


def _atomics(text: str) -> str:
    """The text without the atomic operations that constant masks turn off; the bits of constants are constants."""
    text = triton.canonical(re.sub(r"tt\.bitcast (\S+ : (?!.*ptr).*) -> (.*)", r"arith.bitcast \1 to \2", text))
    for off in re.findall(r"(%\S+) = arith\.constant (?:dense<)?false", text):
        for line, unused in re.findall(rf"( *(%\S+) = tt\.atomic_rmw .*, {off} : .*\n)", text):
            if len(re.findall(rf"{unused}\b", text)) == 1:
                text = text.replace(line, "")
    return text


def _negations(text: str) -> str:
    """The text with one spelling of `-x`. Triton before 3.8 emits 0.0 - x, later versions `negf x`, and we -0.0 - x."""
    text = re.sub(r"(constant (?:dense<)?)-0\.0+e\+00", r"\g<1>0.000000e+00", text)
    if "arith.negf" not in text:
        return text
    lines = []
    for line in text.splitlines():
        if match := re.match(r"( *)(%\w+) = arith\.negf (%\w+) : (.*)", line):
            indent, result, operand, type = match.groups()
            zero = "dense<0.000000e+00>" if type.startswith("tensor") else "0.000000e+00"
            lines.append(f"{indent}{result}_zero = arith.constant {zero} : {type}")
            line = f"{indent}{result} = arith.subf {result}_zero, {operand} : {type}"
        lines.append(line)
    return "\n".join(lines)
