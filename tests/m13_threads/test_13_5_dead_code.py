"""Task 13.5: which instructions of a thread are needed. The judge is NumPy, on the graph of readers and writers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.dead_code import drop_dead
from mini_triton.backends.threads.instructions import Address, Instruction, Register
from mini_triton.backends.threads.ptx import line

from tests.checks import described

R = [Register("b32", number) for number in range(8)]
P, OUT = Register("pred", 0), Register("b64", 0)


def move(target: int, value: int) -> Instruction:
    return Instruction("mov.b32", (R[target],), (value,))


def add(target: int, first: int, second: int, guard: Register | None = None) -> Instruction:
    return Instruction("add.s32", (R[target],), (R[first], R[second]), guard)


def store(number: int, guard: Register | None = None) -> Instruction:
    return Instruction("st.global.b32", (), (Address(OUT), R[number]), guard)


def text(instructions: list[Instruction]) -> str:
    return "\n".join(map(line, instructions))


def keeps(instructions: list[Instruction], numbers: list[int], because: str) -> None:
    """Require that the instructions with these numbers remain, in order."""
    __tracebackhide__ = True
    asked = described(f"drop_dead of\n{text(instructions)}\n", drop_dead, instructions)
    got = asked()
    expected = [instructions[number] for number in numbers]
    if list(got) != expected:
        asked.fail(f"\n{text(expected)}", f"\n{text(list(got))}", because)


def test_results_that_nobody_reads() -> None:
    keeps([move(0, 1), move(1, 2), store(1)], [1, 2], "nobody reads %r0")
    keeps([move(0, 1), add(1, 0, 0), add(2, 0, 1)], [], "no instruction has an effect")
    keeps([move(0, 1), add(1, 0, 0), add(2, 1, 1), add(3, 0, 0), store(2)], [0, 1, 2, 4], "only %r3 is in vain")
    keeps([], [], "there is nothing to keep")


def test_operands_of_every_kind() -> None:
    address = Instruction("mov.b64", (OUT,), (64,))
    pair = Instruction("st.global.v2.b32", (), (Address(OUT, 8), (R[0], R[1])))
    keeps([address, move(0, 1), move(1, 2), move(2, 3), pair], [0, 1, 2, 4], "an address and a vector have registers")
    guard = Instruction("setp.lt.s32", (P,), (R[0], 7))
    keeps([move(0, 1), guard, move(1, 2), store(1, P)], [0, 1, 2, 3], "a guard is read")


def test_effects() -> None:
    value = (R[0],)
    atomic = Instruction("atom.relaxed.gpu.global.add.u32", value, (Address(OUT), R[1]))
    shuffle = Instruction("shfl.sync.bfly.b32", value, (R[1], 1, 31, -1))
    volatile = Instruction("ld.volatile.global.b32", value, (Address(OUT),))
    barrier, end = Instruction("bar.sync", (), (0,)), Instruction("ret")
    for instruction in (atomic, shuffle, volatile, barrier, end):
        keeps([move(1, 5), move(2, 5), instruction], [0, 2] if R[1] in instruction.reads else [2], "it has an effect")


def test_all_writers_of_a_register() -> None:
    guarded = Instruction("ld.global.b32", (R[0],), (Address(OUT),), P)
    keeps([move(0, 7), guarded, store(0)], [0, 1, 2], "where the guard is false, %r0 keeps 7")
    keeps([move(0, 7), guarded, move(1, 2), store(1)], [2, 3], "nobody reads %r0")


def test_loops() -> None:
    head, back = Instruction("label", (), ("$L1",)), Instruction("bra", (), ("$L1",), P)
    count, test = add(0, 0, 7), Instruction("setp.lt.s32", (P,), (R[0], 9))
    start = [move(0, 0), move(1, 0), move(2, 3), head]
    keeps(
        [*start, count, add(1, 1, 0), test, back],
        [0, 3, 4, 6, 7],
        "the loop adds to %r1 only for itself; nobody writes %r2's users",
    )
    keeps(
        [*start, store(2), add(2, 1, 1), count, test, back],
        [0, 1, 2, 3, 4, 5, 6, 7, 8],
        "the loop leads back to the instruction that stores %r2, so a writer that stands below it is needed",
    )


def test_place_and_order_stay() -> None:
    instructions = [move(3, 1), move(2, 1), store(2), store(3), move(0, 1), store(2)]
    keeps(instructions, [0, 1, 2, 3, 5], "needed instructions stay in order, and equal ones stay apart")


@given(
    st.lists(
        st.tuples(st.sampled_from("mas"), *[st.integers(0, 7)] * 3, st.booleans()),
        max_size=25,
    )
)
def test_what_an_effect_depends_on(drawn: list[tuple[str, int, int, int, bool]]) -> None:
    make = {"m": lambda a, b, c, g: move(a, b), "a": add, "s": lambda a, b, c, g: store(a, g)}
    instructions = [make[kind](a, b, c, P if guarded else None) for kind, a, b, c, guarded in drawn]
    count = len(instructions)
    reads = np.eye(count, dtype=bool)
    for i, reader in enumerate(instructions):
        for j, writer in enumerate(instructions):
            reads[i, j] |= any(register in reader.reads for register in writer.results)
    reaches = np.linalg.matrix_power(reads.astype(object), max(1, count)) if count else reads
    effects = [i for i in range(count) if instructions[i].has_effect]
    needed = [j for j in range(count) if any(reaches[i, j] for i in effects)]
    keeps(instructions, needed, "a chain of readers leads from each needed instruction to an effect")


def test_long_chains() -> None:
    chain = [Instruction("add.s32", (Register("b32", n + 1),), (Register("b32", n), 1)) for n in range(20_000)]
    end = Instruction("st.global.b32", (), (Address(OUT), Register("b32", 20_000)))
    asked = described("drop_dead of a chain of 20000 sums and a store", drop_dead, [*chain, end])
    got = len(asked())
    if got != 20_001:
        asked.fail("20001 instructions", f"{got} instructions", "a long kernel must not be too deep for Python")
