"""Task 10.6: how elements of different threads are combined. The judge is plain Python.

The generated lines are Python. A thread of Python runs them for each thread of a warp.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from mini_triton.codegen.cuda_gen.reduction import across_warp, exchange

from tests.checks import calling

WARP = 32


def adding(left: Sequence[str], right: Sequence[str]) -> tuple[list[str], list[str]]:
    """Combine one number by `+`."""
    return [], [f"{left[0]} + {right[0]}"]


def first_and_last(left: Sequence[str], right: Sequence[str]) -> tuple[list[str], list[str]]:
    """Combine pairs: keep the left pair's first number and the right pair's second, through temporary variables."""
    return [f"first = {left[0]}", f"last = {right[1]}"], ["first", "last"]


def highest_and_where(left: Sequence[str], right: Sequence[str]) -> tuple[list[str], list[str]]:
    """Combine numbers with their indices; the index is chosen by a comparison of both sides' old numbers."""
    larger = f"{left[0]} >= {right[0]}"
    return [], [f"max({left[0]}, {right[0]})", f"{left[1]} if {larger} else {right[1]}"]


def run(lines: Sequence[str], names: Sequence[str], values: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """The variables of each thread of a block after the lines, if they were `values[thread]` before."""
    count = len(values)
    barrier, slots = threading.Barrier(count), [None] * count
    found: list[Any] = [None] * count
    code = compile("\n".join(lines), "<generated>", "exec")

    def body(thread: int) -> None:
        def shuffle_xor(value: Any, distance: int) -> Any:
            slots[thread] = value
            barrier.wait(10)
            other = slots[thread ^ distance]
            barrier.wait(10)
            return other

        space = {"thread": thread, "shuffle_xor": shuffle_xor, **dict(zip(names, values[thread], strict=True))}
        try:
            exec(code, space)
            found[thread] = tuple(space[name] for name in names)
        except Exception as error:
            found[thread] = error
            barrier.abort()

    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wrong = [one for one in found if isinstance(one, Exception) and not isinstance(one, threading.BrokenBarrierError)]
    listing = "\n".join(lines)
    assert not wrong, f"the lines fail with {wrong[0]!r}:\n{listing}"
    return found


def expect(got: list[tuple[Any, ...]], expected: list[tuple[Any, ...]], lines: Sequence[str]) -> None:
    for thread, (mine, right) in enumerate(zip(got, expected, strict=True)):
        listing = "\n".join(lines)
        assert mine == right, f"thread {thread} ends with {mine}; it should have {right}. The lines:\n{listing}"


def test_a_pair_adds_up() -> None:
    """Threads 0 and 1 both end with the sum of their values; so do 2 and 3, and so on."""
    lines = calling(exchange, 1, ["part"], ["other"], False, adding)()
    got = run(lines, ["part"], [(thread,) for thread in range(WARP)])
    expect(got, [(t + (t ^ 1),) for t in range(WARP)], lines)


def test_pairs_may_be_far_apart() -> None:
    lines = calling(exchange, 16, ["part"], ["other"], False, adding)()
    got = run(lines, ["part"], [(thread,) for thread in range(WARP)])
    expect(got, [(t + (t ^ 16),) for t in range(WARP)], lines)


def test_the_lower_thread_is_on_the_left() -> None:
    """Both threads of a pair end with the same value, even if the combination depends on the order."""
    lines = calling(exchange, 4, ["a", "b"], ["c", "d"], True, first_and_last)()
    got = run(lines, ["a", "b"], [(f"a{t}", f"b{t}") for t in range(WARP)])
    expect(got, [(f"a{t & ~4}", f"b{t | 4}") for t in range(WARP)], lines)


def test_parts_change_at_once() -> None:
    """The second part is computed from the old first part, not from the new one."""
    lines = calling(exchange, 1, ["best", "at"], ["other", "there"], True, highest_and_where)()
    values = [(t * 7 % 5, t) for t in range(WARP)]
    expected = []
    for t in range(WARP):
        left, right = values[t & ~1], values[t | 1]
        expected.append((max(left[0], right[0]), left[1] if left[0] >= right[0] else right[1]))
    expect(run(lines, ["best", "at"], values), expected, lines)


def test_a_whole_warp() -> None:
    lines = calling(across_warp, [1, 2, 4, 8, 16], ["part"], ["other"], False, adding)()
    got = run(lines, ["part"], [(thread,) for thread in range(WARP)])
    expect(got, [(sum(range(WARP)),)] * WARP, lines)


def test_rows_side_by_side() -> None:
    """Only threads at the given distances are combined: here, four rows of 8 threads."""
    lines = calling(across_warp, [1, 2, 4], ["part"], ["other"], False, adding)()
    got = run(lines, ["part"], [(thread,) for thread in range(WARP)])
    expect(got, [(sum(range(t // 8 * 8, t // 8 * 8 + 8)),) for t in range(WARP)], lines)


def test_other_warps_are_out_of_reach() -> None:
    """A shuffle stays within its warp, so no shuffle is emitted for larger distances, which need shared memory."""
    lines = calling(across_warp, [16, 32, 64], ["part"], ["other"], False, adding)()
    assert len(lines) == len(calling(exchange, 16, ["part"], ["other"], False, adding)()), (
        "only the distance 16 lies within a warp of 32:\n" + "\n".join(lines)
    )


def test_nothing_to_combine() -> None:
    calling(across_warp, [], ["part"], ["other"], False, adding).returns([], because="each thread has the total")


@settings(max_examples=20)
@given(steps=st.sets(st.sampled_from([1, 2, 4, 8, 16])), ordered=st.booleans())
def test_all_sets_of_distances(steps: set[int], ordered: bool) -> None:
    """Texts are concatenated, in the order of threads if the combination depends on it."""
    lines = calling(across_warp, sorted(steps), ["part"], ["other"], ordered, adding)()
    mask = sum(steps)
    groups = [[other for other in range(WARP) if (other ^ thread) & ~mask == 0] for thread in range(WARP)]
    got = run(lines, ["part"], [(f"{thread} ",) for thread in range(WARP)])
    if not ordered:
        got = [(" ".join(sorted(part.split(), key=int)) + " ",) for (part,) in got]
    expect(got, [("".join(f"{other} " for other in group),) for group in groups], lines)
