"""Threads: layouts, instructions as data, and PTX, which the reference's emulator runs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask


def questions(random: Random) -> Iterator[Question]:
    yield from who_holds_what(random)
    yield from one_thread(random)
    yield from threads_together(random)


def who_holds_what(random: Random) -> Iterator[Question]:
    """13.1 to 13.4."""
    numbers = [random.randrange(100) for _ in range(8)]
    yield ask(
        "13.1",
        "instructions as text, and a vector addition",
        """
        from mini_triton.backends.threads.by_hand import kernel
        from mini_triton.backends.threads.instructions import Address, Instruction, Register
        from mini_triton.backends.threads.ptx import line, spell
        def text(found):
            return "".join(found.split())
        registers = [Register(kind, number) for kind, number in REGISTERS]
        condition, address = Register("pred", NUMBERS[0]), Address(Register("b64", NUMBERS[1]), NUMBERS[2] - 50)
        operands = [*registers, address, address._replace(offset=0), NUMBERS[3], "%tid.x", tuple(registers), tuple(registers[:1])]
        result = [text(spell(operand)) for operand in operands]
        for count in range(4):
            for guard, negated in ((None, False), (condition, False), (condition, True)):
                made = Instruction("op.b32", tuple(registers[:count]), tuple(operands[count:]), guard, negated)
                result.append(text(line(made)))
        result = [result, kernel(WARPS)]
        """,
        f"""
        import numpy as np
        from mini_triton.emulator import emulate
        texts, ptx = given
        result = [texts]
        for size in {random.sample(range(1, 400), 3)!r}:
            x, y = np.random.default_rng(size).normal(size=(2, size)).astype(np.float32)
            out = np.zeros(size, np.float32)
            report = emulate(ptx, (5, 1, 1), [x, y, out, max(0, size - {random.randrange(9)})])
            result += [out, len(report.errors)]
        """,
        REGISTERS=[(random.choice(("b16", "b32", "b64", "pred")), number) for number in random.sample(range(99), 4)],
        NUMBERS=numbers,
        WARPS=random.choice((1, 2, 4)),
    )  # fmt: skip


def one_thread(random: Random) -> Iterator[Question]:
    """13.5 to 13.8."""
    yield from ()


def threads_together(random: Random) -> Iterator[Question]:
    """13.9 to 13.13."""
    yield from ()
