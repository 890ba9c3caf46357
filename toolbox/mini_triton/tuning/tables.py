"""The table of a comparison. (Given.)"""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from mini_triton.tuning.comparison import Row, gain, mean_gain


def table(rows: Sequence[Row], peers: Sequence[str], ours: str = "ours") -> Table:
    """A line for each problem: launches and bytes of peers whose steps are known, times, and how many times as fast as
    each other peer we are.

    A peer without a time has an empty cell, or "refused".
    """
    known = [peer for peer in peers if any(peer in row.traffic for row in rows)]
    others = [peer for peer in peers if peer != ours]
    most = max((one.bytes for row in rows for one in row.traffic.values()), default=0)
    unit, size = ("MB", 1e6) if most >= 1e8 else ("kB", 1e3)
    moved = [f"{what}\n{'/'.join(known)}" for what in ("launches", unit)] if known else []
    names = ["", *moved, *[f"ms\n{peer}" for peer in peers], *[f"gain\n{peer}" for peer in others]]
    result = Table(*names, box=None, padding=(0, 0, 0, 2))
    for number, column in enumerate(result.columns):
        column.no_wrap, column.justify = True, "right" if number else "left"
    for row in rows:
        counts = [row.traffic.get(peer) for peer in known]
        launches = "/".join(str(one.launches) if one else "" for one in counts)
        moves = "/".join(f"{one.bytes / size:.0f}" if one else "" for one in counts)
        times = [milliseconds(row, peer) for peer in peers]
        gains = [ratio(gain(row, peer, ours)) for peer in others]
        result.add_row(row.problem, *[launches, moves][: len(moved)], *times, *gains)
    if len(rows) > 1:
        means = [ratio(mean_gain(rows, peer, ours)) for peer in others]
        result.add_row("geometric mean", *[""] * (len(result.columns) - 1 - len(others)), *means, style="bold")
    return result


def milliseconds(row: Row, peer: str) -> str:
    """A peer's time."""
    if peer in row.refused:
        return "[red]refused[/red]"
    return short(row.times[peer], 3) if peer in row.times else ""


def ratio(number: float | None) -> str:
    """A gain, empty if unknown."""
    return "" if number is None else short(number, 2)


def short(number: float, digits: int) -> str:
    """A number with this many digits, or as an integer."""
    return f"{number:.0f}" if number >= 10**digits else f"{number:.{digits}g}"
