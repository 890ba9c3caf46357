"""The back end "ptx": its PTX gives the results of a GPU, without races or bank conflicts."""

import ast
import random
import re
from typing import Any

import mini_triton.language as tl
import ml_dtypes
import numpy as np
import pytest
from mini_triton.backends.threads.assembler import assembler
from mini_triton.backends.threads.back_end import compile_module
from mini_triton.backends.threads.instructions import Unsupported
from mini_triton.compat.substitution import substituted
from mini_triton.emulator import emulate
from mini_triton.emulator.back_end import as_argument
from mini_triton.errors import OutOfResources
from mini_triton.ir.parser import parse_module
from mini_triton.language.constexpr import constexpr
from mini_triton.runtime.jit import jit

from tests.corpus import CASES, named
from tests.corpus.cases import Case
from tests.oracles import triton
from tests.oracles.triton import Source
from tests.support import sources
from tests.support.m05_frontend.random_kernels import launch as random_launch
from tests.support.m05_frontend.random_kernels import write
from tests.support.m06_codegen import closeness, numpy_backend
from tests.support.m13_threads import kernels, single
from tests.support.m13_threads.codes import code_of, judge_kernel
from tests.support.m13_threads.running import Kernel

REFUSED = {"library": "tt.extern_elementwise pow"}
"""Cases that the back end refuses, and the operation that its message names."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_corpus(case: Case) -> None:
    if str(case) in REFUSED:
        with pytest.raises(Unsupported, match=REFUSED[str(case)]):
            code_of(case)
        return
    judge_kernel(case)


@pytest.mark.parametrize("warps", [1, 2, 8])
@pytest.mark.parametrize("case", named(*"arg_reductions scan_axes transpose batched_dot".split()), ids=str)
def test_other_numbers_of_warps(case: Case, warps: int) -> None:
    report = judge_kernel(case, warps)
    assert report.total.bank_ways == report.total.shared


@pytest.mark.parametrize("number", [*range(8), 35])  # the last reduces a 64-bit constant
def test_random_kernels(number: int) -> None:
    """As the NumPy back end, as close as rounding allows."""
    kernel = write(random.Random(number), exact=number % 4 != 0)
    asked = random_launch(kernel, number)
    assert isinstance(asked.kernel, Source)
    module = sources.compiled(asked.kernel)
    expected = numpy_backend.run(module, asked.grid, asked.arguments)
    after, given, _ = numpy_backend.prepare(module, asked.arguments)
    code = compile_module(module, 4, 90)
    types = [type for type in asked.kernel.signature.values() if type != "constexpr"]
    report = emulate(code.ptx, asked.grid, list(map(as_argument, given, types)), shared=code.shared)
    assert not report.errors, f"{kernel}\n{report.errors[0]}"
    for mine, right in zip(after, expected, strict=True):
        if isinstance(mine, np.ndarray):
            closeness.check(f"results of\n{kernel.source}\n", mine, right, closeness.rounding(module))


# --- for readers

LISTED = re.compile(r"^(#layout\d+) = (#ttg.linear<.*>)$", re.MULTILINE)


def indices(spelled: str) -> set[tuple[int, ...]]:
    """The indices of all elements that threads hold in a layout."""
    places: list[np.ndarray] = []
    for part in re.findall(r"(?:register|lane|warp) = (\[.*?\])(?=, \w)", spelled):
        for vector in ast.literal_eval(part):
            places = places or [np.zeros(len(vector), int)]
            places += [place ^ vector for place in places]
    return set(map(tuple, places))


@pytest.mark.parametrize("case", named(*"add_kernel transpose batched_dot scan_axes carried_kinds".split()), ids=str)
def test_listed_layouts(case: Case) -> None:
    """Real Triton reads each layout, and threads hold every element of each tensor. The rest is the module's text."""
    text = code_of(case).layouts
    layouts = dict(LISTED.findall(text))
    assert layouts and len(set(layouts.values())) == len(layouts)
    module = parse_module(re.sub(r" in #layout\d+(, #layout\d+)*", "", LISTED.sub("", text)))
    typed = re.findall(r"^.*tensor<([\dx]+)x\D.* in (#layout.*)$", text, re.MULTILINE)
    assert len(typed) > len(list(module.walk())) / 3
    for sizes, names in typed:
        for name in names.split(", "):
            assert indices(layouts[name]) == set(np.ndindex(*map(int, sizes.split("x")))), f"{name}, tensor<{sizes}>"
            function = f"tt.func public @k(%x: tensor<{sizes}xi32, {name}>) {{ tt.return }}"
            answer = triton.accepts(
                f'{name} = {layouts[name]}\nmodule attributes {{"ttg.num-warps" = 4 : i32}} {{ {function} }}'
            )
            assert answer, f"{name} = {layouts[name]}: {answer.diagnostic}"


CARRIED = {
    "nested loops": """
    for i in range(n):
        for j in range(i):
            t = t + j
""",
    "a loop in a branch": """
    for i in range(n):
        if i > 2:
            for j in range(i):
                t = t * 2
""",
    "a loop over a condition": """
    while n > 0:
        if n % 2 == 0:
            t = t + n
        n = n // 2
""",
    "the last iteration's value": """
    for i in range(n):
        t = tl.arange(0, 1024) + i
""",
    "a loaded tensor": """
    for i in range(n):
        for j in range(i):
            t = t + tl.load(out + tl.arange(0, 1024))
""",
}
"""Statements with a tensor that control flow carries."""


@pytest.mark.parametrize("name", CARRIED)
def test_a_carried_tensor_has_the_layout_of_its_user(name: str) -> None:
    text = f"""def k(out, n):
    t = tl.arange(0, 1024)
{CARRIED[name].strip(chr(10))}
    tl.store(out + tl.arange(0, 1024), t)
"""
    code = kernels.code_of(kernels.source(text, {"out": "*i32", "n": "i32"}, ["out"]))
    assert "st.global.v4.b32" in code.ptx
    assert not code.shared, "no element has to move to another thread"


def test_copies_have_the_location_of_their_loop() -> None:
    text = """def k(out, n):
    a = 0
    for i in range(n):
        a += tl.load(out + i)
    tl.store(out, a)
"""
    code = kernels.code_of(kernels.source(text, {"out": "*i32", "n": "i32"}))
    a, loop = 6, 7  # lines of the source
    assert re.findall(r"\.loc 1 (\d+) \d+\n\s*mov\.b32", code.ptx) == [str(a), str(loop), str(loop)]


# --- integers


@pytest.mark.parametrize("width", [16, 32, 64])
def test_upper_halves_of_products(width: int) -> None:
    signed, unsigned = f"i{width // 8}", f"u{width // 8}"
    x, y = np.random.default_rng(width).integers(0, 2**width, (2, 100), unsigned)
    expected = np.array([int(a) * int(b) >> width for a, b in zip(x, y, strict=True)], unsigned).view(signed)
    single.check(f"%r = tt.mulhiui %x, %y : i{width}", [f"i{width}"] * 2, [x, y], expected)


@pytest.mark.parametrize("width", [1, 8])
def test_upper_halves_of_narrow_products(width: int) -> None:
    with pytest.raises(Unsupported, match=f"tt.mulhiui of {width}-bit integers"):
        single.opcodes(f"%r = tt.mulhiui %x, %y : i{width}", [f"i{width}"] * 2)


# --- constant distances


def distances(text: str) -> list[str]:
    """The addresses of accesses to global memory, without registers, in a kernel in which a thread has 32 elements."""
    module = parse_module(
        f"""module {{
      tt.func public @k(%p: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %n: i32) {{
        %at = tt.make_range {{start = 0 : i32, end = 1024 : i32}} : tensor<1024xi32>
        %q = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
        {text}
        %r = tt.addptr %q, %i : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
        tt.store %r, %at : tensor<1024x!tt.ptr<i32>>
        tt.return
      }}
    }}"""
    )
    return re.findall(r"st\.global\S* \[%d\d+(\+\d+)?\]", compile_module(module, 1, 90).ptx)


PROGRAM = """%id = tt.get_program_id x : i32
        %c = arith.constant {0} : i32
        %s = arith.muli %id, %c : i32
        %t = tt.splat %s : i32 -> tensor<1024xi32>
        %i = arith.addi %t, %at : tensor<1024xi32>"""


def test_accesses_add_constant_distances() -> None:
    expected = ["", *(f"+{512 * number}" for number in range(1, 8))]
    assert distances(PROGRAM.format(1024)) == expected
    assert distances(PROGRAM.format(4096)) == expected


def test_sums_that_may_overflow_stay() -> None:
    """32 bits hold `id * 1000 + at`, but not always `id * 1000 + at - 128`."""
    assert set(distances(PROGRAM.format(1000))) == {""}


SCALED = """%c = arith.constant dense<{0}> : tensor<1024xi32>
        %i = arith.muli %at, %c : tensor<1024xi32>"""


@pytest.mark.parametrize("factor", [3, 64, 2047])
def test_products_add_constant_distances(factor: int) -> None:
    assert distances(SCALED.format(factor)) == ["", *(f"+{128 * factor * number}" for number in range(1, 32))]


@pytest.mark.parametrize("factor", [-3, 2**21, 2**22])
def test_products_stay_that_may_overflow_or_are_far(factor: int) -> None:
    """An access adds less than 8 MiB to its address. 1023 * 2**21 does not overflow, 1023 * 2**22 does."""
    assert set(distances(SCALED.format(factor))) == {""}


# --- fewer registers

WALK = """def k(out, x, n, stride):
    at = tl.arange(0, 1024)
    p = x + at * stride
    total = tl.zeros((1024,), tl.int32)
    for i in range(n):
        total += tl.load(p)
        p += {step}
    tl.store(out + at, total + tl.load(p))
"""


@pytest.mark.parametrize(("step", "carried"), [("3", 1), ("stride", 1), ("at", 8)])
def test_pointers_of_a_loop_share_one_step(step: str, carried: int) -> None:
    """The addresses that a loop carries are one, or one for each of a thread's eight elements if their steps differ."""
    types = {"out": "*i32", "x": "*i32", "n": "i32", "stride": "i32"}
    code = kernels.code_of(kernels.source(WALK.format(step=step), types))
    loop = code.ptx[code.ptx.index("$L1:") : code.ptx.index("bra $L1;")]
    assert loop.count("mov.b64") == carried
    at, x = np.arange(1024), np.random.default_rng(0).integers(-99, 99, 6000, np.int32)
    for n in (0, 2):
        _, (out, *_) = kernels.after(code, (1, 1, 1), [np.zeros(1024, np.int32), x, n, 3], step)
        places = [at * 3 + (at if step == "at" else 3) * i for i in range(n + 1)]
        np.testing.assert_array_equal(out, x[places].sum(0))


@pytest.mark.parametrize(("divisible", "comparisons"), [(["n"], 2), ([], 8)])
def test_equal_elements_of_a_mask_are_computed_once(divisible: list[str], comparisons: int) -> None:
    """A thread has two groups of four neighbors. If 16 divides n, all elements of a group are below it, or none is."""
    text = """def k(out, n):
    at = tl.arange(0, 1024)
    tl.store(out + at, tl.where(at < n, at, -1))
"""
    code = kernels.code_of(kernels.source(text, {"out": "*i32", "n": "i32"}, ["out", *divisible]))
    assert code.ptx.count("setp.lt.s32") == comparisons
    _, (out, _) = kernels.after(code, (1, 1, 1), [np.zeros(1024, np.int32), 496], str(divisible))
    np.testing.assert_array_equal(out, np.where(np.arange(1024) < 496, np.arange(1024), -1))


@pytest.mark.parametrize("capability", [80, 90])
def test_factors_loaded_one_by_one_have_no_bank_conflicts(capability: int) -> None:
    """Rows of 100 elements are not aligned, so not a thread's elements, but those of lanes are neighbors."""
    text = """def k(out, x, y, K):
    at, inner = tl.arange(0, 64), tl.arange(0, 32)
    total = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 32):
        a = tl.load(x + at[:, None] * K + k + inner[None, :], mask=k + inner[None, :] < K, other=0.0)
        b = tl.load(y + (k + inner[:, None]) * 64 + at[None, :], mask=k + inner[:, None] < K, other=0.0)
        total = tl.dot(a, b, total)
    tl.store(out + at[:, None] * 64 + at[None, :], total)
"""
    types = {"out": "*fp32", "x": "*fp16", "y": "*fp16", "K": "i32"}
    module = kernels.module_of(kernels.source(text, types, ["out", "x", "y"]))
    code = compile_module(module, 4, capability, 3)
    x, y = (np.random.default_rng(0).integers(-4, 5, shape).astype(np.float16) for shape in ((64, 100), (100, 64)))
    report, (out, *_) = kernels.after(code, (1, 1, 1), [np.zeros((64, 64), np.float32), x, y, 100], "product")
    np.testing.assert_array_equal(out, x.astype(np.float32) @ y.astype(np.float32))
    assert "st.shared.b16" in code.ptx and report.total.bank_ways == report.total.shared


# --- programs


@jit
def magnitude_kernel(x: Any, out: Any, BLOCK: constexpr) -> None:
    place = tl.arange(0, BLOCK)
    tl.store(out + place, tl.abs(tl.load(x + place)))


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e5m2, np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_magnitude_changes_only_the_sign(dtype: Any) -> None:
    bits = np.arange(256, dtype=np.uint8) if np.dtype(dtype).itemsize == 1 else np.random.default_rng(1).bytes(2048)
    x = np.frombuffer(bytes(bits), dtype)[:256].copy()
    out = np.zeros_like(x)
    magnitude_kernel[(1,)](x, out, BLOCK=256, backend="ptx")
    unsigned = f"u{x.itemsize}"
    assert (out.view(unsigned) == x.view(unsigned) & (2 ** (8 * x.itemsize - 1) - 1)).all()


@jit
def add_kernel(x: Any, y: Any, out: Any, n: Any, BLOCK: constexpr) -> None:
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    tl.store(out + place, tl.load(x + place, inside) + tl.load(y + place, inside), inside)


def test_too_much_shared_memory() -> None:
    type = "tensor<256x256xi32>"
    text = f"""module {{
      tt.func public @k(%p: !tt.ptr<i32>) {{
        %a = tt.make_range {{start = 0 : i32, end = 65536 : i32}} : tensor<65536xi32>
        %b = tt.reshape %a : tensor<65536xi32> -> {type}
        %i = arith.constant dense<3> : {type}
        %g = tt.gather %b[%i] {{axis = 1 : i32}} : ({type}, {type}) -> {type}
        %q = tt.splat %p : !tt.ptr<i32> -> tensor<256x256x!tt.ptr<i32>>
        tt.store %q, %g : tensor<256x256x!tt.ptr<i32>>
        tt.return
      }}
    }}"""
    with pytest.raises(OutOfResources, match="shared memory, Required: 262144"):
        compile_module(parse_module(text), 4, 90)


@jit
def sums_kernel(a: Any, b: Any, c: Any, N: constexpr, K: constexpr) -> None:
    """`a @ b`, for square tiles whose rows are neighbors in memory."""
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    total = tl.zeros((N, N), tl.int32)
    for k in range(0, K, N):
        total = tl.dot(tl.load(a + i * K + k + j), tl.load(b + (k + i) * N + j), total)  # type: ignore[operator]
    tl.store(c + i * N + j, total)


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("size", [32, 64])
def test_factors_of_bytes_are_turned_by_words(
    size: int, warps: int, capability: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tensor cores need the second factor by columns: threads store four bytes of a column at once."""
    monkeypatch.setenv("MINI_TRITON_TARGET", f"cuda:{capability}")
    random = np.random.default_rng(size)
    a, b = (random.integers(-128, 128, shape, np.int8) for shape in ((size, 4 * size), (4 * size, size)))
    c = np.zeros((size, size), np.int32)
    kernel = sums_kernel[(1,)](a, b, c, N=size, K=4 * size, backend="ptx", num_warps=warps, num_stages=3)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))
    assert "st.shared.b8" not in kernel.asm["our_ptx"]


@pytest.mark.parametrize("stages", [5, 6, 7])
def test_slots_that_fit(stages: int) -> None:
    """A slot of this loop has 32 KiB, and 16 KiB more turn bytes. GPUs differ in what they have."""
    kernel = sums_kernel.warmup(np.int8, np.int8, np.int32, N=128, K=1024, num_stages=stages)
    for capability, slots in ((80, 4), (89, 2)):
        assert kernel.generate("ptx", capability).shared == (32 * slots + 16) * 1024


@jit
def extremes_kernel(x: Any, y: Any, out: Any, N: constexpr) -> None:
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + N + i, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 2 * N + i, tl.maximum(a, b))
    tl.store(out + 3 * N + i, tl.minimum(a, b))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_larger_and_the_smaller(dtype: Any) -> None:
    """Zeros have the sign, and NaN the place, that the NumPy back end gives them."""
    numbers = np.array([0.0, -0.0, 1.0, -1.0, 2.0, np.nan, np.inf, -np.inf], dtype)
    results = [np.zeros(4 * 64, dtype) for _ in range(2)]
    for backend, out in zip(("ptx", "numpy"), results, strict=True):
        extremes_kernel[(1,)](np.repeat(numbers, 8), np.tile(numbers, 8), out, N=64, backend=backend)
    ours, right = results
    np.testing.assert_array_equal(ours, right)
    np.testing.assert_array_equal(np.signbit(np.nan_to_num(ours)), np.signbit(np.nan_to_num(right)), err_msg="signs")


@jit
def assembled_kernel(x: Any, out: Any, BLOCK: constexpr) -> None:
    place = tl.arange(0, BLOCK)
    values = tl.load(x + place)
    first, second = tl.inline_asm_elementwise(
        "{ .reg .b32 %t; shl.b32 %t, $2, 1; xor.b32 $0, %t, $2; sub.s32 $1, %t, $2; }",
        "=r,=r,r",
        [values],
        (tl.int32, tl.int32),
        is_pure=True,
        pack=1,
    )
    tl.store(out + place, first)
    tl.store(out + BLOCK + place, second)


def test_inline_assembly() -> None:
    x, out = np.arange(256, dtype=np.int32), np.zeros(512, np.int32)
    assembled_kernel[(1,)](x, out, BLOCK=256, backend="ptx")
    assert (out == np.concatenate([2 * x ^ x, x])).all()


def test_assembler_of_real_triton_while_programs_import_ours() -> None:
    with substituted():
        assert assembler().exists()


def test_launch() -> None:
    x, out = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    kernel = add_kernel[(4,)](x, x, out, 1000, BLOCK=256, backend="ptx")
    assert (out == 2 * x).all()
    assert kernel.run.code[0] == kernel.asm["our_ptx"]


def test_texts_for_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made on first use, for any kernel: for the GPU that was compiled for last, otherwise for the target."""
    monkeypatch.setenv("MINI_TRITON_TARGET", "cuda:80")
    kernel = add_kernel.warmup(np.float32, np.float32, np.float32, 1000, BLOCK=256)
    assert not {"layouts", "our_ptx", "numba"} & set(kernel.asm)
    assert ".target sm_80" in kernel.asm["our_ptx"] and "loc(" not in kernel.asm["layouts"]
    kernel.generate("ptx", 90)
    assert ".target sm_90" in kernel.asm["our_ptx"]
    assert "prange" in kernel.asm["numba"]
    with pytest.raises(KeyError):
        kernel.asm["mlir"]


@jit
def found_kernel(x: Any, out: Any, wanted: Any, BLOCK: constexpr) -> None:
    place = tl.arange(0, BLOCK)
    label = tl.load(wanted)
    tl.store(out + place, tl.load(x + place) == label)
    tl.store(out + BLOCK + place, place == label)


@pytest.mark.parametrize("label", [0, 5, -1, 2**31, 2**32 + 5, -(2**31), -(2**63)])
def test_labels_are_compared_by_all_64_bits(label: int) -> None:
    """The rewrite `narrow` compares 32 bits, and asks once whether the label has more."""
    x, out = np.arange(64, dtype=np.int32) - 32, np.zeros(128, np.int8)
    found_kernel[(1,)](x, out, np.array([label]), BLOCK=64, backend="ptx")
    assert (out == (np.concatenate([x, np.arange(64)]) == label)).all()


@jit
def remainders(out: Any, rows: Any, n: Any, BLOCK: constexpr) -> None:
    index = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.int32)
    for k in range(n):
        total += index % rows + k
    tl.store(out + index, total)


@pytest.mark.parametrize(("rows", "n"), [(5, 3), (0, 0)], ids=["loop", "loop that does not run, divisor 0"])
def test_divisions_leave_loops(rows: int, n: int) -> None:
    out = np.full(64, -1, np.int32)
    made = remainders[(1,)](out, rows, n, BLOCK=64, backend="ptx")
    np.testing.assert_array_equal(out, n * (np.arange(64) % max(rows, 1)) + n * (n - 1) // 2)
    loop = re.search(r"^(\S+):\n(.*?)bra \1;", made.generate("ptx", 90).ptx, re.MULTILINE | re.DOTALL)
    assert loop and "add.s32" in loop[2] and "rem.s32" not in loop[2]


QUOTIENTS = """@triton.jit
def kernel(quotients, rests, x, D: tl.constexpr):
    at = tl.arange(0, 512)
    element = tl.load(x + at)
    tl.store(quotients + at, element // D)
    tl.store(rests + at, element % D)
"""


@pytest.mark.parametrize("divisor", [2, 3, 4, 7, 10, 641, 2**16, 2**30, 2**30 + 1, 2**31 - 1])
def test_divisions_by_constants_are_multiplications(divisor: int) -> None:
    numbers = [multiple * divisor + more for multiple in (-3, -2, -1, 0, 1, 2, 3) for more in (-1, 0, 1)]
    numbers += [-(2**31), 1 - 2**31, 2**31 - 1, (2**31 - 1) // divisor * divisor, -(2**31) // divisor * divisor]
    x = np.resize([n for n in numbers if -(2**31) <= n < 2**31], 512).astype(np.int32)
    quotients, rests = np.zeros_like(x), np.zeros_like(x)
    code = Kernel(QUOTIENTS, dict.fromkeys(("quotients", "rests", "x"), "*i32"), {"D": divisor})
    code.run(quotients, rests, x)
    expected = np.trunc(x / divisor).astype(np.int64)  # C's rule
    code.check("quotients", quotients, expected.astype(np.int32))
    code.check("rests", rests, (x - expected * divisor).astype(np.int32))
    assert not re.search(r"div\.|rem\.", code.code.ptx), code.code.ptx


MIXED = """@triton.jit
def kernel(out, x, first, second):
    at = tl.arange(0, 1024)
    tl.store(out + at, tl.load(x + at) ^ (first + 1) ^ second * 3)
"""


def test_uniform_parts_are_combined_first() -> None:
    """Each of a thread's eight elements needs one `xor`, and the two numbers need one."""
    code = Kernel(MIXED, {"out": "*i32", "x": "*i32", "first": "i32", "second": "i32"}, {})
    x = np.arange(1024, dtype=np.int32) * 12345
    out = np.zeros_like(x)
    code.run(out, x, 5, 7)
    code.check("out", out, x ^ 6 ^ 21)
    assert code.code.ptx.count("xor.b32") == 9, code.code.ptx


def test_most_registers_of_a_thread() -> None:
    made = remainders[(1,)](np.zeros(64, np.int32), 5, 3, BLOCK=64, backend="ptx", maxnreg=32)
    ptx = made.generate("ptx", 90).ptx
    assert ".maxnreg 32" in ptx and not triton.refusal_of_ptxas(ptx)
