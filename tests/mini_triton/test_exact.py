"""The given parts of exact arithmetic: booleans, the error function, libdevice."""

import itertools
import math
import operator
from collections.abc import Callable

import numpy as np
import pytest
from mini_triton import exact
from mini_triton.ir.interpreter import evaluate
from mini_triton.ir.parser import parse_module
from mini_triton.language.dtypes import dtype
from mini_triton.language.extra import libdevice

MISSING = {f"__nv_{name}{suffix}" for name in "cyl_bessel_i1 j0 j1 jn y0 y1 yn".split() for suffix in ("", "f")}
MISSING |= {
    f"__nv_{name}_{rounding}"
    for name in "dadd dsub dmul ddiv dsqrt drcp fma".split()
    for rounding in ("rz", "rd", "ru")
}


ONE_BIT: dict[str, Callable[[int, int], int | None]] = {
    "arith.maxsi": lambda x, y: max(-x, -y),
    "arith.minsi": lambda x, y: min(-x, -y),
    "arith.maxui": max,
    "arith.minui": min,
    "arith.shli": lambda x, y: x << y,
    "arith.shrui": lambda x, y: x >> y,
    "arith.shrsi": lambda x, y: -x >> y,
    **{f"arith.{name}": lambda x, y: x if y else None for name in ("divsi", "divui", "floordivsi", "ceildivsi")},
    **{f"arith.{name}": lambda x, y: 0 if y else None for name in ("remsi", "remui")},
    **{f"arith.cmpi {name},": getattr(operator, name) for name in ("eq", "ne")},
    **{f"arith.cmpi u{name},": getattr(operator, name) for name in ("lt", "le", "gt", "ge")},
    "arith.cmpi slt,": lambda x, y: -x < -y,
    "arith.cmpi sle,": lambda x, y: -x <= -y,
    "arith.cmpi sgt,": lambda x, y: -x > -y,
    "arith.cmpi sge,": lambda x, y: -x >= -y,
}
"""The meaning of operations on booleans for which no GPU's answers are recorded."""


@pytest.mark.parametrize("name", ONE_BIT)
def test_booleans_are_integers_of_one_bit(name: str) -> None:
    """Modulo 2, and true is -1 where signs matter."""
    text = f"module {{ tt.func public @k(%x: i1, %y: i1) {{ %r = {name} %x, %y : i1\n tt.return }} }}"
    operation = parse_module(text).body.operations[0].regions[0].block.operations[0]
    pairs = list(itertools.product((0, 1), repeat=2))
    (got,) = evaluate(operation, [np.array(column, bool) for column in zip(*pairs, strict=True)]) or [None]
    assert got.dtype == bool
    for (x, y), element in zip(pairs, got.tolist(), strict=True):
        expected = ONE_BIT[name](x, y)
        assert expected is None or element == bool(expected & 1), f"{name} {x}, {y} gives {element}"


def test_error_function() -> None:
    """To within two units of the last place."""
    x = np.concatenate([np.linspace(-5, 5, 20001), [1e-30, -1e-38, 0.0, np.inf, -np.inf]]).astype(np.float32)
    expected = np.array([math.erf(number) for number in x.tolist()])
    with np.errstate(all="ignore"):
        got = exact.erf(x)
        wide = exact.erf(x.astype(np.float64))
    units = np.abs(got - expected) / np.spacing(np.abs(expected).astype(np.float32))
    assert units.max() <= 2, f"erf({x[units.argmax()]}) is {units.max()} units off"
    assert wide.tolist() == expected.tolist()
    assert np.isnan(exact.erf(np.float32("nan")))
    assert np.signbit(exact.erf(np.float32(-0.0)))


def symbols() -> dict[str, tuple[tuple[dtype, ...], dtype]]:
    """All symbols of the device library, their operands and their result."""
    versions = (version for table in libdevice.TABLE.values() for version in table.items())
    return {symbol: (operands, result) for operands, (symbol, result) in versions}


@pytest.mark.parametrize("symbol", symbols())
def test_symbols_of_the_device_library(symbol: str) -> None:
    """Each gives a result of its type; a few that neither NumPy nor Python have say so."""
    operands, result = symbols()[symbol]
    arrays = [np.array([[0.5, 0, 1, 2.5], [-0.75, 7, -2, 100]]).astype(_numpy(operand)) for operand in operands]
    with np.errstate(all="ignore"):
        if symbol in MISSING:
            with pytest.raises(LookupError, match=symbol):
                exact.extern(symbol, *arrays)
            return
        got = exact.extern(symbol, *arrays)
        one = exact.extern(symbol, *(array[0, 0] for array in arrays))
    assert got.dtype == _numpy(result), f"{symbol} gives {got.dtype}, not {result}"
    assert got.shape == (2, 4)
    assert np.array_equal(got[0, 0], one, equal_nan=got.dtype.kind == "f")


def _numpy(type: dtype) -> np.dtype:
    """Its IR type, which is signless."""
    return np.dtype({"fp32": np.float32, "fp64": np.float64}.get(type.name, f"int{type.width}"))


VALUES = [
    ("__nv_fadd_ru", (1.0, 1e-30), float(np.nextafter(np.float32(1), np.float32(2)))),
    ("__nv_float2uint_rz", (-1.0,), 0),
    ("__nv_ll2double_rz", (2**62 + 2**8 + 2**7 + 1,), 2.0**62),
    ("__nv_ll2double_ru", (2**62 + 1,), 2.0**62 + 2**10),
    ("__nv_ll2double_rd", (-(2**62) - 1,), -(2.0**62) - 2**10),
    ("__nv_ll2double_rz", (-(2**63) + 1,), -(2.0**63) + 2**10),
    ("__nv_double2hiint", (-1.0,), -0x40100000),
    ("__nv_double2loint", (0.1,), -0x66666666),
    ("__nv_hiloint2double", (0x3FF80000, 0), 1.5),
    ("__nv_isnand", (float("nan"),), 1),
]
"""Results of functions for which no GPU's answers are recorded."""


@pytest.mark.parametrize(("symbol", "operands", "expected"), VALUES)
def test_values_of_the_device_library(symbol: str, operands: tuple[float, ...], expected: float) -> None:
    kinds = [_numpy(kind) for kind in symbols()[symbol][0]]
    arrays = [np.array(x).astype(kind) for x, kind in zip(operands, kinds, strict=True)]
    with np.errstate(all="ignore"):
        assert exact.extern(symbol, *arrays) == expected
