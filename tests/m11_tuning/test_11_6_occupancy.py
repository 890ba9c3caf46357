"""Task 11.6: how many warps a multiprocessor holds."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.backends.occupancy import GPUS, WARP, Occupancy, limits, occupancy

from tests.checks import described
from tests.oracles import occupancy as nvidia

TARGETS = st.sampled_from(list(nvidia.DEVICES))
ALL = ("warps", "blocks", "registers", "shared memory")


def asked(function: object, target: str, warps: int, registers: int, shared: int) -> described:
    """The call for a kernel with these needs."""
    words = f"{function.__name__}(GPUS[{target!r}], warps={warps}, registers={registers}, shared={shared})"  # type: ignore[attr-defined]
    return described(words, function, GPUS[target], warps, registers, shared)  # type: ignore[arg-type]


def test_registers() -> None:
    asked(limits, "sm_90", 4, 64, 0).returns(
        {"warps": 16, "blocks": 32, "registers": 8, "shared memory": 228},
        because="a warp needs 64 × 32 = 2048 registers; 4 partitions hold 8 warps each, in all 8 blocks of 4 warps",
    )


def test_registers_are_rounded_up() -> None:
    call = asked(limits, "sm_90", 1, 33, 0)
    found = call.succeeds()
    if found.get("registers") != 48:
        call.fail("registers: 48", found, "33 × 32 = 1056 registers become 1280; 12 such warps fit into each partition")


def test_partitions_hold_whole_warps() -> None:
    call = asked(limits, "sm_80", 3, 255, 0)
    found = call.succeeds()
    if found.get("registers") != 2:
        call.fail("registers: 2", found, "2 warps fit into each partition, 8 in all: enough for two blocks of 3")


def test_shared_memory() -> None:
    call = asked(limits, "sm_90", 4, 16, 100000)
    found = call.succeeds()
    if found.get("shared memory") != 2:
        call.fail("shared memory: 2", found, "100000 + 1024 bytes become 101120; two blocks fit into 228 KiB")
    for shared, blocks, needed in ((45312, 5, 46336), (45600, 4, 46720)):
        call = asked(limits, "sm_90", 1, 16, shared)
        found = call.succeeds()
        if found.get("shared memory") != blocks:
            because = f"{shared} + 1024 bytes become {needed}; {blocks} blocks fit into 228 KiB"
            call.fail(f"shared memory: {blocks}", found, because)


def test_no_shared_memory_is_no_limit() -> None:
    asked(limits, "sm_75", 4, 64, 0).returns(
        {"warps": 8, "blocks": 16, "registers": 8}, because="nothing is reserved on sm_75 either"
    )


def test_more_than_there_is() -> None:
    asked(occupancy, "sm_80", 4, 32, 170000).returns(Occupancy(0, 0, 0.0, ("shared memory",)))


def test_several_limits() -> None:
    asked(occupancy, "sm_90", 4, 32, 0).returns(
        Occupancy(16, 64, 1.0, ("warps", "registers")),
        because="warps and registers both allow 16 blocks; shared memory and the limit on blocks allow more",
    )


@pytest.mark.parametrize("target", list(nvidia.DEVICES))
def test_every_recorded_answer(target: str) -> None:
    for row in nvidia.load()[target]:
        call = asked(occupancy, target, row["warps"], row["registers"], row["shared"])
        warps = row["blocks"] * row["warps"]
        limiters = tuple(name for name in ALL if name in row["limiters"])
        expected = Occupancy(row["blocks"], warps, warps * WARP / nvidia.DEVICES[target][0], limiters)
        call.returns(expected, because="NVIDIA's own calculator, cuda_occupancy.h, returns this")


@given(TARGETS, st.integers(1, 32), st.integers(1, 255), st.integers(0, 100000))
@example("sm_90", 32, 255, 0)
def test_what_fits_fits(target: str, warps: int, registers: int, shared: int) -> None:
    call = asked(occupancy, target, warps, registers, shared)
    got = call.succeeds("an Occupancy")
    threads, memory, _, reserved = nvidia.DEVICES[target]
    needed = {
        f"{threads // WARP} warps": got.blocks * warps <= threads // WARP,
        "65536 registers": got.warps * WARP * registers <= 65536,
        f"{memory} bytes": got.blocks * (shared + reserved) <= memory,
    }
    for what, fits in needed.items():
        if not fits:
            call.fail(f"blocks that fit {what}", got)
