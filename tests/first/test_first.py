"""What is given in milestone 0: `python -m first` shows the slice, and the recorded modules are real Triton's."""

from __future__ import annotations

import numpy as np
import pytest
from first import __main__, real_triton, slice
from first.slice import F32, I32, POINTER

from tests.oracles import interpreter, triton
from tests.support.m00_first.judging import MODULES, insist_on_real_tritons
from tests.support.m00_first.kernels import KERNELS, function


@pytest.mark.parametrize("name", KERNELS)
def test_records_are_current(name: str) -> None:
    triton.version()
    insist_on_real_tritons(name, (MODULES / f"{name}.ttir").read_text(encoding="utf-8"))


def test_every_stage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    interpreter.insist()
    __main__.show()
    shown = capsys.readouterr().out
    assert [f"0.{task}  " in shown for task in range(1, 9)] == [True] * 8
    assert "Real Triton accepts this text." in shown
    assert "ld.global.v4.b32 4x" in shown and "ld.global.b32 16x" in shown
    assert "programs, right" in shown and "Triton's interpreter" in shown


def test_the_next_task_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def open_task(*_: object) -> None:
        raise NotImplementedError("Task 0.3: A number meets a block")

    monkeypatch.setattr(slice.Kernel, "alike", open_task)
    __main__.show()
    assert capsys.readouterr().out.endswith("Task 0.3: A number meets a block is next.\n")


def test_what_triton_refuses_is_told() -> None:
    triton.version()
    with pytest.raises(RuntimeError):
        real_triton.parse('tt.func public @f(%a: i32, %b: tensor<8xi32>) {\n  %0 = arith.addi %a, %b : i32\n}\n')


def test_a_parameter_that_is_a_float() -> None:
    line = "tl.store(x + tl.arange(0, 4), factor * tl.load(x + tl.arange(0, 4), inside), inside)"
    scale = function(f"def scale(x, n, factor):\n    inside = tl.arange(0, 4) < n\n    {line}\n")
    kernel = slice.compile_kernel(scale, x=POINTER, n=I32, factor=F32)
    x = np.ones(3, np.float32)
    slice.launch(kernel, 1, {"x": x, "n": 3, "factor": 0.5})
    assert x.tolist() == [0.5] * 3
