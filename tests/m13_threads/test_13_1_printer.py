"""Task 13.1, the printer: NVIDIA's assembler accepts the text, and the emulator computes what the instructions mean."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Address, Instruction, Register
from mini_triton.backends.threads.ptx import line, print_kernel, spell

from tests.checks import calling
from tests.oracles import triton
from tests.support.m13_threads.probing import OUT, look

P, H, R, S, D = Register("pred", 0), Register("b16", 2), Register("b32", 3), Register("b32", 14), Register("b64", 1)


def written(asked: calling, expected: str, because: str = "") -> None:
    """Require a text; spaces do not matter."""
    __tracebackhide__ = True
    got = asked.succeeds(repr(expected))
    if not isinstance(got, str) or pieces(got) != pieces(expected):
        asked.fail(repr(expected), got, because)


def pieces(text: str) -> list[str]:
    """The words and signs of a PTX text."""
    return re.findall(r"[\w.%$]+|[^\s\w]", text)


@pytest.mark.parametrize(
    "operand, expected, because",
    [
        (P, "%p0", "the prefix of a register of kind pred is %p"),
        (H, "%h2", ""),
        (R, "%r3", ""),
        (D, "%d1", ""),
        (7, "7", "numbers are decimal"),
        (-7, "-7", ""),
        ("%tid.x", "%tid.x", "a string is written as it is"),
        ("0x3f800000", "0x3f800000", ""),
        (Address(D), "[%d1]", ""),
        (Address(D, 0), "[%d1]", ""),
        (Address(D, 24), "[%d1+24]", "the offset is a number of bytes"),
        (Address(D, -8), "[%d1+-8]", "PTX has a `+` before every offset"),
        (Address(R, 4), "[%r3+4]", "an address of shared memory has 32 bits"),
        ((R, S), "{%r3, %r14}", ""),
        ((R, S, R, S), "{%r3, %r14, %r3, %r14}", ""),
        ((R,), "%r3", "a vector of one register is written as the register"),
    ],
)
def test_operands(operand: Any, expected: str, because: str) -> None:
    written(calling(spell, operand), expected, because)


@pytest.mark.parametrize(
    "instruction, expected, because",
    [
        (Instruction("ret"), "ret;", ""),
        (Instruction("mov.u32", (R,), ("%tid.x",)), "mov.u32 %r3, %tid.x;", "a result comes before the operands"),
        (Instruction("add.s32", (R,), (S, 1)), "add.s32 %r3, %r14, 1;", ""),
        (Instruction("st.global.b32", (), (Address(D), R)), "st.global.b32 [%d1], %r3;", "a store has no result"),
        (Instruction("ld.global.v2.b32", (R, S), (Address(D),)), "ld.global.v2.b32 {%r3, %r14}, [%d1];", ""),
        (Instruction("mov.b64", (D,), ((R, S),)), "mov.b64 %d1, {%r3, %r14};", "an operand may be a vector, too"),
        (Instruction("bra", (), ("$L1",), P), "@%p0 bra $L1;", "only threads in which %p0 is true branch"),
        (Instruction("bra", (), ("$L1",), P, True), "@!%p0 bra $L1;", "only threads in which %p0 is false branch"),
        (Instruction("ld.global.b32", (R,), (Address(D, 4),), P), "@%p0 ld.global.b32 %r3, [%d1+4];", ""),
        (Instruction("ret", guard=P), "@%p0 ret;", "a guard may precede any instruction"),
    ],
)
def test_instructions(instruction: Instruction, expected: str, because: str) -> None:
    written(calling(line, instruction), expected, because)


def test_nvidias_assembler_accepts_the_text() -> None:
    emitter = Emitter(1)
    address = emitter.op("ld.param.b64", f"[{OUT}]")
    is_small = emitter.op("setp.lt.s32", emitter.op("mov.u32", "%tid.x"), -5)
    pair = emitter.new("b32"), emitter.new("b32")
    emitter.do("ld.global.v2.b32", Address(address, -8), results=pair, guard=is_small)
    emitter.do("st.global.b32", Address(address, 16), pair[1], guard=is_small, negated=True)
    emitter.do("st.global.b64", Address(address), emitter.op("mov.b64", pair))
    emitter.do("ret")
    text = print_kernel("k", ["b64"], emitter.lists[0], emitter.counts, 32, "sm_90")
    refusal = triton.refusal_of_ptxas(text)
    assert not refusal, f"NVIDIA's assembler refuses this kernel:\n{text}\n{refusal}"


STEPS = st.tuples(
    st.sampled_from(["add.s32", "sub.s32", "and.b32", "load", "split", "where", "where not"]),
    st.integers(0, 63),
    st.integers(0, 63),
    st.integers(-40, 40),
)


@given(steps=st.lists(STEPS, min_size=1, max_size=8))
def test_the_emulator_computes_what_instructions_mean(steps: list[tuple[str, int, int, int]]) -> None:
    """Each step computes with registers of earlier steps, or loads two neighbors from memory."""
    memory = np.arange(1000, 1064, dtype=np.int32)
    emitter = Emitter(1)
    registers = [emitter.op("mov.u32", "%tid.x")]
    expected = [np.arange(32)]
    middle = emitter.op("add.s64", emitter.op("ld.param.b64", "[k_param_1]"), 128)
    for opcode, one, other, number in steps:
        one, other = one % len(registers), other % len(registers)
        x, y = expected[one], expected[other]
        if opcode == "load":
            pair = emitter.new("b32"), emitter.new("b32")
            first = number // 3 * 2
            emitter.do("ld.global.v2.b32", Address(middle, 4 * first), results=pair)
            registers += pair
            expected += [np.full(32, memory[32 + first]), np.full(32, memory[32 + first + 1])]
        elif opcode == "split":
            both = emitter.op("mov.b64", (registers[one], registers[other]))
            emitter.do("mov.b64", both, results=(low := emitter.new("b32"), high := emitter.new("b32")))
            registers += [low, high]
            expected += [x, y]
        elif opcode.startswith("where"):
            condition, result = emitter.op("setp.lt.s32", registers[one], number), emitter.op("mov.b32", number)
            is_else = opcode == "where not"
            emitter.do("mov.b32", registers[other], results=(result,), guard=condition, negated=is_else)
            registers.append(result)
            expected.append(np.where((x < number) != is_else, y, number))
        else:
            registers.append(emitter.op(opcode, registers[one], number))
            meaning = {"add.s32": x + number, "sub.s32": x - number, "and.b32": x & number}
            expected.append(meaning[opcode])
    code = "\n".join(map(line, emitter.lists[0]))
    found, report = look(emitter, registers, [memory], ["b64"])
    assert not report.errors, f"{code}\n{report.errors[0]}"
    for register, right, got in zip(registers, expected, found[0].T.astype(np.uint32).astype(np.int32), strict=True):
        assert (got == right).all(), (
            f"{spell(register)} after\n{code}\n  expected  {right.tolist()}\n  got       {got.tolist()}"
        )
