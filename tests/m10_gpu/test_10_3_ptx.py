"""Task 10.3: the width of memory accesses. The judge is NVIDIA's assembler: its machine code has the same accesses."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.page import sass_accesses
from mini_triton.backends.ptx import accesses

from tests.checks import described
from tests.oracles import triton

KERNEL = """import triton
import triton.language as tl


@triton.jit
def copy(out, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n).to(out.dtype.element_ty), mask=at < n)
"""
PAIRS = (("fp32", "fp32"), ("fp16", "fp32"), ("fp64", "fp16"), ("i8", "i8"), ("i64", "i64"), ("i16", "bf16"))
ACCESS = st.tuples(
    st.sampled_from(["ld", "st"]), st.sampled_from(["", "v2.", "v4."]), st.sampled_from(["b", "f", "u", "s"]),
    st.sampled_from([8, 16, 32, 64]), st.sampled_from(["", "L1::evict_last.", "relaxed.gpu."]),
)  # fmt: skip


def counted(ptx: str) -> list[tuple[tuple[str, int], int]]:
    """The accesses, in an order that does not depend on their locations."""
    return sorted(accesses(ptx).items())


@pytest.mark.parametrize(
    "divisible, target",
    [(("out", "x", "n"), "sm_80"), (("out", "x", "n"), "sm_90"), (("x", "n"), "sm_90"), ((), "sm_80")],
    ids=str,
)
def test_same_accesses_as_machine_code(divisible: tuple[str, ...], target: str) -> None:
    described("accesses('')", counted, "").returns([])
    sources = [
        triton.Source(KERNEL, "copy", {"out": f"*{out}", "x": f"*{x}", "n": "i32", "BLOCK": "constexpr"},
                      {"BLOCK": 1024}, divisible, target)
        for x, out in PAIRS
    ]  # fmt: skip
    for source, made in zip(sources, triton.frontends(sources, lower=True), strict=True):
        assert made, made.diagnostic
        expected = sass_accesses(triton.disassembled(made.compiled.cubin))
        words = f"accesses(PTX of copy, {source.signature['x']} to {source.signature['out']}, {divisible=})"
        call = described(words, counted, made.compiled.ptx)
        call.returns(sorted(expected.items()), because="the assembler turns each access into one instruction")


@given(st.lists(ACCESS, max_size=6))
def test_each_kind(instructions: list[tuple[str, str, str, int, str]]) -> None:
    lines, expected = [], Counter[tuple[str, int]]()
    for name, many, letter, bits, hint in instructions:
        if many == "v4." and bits == 64:
            continue  # the PTX has no such access
        lines.append(f"\t@%p1 {name}.global.{hint}{many}{letter}{bits} ...;")
        expected["load" if name == "ld" else "store", {"": 1, "v2.": 2, "v4.": 4}[many] * bits // 8] += 1
    ptx = "\n".join([".version 8.0", "\tld.param.b64 %rd1, [k_param_0];", *lines, "\tst.shared.v4.b32 [%r1], {};"])
    described(f"accesses({ptx!r})", counted, ptx).returns(sorted(expected.items()), because="only global memory counts")


@given(st.lists(st.sampled_from([("cg", 16, "0x10"), ("ca", 4, "0x4"), ("ca", 8, "8"), ("cg", 16, "16")]), max_size=5))
def test_copies_to_shared_memory(copies: list[tuple[str, int, str]]) -> None:
    lines = [f"\tcp.async.{kind}.shared.global [ %r1 + 0 ], [ %rd2 + 0 ], {text};" for kind, _, text in copies]
    ptx = "\n".join([*lines, "\tcp.async.commit_group;", "\tcp.async.wait_group 0;"])
    expected = Counter(("copy", size) for _, size, _ in copies)
    described(f"accesses({ptx!r})", counted, ptx).returns(sorted(expected.items()))
