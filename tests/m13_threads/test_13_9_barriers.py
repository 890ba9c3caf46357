"""Task 13.9: barriers. The judges are a search for paths, and the emulator, which reports races."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.barriers import add_barriers, collide, is_safe
from mini_triton.backends.threads.instructions import Instruction, Register, Room
from mini_triton.errors import Loc

from tests.checks import calling, described, one_in
from tests.support.m13_threads.sharing import Program, Written, listing, programs, steps, unsafe

GUARD = Register("pred", 0)


def write(start: int = 0, size: int = 64, group: int = 1) -> Instruction:
    return Instruction("st.shared.b32", room=Room(start, start + size, True, group))


def read(start: int = 0, size: int = 64, group: int = 2) -> Instruction:
    return Instruction("ld.shared.b32", room=Room(start, start + size, False, group))


def label(name: str) -> Instruction:
    return Instruction("label", operands=(name,))


def bra(name: str, guard: Register | None = GUARD) -> Instruction:
    return Instruction("bra", operands=(name,), guard=guard)


BARRIER = Instruction("bar.sync", operands=(0,))
OTHER = Instruction("add.s32", (Register("b32", 0),), (Register("b32", 0), 1))


def safety(instructions: Sequence[Instruction], barriers: Sequence[int] = ()) -> calling:
    words = f"is_safe(instructions, {set(barriers) or '()'}) for the instructions\n{listing(instructions)}\n"
    return described(words, is_safe, instructions, set(barriers))


def added(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The learner's result, which contains the instructions and, before accesses, barriers."""
    given = list(instructions)
    call = described(f"add_barriers(instructions) for the instructions\n{listing(given)}\n", add_barriers, given)
    result = call()
    assert len(given) == len(instructions), "add_barriers returns a new list, and leaves the given one as it is"
    left = list(instructions)
    for number, instruction in enumerate(result):
        if left and instruction is left[0]:
            left.pop(0)
            continue
        following = result[number + 1] if number + 1 < len(result) else None
        if instruction.opcode != "bar.sync" or following is None or not following.room:
            call.fail("all instructions in order, and a barrier only just before an access", listing(result, [number]))
        wanted = Instruction("bar.sync", operands=(0,), place=following.place)
        if instruction != wanted:
            call.fail(f"the barrier {wanted}", instruction)
    if left:
        call.fail(f"all instructions; {left[0].opcode} is missing", listing(result))
    return result


def names(instructions: Sequence[Instruction]) -> str:
    """Instructions as words, such as "write bar read"."""
    short = {"st": "write", "ld": "read"}
    opcodes = (instruction.opcode.partition(".")[0] for instruction in instructions)
    return " ".join(short.get(opcode, opcode) for opcode in opcodes)


# --- two accesses


def rooms(*instructions: Instruction) -> list[Room]:
    return [instruction.room for instruction in instructions if instruction.room]


def test_different_bytes_never_collide() -> None:
    (room,) = rooms(write(64))
    calling(collide, room, rooms(read(0))).returns(False, because="byte 64 is the first that is not read")
    calling(collide, room, rooms(read(128))).returns(False, because="byte 127 is the last that is written")


@pytest.mark.parametrize("start, size", [(0, 65), (127, 64), (80, 8), (0, 256), (64, 64)])
def test_one_common_byte_suffices(start: int, size: int) -> None:
    (room,) = rooms(write(64))
    calling(collide, room, rooms(read(start, size))).returns(True)
    (other,) = rooms(read(start, size))
    calling(collide, other, [room]).returns(True, because="it does not matter which access is first")


def test_reads_never_collide() -> None:
    (room,) = rooms(read(group=1))
    calling(collide, room, rooms(read(group=2))).returns(False)


def test_writes_collide() -> None:
    (room,) = rooms(write(group=1))
    calling(collide, room, rooms(write(group=2))).returns(True, because="which of the two numbers stays is not defined")


def test_a_group_does_not_collide_with_itself() -> None:
    (room,) = rooms(write(group=5))
    calling(collide, room, rooms(read(group=5))).returns(
        False, because="in a group, no thread accesses the bytes of another"
    )


def test_any_of_many() -> None:
    (room,) = rooms(read(group=9))
    calling(collide, room, []).returns(False)
    calling(collide, room, rooms(read(), write(256), write(0, 4), read())).returns(True)


# --- whether barriers suffice


def test_code_without_branches() -> None:
    safety([OTHER]).returns(True)
    safety([write(), OTHER, read()]).returns(False)
    safety([write(), BARRIER, read()]).returns(True)
    safety([write(), read()], [1]).returns(True, because="there is a barrier before instruction 1")
    safety([write(), read()], [0]).returns(False, because="before instruction 0, nobody has written yet")
    safety([write(), BARRIER, read(), write(group=3)]).returns(False, because="the read may still be going on")


def test_a_barrier_ends_all_accesses_before_it() -> None:
    safety([write(0, 8), write(8, 8), BARRIER, read(0, 8), read(8, 8)]).returns(True)
    safety([write(0, 8), BARRIER, write(8, 8), read(0, 8), read(8, 8)]).returns(False)


def test_branches() -> None:
    skipped = [write(), bra("end"), BARRIER, label("end"), read()]
    safety(skipped).returns(False, because="a path passes the barrier by")
    safety([write(), BARRIER, bra("end"), OTHER, label("end"), read()]).returns(True)
    safety([bra("end"), write(), label("end"), read()]).returns(False, because="a path continues after the branch")
    other = [bra("else"), write(), bra("end", None), label("else"), read(), label("end")]
    safety(other).returns(True, because="no path has both accesses")
    safety([*other, read(group=3)]).returns(False, because="one path has written")


def test_no_path_passes_a_branch_without_a_guard() -> None:
    safety([write(), bra("end", None), read(), label("end")]).returns(True)
    safety([bra("end", None), write(), read(), label("end")]).returns(False, because="a path can begin at the write")


def test_loops() -> None:
    around = [label("head"), read(), write(), bra("head")]
    safety(around, [2]).returns(False, because="the next iteration reads what this one writes")
    safety(around, [1, 2]).returns(True)
    safety([label("head"), write(), bra("head")]).returns(True, because="a group does not collide with itself")
    inside = [label("a"), read(0), label("b"), read(64), bra("b"), write(0, 128), bra("a")]
    safety(inside, [5]).returns(False, because="the next iteration of the outer loop reads")
    safety(inside, [1, 5]).returns(True)


def test_news_travel_around_many_loops() -> None:
    """The write reaches the read only after each loop has been entered again, the last first."""
    heads, backs = [label(f"{number}") for number in range(4)], [bra(f"{number}") for number in range(4)]
    mixed = [heads[0], read(), heads[1], backs[0], heads[2], backs[1], heads[3], backs[2], BARRIER, write(), backs[3]]
    safety(mixed).returns(False, because="four branches lead back to the read")


@given(program=programs, seed=st.sets(st.integers(0, 30), max_size=8))
def test_random_programs_with_random_barriers(program: Program, seed: set[int]) -> None:
    instructions = steps(Written(program).instructions)
    barriers = [number for number in sorted(seed) if number < len(instructions) and instructions[number].room]
    found = unsafe(instructions, barriers)
    path = f"a path leads from {found[0]} to {found[1]} without a barrier" if found else "a barrier is on every path"
    safety(instructions, barriers).returns(found is None, because=path)


# --- where barriers are added


@pytest.mark.parametrize(
    "instructions, wanted",
    [
        ([OTHER, write(), OTHER], "add write add"),
        ([write(), read()], "write bar read"),
        ([write(), write(64), read(0, 128), read(64)], "write write bar read read"),
        ([write(), OTHER, read(64)], "write add read"),
        ([write(), BARRIER, read()], "write bar read"),
        ([write(), read(), write(group=3)], "write bar read bar write"),
        ([write(), read(), write(), read()], "write bar read bar write bar read"),
        ([label("a"), write(), read(), bra("a")], "label bar write bar read bra"),
        ([write(), label("a"), read(), bra("a")], "write label bar read bra"),
        ([bra("a"), write(), bra("b", None), label("a"), label("b"), read()], "bra write bra label label bar read"),
    ],
)
def test_simple_code(instructions: Sequence[Instruction], wanted: str) -> None:
    got = names(added(instructions))
    assert got == wanted, f"{names(instructions)} should become\n  {wanted}, not\n  {got}"


def test_a_barrier_belongs_to_the_line_of_the_access() -> None:
    store, load = write(), read()
    store.place, load.place = Loc("kernel.py", 3, 5), Loc("kernel.py", 4, 9)
    _, barrier, _ = added([store, load])
    calling(getattr, barrier, "place").returns(load.place)


def test_a_later_barrier_can_make_an_earlier_one_useless() -> None:
    """The first write of an iteration needs a barrier, because of the last of the iteration before. This barrier also
    separates the read before the loop from the second write, so none is needed between the writes."""
    body = [write(0, 64, 2), write(64, 128, 3), write(0, 128, 4)]
    program = [read(128, 64, 1), label("a"), *body, bra("a")]
    check(program)


def test_the_barrier_that_a_loop_needs_first_can_be_useless() -> None:
    """The first read collides with the write of the iteration before. But the second read needs a barrier after the
    write anyway, and this barrier also separates the write from the next iteration's first read."""
    check([label("a"), read(group=1), write(group=2), read(group=3), bra("a")])


def check(instructions: Sequence[Instruction]) -> list[int]:
    """Check the learner's result for instructions, by a search for paths. Returns the numbers of its barriers."""
    result = added(instructions)
    found = unsafe(result)
    assert not found, f"accesses {found} collide, and no barrier is between them:\n{listing(result, found)}"
    given = list(map(id, instructions))
    barriers = [n for n, i in enumerate(result) if i.opcode == "bar.sync" and id(i) not in given]
    for number in barriers:
        assert unsafe(without(result, number)), (
            f"barrier {number} can be left out: no two accesses collide without it:\n{listing(result, [number])}"
        )
    return barriers


def without(instructions: list[Instruction], number: int) -> list[Instruction]:
    return instructions[:number] + instructions[number + 1 :]


@given(program=programs)
def test_random_programs(program: Program) -> None:
    """Every two accesses that collide are separated on each path, and no barrier can be left out."""
    check(steps(Written(program).instructions))


@given(program=programs)
def test_straight_code_has_as_few_barriers_as_possible(program: Program) -> None:
    instructions = [step for step in steps(Written(program).instructions) if step.room]
    least = 0
    since: list[Instruction] = []
    for instruction in instructions:
        if unsafe([*since, instruction]):
            least, since = least + 1, []
        since.append(instruction)
    count = len(check(instructions))
    assert count == least, f"{least} barriers suffice for these instructions, not {count}:\n{listing(instructions)}"


# --- on the emulator

EXCHANGE: list[Any] = [("write", 0, 1), ("read", 0, 1)]
PROGRAMS: list[Program] = [
    EXCHANGE,
    [*EXCHANGE, *EXCHANGE],
    [("for", EXCHANGE)],
    [("write", 0, 2), ("if", [("read", 0, 1)], [("read", 1, 1), ("write", 2, 1)]), ("read", 2, 1)],
    [("while", [("write", 0, 1)], [("read", 0, 1), ("write", 1, 1)]), ("read", 1, 1)],
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_emulator_misses_every_barrier(program: Program) -> None:
    written, result = emulated(program)
    given = list(map(id, written.instructions))
    for number, instruction in enumerate(result):
        if instruction.opcode == "bar.sync" and id(instruction) not in given:
            assert written.races(without(result, number), 64), (
                f"{program}: the emulator sees no race without barrier {number}:\n{listing(result, [number])}"
            )


@one_in(10)
@given(program=programs)
def test_the_emulator_sees_no_race_in_random_programs(program: Program) -> None:
    emulated(program)


def emulated(program: Program) -> tuple[Written, list[Instruction]]:
    """A program, and the learner's instructions for it, which have no race on any path."""
    written = Written(program)
    result = added(written.instructions)
    races = written.races(result, 64)
    assert not races, f"{program}: the emulator reports a race\n{races[0]}"
    return written, result
