"""The given parts of milestone 0: `python -m first` shows the slice, and the recorded modules are real Triton's."""

import re

import numpy as np
import pytest
from first import __main__, real_triton, slice
from first.slice import F32, I32, POINTER

from tests.oracles import triton
from tests.support.m00_first.judging import MODULES, insist_on_real_tritons
from tests.support.m00_first.kernels import KERNELS, function


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer programs, because Triton's interpreter takes milliseconds for each."""
    monkeypatch.setattr(__main__, "N", 1000)
    monkeypatch.setattr(__main__, "GRID", 8)


@pytest.mark.parametrize("name", KERNELS)
def test_records_are_current(name: str) -> None:
    triton.version()
    insist_on_real_tritons(name, (MODULES / f"{name}.ttir").read_text(encoding="utf-8"))


def test_every_stage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    triton.version()
    __main__.show()
    shown = capsys.readouterr().out
    assert re.findall(r"^0\.(\d)  ", shown, re.MULTILINE) == list("12345678")
    rows = ("a loop over 782 programs .* ms", "your launch .* ms, .* times as fast; the same results")
    for row in (*rows, r"NumPy's own x \+ y .* ms", "Triton's interpreter .* ms; the same results"):
        assert re.search(row, shown), row
    assert "Real Triton accepts this text." in shown
    assert "4 times ld.global.v4.b32" in shown and "16 times ld.global.b32" in shown


def test_the_last_program_writes_what_its_mask_allows() -> None:
    rows = re.findall(r"program \d: (.*)", "\n".join(__main__.programs()))
    assert [24 - row.count("·") for row in rows] == [8, 16, 20]


def test_what_is_not_installed_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_triton, "is_installed", lambda *_: False)
    __main__.show()
    shown = capsys.readouterr().out
    for said in ("nothing checks this text", "no PTX", "no comparison with its interpreter"):
        assert shown.count(f"Triton is not installed: {said}.") == 1


def test_a_number_is_stored() -> None:
    lines = "at = tl.arange(0, 4)\n    tl.store(out + at, 1.5, mask=at < n)"
    kernel = slice.compile_kernel(function(f"def fill(out, n):\n    {lines}\n"), out=POINTER, n=I32)
    out = np.zeros(4, np.float32)
    slice.launch(kernel, 1, {"out": out, "n": 3})
    assert out.tolist() == [1.5, 1.5, 1.5, 0]
    if real_triton.is_installed("triton"):
        real_triton.parse(slice.text(kernel))


def test_the_size_of_a_range_is_known() -> None:
    doubled = function("def doubled(n, BLOCK):\n    at = tl.arange(0, BLOCK * 2)\n")
    with pytest.raises(SyntaxError, match="known at compile time"):
        slice.compile_kernel(doubled, n=I32, BLOCK=4)


def test_the_next_task_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def open_task(*_: object) -> None:
        raise NotImplementedError("Task 0.3: A number meets a tile")

    monkeypatch.setattr(slice.Kernel, "alike", open_task)
    __main__.show()
    assert capsys.readouterr().out.endswith("Task 0.3: A number meets a tile is next.\n")


@pytest.mark.usefixtures("few")
def test_a_changed_kernel_is_compared_with_itself(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    triton.version()
    monkeypatch.setattr(__main__, "add", function(KERNELS["scale"]))
    print(*__main__.grid())
    assert capsys.readouterr().out.count("the same results") == 2
    monkeypatch.setattr(__main__, "launch", lambda *_: None)
    print(*__main__.grid())
    assert capsys.readouterr().out.count("other results: out[0] is 0.0") == 2


def test_what_the_slice_refuses_is_shown_in_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(__main__, "add", function("\n\ndef add(x, y, out, n, BLOCK):\n    at = n\n    at = -at\n"))
    __main__.show()
    *_, line, message = capsys.readouterr().out.splitlines()
    assert line == "     5  at = -at" and message.startswith("    SyntaxError: ") and "-at" in message


def test_an_error_has_the_kernels_line() -> None:
    negated = function("\n\ndef negated(x, n):\n    at = n\n    at = -at\n")
    with pytest.raises(SyntaxError, match=r"-at \(kernels_\d+\.py, line 5\)"):
        slice.compile_kernel(negated, x=POINTER, n=I32)


def test_an_operation_is_short() -> None:
    kernel = slice.Kernel("kernel", a=I32)
    assert repr(kernel.operate("Mult", kernel.names["a"], 2)) == "<arith.muli i32>"


@pytest.mark.usefixtures("few")
def test_what_triton_refuses_stands_under_the_text(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    triton.version()
    monkeypatch.setattr(__main__, "text", lambda *_: slice.text(__main__.compiled(8)).replace('"tt.splat"(%n)', "%n"))
    __main__.show()
    said = capfd.readouterr()
    assert said.out.splitlines()[-1].startswith("    Real Triton refuses this text: ")
    assert not said.err


def test_operands_of_two_kinds() -> None:
    kernel = slice.Kernel("kernel", a=I32, b=F32)
    a, b = kernel.names["a"], kernel.names["b"]
    for left, right in ((a, 2.0), (b, 2), (a, b)):
        with pytest.raises(SyntaxError, match="Add of"):
            kernel.operate("Add", left, right)


def test_what_triton_refuses_is_told() -> None:
    triton.version()
    with pytest.raises(real_triton.Refused, match="op requires the same|expects different type|tensor<8xi32>"):
        real_triton.parse("tt.func public @f(%a: i32, %b: tensor<8xi32>) {\n  %0 = arith.addi %a, %b : i32\n}\n")


def test_a_parameter_that_is_a_float() -> None:
    line = "tl.store(x + tl.arange(0, 4), factor * tl.load(x + tl.arange(0, 4), inside), inside)"
    scale = function(f"def scale(x, n, factor):\n    inside = tl.arange(0, 4) < n\n    {line}\n")
    kernel = slice.compile_kernel(scale, x=POINTER, n=I32, factor=F32)
    x = np.ones(3, np.float32)
    slice.launch(kernel, 1, {"x": x, "n": 3, "factor": 0.5})
    assert x.tolist() == [0.5] * 3
