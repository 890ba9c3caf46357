"""Task 0.6: `launch` runs all programs of a grid, much faster than a loop."""

import time
from collections.abc import Callable

import numpy as np
from first.slice import I32, POINTER, Kernel, compile_kernel, execute, launch
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import described, one_in
from tests.support.m00_first.kernels import KERNELS, function

EXPECTED = {
    "add": lambda x, y: x + y,
    "scale": lambda x, y: np.float32(1.5) - x * np.float32(0.1) * y,
    "reverse": lambda x, y: x[::-1] - y[::-1],
}
COPY = """\
def copy(x, out, n, BLOCK):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at * 1500000000 < n
    tl.store(out + at, tl.load(x + at, mask=inside), mask=inside)
"""
FASTER = 4  # minimum speedup; about fifty is usual


def compiled(name: str, block: int) -> Kernel:
    return compile_kernel(function(KERNELS[name]), x=POINTER, y=POINTER, out=POINTER, n=I32, BLOCK=block)


def launching(name: str, block: int, grid: int, n: int, size: int) -> tuple[described, dict[str, np.ndarray]]:
    """The call of `launch` on arrays of `size` elements, of which the kernel computes `n`; and these arrays."""
    x, y = np.random.default_rng(size).random((2, size), np.float32)
    arguments = {"x": x, "y": y, "out": np.full(size, -7, np.float32)}
    words = f"launch(<{name}, BLOCK={block}>, {grid}, {{x, y, out: arrays of {size}, n: {n}}})"
    return described(words, launch, compiled(name, block), grid, {**arguments, "n": n}), arguments


@one_in(4)
@given(st.sampled_from(sorted(KERNELS)), st.sampled_from([1, 4, 16, 64]), st.integers(1, 100), st.integers(0, 3))
@example("add", 16, 40, 0)
@example("add", 16, 64, 0)
@example("reverse", 1, 3, 2)
def test_every_program_runs(name: str, block: int, n: int, more: int) -> None:
    call, arrays = launching(name, block, -(-n // block) + more, n, n + 5)
    call.succeeds()
    expected = np.full(n + 5, -7, np.float32)
    expected[:n] = EXPECTED[name](arrays["x"][:n], arrays["y"][:n])
    if not np.array_equal(arrays["out"], expected):
        call.fail(f"out holds {expected.tolist()}", arrays["out"].tolist())


def test_no_other_program_runs() -> None:
    call, arrays = launching("add", 8, 2, 40, 40)
    call.succeeds()
    if not (arrays["out"][16:] == -7).all():
        call.fail("only out[:16] changes", arrays["out"].tolist(), because="2 programs write 8 elements each")


def test_a_grid_without_programs() -> None:
    call, arrays = launching("add", 8, 0, 40, 40)
    call.succeeds("out does not change")
    if not (arrays["out"] == -7).all():
        call.fail("out does not change", arrays["out"].tolist(), because="no program runs")


def test_integers_of_32_bits() -> None:
    kernel = compile_kernel(function(COPY), x=POINTER, out=POINTER, n=I32, BLOCK=2)
    x, out = np.arange(1, 9, dtype=np.float32), np.zeros(8, np.float32)
    words = "launch(<copy where `at * 1500000000 < n`, BLOCK=2>, 4, {x, out: arrays of 8, n: 5})"
    call = described(words, launch, kernel, 4, {"x": x, "out": out, "n": 5})
    call.succeeds()
    expected = np.where(np.arange(8, dtype=np.int32) * np.int32(1500000000) < 5, x, 0)
    if not np.array_equal(out, expected):
        because = "integers have 32 bits in a kernel, and a product that needs more bits wraps around"
        call.fail(f"out holds {expected.tolist()}", out.tolist(), because)


def test_it_is_faster_than_a_loop() -> None:
    programs, block = 200, 16
    kernel, n = compiled("add", block), programs * block
    x, y = np.random.default_rng(0).random((2, n), np.float32)
    arguments = {"x": x, "y": y, "out": np.zeros(n, np.float32), "n": n}

    def loop() -> None:
        for program in range(programs):
            execute(kernel, arguments, np.int32(program))

    slow, fast = seconds(loop), seconds(lambda: launch(kernel, programs, arguments))
    assert fast * FASTER < slow, (
        f"launch(<add>, {programs}, …) takes {fast * 1000:.1f} ms, a loop over the programs {slow * 1000:.1f} ms\n"
        f"  expected  less than a {FASTER}th of the loop's time\n"
        "  because   NumPy takes as long to start a call as to add a thousand numbers, so make few calls"
    )


def seconds(run: Callable[[], None]) -> float:
    """The shortest time of three calls of `run`."""
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)
