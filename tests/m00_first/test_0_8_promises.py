"""Task 0.8: which arguments are multiples of 16, and how real Triton uses this promise."""

import re
from typing import Any

import numpy as np
from first.slice import multiples_of_16
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import described
from tests.oracles import records, triton
from tests.oracles.questions import INTEGER_ARGUMENTS
from tests.support.m00_first.judging import MODULES

FITTING = sorted((number for number in INTEGER_ARGUMENTS if -(2**31) <= number < 2**31 and number != 1), key=abs)


def array_at(offset: int, size: int = 64) -> np.ndarray:
    """An array of f32 whose address leaves this remainder when divided by 16."""
    memory = np.zeros(4 * size + 32, np.uint8)
    start = (offset - memory.ctypes.data) % 16
    return memory[start : start + 4 * size].view(np.float32)


def asking(arguments: dict[str, Any], shown: str = "") -> described:
    """The call of `multiples_of_16`, which a failure shows with addresses in place of arrays."""
    words = {
        name: f"array at {16 * 256 + a.ctypes.data % 16}" if isinstance(a, np.ndarray) else a
        for name, a in arguments.items()
    }
    return described(f"multiples_of_16({words})", multiples_of_16, arguments)


def test_integers_as_real_tritons_launcher() -> None:
    for number in FITTING:
        type, attribute = records.specialization(number).value
        expected = {"n"} if attribute == "D" else set()
        asking({"n": number}).returns(expected, because=f"real Triton's launcher answers so for {number}, an {type}")


def test_arrays_as_real_tritons_launcher() -> None:
    for address in (4096, 4104):
        _, attribute = records.specialization(f"float32@{address}").value
        expected = {"x"} if attribute == "D" else set()
        asking({"x": array_at(address % 16)}).returns(expected, because=f"its address modulo 16 is {address % 16}")


@given(st.dictionaries(st.sampled_from("xyzn"), st.integers(-100, 100) | st.sampled_from(["@0", "@4", "@8", "@12"])))
def test_several(drawn: dict[str, Any]) -> None:
    given = {name: array_at(int(v[1:])) if isinstance(v, str) else v for name, v in drawn.items()}
    expected = {name for name, v in drawn.items() if v == "@0" or not isinstance(v, str) and v % 16 == 0}
    asking(given).returns(expected, because="only these arguments, or their addresses, are multiples of 16")


def test_a_view_has_an_address_of_its_own() -> None:
    x = array_at(0)
    asking({"x": x, "y": x[1:], "z": x[4:]}).returns({"x", "z"}, because="y begins 4 bytes after x, and z 16 bytes")


def test_wide_accesses_in_the_machine_code() -> None:
    x, y, out = array_at(0), array_at(0), array_at(0)
    for arguments, wide in (
        ({"x": x, "y": y, "out": out, "n": 64}, {"ld", "st"}),
        ({"x": x, "y": y, "out": out, "n": 63}, set()),
        ({"x": x[1:], "y": y[1:], "out": out, "n": 48}, {"st"}),
        ({"x": x, "y": y, "out": out[1:], "n": 48}, {"ld"}),
    ):
        call = asking(arguments)
        promised = call.succeeds()
        if triton.available() and (got := wide_accesses(promised)) != wide:
            call.fail(f"names for which PTX has these wide accesses: {wide}", {"names": promised, "wide": got})


def wide_accesses(promised: set[str]) -> set[str]:
    """Which loads and stores of `add` are 16 bytes wide after real Triton has compiled it with this promise."""
    text = (MODULES / "add.ttir").read_text(encoding="utf-8").replace("16", "1024")
    for name in promised:
        text = re.sub(rf"(%{name}: [^,)]+)", r"\1 {tt.divisibility = 16 : i32}", text, count=1)
    compiled = triton.compile_ttir(text)
    assert compiled, compiled.diagnostic
    return {kind for kind in ("ld", "st") if compiled.count(f"{kind}.global.v4")}
