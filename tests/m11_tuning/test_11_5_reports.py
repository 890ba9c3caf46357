"""Task 11.5: a benchmark over many sizes."""

import contextlib
import csv
import io
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.tuning import pictures
from mini_triton.tuning.reports import Benchmark, Point, Row, collect, perf_report

from tests.checks import described
from tests.oracles import reports
from tests.support.m11_tuning import benchmarks


def benchmark(x_names: list[str], x_vals: list[Any], line_vals: list[str], **args: Any) -> Benchmark:
    return Benchmark(x_names, x_vals, "provider", line_vals, [name.title() for name in line_vals], "plot", args)


def collected(function: Any, asked: Benchmark, **options: Any) -> described:
    known = {name: getattr(asked, name) for name in ("x_names", "x_vals", "line_vals", "args")}
    return described(f"collect(fn, Benchmark({known}), {options})", collect, function, asked, options)


def test_one_argument() -> None:
    call = collected(lambda n, provider: n if provider == "a" else -n, benchmark(["n"], [1, 2], ["a", "b"]))
    call.returns([Row((1,), (Point(1), Point(-1))), Row((2,), (Point(2), Point(-2)))])


def test_several_arguments() -> None:
    function = benchmarks.Function()
    collected(function, benchmark(["M", "N"], [8, (4, 2), [1, 3], "fp16"], ["a", "b"])).succeeds()
    places = ((8, 8), (4, 2), (1, 3), ("fp16", "fp16"))
    expected = [{"M": m, "N": n, "provider": line} for m, n in places for line in ("a", "b")]
    assert function.calls == expected, f"calls, in order\n  expected  {expected}\n  got       {function.calls}"


def test_other_arguments() -> None:
    function = benchmarks.Function()
    asked = benchmark(["n"], [5], ["a"], scale=2)
    collected(function, asked, more=7).succeeds()
    assert function.calls == [{"n": 5, "provider": "a", "scale": 2, "more": 7}], function.calls
    assert asked.args == {"scale": 2}, f"the benchmark itself should not change, but now has the args {asked.args}"


def test_a_range() -> None:
    results = {"a": (2.0, 1.0, 3.0), "b": 5.0, "c": [2.0, 1.0, 3.0], "d": None}
    call = collected(lambda n, provider: results[provider], benchmark(["n"], [1], list(results)))
    call.returns([Row((1,), (Point(2.0, 1.0, 3.0), Point(5.0), Point(2.0, 1.0, 3.0), Point(None)))])


def test_a_place_with_too_few_or_too_many_values() -> None:
    for place in ((1,), (1, 2, 3), ()):
        call = collected(lambda **_: 1.0, benchmark(["M", "N"], [place], ["a"]))
        call.raises(ValueError, str(place), because="M and N both need a value")


@given(st.sampled_from(reports.load()))
def test_as_real_triton_does(answer: reports.Answer) -> None:
    case = benchmarks.draw(answer.seed)
    function = benchmarks.Function()
    call = collected(function, Benchmark(**case))
    rows = call.succeeds("rows")
    if function.calls != answer.calls:
        call.fail(
            f"calls with {answer.calls}", f"calls with {function.calls}", "real Triton's perf_report makes these calls"
        )
    for row, line in zip(rows, list(csv.reader(answer.lines))[1:], strict=True):
        expected = [float(text) if text else None for text in line]
        got = [*row.x, *[point.value for point in row.points]]
        if not all(map(near, got, expected)):
            call.fail(f"a row of {expected}", f"a row of {got}", "real Triton's perf_report has this row")


def near(got: Any, expected: float | None) -> bool:
    return got is None if expected is None else got is not None and math.isclose(got, expected, abs_tol=1e-6)


# --- files


@contextlib.contextmanager
def without_pictures() -> Iterator[list[warnings.WarningMessage]]:
    """Act as on a machine without matplotlib, and record warnings."""
    with mock.patch.object(pictures, "can_draw", lambda: False), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield warned


def test_files(tmp_path: Path) -> None:
    printed = io.StringIO()
    marked = perf_report([benchmark(["n"], [1, 2], ["a", "b"])])(lambda n, provider: n / 4)
    call = described("benchmark.run(print_data=True, save_path=…)", marked.run, False, True, str(tmp_path / "new"))
    with without_pictures() as warned, contextlib.redirect_stdout(printed):
        call.succeeds()
    assert [str(warning.message) for warning in warned] == ["pictures need matplotlib: pip install matplotlib"]
    assert (tmp_path / "new" / "plot.csv").read_text() == "n,A (),B ()\n1,0.250000,0.250000\n2,0.500000,0.500000\n"
    assert printed.getvalue() == "plot:\nn      A ()      B ()\n1  0.250000  0.250000\n2  0.500000  0.500000\n"
    assert "<td>1</td><td>0.250</td><td>0.250</td>" in (tmp_path / "new" / "results.html").read_text()


def test_finished_reports_stay_if_a_later_one_fails(tmp_path: Path) -> None:
    def function(n: int, provider: str) -> float:
        return 1 / n

    first, second = benchmark(["n"], [1], ["a"]), benchmark(["n"], [0], ["a"])
    second.plot_name, first.plot_name = "", "first"
    with without_pictures(), pytest.raises(ZeroDivisionError):
        perf_report([first, second])(function).run(save_path=str(tmp_path))
    assert "first" in (tmp_path / "results.html").read_text()
