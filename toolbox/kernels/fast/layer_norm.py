"""The gradient of layer normalization. See `kernels.layer_norm` for the formulas, and for the forward pass.

As in `kernels.layer_norm`, each persistent program adds up its rows, and a second kernel adds up the programs' sums. A
program takes several short rows at a time, or loads the next row while it computes one row. In the second kernel,
each program takes only a few columns, because otherwise there would be too few programs to keep a GPU busy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernels.compiler import tl, triton
from kernels.host import empty_like, on_gpu
from kernels.layer_norm import check_rows, check_vector
from kernels.tuned import configs, that_differ

PROGRAMS = (1, 2, 4)
"""Programs for each multiprocessor."""
FEWEST, MOST = 4, 32
"""Elements per thread."""


@triton.jit
def backward_kernel(
    dx, dweight_parts, dbias_parts, dy, x, weight, mean, rstd, rows, columns,
    BLOCK: tl.constexpr, ROWS: tl.constexpr, PROGRAMS: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """dx of ROWS rows at a time, and the program's sums, which are a line of the parts."""
    part = tl.program_id(0)
    lines = tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    within = at < columns
    w = tl.load(weight + at, mask=within, other=0.0).to(tl.float32)
    dw = tl.zeros((ROWS, BLOCK), tl.float32)
    db = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in tl.range(part * ROWS, rows, tl.num_programs(0) * ROWS, num_stages=STAGES):
        row = start + lines
        there = row < rows
        inside = there[:, None] & within[None, :]
        place = row.to(tl.int64)[:, None] * columns + at[None, :]
        values = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
        grad = tl.load(dy + place, mask=inside, other=0.0).to(tl.float32)
        r = tl.load(rstd + row, mask=there, other=0.0)[:, None]
        m = tl.load(mean + row, mask=there, other=0.0)[:, None]
        xhat = tl.where(inside, (values - m) * r, 0.0)
        g = grad * w[None, :]
        average = tl.sum(g, axis=1)[:, None] / columns
        slope = tl.sum(g * xhat, axis=1)[:, None] / columns
        tl.store(dx + place, ((g - average - xhat * slope) * r).to(dx.dtype.element_ty), mask=inside)
        dw += grad * xhat
        db += grad
    tl.store(dweight_parts + part * columns + at, tl.sum(dw, axis=0), mask=within)
    tl.store(dbias_parts + part * columns + at, tl.sum(db, axis=0), mask=within)


@triton.jit
def sum_kernel(
    dweight, dbias, dweight_parts, dbias_parts, parts, columns, LINES: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """The sums of BLOCK columns of all parts, LINES lines at a time."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dw = tl.zeros((LINES, BLOCK), tl.float32)
    db = tl.zeros((LINES, BLOCK), tl.float32)
    for start in range(0, parts, LINES):
        line = start + tl.arange(0, LINES)
        inside = (line < parts)[:, None] & (at < columns)[None, :]
        place = line[:, None] * columns + at[None, :]
        dw += tl.load(dweight_parts + place, mask=inside, other=0.0)
        db += tl.load(dbias_parts + place, mask=inside, other=0.0)
    tl.store(dweight + at, tl.sum(dw, axis=0).to(dweight.dtype.element_ty), mask=at < columns)
    tl.store(dbias + at, tl.sum(db, axis=0).to(dbias.dtype.element_ty), mask=at < columns)


ROWS = configs(ROWS=(1, 2, 4), PROGRAMS=PROGRAMS, STAGES=(1, 3), num_warps=(4, 8, 16))
BLOCK = triton.heuristics({"BLOCK": lambda named: triton.next_power_of_2(named["columns"])})


def that_suit(candidates: Sequence[Any], named: Mapping[str, Any], **_: Any) -> list[Any]:
    """The configurations whose threads have enough elements, but no more than fit in registers."""
    if not on_gpu(named["x"]):
        return that_differ(candidates)
    block = triton.next_power_of_2(named["columns"])
    elements = {config: config.kwargs["ROWS"] * block // (32 * config.num_warps) for config in candidates}
    suiting = [config for config in candidates if FEWEST <= elements[config] <= MOST]
    return suiting or [min(candidates, key=lambda config: abs(elements[config] - MOST))]


backward = triton.autotune(ROWS, ["rows", "columns"], prune_configs_by={"early_config_prune": that_suit})(
    BLOCK(backward_kernel)
)
sums = triton.autotune(configs(LINES=(64, 128), BLOCK=(8, 16, 32), num_warps=(4, 8)), ["parts", "columns"])(sum_kernel)


def layer_norm_backward(dy: Any, x: Any, weight: Any, mean: Any, rstd: Any) -> tuple[Any, Any, Any]:
    """The gradients of x, weight and bias, from the gradient of the result and the statistics of `layer_norm`."""
    rows, columns = check_rows(x)
    check_vector("weight", weight, x)
    driver = triton.runtime.driver.active
    processors = driver.utils.get_device_properties(driver.get_current_device())["multiprocessor_count"]
    dx, dweight, dbias = empty_like(x), empty_like(weight), empty_like(weight)
    most = (max(PROGRAMS) * processors, columns)
    dweight_parts, dbias_parts = (empty_like(x, most, "float32") for _ in range(2))
    arrays = (dx, dweight_parts, dbias_parts, dy, x, weight, mean, rstd)
    backward[lambda meta: (meta["PROGRAMS"] * processors,)](*arrays, rows, columns)
    parts = backward.best_config.kwargs["PROGRAMS"] * processors
    grid = lambda meta: (triton.cdiv(columns, meta["BLOCK"]),)  # noqa: E731
    sums[grid](dweight, dbias, dweight_parts, dbias_parts, parts, columns)
    return dx, dweight, dbias
