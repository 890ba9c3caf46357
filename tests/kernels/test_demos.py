"""Demos of the kernels: they run, say that all is right, and show what is true."""

import itertools
import runpy
from pathlib import Path
from typing import Any

import kernels
import mini_triton as triton
import mini_triton.language as tl
import pytest
from kernels import demo

from tests.support.m08_kernels.order import order_of_tiles

Screen = list[str]


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a demo, which must find all right; gives the lines that it prints."""

    def run(name: str) -> Screen:
        demo.run(name)
        lines = capsys.readouterr().out.splitlines()
        assert any("✓" in line for line in lines)
        assert not any("✗" in line for line in lines)
        return lines

    return run


def below(lines: Screen, title: str, count: int) -> list[list[str]]:
    """The lines after the one with this title, as words."""
    start = next(number for number, line in enumerate(lines) if title in line)
    return [line.split() for line in lines[start + 1 : start + 1 + count]]


def test_vector_add_shows_blocks_and_the_tail(shown: Any) -> None:
    lines = shown("vector_add")
    assert below(lines, "Which program", 1) == [["0" * 8 + "1" * 8 + "2" * 4 + "~" * 4 + "·" * 8]]


def test_matmul_shows_the_grouped_order(shown: Any) -> None:
    lines = shown("matmul")
    expected = []
    for group in (1, 2, 3):
        expected.append({tile: program for program, tile in enumerate(order_of_tiles(5, 4, group))})
    for row, words in enumerate(below(lines, "GROUP=1", 5)):
        assert list(map(int, words)) == [tiles[row, column] for tiles in expected for column in range(4)]
    assert "  GROUP=1: the first 4 programs load strips of a: 1, of b: 4" in lines
    assert "  GROUP=2: the first 4 programs load strips of a: 2, of b: 2" in lines


def test_dropout_shows_more_zeros_for_a_higher_probability(shown: Any) -> None:
    lines = shown("dropout")
    rows = [words[1:] for words in below(lines, "Which of 40 elements", 4)[1:]]
    counts = [[panel.count("·") for panel in row] for row in rows]
    assert all(low < middle < high for low, middle, high in counts)
    for panels in rows:
        for dropped, later in itertools.pairwise(panels):
            assert all(b == "·" for a, b in zip(dropped, later, strict=True) if a == "·"), "dropped at a lower p only"
    assert any("block=64 drops the same elements" in line for line in lines)


def test_modules_shows_that_causal_attention_looks_back_only(shown: Any) -> None:
    lines = shown("modules")
    for row, panels in enumerate(below(lines, "Which of 12 outputs", 13)[1:]):
        alone, causal, around = panels
        assert alone == "·" * row + "█" + "·" * (11 - row)
        assert causal == "█" * (row + 1) + "·" * (11 - row)
        assert around == "█" * 12


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "conv2d"])
def test_all_is_right(shown: Any, name: str) -> None:
    shown(name)


def test_the_list_names_every_demo(capsys: pytest.CaptureFixture[str]) -> None:
    """Each module that the list names runs as a program."""
    runpy.run_module("kernels", run_name="__main__")
    listed = [line.split()[2] for line in capsys.readouterr().out.splitlines()]
    folder = Path(kernels.__file__).parent
    assert listed.pop() == "kernels.bench"
    assert listed == [f"kernels.{name}" for name in demo.DEMOS]
    assert {f"kernels.{path.stem}" for path in folder.glob("*.py") if "demo.run(" in path.read_text()} == {*listed}


@triton.jit
def stub_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    raise NotImplementedError("Task 8.2: Softmax")


def test_a_stub_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("kernels.softmax.softmax_kernel", stub_kernel)
    with pytest.raises(SystemExit):
        demo.run("softmax")
    assert capsys.readouterr().out.splitlines()[1:] == ["Task 8.2: Softmax: not written yet."]


def test_what_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("kernels.vector_add.add", lambda x, y: x - y)
    with pytest.raises(SystemExit):
        demo.run("vector_add")
    assert "✗ disagrees with PyTorch" in capsys.readouterr().out
