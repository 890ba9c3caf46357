"""Task 6.1: elementwise operations become expressions, loads and stores become calls.

The library of arithmetic and the one with `load` and `store` are other tasks, so these tests put simple ones there.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mini_triton.codegen import compile_module
from mini_triton.ir.parser import parse_module

from tests.support.m06_codegen import library_doubles as doubles
from tests.support.m06_codegen.exactness import DTYPES, FLOATS, INTEGERS, rounded, same, wrapped
from tests.support.m06_codegen.kernel_text import kernel, tensor

NUMPY = {**DTYPES, "i1": np.dtype(bool)}
AWKWARD = (0.0, -0.0, 1.0, -1.5, 3.0, 0.0009765625, 60000.0, -1e30, math.inf, -math.inf, math.nan)
Operands = Sequence[tuple[str, np.ndarray]]


def question(line: str, types: Sequence[str], result: str, size: int) -> str:
    """A kernel that loads operands of these types, and stores what `line` makes of them.

    In the line `%a`, `%b`, ... are the operands, `%r` is the result, `{t}` and `{r}` are the types of `%a` and `%r`.
    """
    named = list(zip("abc", types, strict=False))
    lanes = tensor("i32", size)
    lines = [f"%lanes = tt.make_range {{end = {size} : i32, start = 0 : i32}} : {lanes}"]
    for name, type in [*named, ("r", result)]:
        pointers = tensor(f"!tt.ptr<{type}>", size)
        lines.append(f"%{name}_all = tt.splat %{name}s : !tt.ptr<{type}> -> {pointers}")
        lines.append(f"%{name}_at = tt.addptr %{name}_all, %lanes : {pointers}, {lanes}")
    lines += [f"%{name} = tt.load %{name}_at : {tensor(f'!tt.ptr<{type}>', size)}" for name, type in named]
    lines.append(line.format(t=tensor(types[0], size), r=tensor(result, size)))
    lines.append(f"tt.store %r_at, %r : {tensor(f'!tt.ptr<{result}>', size)}")
    return kernel(", ".join(f"{name}s: *{type}" for name, type in [*named, ("r", result)]), *lines)


def stored(line: str, operands: Operands, result: str, **library: Any) -> np.ndarray:
    """What such a kernel stores."""
    __tracebackhide__ = True
    types, arrays = zip(*operands, strict=True)
    text = question(line, types, result, arrays[0].size)
    return doubles.run(text, (1,), [*arrays, np.zeros(arrays[0].size, NUMPY[result])], **library)[-1]


def judge(line: str, operands: Operands, result: str, meaning: Callable[..., Any], because: str) -> None:
    """Every element that is stored is what `meaning` makes of the elements of the operands, as Python's numbers."""
    __tracebackhide__ = True
    size = 2 ** (operands[0][1].size - 1).bit_length()  # tensors have no other sizes
    operands = [(type, np.resize(array, size)) for type, array in operands]
    got = numbers(stored(line, operands, result))
    for *case, element in zip(*(numbers(array) for _, array in operands), got, strict=True):
        expected = meaning(*case)
        if not same(element, expected):
            types = [type for type, _ in operands]
            source = body(question(line, types, result, size))
            raise AssertionError(
                f"{line.format(t=types[0], r=result)}\n"
                f"  for {', '.join(f'%{name} = {x}' for name, x in zip('abc', case, strict=False))}\n"
                f"  expected  {expected}\n  got       {element}\n  because   {because}\n{source}"
            )


def body(text: str) -> str:
    """The source that is generated for a kernel, without what it imports."""
    return "".join(compile_module(parse_module(text), "plain").source.partition("\ndef ")[1:])


def numbers(array: np.ndarray) -> list[Any]:
    """The elements as Python's numbers; bytes for booleans."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64).tolist() if array.dtype.kind not in "iub" else array.tolist()


def pairs(type: str, of: Sequence[float]) -> Operands:
    """All pairs of these numbers, as two operands."""
    with np.errstate(all="ignore"):
        array = np.array(of).astype(NUMPY[type])
    return [(type, column.ravel()) for column in np.meshgrid(array, array)]


def edges(type: str) -> list[int]:
    """Integers at which something turns over."""
    half = 2 ** (int(type[1:]) - 1)
    return [-half, 1 - half, -2, -1, 0, 1, 2, 3, half - 2, half - 1]


# --- arithmetic

OF_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "andi": operator.and_,
    "ori": operator.or_,
    "xori": operator.xor,
    "maxsi": max,
    "minsi": min,
}


@pytest.mark.parametrize("type", INTEGERS)
def test_integers(type: str) -> None:
    """They wrap around at their own width."""
    for name, meaning in OF_INTEGERS.items():
        line = f"%r = arith.{name} %a, %b : {{t}}"
        wrapping = functools.partial(lambda f, x, y: wrapped(f(x, y), type), meaning)
        judge(line, pairs(type, edges(type)), type, wrapping, "integers wrap around")


def one_bit(meaning: Callable[[int, int], int]) -> Callable[[bool, bool], bool]:
    """The same for integers of one bit: true is -1."""
    return lambda x, y: bool(meaning(-int(x), -int(y)) & 1)


def test_booleans() -> None:
    """NumPy adds and compares booleans otherwise than the IR, for which they are integers of one bit, the sign."""
    both = pairs("i1", [False, True])
    for name, meaning in OF_INTEGERS.items():
        judge(f"%r = arith.{name} %a, %b : {{t}}", both, "i1", one_bit(meaning), "true is -1, an integer of one bit")
    for name, compare in SIGNED.items():
        line = f"%r = arith.cmpi {name}, %a, %b : {{t}}"
        judge(line, both, "i1", lambda x, y, f=compare: f(-int(x), -int(y)), "true is -1, an integer of one bit")
    one = both[:1]
    judge("%r = arith.extsi %a : {t} to {r}", one, "i32", lambda x: -int(x), "true is -1, an integer of one bit")
    judge("%r = arith.sitofp %a : {t} to {r}", one, "f32", lambda x: 0.0 - x, "true is -1, an integer of one bit")
    judge("%r = arith.uitofp %a : {t} to {r}", one, "f32", float, "without a sign true is 1")


def test_casts_to_booleans() -> None:
    """The lowest bit; or an integer of one bit, the sign."""
    integers = [("i32", np.array([0, 1, 2, 3, -1, -2, 2**31 - 1], np.int32))]
    judge("%r = arith.trunci %a : {t} to {r}", integers, "i1", lambda x: bool(x & 1), "the lowest bit is left")
    floats = [("f32", np.array([0, -1, 1, -0.5, 0.5], np.float32))]
    for name, true in (("fptosi", -1), ("fptoui", 1)):
        line = f"%r = arith.{name} %a : {{t}} to {{r}}"
        judge(line, floats, "i1", lambda x, true=true: x == true, f"true is {true}, and all else is no more than 0")


@pytest.mark.parametrize("type", FLOATS)
def test_floats(type: str) -> None:
    """Rounded once, to the nearest number of their own type."""

    def exactly(f: Callable[[Any, Any], Any]) -> Callable[[float, float], float]:
        def meaning(x: float, y: float) -> float:
            with np.errstate(all="ignore"):
                rough = float(f(np.float64(x), np.float64(y)))
            if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(rough) and rough):
                return rough
            return rounded(f(Fraction(x), Fraction(y)), type)

        return meaning

    for name in ("add", "sub", "mul"):
        line, meaning = f"%r = arith.{name}f %a, %b : {{t}}", exactly(getattr(operator, name))
        judge(line, pairs(type, AWKWARD), type, meaning, "the nearest number of the type")
    if type != "bf16":
        quotient = exactly(operator.truediv)
        judge("%r = arith.divf %a, %b : {t}", pairs(type, AWKWARD), type, quotient, "the nearest number of the type")
    judge("%r = arith.negf %a : {t}", pairs(type, AWKWARD)[:1], type, operator.neg, "every number has its opposite")
    judge("%r = math.absf %a : {t}", pairs(type, AWKWARD)[:1], type, abs, "-0.0 becomes 0.0")


SIGNED = {
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "sle": operator.le,
    "sgt": operator.gt,
    "sge": operator.ge,
}


def test_comparisons_of_integers() -> None:
    """The predicate is an attribute."""
    for name, compare in SIGNED.items():
        judge(f"%r = arith.cmpi {name}, %a, %b : {{t}}", pairs("i32", edges("i32")), "i1", compare, f"that is {name}")


def unordered(x: float, y: float) -> bool:
    """Whether one of them is NaN."""
    return x != x or y != y


def test_comparisons_of_floats() -> None:
    """Ordered ones are false if an operand is NaN, unordered ones are true."""
    known: dict[str, Callable[[Any, Any], bool]] = {
        **{name: getattr(operator, name) for name in ("eq", "lt", "le", "gt", "ge")},
        "ne": lambda x, y: x < y or x > y,
    }
    for name, compare in known.items():
        for first in "ou":
            line = f"%r = arith.cmpf {first}{name}, %a, %b : {{t}}"

            def meaning(x: float, y: float, first: str = first, compare: Any = compare) -> bool:
                return first == "u" if unordered(x, y) else compare(x, y)

            judge(line, pairs("f32", AWKWARD), "i1", meaning, f"it is {first == 'u'} if an operand is NaN")
    both = pairs("f32", AWKWARD)
    judge("%r = arith.cmpf uno, %a, %b : {t}", both, "i1", unordered, "it asks for NaN")
    judge("%r = arith.cmpf ord, %a, %b : {t}", both, "i1", lambda x, y: not unordered(x, y), "it asks for NaN")


# --- what calls are given


def call(line: str, operands: Operands, result: str) -> tuple[str, tuple[Any, ...]]:
    """The one function of the library of arithmetic that a line calls, and its arguments."""
    exact = doubles.Exact()
    stored(line, operands, result, exact=exact)
    assert len(exact.calls) == 1, f"{line} calls {[name for name, _ in exact.calls]}"
    return exact.calls[0]


def test_attributes_and_dtypes() -> None:
    """Templates have words in braces: attributes, the dtype of the result. Nothing is rounded on the way to wider."""
    x, y, z = (np.arange(4, dtype=np.float32) + start for start in (1, 10, 100))
    for line, types, result, name, others in (
        ("%r = arith.truncf %a : {t} to {r}", "f32", "f16", "truncf", (np.float16,)),
        ("%r = arith.fptosi %a : {t} to {r}", "f32", "i8", "fptosi", (np.int8,)),
        ("%r = tt.fp_to_fp %a, rounding = rtz : {t} -> {r}", "f32", "f16", "fp_to_fp", (np.float16, "rtz")),
        ("%r = tt.fp_to_fp %a, rounding = rtne : {t} -> {r}", "f32", "f16", "fp_to_fp", (np.float16, "rtne")),
        ("%r = tt.fp_to_fp %a : {t} -> {r}", "f32", "f64", "fp_to_fp", (np.float64, "")),
        ("%r = math.fma %a, %b, %c : {t}", "f32 f32 f32", "f32", "fma", ()),
        ("%r = tt.clampf %a, %b, %c, propagateNan = all : {t}", "f32 f32 f32", "f32", "clampf", ("all",)),
        ("%r = tt.clampf %a, %b, %c, propagateNan = none : {t}", "f32 f32 f32", "f32", "clampf", ("none",)),
        (EXTERN.format("%a", "__nv_sinf", "{t}"), "f32", "f32", "extern", ("__nv_sinf",)),
        (EXTERN.format("%b, %a", "__nv_powf", "{t}, {t}"), "f32 f32", "f32", "extern", ("__nv_powf",)),
    ):
        operands = list(zip(types.split(), (x, y, z), strict=False))
        called, arguments = call(line, operands, result)
        arrays = [argument.tolist() for argument in arguments if isinstance(argument, np.ndarray)]
        rest = tuple(argument for argument in arguments if not isinstance(argument, np.ndarray))
        expected = [array.tolist() for _, array in operands]
        expected = expected[::-1] if "%b, %a" in line else expected
        assert (called, arrays, rest) == (name, expected, others), (
            f"{line}\n  expected  exact.{name} of {expected} and {others}\n"
            f"  got       exact.{called} of {arrays} and {rest}"
        )


EXTERN = '%r = tt.extern_elementwise {} {{{{libname = "", libpath = "", pure = true, symbol = "{}"}}}} : ({}) -> {{r}}'


def test_casts() -> None:
    """To the dtype of the result, not of the operand."""
    bytes_ = [("i8", np.array([-128, -1, 0, 127], np.int8))]
    judge("%r = arith.extsi %a : {t} to {r}", bytes_, "i64", int, "the sign is kept")
    words = [("i32", np.array([0x1234, -1, 200, 2**31 - 256], np.int32))]
    judge("%r = arith.trunci %a : {t} to {r}", words, "i8", lambda x: wrapped(x, "i8"), "the lower bits are left")
    halves = [("f16", np.array([1.5, -0.0, np.inf, np.nan], np.float16))]
    judge("%r = arith.extf %a : {t} to {r}", halves, "f32", float, "every fp16 is an fp32")
    ones = [("f32", np.array([1.0, -2.0, 0.0, -0.0], np.float32))]
    bits = {1.0: 0x3F800000, -2.0: -0x40000000}
    line = "%r = tt.bitcast %a : {t} -> {r}"
    judge(line, ones[:1], "i32", lambda x: bits.get(x, -(2**31) if math.copysign(1, x) < 0 else 0), "the same bits")


def test_scalars() -> None:
    """What is no tensor is a NumPy scalar, and has a NumPy dtype, too."""
    text = kernel(
        "out: *i8, n: i8, m: i8",
        "%sum = arith.addi %n, %m : i8",
        "%product = arith.muli %sum, %n : i8",
        "tt.store %out, %product : !tt.ptr<i8>",
    )
    out, *_ = doubles.run(text, (1,), [np.zeros(1, np.int8), 100, 100])
    assert out[0] == wrapped(200 * 100, "i8"), f"(100 + 100) * 100 of i8 is not {out[0]}\n{text}"


@pytest.mark.parametrize("type", ["i1", *INTEGERS, *FLOATS])
def test_constants(type: str) -> None:
    """Numbers of every dtype, alone and all over a tensor."""
    if type == "i1":
        written: dict[str, float] = {"true": True, "false": False}
    elif type in INTEGERS:
        written = {str(number): number for number in (0, 1, -1, *edges(type))}
    else:
        infinity = {"f16": "0x7C00", "bf16": "0x7F80", "f32": "0x7F800000", "f64": "0x7FF0000000000000"}[type]
        nan = {"f16": "0x7E00", "bf16": "0x7FC0", "f32": "0x7FC00000", "f64": "0x7FF8000000000000"}[type]
        minus = "0xF" + infinity[3:]
        written = {"1.5": 1.5, "-0.0": -0.0, "-2.5": -2.5, infinity: math.inf, minus: -math.inf, nan: math.nan}
    for text, expected in written.items():
        whole = kernel(
            f"out: *{type}, all: *{type}",
            f"%c = arith.constant {text}" + f" : {type}" * (type != "i1"),
            f"tt.store %out, %c : !tt.ptr<{type}>",
            f"%t = arith.constant dense<{text}> : {tensor(type, 4)}",
            "%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>",
            f"%ps = tt.splat %all : !tt.ptr<{type}> -> {tensor(f'!tt.ptr<{type}>', 4)}",
            f"%p = tt.addptr %ps, %r : {tensor(f'!tt.ptr<{type}>', 4)}, tensor<4xi32>",
            f"tt.store %p, %t : {tensor(f'!tt.ptr<{type}>', 4)}",
        )
        for array in doubles.run(whole, (1,), [np.zeros(1, NUMPY[type]), np.zeros(4, NUMPY[type])]):
            got = numbers(array)
            assert all(same(element, expected) for element in got), f"{text} : {type} is stored as {got}"


# --- memory


def access(line: str) -> list[Any]:
    """The arguments, as lists, of the one load, or store of a value, in a kernel with pointers, a mask and a value."""
    text = kernel(
        "x: *i32",
        "%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>",
        "%two = arith.constant dense<2> : tensor<4xi32>",
        "%m = arith.cmpi slt, %r, %two : tensor<4xi32>",
        "%v = arith.muli %r, %two : tensor<4xi32>",
        "%ps = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>",
        "%p = tt.addptr %ps, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>",
        line,
    )
    memory = doubles.Memory()
    doubles.run(text, (1,), [np.arange(10, 14, dtype=np.int32)], memory=memory)
    ((_, arguments),) = memory.calls
    return [None if argument is None else np.asarray(argument).tolist() for argument in arguments]


def test_what_loads_and_stores_are_given() -> None:
    """Offsets, then a mask, then what there is instead of memory; for a store the value comes before the mask."""
    lanes, mask, value = [0, 1, 2, 3], [True, True, False, False], [0, 2, 4, 6]
    for line, expected in {
        "%a = tt.load %p : tensor<4x!tt.ptr<i32>>": [lanes, None, None],
        "%a = tt.load %p, %m : tensor<4x!tt.ptr<i32>>": [lanes, mask, None],
        "%a = tt.load %p, %m, %v : tensor<4x!tt.ptr<i32>>": [lanes, mask, value],
        "tt.store %p, %v : tensor<4x!tt.ptr<i32>>": [lanes, value, None],
        "tt.store %p, %v, %m : tensor<4x!tt.ptr<i32>>": [lanes, value, mask],
    }.items():
        got = access(line)
        names = "offset, value, mask" if "store" in line else "offset, mask, other"
        assert got == expected, f"{line}\n  expected  {names} = {expected}\n  got       {names} = {got}"


def test_scalar_accesses() -> None:
    """With a mask, and with another value for where it is false."""
    text = kernel(
        "x: *f32, out: *f32, c: i1, d: f32",
        "%one = arith.constant 1 : i32",
        "%two = arith.constant 2 : i64",
        "%a = tt.load %x, %c, %d : !tt.ptr<f32>",
        "tt.store %out, %a : !tt.ptr<f32>",
        "%p = tt.addptr %x, %one : !tt.ptr<f32>, i32",
        "%b = tt.load %p, %c : !tt.ptr<f32>",
        "%q = tt.addptr %out, %one : !tt.ptr<f32>, i32",
        "tt.store %q, %b : !tt.ptr<f32>",
        "%s = tt.addptr %q, %two : !tt.ptr<f32>, i64",
        "tt.store %s, %d, %c : !tt.ptr<f32>",
    )
    x = np.array([3, 4], np.float32)
    for condition, expected in ((True, [3, 4, 9, 7]), (False, [7, 0, 9, 9])):
        _, out, *_ = doubles.run(text, (1,), [x, np.full(4, 9, np.float32), condition, 7.0])
        assert out.tolist() == expected, (
            f"%out of the kernel\n  for %c = {condition}, %x = [3, 4], %d = 7\n"
            f"  expected  {expected}\n  got       {out.tolist()}\n{text}{body(text)}"
        )


def test_addresses_have_a_library_of_their_own() -> None:
    """Where a pointer comes from memory, nobody knows which argument it leads into: `self.library(pointer)`."""
    text = kernel(
        "table: *i64, out: *f32",
        "%bits = tt.load %table : !tt.ptr<i64>",
        "%p = tt.int_to_ptr %bits : i64 -> !tt.ptr<f32>",
        "%a = tt.load %p : !tt.ptr<f32>",
        "tt.store %out, %a : !tt.ptr<f32>",
        "tt.store %p, %a : !tt.ptr<f32>",
    )
    calls: list[tuple[Any, ...]] = []

    class Addresses:
        def load(self, buffers: Any, address: Any) -> Any:
            calls.append(("load", int(address)))
            return np.float32(2.5)

        def store(self, buffers: Any, address: Any, value: Any) -> None:
            calls.append(("store", int(address), float(value)))

    _, out = doubles.run(text, (1,), [np.array([4096]), np.zeros(1, np.float32)], addresses=Addresses())
    assert calls == [("load", 4096), ("store", 4096, 2.5)], f"addresses.load and addresses.store got {calls}\n{text}"
    assert out[0] == 2.5, f"what was loaded is stored in out, which is {out[0]}\n{text}"
