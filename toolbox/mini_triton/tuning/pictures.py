"""Pages and pictures: plots by matplotlib, heat maps in HTML. (Given.)"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mini_triton.backends.occupancy import Cell
    from mini_triton.tuning.reports import Report

STYLE = """\
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem; text-align: right; border-bottom: 1px solid #8884; }
th { font-weight: 600; }
pre, p { overflow-x: auto; }
img, svg { max-width: 100%; background: white; }
.cell { color: black; text-align: center; }
"""


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def plot(report: Report, folder: Path | None, show: bool) -> None:
    """Draw the lines of a benchmark, into a PNG file if there is a folder."""
    import matplotlib.pyplot as plt

    benchmark = report.benchmark
    figure, axes = plt.subplots(layout="constrained")
    x = [row.x[0] for row in report.rows]
    for number, name in enumerate(benchmark.line_names):
        points = [row.points[number] for row in report.rows]
        color, style = benchmark.styles[number] if benchmark.styles else (None, "-")
        (line,) = axes.plot(x, [point.value for point in points], label=name, color=color, linestyle=style)
        if all(point.low is not None and point.high is not None for point in points):
            low, high = [point.low for point in points], [point.high for point in points]
            axes.fill_between(x, low, high, alpha=0.15, color=line.get_color())
    axes.set(xlabel=benchmark.xlabel or benchmark.x_names[0], ylabel=benchmark.ylabel)
    axes.set_xscale("log" if benchmark.x_log else "linear")
    axes.set_yscale("log" if benchmark.y_log else "linear")
    axes.legend()
    if folder:
        figure.savefig(folder / f"{benchmark.plot_name}.png", dpi=150)
    if show:
        plt.show()
    plt.close(figure)


def heat_map(cells: Sequence[Cell], across: str) -> str:
    """A sweep as an HTML table, with a column for each value of one name, and rows for the other values."""
    columns = list(dict.fromkeys(cell.choice[across] for cell in cells))
    changing = [name for name in cells[0].choice if len({cell.choice[name] for cell in cells}) > 1]
    rows: dict[tuple[tuple[str, Any], ...], dict[Any, Cell]] = {}
    for cell in cells:
        others = tuple((name, value) for name, value in cell.choice.items() if name in changing and name != across)
        rows.setdefault(others, {})[cell.choice[across]] = cell
    lines = [f"<tr><th></th>{''.join(f'<th>{escape(across)} {column}</th>' for column in columns)}</tr>"]
    for others, found in rows.items():
        name = " ".join(f"{name} {value}" for name, value in others)
        lines.append(f"<tr><th>{escape(name)}</th>{''.join(_field(found.get(column)) for column in columns)}</tr>")
    return "<table>\n" + "\n".join(lines) + "\n</table>\n"


def _field(cell: Cell | None) -> str:
    """One field: its color shows the occupancy, its text the limiters."""
    if cell is None or cell.occupancy is None:
        reason = escape(cell.error) if cell else ""
        return f'<td class="cell" style="background: #d0d7de" title="{reason}">—</td>'
    reached = cell.occupancy
    needs = f"{cell.registers} registers, {cell.spills} spilled, {cell.shared} bytes shared"
    limited = escape(", ".join(reached.limiters))
    lightness = f"background: hsl({120 * reached.share:.0f} 60% 75%)"
    return f'<td class="cell" style="{lightness}" title="{needs}">{reached.share:.0%}<br><small>{limited}</small></td>'


def write_page(file: Path, title: str, sections: Sequence[str]) -> None:
    """Write an HTML page."""
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    size = '<meta name="viewport" content="width=device-width">'
    body = "\n".join(sections)
    file.write_text(f"{head}{size}<style>\n{STYLE}</style></head><body>\n{body}</body></html>\n", encoding="utf-8")


def scatter(
    file: Path, lines: Sequence[tuple[str, Callable[[float], float]]], points: Sequence[tuple[str, float, float]]
) -> None:
    """Draw points below roofs, with logarithmic axes: operations per byte, operations per second."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
    lowest = min(x for _, x, _ in points) / 2
    highest = max(x for _, x, _ in points) * 2
    xs = [lowest * (highest / lowest) ** (i / 200) for i in range(201)]
    for name, roof in lines:
        axes.plot(xs, [roof(x) / 1e9 for x in xs], label=name)
    for name, x, y in points:
        axes.plot(x, y / 1e9, "o", color="black", markersize=4)
        axes.annotate(name, (x, y / 1e9), textcoords="offset points", xytext=(6, -10), fontsize=9)
    axes.set(xscale="log", yscale="log", xlabel="operations per byte", ylabel="GFLOP/s")
    axes.legend()
    figure.savefig(file, dpi=150)
    plt.close(figure)
