"""Task 13.10: how elements are combined, and how lanes exchange registers. The judges are the emulator and NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Register, Unsupported
from mini_triton.backends.threads.ptx import print_kernel
from mini_triton.backends.threads.reductions import shuffle
from mini_triton.ir.core import Block

from tests.checks import calling, described
from tests.oracles import triton
from tests.support.m13_threads.probing import look, threads_of

# --- shuffles

SCALE = {"pred": 1, "b16": 40503, "b32": 2654435761, "b64": 0x9E3779B97F4A7C15}


def held(emitter: Emitter, kind: str) -> tuple[Register, np.ndarray]:
    """A register of some kind that differs from thread to thread, and its bits in each thread."""
    thread = emitter.op("mov.u32", "%tid.x")
    numbers = np.arange(32 * emitter.warps, dtype=np.uint64)
    if kind == "pred":
        middle = emitter.op("and.b32", emitter.op("xor.b32", thread, emitter.op("shr.u32", thread, 2)), 1)
        return emitter.op("setp.ne.s32", middle, 0), (numbers ^ numbers >> np.uint64(2)) & np.uint64(1)
    if kind == "b64":
        wide = emitter.op("cvt.u64.u32", thread)
        return emitter.op("mul.lo.s64", wide, SCALE[kind]), numbers * np.uint64(SCALE[kind])
    found = emitter.op("mul.lo.s32", thread, SCALE[kind])
    mask = np.uint64(2 ** int(kind[1:]) - 1)
    register = found if kind == "b32" else emitter.op("cvt.u16.u32", found)
    return register, numbers * np.uint64(SCALE[kind]) & mask


def sources(mode: str, distance: int, count: int) -> list[int]:
    """The thread whose register each thread gets."""
    found = []
    for thread in range(count):
        warp, lane = divmod(thread, 32)
        other = {"up": lane - distance, "down": lane + distance, "bfly": lane ^ distance}[mode]
        found.append(32 * warp + (other if 0 <= other < 32 else lane))
    return found


def check_shuffle(mode: str, kind: str, distance: int) -> int:
    """Compare all threads of two warps. Returns how many instructions shuffle."""
    emitter = Emitter(2)
    register, bits = held(emitter, kind)
    call = described(
        f"shuffle(threads, {mode!r}, a {kind} register, {distance})", shuffle, emitter, mode, register, distance
    )
    result = call()
    calling(getattr, result, "kind").returns(kind, because=f"the other lane's register is also a {kind}")
    shuffles = [i for i in emitter.lists[0] if i.opcode.startswith("shfl")]
    for instruction in shuffles:
        assert instruction.operands[-1] == -1, f"{call}: all lanes take part, so the last operand is -1"
    found, report = look(emitter, [result])
    assert not report.errors, f"{call}: {report.errors[0]}"
    for thread, (got, source) in enumerate(zip(found[0, :, 0], sources(mode, distance, 64), strict=True)):
        if got != bits[source]:
            call.fail(f"{bits[source]:#x} in thread {thread}, from thread {source}", f"{got:#x}")
    return len(shuffles)


@pytest.mark.parametrize("mode", ["bfly", "up", "down"])
def test_neighbors(mode: str) -> None:
    assert check_shuffle(mode, "b32", 1) == 1, "one instruction shuffles 32 bits"


@pytest.mark.parametrize("kind", ["b16", "b64", "pred"])
def test_other_kinds_of_registers(kind: str) -> None:
    count = check_shuffle("bfly", kind, 4)
    needed = 2 if kind == "b64" else 1
    assert count == needed, f"a {kind} register needs {needed} shuffles of 32 bits, not {count}"


@given(
    mode=st.sampled_from(["bfly", "up", "down"]),
    kind=st.sampled_from(["b32", "b16", "b64", "pred"]),
    distance=st.integers(0, 31),
)
def test_any_distance(mode: str, kind: str, distance: int) -> None:
    check_shuffle(mode, kind, distance)


@pytest.mark.parametrize("kind", ["b16", "b32", "b64", "pred"])
def test_the_assembler_accepts_shuffles(kind: str) -> None:
    emitter = Emitter(1)
    register, _ = held(emitter, kind)
    shuffle(emitter, "down", register, 3)
    refusal = triton.refusal_of_ptxas(print_kernel("k", [], emitter.lists[0], emitter.counts, 32, "sm_90"))
    assert not refusal, f"NVIDIA's assembler refuses the shuffle of a {kind} register:\n{refusal}"


# --- blocks that combine elements


def inlined(lines: str, returned: str) -> calling:
    """The call of `inline` for a block with arguments %a, %b, %c, %d, which are 2, 3, 5 and 7.

    From outside, the block knows %n, which is 11, and %k, which is 1000.
    """
    text = f"""module {{ tt.func public @k(%out: !tt.ptr<i64>, %n: i32) {{
      %k = arith.constant 1000 : i32
      %x = tt.splat %n : i32 -> tensor<1xi32>
      %r:2 = "tt.reduce"(%x, %x) <{{axis = 0 : i32}}> ({{
      ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
        {lines}
        tt.reduce.return {returned} : i32, i32
      }}) : (tensor<1xi32>, tensor<1xi32>) -> (i32, i32)
      tt.return }} }}"""
    threads, values = threads_of(text, 1)
    outer = values[0].parent_block
    assert isinstance(outer, Block)
    (block,) = (operation.regions[0].block for operation in outer.operations if operation.name == "tt.reduce")
    arguments = [threads.bits("b32", number) for number in (2, 3, 5, 7)]

    def inline() -> tuple[int, ...]:
        found, report = look(threads, threads.inline(block, arguments), [11], ["b32"])
        assert not report.errors
        (row,) = {tuple(row) for row in found[0].tolist()}
        return row

    return described(
        f"inline(block, registers of 2, 3, 5, 7), where %n is 11, for the block\n{lines}\nreturn {returned}\n",
        inline,
    )


def test_one_operation() -> None:
    inlined("%s = arith.addi %a, %c : i32", "%s, %s").returns((7, 7))


def test_arguments_and_results_in_order() -> None:
    inlined("%s = arith.subi %c, %a : i32\n%t = arith.subi %d, %s : i32", "%s, %t").returns((3, 4))
    inlined("%s = arith.subi %c, %a : i32\n%t = arith.subi %d, %s : i32", "%t, %s").returns((4, 3))


def test_a_block_can_return_its_arguments() -> None:
    inlined("", "%d, %a").returns((7, 2))


def test_constants() -> None:
    inlined("%m = arith.constant 13 : i32\n%s = arith.muli %b, %m : i32", "%m, %s").returns((13, 39))


def test_numbers_from_outside() -> None:
    inlined("%s = arith.addi %b, %k : i32", "%s, %n").returns((1003, 11))


def test_conditions() -> None:
    lines = "%m = arith.cmpi slt, %c, %d : i32\n%s = arith.select %m, %b, %a : i32"
    inlined(lines, "%s, %c").returns((3, 5))


@pytest.mark.parametrize("operation", ["tt.get_program_id x", "tt.get_num_programs y"])
def test_only_constants_and_elementwise_operations(operation: str) -> None:
    name = operation.split()[0]
    inlined(f"%s = {operation} : i32", "%s, %s").raises(Unsupported, name, "inside a combination")


def test_no_loops_or_branches() -> None:
    lines = """%m = arith.cmpi slt, %c, %d : i32
      %s = scf.if %m -> (i32) { scf.yield %a : i32 } else { scf.yield %b : i32 }"""
    inlined(lines, "%s, %s").raises(Unsupported, "scf.if", "inside a combination")
