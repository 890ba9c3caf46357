"""Task 10.4: the written C source compiles and runs, with a driver that records launches."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.backends.page import sass_accesses
from mini_triton.tools.variant import c_type

from tests.checks import described, one_in
from tests.oracles import triton
from tests.support.m10_gpu.c_programs import (
    TRITONS_OWN,
    Folder,
    Launched,
    StandIn,
    made_up_code,
    nvidias_headers,
    packed,
    run_compiler,
)

INTEGERS = {f"{sign}{width}": (sign, width) for sign in "iu" for width in (8, 16, 32, 64)}
ADD = """import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)
"""
OUR_ADD = ADD.replace("import triton\n", "import mini_triton as triton\n").replace(
    "import triton.", "import mini_triton."
)
FILL = "@triton.jit\ndef fill(out, n, m):\n    tl.store(out + tl.program_id(0), n)\n"
FILL_TYPES = ["CUstream", "CUdeviceptr", "int32_t", "int32_t"]


@st.composite
def arguments(draw: st.DrawFn) -> tuple[str, Any]:
    """An entry of a signature, and a value for it."""
    type = draw(st.sampled_from([*INTEGERS, "*fp32", "*i8", "fp16", "bf16", "fp32", "fp64", "i1", "u1"]))
    if type.startswith("*"):
        address = draw(st.integers(1, 2**40)) * 16
        return draw(st.sampled_from([(f"{type}:16", address), (type, address + 4)]))
    if type in ("i1", "u1"):
        return type, draw(st.integers(0, 1))
    if type in ("fp32", "fp64"):
        return type, draw(st.floats(width=32, allow_nan=False))
    sign, width = INTEGERS.get(type, ("u", 16))
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if sign == "i" else (0, 2**width - 1)
    value = draw(st.integers(low, high))
    hints = [type] if type in ("fp16", "bf16") else [type, f"{type}:1"] + [f"{type}:16"] * (value % 16 == 0)
    return draw(st.sampled_from(hints)), value


def launched(signature: str, values: list[Any], num_warps: int) -> Launched:
    """The launch of a kernel's C function when it is called with these argument values."""
    types = [entry.strip().partition(":") for entry in signature.split(",")]
    names = [f"p{i}" for i in range(len(types))]
    passed = [(type, value) for (type, _, hint), value in zip(types, values, strict=True) if hint != "1"]
    with Folder() as folder, made_up_code() as codes:
        text = f"@triton.jit\ndef kernel({', '.join(names)}):\n    pass\n"
        name, files = folder.compile(text, "kernel", signature, num_warps=num_warps)
        driver = StandIn(folder.build(files), codes)
        words = f"{name}(stream, {', '.join(str(value) for _, value in passed)}), of signature {signature!r}"
        types_of_c = ["CUstream", *(c_type(type) for type, _ in passed)]
        described(words, driver.call, name, types_of_c, 77, *(value for _, value in passed)).returns(0)
        (launch,) = driver.launches
        return launch


@one_in(5)
@given(st.lists(arguments(), min_size=1, max_size=9), st.sampled_from([1, 2, 4, 8]))
@example([("*fp32:16", 4096), ("i32:1", 1), ("fp32", 2.5), ("i64", -7), ("u8", 200)], 4)
@example([("i32:1", 1)], 1)
def test_arguments_as_a_gpu_takes_them(entries: list[tuple[str, Any]], num_warps: int) -> None:
    signature, values = ", ".join(entry for entry, _ in entries), [value for _, value in entries]
    launch = launched(signature, values, num_warps)
    passed = [(entry.partition(":")[0], value) for entry, value in entries if not entry.endswith(":1")]
    expected = [packed(type, value) for type, value in passed] + [bytes(8)] * len(TRITONS_OWN)
    assert launch.arguments == expected, (
        f"a launch with signature {signature!r} and values {values} gives the GPU wrong bytes\n"
        f"  expected  {[data.hex() for data in expected]}\n  got       {[data.hex() for data in launch.arguments]}"
    )
    assert launch.function == "kernel"
    assert launch.stream == 77, "the stream is the first argument"
    assert launch.threads == (32 * num_warps, 1, 1), "a warp has 32 threads"


@pytest.mark.parametrize(
    "grid, values, expected",
    [
        ("(a + 1023) / 1024, 1, 1", (4097, 1), (5, 1, 1)),
        ("a, b, 3", (4, 5), (4, 5, 3)),
        ("1, a * b, b", (4, 5), (1, 20, 5)),
        ("(a + BLOCK - 1) / BLOCK, b, BLOCK_2", (100, 7), (2, 7, 3)),
        ("65536, 32768, 2", (1, 1), (65536, 32768, 2)),  # the product, 2^32, overflows an `unsigned`
        ("a, 2, a", (2**31 - 1, 1), (2**31 - 1, 2, 2**31 - 1)),
    ],
)
def test_grids(grid: str, values: tuple[int, int], expected: tuple[int, int, int]) -> None:
    text = "@triton.jit\ndef kernel(a, BLOCK: tl.constexpr, b, BLOCK_2: tl.constexpr):\n    pass\n"
    with Folder() as folder, made_up_code() as codes:
        name, files = folder.compile(text, "kernel", "i32, 64, i32, 3", grid)
        driver = StandIn(folder.build(files), codes)
        described(
            f"{name}(stream, {values})", driver.call, name, ["CUstream", "int32_t", "int32_t"], 0, *values
        ).returns(0)
    grids = [launch.grid for launch in driver.launches]
    assert grids == [expected], f"--grid {grid!r} with a, b = {values}\n  expected  {[expected]}\n  got       {grids}"


def test_a_grid_of_integers_equal_to_1() -> None:
    """The C function has no parameter for a constant, but the grid may name the constant."""
    with Folder() as folder, made_up_code() as codes:
        text = "@triton.jit\ndef kernel(x, n, m):\n    pass\n"
        name, files = folder.compile(text, "kernel", "*fp32, i32:1, i32", "(n + 7) / 8, m + n, n")
        driver = StandIn(folder.build(files), codes)
        assert driver.call(name, ["CUstream", "CUdeviceptr", "int32_t"], 0, 4096, 9) == 0
    assert [launch.grid for launch in driver.launches] == [(1, 10, 1)]


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0), (0, 0)])
def test_an_empty_grid_is_not_launched(sizes: tuple[int, int]) -> None:
    for grid in ("n, m, 1", "n, 1, m", "1, n, m"):
        with filled(grid) as (name, driver):
            call = described(f"{name} for an empty grid", driver.call, name, FILL_TYPES, 0, 4096, *sizes)
            call.returns(0, because="an empty grid is not an error")
            assert "launch" not in driver.calls, (
                f"CUDA refuses an empty grid, so nothing should be launched: {driver.launches}"
            )


@contextlib.contextmanager
def filled(grid: str = "n, 1, 1", **code: int) -> Iterator[tuple[str, StandIn]]:
    """The C function of a kernel, and its driver."""
    with Folder() as folder, made_up_code(**code) as codes:
        name, files = folder.compile(FILL, "fill", "*i32, i32, i32", grid, num_warps=4)
        yield name, StandIn(folder.build(files), codes)


@pytest.mark.parametrize("shared", [0, 16, 48 * 1024, 48 * 1024 + 1, 232448])
def test_shared_memory(shared: int) -> None:
    with filled(shared=shared) as (name, driver):
        assert driver.call(name, FILL_TYPES, 0, 4096, 5, 1) == 0
    (launch,) = driver.launches
    assert launch.shared == shared, "each launch states the size of a program's shared memory"
    assert launch.attributes == ({8: shared} if shared > 48 * 1024 else {}), "a function must request more than 48 KiB"


def test_warps_that_triton_adds() -> None:
    with filled(num_warps=12) as (name, driver):
        assert driver.call(name, FILL_TYPES, 0, 4096, 5, 1) == 0
    threads = driver.launches[0].threads
    assert threads == (384, 1, 1), (
        f"Triton adds warps to the kernel, which then has 12 warps, or 384 threads, not {threads}"
    )


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, (1, 3)),
        ({"num_warps": 8}, (8, 3)),
        ({"num_stages": 5}, (1, 5)),
        ({"num_warps": 2, "num_stages": 1}, (2, 1)),
    ],
)
def test_options_and_target(options: dict[str, Any], expected: tuple[int, int]) -> None:
    for target in ("cuda:80", "cuda:90:32", "cuda:120"):
        with Folder() as folder, made_up_code() as codes:
            call = described(f"compile_kernel(…, {target=}, {options})", folder.compile, FILL, "fill", "*i32, i32, i32")
            call.options = {"target": target, **options}
            name, _ = call.succeeds()
            ((code, kernel),) = codes.items()
        got = kernel.options["num_warps"], kernel.options["num_stages"]
        if got != expected:
            call.fail(f"num_warps and num_stages {expected} for the compiler", got, because="1 and 3 are the defaults")
        if not code.endswith(target.split(":")[1].encode()):
            call.fail(f"machine code for {target}", code)


@pytest.mark.parametrize("what, error", [("load", 200), ("function", 500), ("attribute", 1), ("launch", 1)])
def test_errors_come_back(what: str, error: int) -> None:
    with filled(shared=100_000) as (name, driver):
        driver.fails[what] = error
        call = described(f"{name}, while {what} fails with {error}", driver.call, name, FILL_TYPES, 0, 4096, 5, 1)
        call.returns(error, because="a launch returns the driver's error")
        driver.fails.clear()
        call.returns(0, because="the next launch may succeed")
        assert driver.launches[-1].attributes == {8: 100_000}


def test_machine_code_is_loaded_once() -> None:
    with filled() as (name, driver):
        for _ in range(3):
            driver.call(name, FILL_TYPES, 0, 4096, 5, 1)
        assert driver.calls == ["load", "function", "launch", "launch", "launch"]
        driver.call(f"unload_{name}")
        driver.call(f"unload_{name}")
        driver.call(f"load_{name}")
        driver.call(f"load_{name}")
        driver.call(name, FILL_TYPES, 0, 4096, 5, 1)
        assert driver.calls[5:] == ["unload", "load", "function", "launch"]


def test_scratch_memory_is_refused() -> None:
    with Folder() as folder, made_up_code(scratch=256):
        call = described(
            "compile_kernel(<needs 256 bytes of scratch memory>)", folder.compile, FILL, "fill", "*i32, i32, i32"
        )
        call.raises(RuntimeError, "256", because="no launch passes scratch memory to the kernel")


@pytest.mark.parametrize(
    "signature, constants, divisible",
    [
        ("*fp32:16, *fp32:16, *fp32:16, i32:16, 1024", {"BLOCK": 1024}, ["x", "y", "out", "n"]),
        ("*fp32:16, *fp32:16, *fp32:16, i32, 1024", {"BLOCK": 1024}, ["x", "y", "out"]),
        ("*fp16:16, *fp16, *fp16:16, i64:16, 512", {"BLOCK": 512}, ["x", "out", "n"]),
        ("*fp64:16, *fp64:16, *fp64:16, i32:1, 128", {"BLOCK": 128, "n": 1}, ["x", "y", "out"]),
        ("*fp32:16, *fp32:16, *fp32:16, 4096, 256", {"BLOCK": 256, "n": 4096}, ["x", "y", "out"]),
    ],
)
def test_machine_code_is_tritons(signature: str, constants: dict[str, int], divisible: list[str]) -> None:
    names = ("x", "y", "out", "n", "BLOCK")
    types = dict(zip(names, (entry.strip().partition(":")[0] for entry in signature.split(",")), strict=True))
    types |= dict.fromkeys(constants, "constexpr")
    for target, num_warps in (("sm_80", 1), ("sm_90", 4)):
        with Folder() as folder:
            arguments = OUR_ADD, "add", signature, "1, 1, 1", f"cuda:{target[3:]}"
            words = f"compile_kernel(add, {signature=}, {target=}, {num_warps=})"
            call = described(words, folder.compile, *arguments, num_warps=num_warps)
            _, files = call.succeeds()
            run_compiler("-c", f"-I{nvidias_headers()}", str(files[0]), "-o", str(folder.path / "code.o"))
            got = dict(sass_accesses(triton.disassembled(embedded(files[0]))))
        options = {"num_warps": num_warps, "num_stages": 3}
        (made,) = triton.frontends(
            [triton.Source(ADD, "add", types, constants, divisible, target, options)], lower=True
        )
        expected = dict(sass_accesses(triton.disassembled(made.compiled.cubin)))
        if got != expected:
            call.fail(f"machine code with {expected}, as Triton's", got, because="hints make wide accesses possible")


def embedded(source: Path) -> bytes:
    """The machine code in a C source."""
    match = re.search(r"_cubin\[(\d+)\] = \{([^}]*)\}", source.read_text())
    assert match, f"no machine code in {source}"
    code = bytes(map(int, match[2].split(",")))
    assert len(code) == int(match[1])
    return code
