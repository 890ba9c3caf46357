"""Benchmarks over many sizes: `@perf_report` turns a function that times one case into a table and a plot of all cases.

    @triton.testing.perf_report(triton.testing.Benchmark(
        x_names=["n"], x_vals=[2**i for i in range(12, 20)],
        line_arg="provider", line_vals=["ours", "torch"], line_names=["mini_triton", "PyTorch"],
        plot_name="vector-add", args={}, ylabel="GB/s",
    ))
    def benchmark(n, provider): ...

    benchmark.run(print_data=True, save_path="results")

Source: `Benchmark`, `Mark` and `perf_report` in Triton's `python/triton/testing.py`.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

from mini_triton.tuning import pictures


class Benchmark:
    """The arguments that `perf_report` passes to a function, and the presentation of the results. (Given.)

    x_names, x_vals                  arguments that change along the x axis, and their values; with several arguments,
                                     each element of `x_vals` is a tuple or list of values, or one value for all
    line_arg, line_vals, line_names  the argument that differs between the lines of a plot, its values, and their names
    plot_name, args                  the name of the files; arguments that do not change
    xlabel, ylabel, x_log, y_log     the axes; the label of the y axis is the unit of the results
    styles                           a color and a line style for each line
    """

    def __init__(
        self,
        x_names: Sequence[str],
        x_vals: Sequence[Any],
        line_arg: str,
        line_vals: Sequence[Any],
        line_names: Sequence[str],
        plot_name: str,
        args: Mapping[str, Any],
        xlabel: str = "",
        ylabel: str = "",
        x_log: bool = False,
        y_log: bool = False,
        styles: Sequence[tuple[str, str]] | None = None,
    ) -> None:
        if len(line_names) != len(line_vals):
            raise ValueError(f"a line has a value and a name: {len(line_vals)} line_vals, {len(line_names)} line_names")
        if styles and len(styles) < len(line_vals):
            raise ValueError(f"a line has a value and a style: {len(line_vals)} line_vals, {len(styles)} styles")
        self.x_names, self.x_vals = list(x_names), list(x_vals)
        self.line_arg, self.line_vals, self.line_names = line_arg, list(line_vals), list(line_names)
        self.plot_name, self.args = plot_name, dict(args)
        self.xlabel, self.ylabel, self.x_log, self.y_log, self.styles = xlabel, ylabel, x_log, y_log, styles


class Point(NamedTuple):
    """A result, with its range if the function returns one."""

    value: Any
    low: Any = None
    high: Any = None


class Row(NamedTuple):
    """The results at one position on the x axis."""

    x: tuple[Any, ...]  # a value for each of the `x_names`
    points: tuple[Point, ...]  # one for each of the `line_vals`


def collect(fn: Callable[..., Any], benchmark: Benchmark, options: Mapping[str, Any]) -> list[Row]:
    """The rows of a benchmark's table, measured row by row.

    `fn` takes keywords, those in `options` among them. It returns the value of a point, or a tuple or list of all its
    fields. Raises `ValueError` unless a position has exactly one value for each of the `x_names`; the message contains
    the element of `x_vals`.
    """
    # Task 11.5: `Benchmark` describes the other arguments of `fn`, and `Row` the result.
    raise NotImplementedError("Task 11.5: Reports")


@dataclass
class Report:
    """The results of a benchmark. (Given.)"""

    benchmark: Benchmark
    rows: list[Row]
    header: list[str] = field(init=False)
    lines: list[list[Any]] = field(init=False)

    def __post_init__(self) -> None:
        unit = self.benchmark.ylabel
        self.header = [*self.benchmark.x_names, *[f"{name} ({unit})" for name in self.benchmark.line_names]]
        self.lines = [[*row.x, *[point.value for point in row.points]] for row in self.rows]

    def add_difference(self) -> None:
        """If there are two columns, add a third: the second minus the first."""
        if len(self.header) == 2:
            self.header.append("Diff")
            self.lines = [[first, second, second - first] for first, second in self.lines]

    def table(self, precision: int = 6) -> str:
        """The results as text, right-aligned."""
        cells = [self.header, *[[shown(value, precision) for value in line] for line in self.lines]]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in cells
        )

    def save(self, folder: Path, precision: int) -> None:
        """Write the CSV file."""
        with open(folder / f"{self.benchmark.plot_name}.csv", "w", encoding="utf-8", newline="") as file:
            lines = [[shown(value, precision) for value in line] for line in self.lines]
            csv.writer(file, lineterminator="\n").writerows([self.header, *lines])

    def page(self, picture: str | None) -> str:
        """The report's section of the HTML page."""
        lines = [[shown(value, 3) for value in line] for line in self.lines]
        rows = [f"<tr>{''.join(f'<{kind}>{escape(text)}</{kind}>' for text in line)}</tr>"
                for kind, line in [("th", self.header), *[("td", line) for line in lines]]]  # fmt: skip
        image = f'<p><img src="{escape(picture)}" alt="{escape(self.benchmark.plot_name)}"></p>' if picture else ""
        return f"<h2>{escape(self.benchmark.plot_name)}</h2>\n{image}\n<table>\n" + "\n".join(rows) + "\n</table>\n"

    def frame(self) -> Any:
        """The results as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.lines, columns=self.header)


class Mark:
    """A function with its benchmarks. (Given.)"""

    def __init__(self, fn: Callable[..., Any], benchmarks: Benchmark | Sequence[Benchmark]) -> None:
        self.fn = fn
        self.benchmarks = benchmarks

    def result(self, **arguments: Any) -> Any:
        """The function's result for one case. Raises `TypeError` for a function, because its author forgot a call."""
        result = self.fn(**arguments)
        if callable(result):
            raise TypeError(f"{self.fn.__name__} returned a function, not a number: return do_bench(function)")
        return result

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        raise TypeError(f"{self.fn.__name__} is a benchmark: start it with {self.fn.__name__}.run(print_data=True)")

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        diff_col: bool = False,
        save_precision: int = 6,
        **options: Any,
    ) -> Any:
        """Run all benchmarks. The function also receives `options`.

        `print_data` prints the tables. `save_path` is a folder for a CSV file and a plot of each benchmark, and for
        `results.html`. With `return_df`, the result is a pandas DataFrame, or a list of them for a list of benchmarks.
        """
        single = isinstance(self.benchmarks, Benchmark)
        benchmarks = [self.benchmarks] if isinstance(self.benchmarks, Benchmark) else list(self.benchmarks)
        folder = Path(save_path) if save_path else None
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        reports, sections = [], []
        try:
            for benchmark in benchmarks:
                report = Report(benchmark, collect(self.result, benchmark, options))
                if diff_col:
                    report.add_difference()
                reports.append(report)
                picture = draw(report, folder, show_plots)
                if print_data:
                    print(f"{benchmark.plot_name}:\n{report.table()}")
                if folder:
                    report.save(folder, save_precision)
                    sections.append(report.page(picture))
        finally:  # keep finished reports if a later benchmark fails
            if folder:
                pictures.write_page(folder / "results.html", "Results", sections)
        if not return_df:
            return None
        return reports[0].frame() if single else [report.frame() for report in reports]


def perf_report(benchmarks: Benchmark | Sequence[Benchmark]) -> Callable[[Callable[..., Any]], Mark]:
    """Decorate a function that times one case of one or more benchmarks. The result's `run` runs them. (Given.)"""
    return lambda fn: Mark(fn, benchmarks)


def draw(report: Report, folder: Path | None, show: bool) -> str | None:
    """Draw a report's plot. Returns the name of the file, or None if none was written. (Given.)"""
    if not report.benchmark.plot_name or not (folder or show):
        return None
    if not pictures.can_draw():
        warnings.warn("pictures need matplotlib: pip install matplotlib", stacklevel=3)
        return None
    pictures.plot(report, folder, show)
    return f"{report.benchmark.plot_name}.png" if folder else None


def shown(value: Any, precision: int) -> str:
    """Format a value of a table: floats with `precision` digits, None as an empty string. (Given.)"""
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{float(value):.{precision}f}"
    return "" if value is None else str(value)
