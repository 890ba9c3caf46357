"""Task 13.10: reductions. The judges are NumPy, and the emulator, which counts instructions and reports races."""

import numpy as np
import pytest
from hypothesis import given
from mini_triton.backends.threads.layouts import Layout
from mini_triton.backends.threads.threads import Threads

from tests.checks import one_in
from tests.corpus import named
from tests.corpus.cases import Case
from tests.support.emulator import compiled
from tests.support.m13_threads.codes import code_of, judge_kernel
from tests.support.m13_threads.probing import look
from tests.support.m13_threads.reducing import COMBINATIONS, MIXED, Combination, Reduction, reductions


def test_one_thread_has_all_elements() -> None:
    """Each thread holds a whole row of 4."""
    Reduction((32, 4), 1, order=(0, 1), warps=1).check()


def test_each_lane_has_one_element() -> None:
    Reduction((32,), 0, warps=1).check()


def test_lanes_have_several_elements() -> None:
    Reduction((512,), 0, warps=1).check()


def test_several_warps() -> None:
    Reduction((512,), 0, warps=4).check()


def test_rows_and_columns() -> None:
    Reduction((16, 64), 1).check()
    Reduction((16, 64), 0).check()


def test_one_element() -> None:
    Reduction((1,), 0).check()
    Reduction((8, 1), 1).check()


@pytest.mark.parametrize("warps", [2, 8])
def test_fewer_elements_than_threads(warps: int) -> None:
    """Several threads, and several warps, hold the same elements; each element counts once."""
    Reduction((8,), 0, warps=warps).check()
    Reduction((2, 32), 0, warps=warps).check()


@pytest.mark.parametrize("combination", COMBINATIONS, ids=lambda one: f"{' '.join(one.types)} {one.returned[0]}")
def test_combinations(combination: Combination) -> None:
    Reduction((64, 8), 0, combination).check()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_three_axes(axis: int) -> None:
    Reduction((4, 8, 16), axis).check()


@given(reduction=reductions())
def test_random_reductions(reduction: Reduction) -> None:
    reduction.check(1)


# --- what a reduction costs


def bits_along(vectors: tuple[tuple[int, ...], ...], axis: int) -> int:
    return sum(1 for vector in vectors if vector[axis])


@one_in(2)
@given(reduction=reductions())
def test_costs(reduction: Reduction) -> None:
    """A shuffle for each operand's 32 bits and each bit of a lane's number; shared memory only between warps."""
    threads, _, source = reduction.emit()
    opcodes = [instruction.opcode for instruction in threads.lists[0]]
    words = sum(1 + (type in ("i64", "f64")) for type in reduction.combination.types)
    rows = len(source.without(reduction.axis).distinct)
    most = rows * bits_along(source.lanes, reduction.axis) * words
    shuffles = sum(opcode.startswith("shfl") for opcode in opcodes)
    assert shuffles <= most, f"{reduction!r}{most} shuffles suffice, not {shuffles}; elements of a thread come first"
    if not bits_along(source.warps, reduction.axis):
        assert not threads.shared, f"{reduction!r}no warps share a row, so no shared memory is needed"
    stored = sum(opcode.startswith("st.shared") for opcode in opcodes)
    operands = len(reduction.combination.types)
    assert stored <= rows * operands, f"{reduction!r}a thread stores {stored} times; {rows * operands} suffice"


@one_in(4)
@given(reduction=reductions())
def test_one_thread_stores_a_total(reduction: Reduction) -> None:
    check_storing(reduction)


@pytest.mark.parametrize(
    "reduction",
    [Reduction((512,), 0), Reduction((16, 64), 0, warps=8), Reduction((64,), 0, MIXED), Reduction((16, 4), 0)],
    ids=["one row", "columns", "mixed", "few"],
)
def test_one_thread_stores_a_total_of_its_warp(reduction: Reduction) -> None:
    assert check_storing(reduction), "these reductions need shared memory"


def check_storing(reduction: Reduction) -> int:
    """Of all threads that have the same total of the same warp, the first stores it. Returns how many do."""
    threads, _, source = reduction.emit()
    stores = [i for i in threads.lists[0] if i.opcode.startswith("st.shared")]
    if not stores:
        return 0
    expected = first_holders(threads, source, reduction.axis)
    guards = [store.guard for store in stores if store.guard]
    inside = [np.transpose(array, reduction.memory_order[::-1]).copy() for array in reduction.operands(0)]
    found, _ = look(threads, guards, inside, ["b64"] * len(inside))
    stored = found[0].astype(bool) if guards else np.ones((len(expected), 1), bool)
    for column in stored.T:
        wrong = [thread for thread in range(len(expected)) if column[thread] != expected[thread]]
        assert not wrong, (
            f"{reduction!r}thread {wrong[0]} {'stores' if column[wrong[0]] else 'does not store'} its totals; of the"
            f" threads that hold the same totals of a warp, the first should store them"
        )
    return int(stored.sum())


def first_holders(threads: Threads, source: Layout, axis: int) -> list[bool]:
    """Whether each thread is the first that has its warp's totals of its rows."""
    seen, found = set(), []
    for thread in range(32 * threads.warps):
        index = source.index(0, thread)
        part = source.index(0, thread & ~31)[axis]  # which warps along the axis
        key = (*index[:axis], *index[axis + 1 :], part)
        found.append(key not in seen)
        seen.add(key)
    return found


# --- kernels

KERNELS = "softmax_row cross_entropy layer_norm_forward rms_norm group_norm half_reductions pointer_walk while_newton"


@pytest.mark.parametrize("case", named(*KERNELS.split()), ids=str)
def test_kernels(case: Case) -> None:
    """The results of a GPU, and no races."""
    judge_kernel(case)


@pytest.mark.parametrize("case", named("softmax_row", "cross_entropy", "layer_norm_forward"), ids=str)
def test_no_more_barriers_than_real_triton(case: Case) -> None:
    code = code_of(case)
    theirs = compiled(case, "sm_90").ptx.count("bar.sync")
    assert code.ptx.count("bar.sync") <= theirs, f"real Triton's code of {case} has {theirs} barriers"
