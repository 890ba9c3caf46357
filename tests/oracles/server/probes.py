"""Answers of real Triton, most of them found by compiling tiny kernels. Only the server may import this module."""

import re
from dataclasses import dataclass
from typing import Any

import triton
import triton.language as tl
from triton._C.libtriton import native_specialize_impl
from triton.backends.compiler import BaseBackend

from tests.oracles.server import frontend

SHORT_NAMES = (("uint", "u"), ("int", "i"))
VALUE_OP = re.compile(r"%\S+ = (?P<name>[\w.]+) (?P<rest>.*)")
DETAIL = re.compile(r"^(?P<predicate>[a-z]+), %|rounding = (?P<rounding>\w+)")

seen: list[Any] = []


@dataclass(frozen=True)
class TorchType:
    """A stand-in for a dtype of PyTorch. Triton reads only its name."""

    name: str

    def __str__(self) -> str:
        return f"torch.{self.name}"


@dataclass
class Memory:
    """A stand-in for a tensor, with the attributes that Triton reads."""

    dtype: TorchType
    address: int

    def data_ptr(self) -> int:
        return self.address


@tl.core.builtin
def observe(value: Any, _semantic: Any = None, _generator: Any = None) -> None:
    """Keep the type of a value. A kernel calls this function while the kernel is compiled."""
    seen.append(value.type)


@triton.jit
def operate(x, y, OPERATOR: tl.constexpr):
    if OPERATOR == "+":
        observe(x + y)
    elif OPERATOR == "/":
        observe(x / y)
    elif OPERATOR == "//":
        observe(x // y)
    else:
        observe(x % y)


@triton.jit
def two_tensors(a, b, OPERATOR: tl.constexpr):
    operate(tl.load(a + tl.arange(0, 16)), tl.load(b + tl.arange(0, 16)), OPERATOR)


@triton.jit
def tensor_first(a, VALUE: tl.constexpr, OPERATOR: tl.constexpr):
    operate(tl.load(a + tl.arange(0, 16)), VALUE, OPERATOR)


@triton.jit
def literal_first(a, VALUE: tl.constexpr, OPERATOR: tl.constexpr):
    operate(VALUE, tl.load(a + tl.arange(0, 16)), OPERATOR)


@triton.jit
def lone_literal(VALUE: tl.constexpr):
    x = VALUE
    observe(x)


@triton.jit
def cast_block(x, TARGET: tl.constexpr):
    return x.to(TARGET)


@triton.jit
def cast_values(a, TARGET: tl.constexpr):
    cast_block(tl.load(a + tl.arange(0, 16)), TARGET)


@triton.jit
def cast_pointers(a, TARGET: tl.constexpr):
    cast_block(a + tl.arange(0, 16), TARGET)


@triton.jit
def of_shape(SHAPE: tl.constexpr, scalar):
    if len(SHAPE) == 0:
        return scalar
    else:
        return tl.full(SHAPE, 0.0, tl.float32)


@triton.jit
def add_shapes(scalar, A: tl.constexpr, B: tl.constexpr):
    observe(of_shape(A, scalar) + of_shape(B, scalar))


def ask(question: str, arguments: list[Any]) -> dict[str, Any]:
    """The answer to a question of `questions.py`: a plain value, or `{"error": class, "text": sentence}`."""
    seen.clear()
    try:
        return {"answer": QUESTIONS[question](*arguments)}
    except Exception as error:
        origin = _origin(error)
        return {"answer": {"error": type(origin).__name__, "text": _sentence(str(origin))}}


def promotion(a: str, operator: str, b: str) -> str:
    """The result type of two tensors."""
    _compile(two_tensors, {"a": f"*{_short(a)}", "b": f"*{_short(b)}"}, {"OPERATOR": operator})
    return str(seen[0].scalar)


def literal_promotion(first: Any, operator: str, second: Any) -> str:
    """The result type of a tensor and a Python number."""
    if isinstance(first, str):
        _compile(tensor_first, {"a": f"*{_short(first)}"}, {"VALUE": second, "OPERATOR": operator})
    else:
        _compile(literal_first, {"a": f"*{_short(second)}"}, {"VALUE": first, "OPERATOR": operator})
    return str(seen[0].scalar)


def literal_type(value: Any) -> str:
    """The type of a Python number that is assigned to a name."""
    _compile(lone_literal, {}, {"VALUE": value})
    return str(seen[0])


def cast(source: str, target: str) -> list[str]:
    """The ops of `x.to(target)` for a block `x`, as "name [predicate or rounding] : result element type"."""
    if source.startswith("pointer"):
        module = _compile(cast_pointers, {"a": f"*{_short(source[8:-1])}"}, {"TARGET": _dtype(target)})
    else:
        module = _compile(cast_values, {"a": f"*{_short(source)}"}, {"TARGET": _dtype(target)})
    body = module.str_nodebug().split("tt.func private")[1]
    return [
        _describe(op["name"], op["rest"])
        for op in map(VALUE_OP.search, body.splitlines())
        if op is not None and op["name"] not in ("arith.constant", "ub.poison")
    ]


def broadcast(a: list[int], b: list[int]) -> list[int]:
    """The shape of a sum."""
    _compile(add_shapes, {"scalar": "fp32"}, {"A": tuple(a), "B": tuple(b)})
    return list(seen[0].shape) if seen[0].is_block() else []


def block_shape(shape: list[Any]) -> int:
    """The number of elements of a block type of this shape."""
    return tl.block_type(tl.float32, shape).numel


def specialization(value: Any, specialize: bool, align: bool) -> list[Any]:
    """The type that a launch gives an argument, and "D" if it is a multiple of 16, or the value of a constant."""
    if isinstance(value, str):
        dtype, _, address = value.partition("@")
        value = Memory(TorchType(dtype), int(address))
    return list(native_specialize_impl(BaseBackend, value, False, specialize, align))


QUESTIONS = {
    question.__name__: question
    for question in (promotion, literal_promotion, literal_type, cast, broadcast, block_shape, specialization)
}


def _compile(kernel: Any, arguments: dict[str, str], constexprs: dict[str, Any]) -> Any:
    signature = {name: arguments.get(name, "constexpr") for name in kernel.arg_names}
    return frontend.raw_module(frontend.source(kernel, signature, constexprs))


def _short(dtype: str) -> str:
    """A dtype in the spelling of signatures: int8 is i8."""
    for long, short in SHORT_NAMES:
        if dtype.startswith(long):
            return short + dtype.removeprefix(long)
    return dtype


def _dtype(name: str) -> Any:
    if name.startswith("pointer"):
        return tl.pointer_type(_dtype(name[8:-1]))
    return tl.dtype(name)


def _describe(name: str, rest: str) -> str:
    detail = DETAIL.search(rest)
    word = f" {detail['predicate'] or detail['rounding']}" if detail else ""
    result = rest.rsplit(" to ", 1)[-1].rsplit(" -> ", 1)[-1].rsplit(" : ", 1)[-1]
    element = re.sub(r"^tensor<(\d+x)*|>$", "", result)
    if name in ("arith.cmpi", "arith.cmpf"):  # these operations print the operands' type
        element = "i1"
    return f"{name}{word} : {element}"


def _origin(error: BaseException) -> BaseException:
    """The error that Triton's own code raised, under the CompilationErrors around it."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return error


def _sentence(text: str) -> str:
    """The first sentence, without the advice that follows."""
    return re.split(r"(?<=[a-z\])])(?:\.\s|;)|\n", text.strip())[0].removesuffix(".")
