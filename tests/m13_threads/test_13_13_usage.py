"""Task 13.13: registers, spills and shared memory. NVIDIA's tools and its calculator of occupancy are the judges."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads import assembler, by_hand
from mini_triton.backends.threads.assembler import Usage, occupancy_of, options_for, usage
from mini_triton.backends.threads.back_end import Code

from tests.checks import described
from tests.oracles import assembler as nvidia
from tests.oracles import occupancy
from tests.support.m13_threads.assembling import StandIn

HEADER = "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function '{}' for 'sm_90'\n"
FUNCTION = (
    "ptxas info    : Function properties for {}\n"
    "    {} bytes stack frame, {} bytes spill stores, {} bytes spill loads\n"
)
USED = "ptxas info    : Used {} registers, used {} barriers{}\n"
RESERVED = 1024
"""Bytes of shared memory that the GPU adds."""
NUMBER = st.integers(0, 300)
LOOP = """
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.shared .align 16 .b8 fixed[{shared}];
.visible .entry k(.param .b64 p, .param .b32 n)
.maxntid 1024
.maxnreg {most}
{{
    .reg .b32 %r<{count}>; .reg .b64 %d<2>; .reg .pred %p<2>;
    ld.param.b64 %d0, [p];
    ld.param.b32 %r0, [n];
    mov.b32 %r1, fixed;
    st.shared.b32 [%r1], %r0;
{loads}
L:
{sums}
    add.s32 %r0, %r0, -1;
    setp.gt.s32 %p0, %r0, 0;
    @%p0 bra L;
{stores}
    ret;
}}
"""
CALL = """
.version 8.0
.target sm_90
.address_size 64
.visible .func (.param .b32 found) a_helper(.param .b32 given)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r0, [given];
    mul.lo.s32 %r1, %r0, %r0;
    st.param.b32 [found], %r1;
    ret;
}
.visible .entry kernel(.param .b64 p)
{
    .reg .b32 %r<2>; .reg .b64 %d<2>;
    ld.param.b64 %d0, [p];
    mov.u32 %r0, %tid.x;
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), a_helper, (x); ld.param.b32 %r1, [y]; }
    st.global.b32 [%d0], %r1;
    ret;
}
"""


def loop(values: int, most: int, shared: int) -> str:
    """A kernel that keeps many values alive in a loop, with at most so many registers, and shared memory of its own."""
    names = [f"%r{number + 2}" for number in range(values)]
    return LOOP.format(
        shared=shared,
        most=most,
        count=values + 2,
        loads="\n".join(f"    ld.global.b32 {name}, [%d0+{4 * i}];" for i, name in enumerate(names)),
        sums="\n".join(
            f"    mad.lo.s32 {a}, {a}, {b}, %r0;" for a, b in zip(names, names[1:] + names[:1], strict=True)
        ),
        stores="\n".join(f"    st.global.b32 [%d0+{4 * i}], {name};" for i, name in enumerate(names)),
    )


def check(said: str, expected: Usage, because: str = "") -> None:
    """Require a result for what the assembler says."""
    __tracebackhide__ = True
    with StandIn(said) as stand_in:
        words = f"usage(ptx, 'sm_90'), if the assembler says\n\n{said}\n"
        described(words, usage, "a text", "sm_90").returns(expected, because)
        if stand_in.files() or any(made.is_file() for made in stand_in.made):
            described(words, lambda: None).fail("no file", "a file on the disk", "nobody needs the machine code")


def test_registers() -> None:
    said = HEADER.format("add") + FUNCTION.format("add", 0, 0, 0) + USED.format(12, 0, "")
    check(said, Usage(12, 0, 0), "this kernel has no shared memory of its own")
    check(said.replace("12", "255"), Usage(255, 0, 0))


def test_spills() -> None:
    said = (
        HEADER.format("add")
        + FUNCTION.format("add", 48, 40, 44)
        + USED.format(24, 1, ", 48 bytes cumulative stack size")
    )
    check(said, Usage(24, 40, 0), "40 bytes are stored; the stack has other values too")


def test_shared_memory() -> None:
    said = HEADER.format("add") + FUNCTION.format("add", 0, 0, 0) + USED.format(24, 1, ", 2048 bytes smem")
    check(said, Usage(24, 0, 2048))
    said = (
        HEADER.format("add")
        + FUNCTION.format("add", 8, 0, 0)
        + USED.format(9, 2, ", 8 bytes cumulative stack size, 512 bytes smem")
    )
    check(said, Usage(9, 0, 512))


def test_functions() -> None:
    kernel = HEADER.format("add") + FUNCTION.format("add", 48, 40, 44) + USED.format(24, 1, ", 2048 bytes smem")
    because = "7 bytes are stored by a function, 40 by the kernel"
    for name in ("helper", "add_one", "one_add"):
        helper = FUNCTION.format(name, 16, 7, 9)
        check(kernel + helper, Usage(24, 40, 2048), because)
        check(helper + kernel, Usage(24, 40, 2048), because)


@given(
    NUMBER,
    NUMBER,
    NUMBER,
    st.integers(1, 255),
    st.none() | NUMBER,
    st.lists(st.tuples(NUMBER, NUMBER), max_size=2),
    st.booleans(),
)
def test_random_messages(
    stack: int, stores: int, loads: int, registers: int, shared: int | None, others: list[tuple[int, int]], first: bool
) -> None:
    rest = f", {stack} bytes cumulative stack size" if stack else ""
    rest += f", {shared} bytes smem, 400 bytes cmem[0]" if shared else ""
    functions = "".join(FUNCTION.format(f"helper_{number}", 16, *sizes) for number, sizes in enumerate(others))
    kernel = FUNCTION.format("$kernel", stack, stores, loads) + USED.format(registers, 3, rest)
    said = HEADER.format("$kernel") + (functions + kernel if first else kernel + functions)
    check(said, Usage(registers, stores, shared or 0))


def test_what_the_assembler_is_asked() -> None:
    with StandIn(HEADER.format("add") + FUNCTION.format("add", 0, 0, 0) + USED.format(12, 0, "")) as stand_in:
        described("usage('a text', 'sm_80')", usage, "a text", "sm_80").returns(Usage(12, 0, 0))
        expected = {*options_for("sm_80", True), "--verbose"}
        (options,) = map(set, stand_in.options)
        assert options == expected, f"the assembler must get the options {expected}, not {options}"


def test_errors() -> None:
    def fail() -> None:
        raise RuntimeError("ptxas refuses the kernel")

    with StandIn() as stand_in:
        stand_in.meanwhile = fail
        described("usage('not PTX', 'sm_90')", usage, "not PTX", "sm_90").raises(RuntimeError, "ptxas refuses")


@pytest.mark.parametrize(
    "ptx, name",
    [
        (by_hand.kernel(4), "add"),
        (loop(20, 64, 64), "k"),
        (loop(60, 24, 4096), "k"),
        (CALL, "kernel"),
    ],
    ids=["addition", "loop", "spills", "call"],
)
@pytest.mark.parametrize("target", ["sm_90", "sm_100"])
def test_real_kernels(ptx: str, name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = []

    def run(ptx: str, made: Path, *options: str) -> str:
        answers.append(nvidia.assemble(ptx, *options))
        made.write_bytes(answers[-1].cubin)
        return answers[-1].said

    monkeypatch.setattr(assembler, "run", run)
    asked = described(f"usage(PTX, {target!r}) for\n{ptx}\n", usage, ptx, target)
    got = asked.succeeds("a Usage")
    found = answers[0].resources(name)
    expected = {
        "registers": found["REG"],
        "any spill": found["STACK"] > 0,
        "shared": max(0, found["SHARED"] - RESERVED),
    }
    facts = {"registers": got.registers, "any spill": got.spilled > 0, "shared": got.shared}
    if facts != expected:
        asked.fail(str(expected), str(facts), "NVIDIA's cuobjdump reads this from the machine code")


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_occupancy(target: str) -> None:
    """NVIDIA's own calculator gave these answers."""
    rows = [row for row in occupancy.load()[target] if row["blocks"]][::40]
    for number, row in enumerate(rows):
        fixed = row["shared"] // (1, 2, row["shared"] or 1)[number % 3] if number % 2 else 0
        more = f", {fixed} bytes smem" if fixed else ""
        said = HEADER.format("k") + FUNCTION.format("k", 0, 0, 0) + USED.format(row["registers"], 1, more)
        with StandIn(said) as stand_in:
            code = Code("k", "a text", target, 32 * row["warps"], row["shared"] - fixed)
            asked = described(f"occupancy_of({code}), if its text declares {fixed} bytes", occupancy_of, code)
            got = asked.succeeds("an Occupancy")
            assert f"--gpu-name={target}" in stand_in.options[0], f"{stand_in.options[0]} does not name {target}"
        if (got.blocks, got.warps, set(got.limiters)) != (
            row["blocks"],
            row["blocks"] * row["warps"],
            set(row["limiters"]),
        ):
            expected = f"{row['blocks']} blocks, limited by {row['limiters']}"
            asked.fail(expected, got, f"{row['warps']} warps, {row['registers']} registers, {row['shared']} bytes")
