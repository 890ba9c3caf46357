"""Task 13.7: neighbors in memory as words. The judge is the memory, which NumPy reads and writes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads import words
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Address, Register, kind_of, size_of
from mini_triton.backends.threads.ptx import print_kernel
from mini_triton.ir.types import BF16, F16, F32, F64, I1, I8, I16, I32, I64, PointerType, Type

from tests.checks import described
from tests.oracles import triton
from tests.support.m13_threads import probing, single

TYPES: dict[str, Type] = {"i1": I1, "i8": I8, "i16": I16, "f16": F16, "bf16": BF16, "i32": I32, "f32": F32}
TYPES |= {"i64": I64, "f64": F64, "!tt.ptr<f32>": PointerType(F32)}
WIDEST = 16
ACCESSES = [(name, 1 << bit) for name, type in TYPES.items() for bit in range(5) if size_of(type) << bit <= WIDEST]
"""A type, and a number of neighbors that one instruction can move."""
SUFFIXES = {1: "b8", 2: "b16", 4: "b32", 8: "b64"}


def suffix_of(name: str, count: int) -> str:
    """The end of the opcode, by the bytes of an element and of all neighbors."""
    size = size_of(TYPES[name])
    total = size * count
    word = size if size >= 4 else min(4, total)
    return f"v{total // word}.{SUFFIXES[word]}" if total > word else SUFFIXES[word]


def drawn(name: str, count: int, seed: int = 0) -> np.ndarray:
    """Random elements for 32 threads, as bits."""
    size = size_of(TYPES[name])
    high = 2 if name == "i1" else 2 ** (8 * size)
    return np.random.default_rng(seed).integers(0, high, (32, count), dtype=f"u{size}")


def address(emitter: Emitter, parameter: int, size: int) -> Address:
    """The place of this thread's `size` bytes in an array."""
    base = emitter.op("ld.param.b64", f"[k_param_{parameter}]")
    return Address(emitter.op("mad.wide.s32", emitter.op("mov.u32", "%tid.x"), size, base))


def one_by_one(emitter: Emitter, name: str, parameter: int, count: int) -> list[Register]:
    """This thread's elements of an array. The upper half of an 8-bit element's register is not zero."""
    size, found = size_of(TYPES[name]), []
    place = address(emitter, parameter, size * count)
    for number in range(count):
        register = emitter.new("b16" if size == 1 else f"b{8 * size}")
        emitter.do(f"ld.global.b{8 * size}", Address(place.base, size * number), results=(register,))
        if name == "i1":
            register = emitter.op("setp.ne.s16", register, 0)
        elif size == 1:
            register = emitter.op("or.b16", register, single.GARBAGE)
        found.append(register)
    return found


def moved(emitter: Any, kind: str) -> list[str]:
    """The ends of the opcodes of the accesses to global memory, in order."""
    return [i.opcode.removeprefix(kind) for i in emitter.lists[0] if i.opcode.startswith(kind)]


def fill(emitter: Emitter) -> None:
    """Write to all registers before the first instruction: on a GPU, they contain what an earlier kernel left."""
    instructions, emitter.lists[0] = emitter.lists[0], []
    for kind in ("b16", "b32", "b64"):
        for number in range(emitter.counts[kind]):
            emitter.do(f"mov.{kind}", 0x5A5A, results=(Register(kind, number),))
    emitter.add(instructions)


def bits_of(registers: np.ndarray, name: str) -> np.ndarray:
    """The lower bits of registers, which hold an element."""
    return registers.astype(f"u{size_of(TYPES[name])}")


def compare(asked: described, got: np.ndarray, expected: np.ndarray, because: str = "") -> None:
    """Require these elements of each thread, as bits."""
    for thread in np.flatnonzero((got != expected).any(axis=1)):
        words = f"thread {thread}'s elements, as bits, the lowest address first: "
        asked.fail(words + shown(expected[thread]), words + shown(got[thread]), because)


def shown(elements: np.ndarray) -> str:
    return " ".join(f"0x{int(element):0{2 * element.itemsize}X}" for element in elements)


@pytest.mark.parametrize(("name", "count"), ACCESSES)
def test_stores(name: str, count: int) -> None:
    threads, _ = probing.threads_of(single.text_of("", ["i32"]), 1)
    x, out = drawn(name, count), np.zeros_like(drawn(name, count))
    elements = one_by_one(threads, name, 1, count)
    place = address(threads, 2, size_of(TYPES[name]) * count)
    asked = described(f"words.store of {count} of {name}", words.store, threads, "global", TYPES[name], place, elements)
    asked.succeeds()
    got = moved(threads, "st.global.")
    if got != [suffix_of(name, count)]:
        asked.fail(f"one instruction, st.global.{suffix_of(name, count)}", f"instructions that end with {got}")
    probing.look(threads, elements[:1], [x, out], ["b64", "b64"])
    compare(asked, out, x, "the lowest bits of a word are stored at the lowest address")


@pytest.mark.parametrize(("name", "count"), ACCESSES)
def test_loads(name: str, count: int) -> None:
    threads, _ = probing.threads_of(single.text_of("", ["i32"]), 1)
    x = drawn(name, count)
    place = address(threads, 1, size_of(TYPES[name]) * count)
    asked = described(f"words.load of {count} of {name}", words.load, threads, "global", TYPES[name], place, count)
    before = len(threads.lists[0])
    elements = asked.succeeds()
    if size_of(TYPES[name]) >= 4 and len(threads.lists[0]) > before + 1:
        asked.fail("one instruction", f"{len(threads.lists[0]) - before} instructions", "each element is a word")
    kinds = [register.kind for register in elements]
    if kinds != [kind_of(TYPES[name])] * count:
        asked.fail(f"{count} registers of kind {kind_of(TYPES[name])}", f"registers of kinds {kinds}")
    got = moved(threads, "ld.global.")
    if got != [suffix_of(name, count)]:
        asked.fail(f"one instruction, ld.global.{suffix_of(name, count)}", f"instructions that end with {got}")
    found, report = probing.look(threads, elements, [x], ["b64"])
    assert not report.errors
    compare(asked, bits_of(found[0], name), x)


@pytest.mark.parametrize("others", [False, True], ids=["without others", "with others"])
@pytest.mark.parametrize(("name", "count"), ACCESSES)
def test_guarded_loads(name: str, count: int, others: bool) -> None:
    """Threads 20 to 31 do not load: the array ends before their elements would begin."""
    threads, _ = probing.threads_of(single.text_of("", ["i32"]), 1)
    x, other = drawn(name, count), drawn(name, count, 1)
    thread = threads.op("mov.u32", "%tid.x")
    guard = threads.op("setp.lt.s32", thread, 20)
    given = one_by_one(threads, name, 2, count) if others else []
    before = len(moved(threads, "ld.global."))
    place = address(threads, 1, size_of(TYPES[name]) * count)
    words_ = f"words.load of {count} of {name} with a guard{' and others' * others}"
    asked = described(words_, words.load, threads, "global", TYPES[name], place, count, guard, given)
    elements = asked.succeeds()
    assert len(moved(threads, "ld.global.")) == before + 1, "a guarded load is one instruction"
    fill(threads)
    found, report = probing.look(threads, elements, [x[:20].copy(), other], ["b64", "b64"])
    if report.errors:
        asked.fail("no access where the guard is false", f"{report.errors[0]}")
    expected = np.where(np.arange(32)[:, None] < 20, x, other if others else np.zeros_like(other))
    compare(asked, bits_of(found[0], name), expected, "the guard is true in threads 0 to 19, false in threads 20 to 31")


def test_loads_from_shared_memory_have_a_room() -> None:
    threads, _ = probing.threads_of(single.text_of("", ["i32"]), 1)
    place, room = threads.shared_address((16,), 0, 0), threads.room(0, 64, False)
    asked = described("words.load(threads, 'shared', …, room=room)", words.load, threads, "shared", F32, place, 4)
    asked.options = {"room": room}
    asked.succeeds()
    (made,) = (i for i in threads.lists[0] if i.opcode == "ld.shared.v4.b32")
    if made.room != room:
        asked.fail(f"an instruction with {room}", f"an instruction with {made.room}", "barriers depend on it")


@given(access=st.sampled_from(ACCESSES), seed=st.integers(0))
def test_unpacked_words_are_what_was_packed(access: tuple[str, int], seed: int) -> None:
    name, count = access
    threads, _ = probing.threads_of(single.text_of("", ["i32"]), 1)
    x = drawn(name, count, seed)
    packed = words.pack(threads, TYPES[name], one_by_one(threads, name, 1, count))
    size = size_of(TYPES[name])
    expected = max(1, size * count // max(4, size))
    asked = described(f"words.pack of {count} of {name}", words.pack)
    if len(packed) != expected:
        asked.fail(f"{expected} words", f"{len(packed)} words")
    elements = words.unpack(threads, TYPES[name], packed, count)
    found, _ = probing.look(threads, [*elements, *packed], [x], ["b64"])
    compare(asked, bits_of(found[0][:, :count], name), x, "`unpack` returns what `pack` was given")
    if size * count >= 4:
        memory = np.ascontiguousarray(found[0][:, count:].astype(f"u{max(4, size)}")).view(x.dtype)
        compare(asked, memory, x, "the words, stored to memory, are these elements")


@pytest.mark.parametrize(("name", "count", "most"), [("f32", 4, 0), ("f16", 8, 4), ("f16", 1, 0), ("i64", 2, 0)])
def test_packing_is_cheap(name: str, count: int, most: int) -> None:
    threads, _ = probing.threads_of(single.text_of("", ["i32"]), 1)
    elements = [threads.new(kind_of(TYPES[name])) for _ in range(count)]
    before = len(threads.lists[0])
    asked = described(f"words.pack of {count} of {name}", words.pack, threads, TYPES[name], elements)
    asked.succeeds()
    got = len(threads.lists[0]) - before
    if got > most:
        asked.fail(f"at most {most} instructions", f"{got} instructions", "`mov.b32` joins two registers of 16 bits")


def test_the_assembler_accepts_the_code() -> None:
    threads, _ = probing.threads_of(single.text_of("", ["i1"]), 1)
    guard = threads.op("setp.lt.s32", threads.op("mov.u32", "%tid.x"), 20)
    place = address(threads, 1, WIDEST)
    for name, count in ACCESSES:
        found = words.load(threads, "global", TYPES[name], place, count)
        found = words.load(threads, "global", TYPES[name], place, count, guard, found)
        words.store(threads, "global", TYPES[name], place, found, guard)
    threads.do("ret")
    text = print_kernel("k", ["b64", "b64"], threads.lists[0], threads.counts, 32, "sm_80")
    refusal = triton.refusal_of_ptxas(text, "sm_80")
    assert not refusal, f"NVIDIA's assembler refuses the code of words.load and words.store:\n{refusal}"
