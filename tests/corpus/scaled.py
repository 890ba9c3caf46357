"""Products in the microscaling formats: every pair of formats, with and without scales, packed along either axis."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from tests.corpus.cases import Case, make_case

FORMATS = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}
"""The formats, and the types in signatures of the elements that hold them."""
RAW = {"e4m3": "u8", "e5m2": "u8", "bf16": "u16", "fp16": "u16"}
"""The types of elements that hold the formats' bits as integers."""
FLAGS = {"X_PACK": True, "Y_PACK": True, "X_SCALED": True, "Y_SCALED": True, "FAST": False, "SUM": False}
M, N, K = 32, 16, 64
PROGRAMS = 2
SCALES = "127 120 134 1 129 0 131 126 150 127 128"
"""Scales: exponents of two, plus 127."""


def case(x: str, y: str, suffix: str = "", scales: str = SCALES, types: Any = FORMATS, **flags: Any) -> Case:
    """A product of numbers in these two formats, by two programs."""
    width = "fp8e4nv" if flags.pop("e4m3_scales", False) else "u8"
    groups = K // (16 if width == "fp8e4nv" else 32)
    how = "" if width == "fp8e4nv" else f" = {scales}"
    lengths = {name: rows * K // (2 if format == "e2m1" else 1) for name, format, rows in (("x", x, M), ("y", y, N))}
    text = (
        f"out: *fp32[{PROGRAMS * M * N}], x: *{types[x]}[{PROGRAMS * lengths['x']}]{filling(x, types)}, "
        f"y: *{types[y]}[{lengths['y']}]{filling(y, types)}, "
        f"x_scale: *{width}[{PROGRAMS * M * groups}]{how}, y_scale: *{width}[{N * groups}]{how}"
    )
    constants = {"M": M, "N": N, "K": K, "GROUPS": groups, "X": x, "Y": y, **FLAGS, **flags}
    return make_case("scaled", "scaled_product", text, constants, (PROGRAMS,), f"_{x}_{y}{suffix}")


def filling(format: str, types: Any) -> str:
    """The filling of a buffer of this format: random floats, or random bits that do not encode infinities."""
    if format == "e2m1":
        return " = bits"
    return {"u8": " = below 120", "u16": " = below 17000"}.get(types[format], "")


def cases() -> Iterator[Case]:
    for x, y in product(FORMATS, repeat=2):
        yield case(x, y)
        yield case(x, y, "_left", Y_SCALED=False)
        yield case(x, y, "_right", X_SCALED=False, SUM=True)
        yield case(x, y, "_plain", X_SCALED=False, Y_SCALED=False)
    for x in RAW:
        yield case(x, "e2m1", "_raw", types=FORMATS | RAW)
        yield case("e2m1", x, "_raw", types=FORMATS | RAW)
    for x, y in (("e2m1", "e2m1"), ("e2m1", "bf16"), ("e4m3", "e2m1")):
        packs: Any = {"X_PACK": x != "e2m1", "Y_PACK": y != "e2m1"}
        yield case(x, y, "_rows", **packs)
        yield case(x, y, "_rows_plain", X_SCALED=False, Y_SCALED=False, **packs)
        yield case(x, y, "_nan", "255 127 127 126 127 130 127")
    yield case("e2m1", "e2m1", "_fast", FAST=True)
    yield case("e2m1", "e2m1", "_e4m3_scales", e4m3_scales=True)


STACKS = make_case(
    "scaled",
    "scaled_stacks",
    f"out: *fp32[{4 * M * N}], x: *fp8e5[{4 * M * K}], y: *u8[{4 * K * N // 2}] = bits, "
    f"x_scale: *u8[{4 * M * 2}] = {SCALES}",
    {"B": 4, "M": M, "N": N, "K": K},
)
CASES = (*cases(), STACKS)
MACHINE_CODE = make_case("scaled", "machine_code", "out: *i32[64], x: *i32[64]", {"BLOCK": 64})
