"""Task 10.4: the meaning of a signature, and the C names of the result. The judge of names is Triton's own compiler."""

import ctypes
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.tools.compile import sizes_of
from mini_triton.tools.variant import Entry, c_type, read_entry

from tests.checks import calling, described, one_in
from tests.oracles import ahead, triton
from tests.support.m10_gpu.c_programs import C_TYPES, Folder, made_up_code

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
POINTERS = ("*fp32", "*fp16", "*bf16", "*i8", "*u64", "*fp8e5", "*kfp32")
ARGUMENTS = st.one_of(
    st.sampled_from([*INTEGERS, *POINTERS]),
    st.sampled_from([f"{type}:16" for type in (*INTEGERS, *POINTERS)]),
    st.sampled_from(["fp16", "bf16", "fp32", "fp64", "i1", "u1", "i32:1"]),
)
CONSTANTS = st.one_of(st.integers(0, 2**40).map(str), st.sampled_from(["1", "16"]))
SIGNATURES = st.lists(st.one_of(ARGUMENTS, ARGUMENTS, CONSTANTS), min_size=1, max_size=13).filter(
    lambda entries: any(entry[0].isalpha() or entry[0] == "*" for entry in entries)
)


@pytest.mark.parametrize(
    "text, entry",
    [
        ("i32", Entry("i32")), ("fp32", Entry("fp32")), ("*fp16", Entry("*fp16")), ("*kfp32", Entry("*kfp32")),
        ("i1", Entry("i1")), ("u64", Entry("u64")), ("bf16", Entry("bf16")),
        ("i32:16", Entry("i32", hint=16)), ("u8:16", Entry("u8", hint=16)), ("*fp32:16", Entry("*fp32", hint=16)),
        ("i32:1", Entry("i32", hint=1)), ("u64:1", Entry("u64", hint=1)),
        ("1024", Entry("constexpr", 1024)), ("1", Entry("constexpr", 1)), ("0", Entry("constexpr", 0)),
        ("-1", Entry("constexpr", -1)), ("0.5", Entry("constexpr", 0.5)), ("1e-5", Entry("constexpr", 1e-5)),
        ("16.0", Entry("constexpr", 16.0)), ("inf", Entry("constexpr", float("inf"))),
        ("None", Entry("constexpr", None)), ("True", Entry("constexpr", True)), ("False", Entry("constexpr", False)),
    ],
)  # fmt: skip
def test_entries(text: str, entry: Entry) -> None:
    calling(read_entry, text).returns(entry)


@given(st.sampled_from([*INTEGERS, *POINTERS]), st.integers(-20, 20))
@example("i32", 16)
@example("*fp32", 1)
@example("i32", 8)
def test_hints(type: str, hint: int) -> None:
    text = f"{type}:{hint}"
    if hint == 16 or (hint == 1 and type in INTEGERS):
        calling(read_entry, text).returns(Entry(type, hint=hint))
    else:
        calling(read_entry, text).raises(ValueError, text, because="the hints are :16 and, for integers only, :1")


@pytest.mark.parametrize(
    "text", ["fp32:16", "fp16:1", "fp64:16", "u1:1", "i1:16", "i32:", "i32:x", "i32:16.0", "i32:1:16"]
)
def test_invalid_hints(text: str) -> None:
    calling(read_entry, text).raises(ValueError, text)


@pytest.mark.parametrize("text", ["", "int", "f32", "float32", "*", "fp32*", "x", "none", "constexpr", "i24:16"])
def test_unknown_types(text: str) -> None:
    calling(read_entry, text).raises(ValueError, because="signatures have no such type")


@pytest.mark.parametrize(
    "type, expected",
    [
        ("i8", "int8_t"), ("i16", "int16_t"), ("i32", "int32_t"), ("i64", "int64_t"),
        ("u8", "uint8_t"), ("u16", "uint16_t"), ("u32", "uint32_t"), ("u64", "uint64_t"),
        ("i1", "int8_t"), ("u1", "uint8_t"), ("fp32", "float"), ("fp64", "double"),
        ("fp16", "uint16_t"), ("bf16", "uint16_t"), ("fp8e5", "uint8_t"), ("fp8e4nv", "uint8_t"),
        *((pointer, "CUdeviceptr") for pointer in (*POINTERS, "*u1", "*i1", "*fp64")),
    ],
)  # fmt: skip
def test_types_of_c(type: str, expected: str) -> None:
    calling(c_type, type).returns(expected, because="C must pass the bytes that the GPU reads")


def test_types_of_c_have_the_sizes_of_ptx() -> None:
    types = [*INTEGERS, "i1", "u1", "fp16", "bf16", "fp32", "fp64", "fp8e5", "*fp32", "*i8"]
    signature = {f"p{i}": type for i, type in enumerate(types)}
    text = "import triton, triton.language as tl\n\n\n" + kernel_of(types)
    (made,) = triton.frontends([triton.Source(text, "kernel", signature)], lower=True)
    parameters = re.findall(
        r"\.param (?:\.align \d+ )?\.[a-z](\d+) (?:\.ptr.*? )?kernel_param_\d+(?:\[(\d+)\])?", made.compiled.ptx
    )
    assert len(parameters) == len(types) + 2, "the PTX should have one parameter for each type, and two of Triton's own"
    for type, (bits, many) in zip(types, parameters, strict=False):
        call = calling(c_type, type)
        size = ctypes.sizeof(C_TYPES.get(call()) or getattr(ctypes, f"c_{call().removesuffix('_t')}"))
        if size != int(bits) // 8 * int(many or 1):
            call.fail(f"a type of {int(bits) // 8 * int(many or 1)} bytes, as in PTX", call())


@pytest.mark.parametrize(
    "grid, known, sizes",
    [
        ("1, 1, 1", {}, ["1", "1", "1"]),
        ("(n + 1023) / 1024, 1, 1", {}, ["(n + 1023) / 1024", "1", "1"]),
        ("n,m , k", {}, ["n", "m", "k"]),
        ("(n + BLOCK - 1) / BLOCK, 1, 1", {"BLOCK": 64}, ["(n + 64 - 1) / 64", "1", "1"]),
        ("(M + BLOCK_M - 1) / BLOCK_M, B, BLOCK", {"BLOCK": 8, "M": 1}, ["(1 + BLOCK_M - 1) / BLOCK_M", "B", "8"]),
        ("n / B2, 0x10 * x1, x", {"B": 3, "x": 5, "x1": 6}, ["n / B2", "0x10 * 6", "5"]),
        ("n-M, FLAG, 1 + OFF", {"M": -1, "FLAG": True, "OFF": False}, ["n-(-1)", "1", "1 + 0"]),
    ],
)
def test_grids(grid: str, known: dict[str, Any], sizes: list[str]) -> None:
    calling(sizes_of, grid, known).returns(sizes, because="the compiler replaces the values that it knows")


@pytest.mark.parametrize("grid", ["", "n", "n, 1", "n, 1, 1, 1", "n, , 1", ",,"])
def test_invalid_grids(grid: str) -> None:
    calling(sizes_of, grid, {}).raises(ValueError, because="a grid is three expressions")


@pytest.mark.parametrize("value", [None, 0.5, "rn"])
def test_grids_of_values_that_are_not_integers(value: object) -> None:
    calling(sizes_of, "n / M, 1, 1", {"M": value}).raises(ValueError, because="C cannot compute a size from this value")


def kernel_of(entries: list[str]) -> str:
    """An empty kernel with this many parameters."""
    names = [f"p{i}: tl.constexpr" if is_constant(entry) else f"p{i}" for i, entry in enumerate(entries)]
    return f"@triton.jit\ndef kernel({', '.join(names)}):\n    pass\n"


def is_constant(entry: str) -> bool:
    return not (entry[0].isalpha() or entry[0] == "*")


@one_in(3)
@given(SIGNATURES, st.sampled_from([1, 2, 4, 8]), st.integers(1, 5), st.sampled_from(["kernel", "add_2", "my__sum"]))
@example(["*fp32:16", "*fp32:16", "*fp32:16", "i32", "1024"], 1, 3, "add")
@example(["*fp32:16", "i32:1", "64", "i32:16"], 4, 3, "k")
@example(["64", "*fp32:16", "i32:1", "25"], 4, 3, "k")
@example(["i32"] * 10 + ["i32:16"], 1, 3, "k")
@example(["i32", "fp32"], 1, 3, "no_hints")
def test_names_as_triton_makes_them(entries: list[str], num_warps: int, num_stages: int, out_name: str) -> None:
    text, signature = kernel_of(entries), ",  ".join(entries)
    options: dict[str, Any] = {"num_warps": num_warps, "num_stages": num_stages, "out_name": out_name}
    expected = ahead.compile("import triton, triton.language as tl\n\n" + text, "kernel", signature, **options)
    with Folder() as folder, made_up_code():
        words = f"compile_kernel(kernel with {len(entries)} parameters, signature={signature!r}, {options})"
        call = described(words, lambda: folder.compile(text, "kernel", signature, **options))
        name, files = call.succeeds()
        header = next(file for file in files if file.suffix == ".h")
        if comparable(name) != comparable(expected.name):
            call.fail(f"the C function {expected.name}, as Triton's", name)
        if comparable(header.name.partition(".")[2]) != comparable(expected.file.partition(".")[2]):
            call.fail(f"a header {out_name}{expected.file.removeprefix('out')}", header.name)
        ours, theirs = (declared(text, entries) for text in (header.read_text(), expected.text))
        if ours != theirs:
            call.fail(f"arguments and algorithm {theirs}, as Triton's", ours)


def comparable(name: str) -> str:
    """A name without the numbers of its suffix, because Triton 3.6 adds more numbers than later versions."""
    if not triton.version().startswith("3.6"):
        return name
    start, hint, end = name.rpartition("_")
    return start + hint + re.sub(r"\d", "", end)


def declared(header: str, entries: list[str]) -> tuple[list[str], str]:
    """Arguments and algorithm that a header declares for the linker.

    Two differences from Triton are removed. Triton declares every float as a `double`, which the GPU would read as a
    `float`. In Triton, an integer known to be 1 is a constant of the algorithm, so no dispatcher of Triton chooses
    between 1 and other values.
    """
    match = re.search(r"tt-linker: \w+:(.*):(.*)", header)
    assert match, f"no // tt-linker: in\n{header}"
    arguments = [re.sub(r"^(double|float|uint16_t) (?=p\d)", "", argument) for argument in match[1].split(", ")]
    return arguments, "" if any(entry.endswith(":1") for entry in entries) else match[2]


@pytest.mark.parametrize("entry, name", [("-1", "m1"), ("0.5", "0p5"), ("1e-05", "1em05"), ("None", "None")])
def test_constants_in_names_of_c(entry: str, name: str) -> None:
    with Folder() as folder, made_up_code():
        _, files = folder.compile(kernel_of(["i32", entry.replace("None", "0")]), "kernel", f"i32, {entry}")
        (linked, header) = folder.link([file for file in files if file.suffix == ".h"], "all")
        assert f"kernel_{name}_warps1xstages3" in header.read_text(), header.read_text()
        folder.build([*files, linked])


@pytest.mark.parametrize("signature", ["*fp32", "*fp32, i32, i32", ""])
def test_as_many_entries_as_parameters(signature: str) -> None:
    with Folder() as folder, made_up_code():
        words = f"compile_kernel(kernel(p0, p1), signature={signature!r})"
        described(words, lambda: folder.compile(kernel_of(["i32", "i32"]), "kernel", signature)).raises(ValueError)
