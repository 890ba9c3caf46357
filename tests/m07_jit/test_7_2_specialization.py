"""Task 7.2: the specialization of an argument, compared with real Triton's launcher."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.language.constexpr import constexpr
from mini_triton.runtime.arguments import OF_NUMPY
from mini_triton.runtime.binding import Parameter
from mini_triton.runtime.specialization import Specialized, freeze, integer_type, specialize, specialize_memory

from tests.checks import described
from tests.oracles import questions, records

DTYPES = {dtype.name: dtype for dtype in OF_NUMPY}


def call(value: Any, shown: str = "", **declared: Any) -> described:
    """The call of `specialize` for an argument of a parameter `n`."""
    words = ", ".join(f"{name}={setting!r}" for name, setting in {"name": "n", **declared}.items())
    words = f"specialize('my_kernel', Parameter({words}), {shown or repr(value)})"
    return described(words, specialize, "my_kernel", Parameter("n", **declared), value)


@pytest.mark.parametrize("wanted, aligned", [*itertools.product((True, False), repeat=2)])
def test_as_real_triton_specializes(wanted: bool, aligned: bool) -> None:
    for value in questions.ARGUMENTS:
        answer = records.specialization(value, wanted, aligned)
        argument = memory_at(value) if isinstance(value, str) else value
        shown = value.replace("@", " at address ") if isinstance(value, str) else ""
        asked = call(argument, shown, specialize=wanted, specialize_alignment=aligned)
        if answer.ok:
            type, attribute = answer.value
            because = f"real Triton's launcher says {type}" + (", a multiple of 16" if attribute == "D" else "")
            if type == "constexpr":
                asked.returns(Specialized("constexpr", False, freeze(attribute)), because)
            else:
                asked.returns(Specialized(type, attribute == "D"), because)
        else:
            asked.raises(
                OverflowError if answer.error == "OverflowError" else TypeError,
                "my_kernel",
                "n",
                because=f"real Triton raises {answer.error}: {answer.text}",
            )


def memory_at(text: str) -> np.ndarray:
    """An array for a text like "int8@4097": of this dtype, and at an address that equals the text's modulo 16."""
    name, _, address = text.partition("@")
    dtype = DTYPES.get(name, np.dtype("complex64"))
    memory = np.zeros(64 + dtype.itemsize, np.uint8)
    start = (int(address) - memory.ctypes.data) % 16
    return memory[start : start + dtype.itemsize].view(dtype)


@given(st.integers(-(2**65), 2**65))
def test_integer_types(value: int) -> None:
    asked = described(f"integer_type({value})", integer_type, value)
    for name in ("int32", "int64", "uint64"):
        if np.iinfo(name).min <= value <= np.iinfo(name).max:
            asked.returns(name.replace("uint", "u").replace("int", "i"), because=f"NumPy's {name} holds it")
            return
    asked.raises(OverflowError, str(value), because="the value needs more than 64 bits")


def test_memory_types() -> None:
    for dtype, spelling in OF_NUMPY.items():
        for address, multiples in itertools.product((4096, 4104), (True, False)):
            words = f"specialize_memory(np.dtype('{dtype.name}'), {address}, {multiples=})"
            asked = described(words, specialize_memory, dtype, address, multiples=multiples)
            asked.returns(Specialized(f"*{spelling}", multiples and address == 4096))
    for name in ("complex64", ">f4", "U3", "object", "datetime64[s]"):
        asked = described(f"specialize_memory(np.dtype('{name}'), 4096)", specialize_memory, np.dtype(name), 4096)
        asked.raises(TypeError, str(np.dtype(name)), because="no element type of the language has this dtype")


def test_shape_and_strides_do_not_matter() -> None:
    memory = np.zeros((8, 8), np.float32)
    for words, view in {"[::2]": memory[::2], ".T": memory.T, ".view(np.memmap)": memory.view(np.memmap)}.items():
        call(view, f"np.zeros((8, 8), np.float32){words}").returns(call(memory)())
    call(np.array(3.0), "np.array(3.0)").returns(Specialized("*fp64", call(np.array(3.0))().divisible))


def test_compile_time_parameters() -> None:
    for value in (1, 2, True, 0.5, None, "text", (1, 2), [1, 2], (1, (2.0, "x"))):
        call(value, constexpr=True).returns(Specialized("constexpr", False, freeze(value)))
        call(constexpr(value), constexpr=True).returns(Specialized("constexpr", False, freeze(value)))
    for wanted in (True, False):
        call(constexpr(8), specialize=wanted).returns(
            Specialized("constexpr", False, freeze(8)),
            because="the caller passes a constexpr",
        )
    call({"a": 1}, constexpr=True).raises(TypeError, "my_kernel", "n", because="a dictionary cannot be part of a key")


def test_numpy_scalars() -> None:
    for value in (np.int32(1), np.int64(16), np.uint8(3), np.float32(0.5), np.float64(1), np.bool_(True)):
        call(value).returns(call(value.item())(), because=f"it is treated like {value.item()!r}")


def test_refusals() -> None:
    for value in ("text", [1], (1, 2), {"a": 1}, 1j, object):
        call(value).raises(TypeError, "my_kernel", "n", type(value).__name__)


CONSTANTS = st.recursive(
    st.one_of(st.sampled_from([0, 1, 2, True, False, 0.0, -0.0, 1.0, 2.0, math.nan, math.inf, None, "1", ""])),
    lambda inner: st.one_of(st.lists(inner, max_size=3).map(tuple), st.lists(inner, max_size=2)),
    max_leaves=4,
)


@given(CONSTANTS, CONSTANTS)
@example(1, True)
@example(0.0, -0.0)
@example(float("nan"), float("nan"))
@example((1, 2.0), (1.0, 2))
@example((1,), [1])
@example((1, 2), (2, 1))
@example((1, 1), (1,))
def test_frozen_values(a: Any, b: Any) -> None:
    hashes = described(f"hash(freeze({a!r}))", lambda: hash(freeze(a)))
    hashes.succeeds("a hash: a frozen value is part of a key")
    # The `repr` of two values differs exactly if the kernels compiled for them may differ.
    asked = described(f"freeze({a!r}) == freeze({b!r})", lambda: freeze(a) == freeze(b))
    asked.returns(repr(a) == repr(b), because="only equal values of equal types may share a compiled kernel")


EQUAL_FOR_PYTHON: list[list[Any]] = [
    [1, True, 1.0, np.int32(1), np.float64(1)],
    [0, False, 0.0, -0.0, np.float64(0), np.float64(-0.0)],
]
WRAPPED = {"({},)": lambda x: (x,), "[{}]": lambda x: [x], "(2, (3, {}))": lambda x: (2, (3, x))}


@pytest.mark.parametrize("words", WRAPPED)
def test_frozen_elements(words: str) -> None:
    different = [pair for values in EQUAL_FOR_PYTHON for pair in itertools.combinations(values, 2)]
    for a, b in [*different, (1.0, math.nextafter(1, 2)), (math.nan, math.nan), (np.float64("nan"), np.float64("nan"))]:
        wrap, shown = WRAPPED[words], f"freeze({words.format(repr(a))}) == freeze({words.format(repr(b))})"
        because = (
            "two elements are the same constant only if their types and values are the same; all NaNs are the same"
        )
        asked = described(shown, lambda a=a, b=b, wrap=wrap: freeze(wrap(a)) == freeze(wrap(b)))
        asked.returns(math.isnan(a), because)


class Sizes(NamedTuple):
    rows: int
    columns: int


def test_frozen_types_and_functions() -> None:
    for a, b in itertools.combinations([np.float32, np.float64, abs, len, "abs", Sizes(2, 3), (2, 3)], 2):
        described(f"freeze({a!r}) == freeze({b!r})", lambda a=a, b=b: freeze(a) == freeze(b)).returns(False)
