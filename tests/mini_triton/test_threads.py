"""The back end "ptx": its PTX gives the results of a GPU, without races; its layouts are real Triton's."""

from __future__ import annotations

import ast
import functools
import math
import random
import re
from collections.abc import Sequence
from typing import Any

import mini_triton.language as tl
import ml_dtypes
import numpy as np
import pytest
from mini_triton.backends import layouts as theirs
from mini_triton.backends import ptx
from mini_triton.backends.threads import swizzles
from mini_triton.backends.threads.assembler import assembler
from mini_triton.backends.threads.back_end import Code, compile_module
from mini_triton.backends.threads.barriers import add_barriers
from mini_triton.backends.threads.choice import Choice
from mini_triton.backends.threads.instructions import Instruction, Register, Room, Unsupported
from mini_triton.backends.threads.layouts import Layout, apply, blocked, compose, invert, is_independent
from mini_triton.emulator import emulate
from mini_triton.emulator.back_end import as_argument
from mini_triton.errors import OutOfResources
from mini_triton.given.substitution import substituted
from mini_triton.ir.parser import parse_module
from mini_triton.language.constexpr import constexpr
from mini_triton.runtime.jit import jit
from mini_triton.transforms.manager import optimize

from tests.corpus import CASES, named
from tests.corpus.cases import Case
from tests.oracles import modules, triton
from tests.oracles.triton import Source
from tests.support import sources
from tests.support.emulator import compiled, judge, launch
from tests.support.m05_frontend.random_kernels import launch as random_launch
from tests.support.m05_frontend.random_kernels import write
from tests.support.m06_codegen import closeness, numpy_backend

REFUSED = {"library": "tt.extern_elementwise pow"}
"""Cases that the back end refuses, and the operation that its message names."""


@functools.cache
def code_of(case: Case, warps: int = 4) -> Code:
    module = parse_module(modules.text(case))
    optimize(module)
    return compile_module(module, warps, 90)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_corpus(case: Case) -> None:
    if str(case) in REFUSED:
        with pytest.raises(Unsupported, match=REFUSED[str(case)]):
            code_of(case)
        return
    report, after = launch(case, code_of(case).ptx, code_of(case).shared)
    judge(case, after)
    assert not report.errors, "\n".join(map(str, report.errors))


@pytest.mark.parametrize("warps", [1, 2, 8])
@pytest.mark.parametrize("case", named(*"arg_reductions scan_axes transpose batched_dot".split()), ids=str)
def test_other_numbers_of_warps(case: Case, warps: int) -> None:
    code = code_of(case, warps)
    report, after = launch(case, code.ptx, code.shared)
    judge(case, after)
    assert not report.errors, "\n".join(map(str, report.errors))
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


ACCESS = re.compile(r"(tt\.load|tt\.store|ttg\.async_copy_global_to_local) .*?tensor<((?:\d+x)+)!tt\.ptr<\w+>, (#\w+)>")


def owners(layout: Layout, shape: tuple[int, ...]) -> np.ndarray:
    """The first thread that holds each element."""
    found = np.zeros(shape, int)
    for thread in reversed(range(1 << len(layout.threads))):
        for register in layout.distinct:
            found[layout.index(register, thread)] = thread
    return found


@pytest.mark.parametrize(
    "case", named(*"add_kernel rms_norm matmul_kernel transpose stencil reduce_axes".split()), ids=str
)
def test_layouts_and_widths_are_real_tritons(case: Case) -> None:
    text = compiled(case, "sm_80")
    widths = {(kind.replace("copy", "load"), size) for kind, size in ptx.accesses(text.ptx)}
    assert set(ptx.accesses(code_of(case).ptx)) == widths
    known = theirs.layouts(text.ttgir)
    expected = set()
    for name, shape, layout in ACCESS.findall(text.ttgir):
        sizes = tuple(int(size) for size in shape.split("x") if size)
        expected.add((name == "tt.store", known[layout].owners(sizes).tobytes()))
    module = parse_module(modules.text(case))
    choice = Choice(module, 4)
    for operation, access in choice.accesses.items():
        *own, mask = access.limits
        if mask >= min(own):  # real Triton's layouts ignore masks, which only narrow its accesses
            shape = operation.operands[0].type.shape  # type: ignore[union-attr]
            held = owners(choice.of_access(operation), shape).astype(np.int64)
            assert (operation.name == "tt.store", held.tobytes()) in expected


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


# --- linear functions


def test_inverse() -> None:
    chosen = random.Random(1)
    for _ in range(50):
        columns = [1 << bit for bit in range(6)]
        for _ in range(20):
            one, other = chosen.sample(range(6), 2)
            columns[one] ^= columns[other]
        inverse = invert(tuple(columns))
        assert compose(inverse, tuple(columns)) == tuple(1 << bit for bit in range(6))
        assert all(apply(inverse, apply(tuple(columns), number)) == number for number in range(64))
    with pytest.raises(ValueError, match="no inverse"):
        invert((1, 1))


def test_blocked() -> None:
    layout = blocked((16, 64), (1, 0), {1: 4}, 4)
    assert layout.index(3, 1) == (0, 7)
    assert layout.index(0, 16) == (1, 0)
    assert layout.without(1).idle == 0b1111 | 0
    assert blocked((8,), (0,), {}, 4).idle == 0b1111000


def is_free_of_conflicts(columns: Sequence[int], size: int, vector: int) -> bool:
    """Whether lanes whose bits have these places as columns access a bank once, with `vector` elements of a lane."""
    together = columns[: int(math.log2(swizzles.LINE // max(swizzles.WORD, size * vector)))]
    return is_independent([place * size % swizzles.LINE // swizzles.WORD for place in together if place])


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_swizzles_avoid_bank_conflicts(size: int) -> None:
    chosen = random.Random(size)
    for _ in range(200):
        shape = (1 << chosen.randint(4, 7), 1 << chosen.randint(4, 7))
        pair = [
            blocked(shape, chosen.choice(((0, 1), (1, 0))), {axis: 1 << chosen.randint(0, 3) for axis in (0, 1)}, 4)
            for _ in range(2)
        ]
        flat = [layout.flat(shape) for layout in pair]
        bits = (shape[0] * shape[1]).bit_length() - 1
        places = swizzles.places(flat[0], flat[1], bits, size)
        inverse = invert(places)
        vector = 1 << len(swizzles.shared_registers(flat[0], flat[1], size))
        for _, lanes, _ in flat:
            if size * vector >= swizzles.WORD:
                assert is_free_of_conflicts(compose(inverse, lanes), size, vector), (shape, pair)


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


# --- barriers


def access(start: int, writes: bool, group: int) -> Instruction:
    return Instruction("st.shared.b32" if writes else "ld.shared.b32", room=Room(start, start + 64, writes, group))


def opcodes(*instructions: Instruction) -> list[str]:
    return [instruction.opcode.partition(".")[0] for instruction in add_barriers(instructions)]


def test_barriers() -> None:
    store, load, next_store = access(0, True, 1), access(0, False, 2), access(0, True, 3)
    assert opcodes(store, store, load, load) == ["st", "st", "bar", "ld", "ld"]
    assert opcodes(store, access(64, False, 2)) == ["st", "ld"]
    assert opcodes(store, load, next_store) == ["st", "bar", "ld", "bar", "st"]
    head, back = Instruction("label", operands=("A",)), Instruction("bra", operands=("A",), guard=Register("pred", 0))
    assert opcodes(head, store, load, back) == ["label", "bar", "st", "bar", "ld", "bra"]
    assert opcodes(store, head, load, back) == ["st", "label", "bar", "ld", "bra"]


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
