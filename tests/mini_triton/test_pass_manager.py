"""The pass manager: pipelines, limits, what it prints, what keys know of it; the search for a guilty pass; the page."""

import functools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mini_triton import environment
from mini_triton.errors import VerificationError
from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.tools import bisect
from mini_triton.transforms import manager
from mini_triton.transforms.manager import Manager, optimize

from bench import passes
from tests import oracles
from tests.corpus import CASES
from tests.oracles import triton
from tests.support.sources import load

WORST = 1.1  # of the operations that they leave

TWICE = """
tt.func public @twice(%p: !tt.ptr<i32>, %x: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.addi %x, %zero : i32
  %other = arith.addi %x, %zero : i32
  %sum = arith.addi %one, %other : i32
  tt.store %p, %sum : !tt.ptr<i32>
  tt.return
}
"""
KERNEL = """
import triton
import triton.language as tl
@triton.jit
def copy(x, out, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)
"""


@pytest.fixture
def add_pass(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Add a pass: `add_pass("name", function)`."""
    return functools.partial(monkeypatch.setitem, manager.PASSES)


# --- pipelines


def test_a_group_is_repeated_until_nothing_changes() -> None:
    ran = [(one.name, one.changed) for one in optimize(parse_module(TWICE), "dce,(cse,canonicalize)*")]
    assert ran == [("dce", False), ("cse", True), ("canonicalize", True), ("cse", False)]


@pytest.mark.parametrize(
    ("pipeline", "words"),
    [
        ("cse,canonicalise", "no pass 'canonicalise'; did you mean canonicalize?"),
        ("cse,,dce", "no pass ''"),
        ("(cse,dce", "no pass '(cse"),
        ("(cse,lcm)*", "no pass 'lcm'; did you mean licm?"),
    ],
)
def test_a_wrong_pipeline_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch, pipeline: str, words: str) -> None:
    monkeypatch.setenv(manager.VARIABLE, pipeline)
    with pytest.raises(ValueError, match="^MINI_TRITON_PASSES: ") as caught:
        optimize(parse_module(TWICE))
    assert words in str(caught.value) and "inline, canonicalize" in str(caught.value)


def test_an_empty_pipeline() -> None:
    assert optimize(parse_module(TWICE), "") == []


def test_an_endless_group_is_named(add_pass: Any) -> None:
    add_pass("flip", lambda module: True)
    add_pass("flop", lambda module: True)
    with pytest.raises(RuntimeError, match="flip,cse,flop still change the module after 20 rounds"):
        optimize(parse_module(TWICE), "(flip,cse,flop)*")


@pytest.mark.parametrize("is_written", [True, False])
def test_a_pass_that_breaks_a_module_is_named(add_pass: Any, is_written: bool) -> None:
    def drop(module: Operation) -> bool:
        next(operation for operation in module.walk() if operation.name == "tt.return").erase()
        if not is_written:
            raise NotImplementedError("Task 9.6: ...")
        return True

    add_pass("drop", drop)
    with pytest.raises(VerificationError, match="stage 'drop'"):
        optimize(parse_module(TWICE), "cse,drop,dce")


def test_a_pass_that_is_not_written_is_left_out(add_pass: Any) -> None:
    def stub(module: Operation) -> bool:
        raise NotImplementedError("Task 9.6: ...")

    add_pass("stub", stub)
    module, other = parse_module(TWICE), parse_module(TWICE)
    optimize(module, "cse,stub,dce")
    optimize(other, "cse,dce")
    assert print_module(module) == print_module(other)


# --- limits and keys


def warm() -> Any:
    return load(KERNEL, "copy.py")["copy"].warmup(np.float32, np.float32, 100, SIZE=64)


def test_a_limit_counts_the_passes_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Manager, "total", 0)
    monkeypatch.setenv(manager.LIMIT, "3")
    ran = [[one.name for one in optimize(parse_module(TWICE), "cse,dce")] for _ in range(3)]
    assert ran == [["cse", "dce"], ["cse"], []]


def test_a_limit_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(manager.LIMIT, "few")
    with pytest.raises(ValueError, match="MINI_TRITON_PASS_LIMIT must be a number of passes, not 'few'"):
        optimize(parse_module(TWICE))


def test_pipeline_and_limit_are_part_of_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    whole = warm()
    monkeypatch.setenv(manager.LIMIT, "0")
    limited = warm()
    monkeypatch.delenv(manager.LIMIT)
    monkeypatch.setenv(manager.VARIABLE, "")
    without = warm()
    assert len({whole.hash, limited.hash, without.hash}) == 3
    assert limited.asm["passes"] == without.asm["passes"] == without.asm["ttir"] != whole.asm["passes"]


# --- what people see


def test_prints_what_each_pass_changes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(environment.PRINT, "passes")
    before, after = parse_module(TWICE), parse_module(TWICE)
    optimize(after, "cse,dce")
    said = capsys.readouterr().out
    assert f"──── twice: before cse\n{print_module(before)}" in said and f" ms\n{print_module(after)}" in said
    assert "after dce" not in said and "──── twice: 2 passes, " in said


def test_logs_each_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, add_pass: Any) -> None:
    def fail(module: Operation) -> bool:
        raise KeyError("a mistake")

    add_pass("fail", fail)
    monkeypatch.setenv(manager.LOG, str(tmp_path / "log"))
    with pytest.raises(KeyError):
        optimize(parse_module(TWICE), "cse,fail")
    lines = [json.loads(line) for line in (tmp_path / "log").read_text(encoding="utf-8").splitlines()]
    assert [(line["name"], line["kernel"], line["changed"]) for line in lines] == [
        ("cse", "twice", True),
        ("fail", "twice", True),
    ]
    assert lines[0]["after"] == lines[1]["before"] != lines[0]["before"]


# --- the search for a guilty pass

CHECK = """
import sys
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.transforms import manager

def off_by_one(module):
    constant = next(operation for operation in module.walk() if operation.name == "arith.constant")
    changed = constant.attributes["value"] == 0
    constant.attributes["value"] = 1
    return changed

manager.PASSES["wrong"] = off_by_one
text = sys.argv[2]
first, second = parse_module(text.replace("twice", "first")), parse_module(text)
manager.optimize(first, "cse,dce")
manager.optimize(second, sys.argv[1])
if "constant 1" in print_module(second):
    sys.exit("constant 1 is wrong")
"""


@pytest.mark.parametrize(
    ("pipeline", "code", "words"),
    [
        ("cse,licm,wrong,dce", 1, "Pass 5 makes the script wrong: wrong on twice."),
        ("cse,licm,dce,wrong", 1, "Pass 6 makes the script wrong: wrong on twice."),
        ("cse,dce", 0, "4 passes: right"),
    ],
)
def test_finds_a_guilty_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], pipeline: str, code: int, words: str
) -> None:
    script = tmp_path / "check.py"
    script.write_text(CHECK, encoding="utf-8")
    assert bisect.main([str(script), pipeline, TWICE]) == code
    said = capsys.readouterr().out
    assert words in said
    if code:
        before, after = said.split("──── twice: after wrong")
        assert "constant 0" in before and "constant 1" in after and "constant 1 is wrong" in after


def test_a_script_that_is_always_wrong_blames_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "check.py"
    script.write_text("raise SystemExit('no luck')", encoding="utf-8")
    assert bisect.main([str(script)]) == 2
    assert "No pass is to blame:\nno luck" in capsys.readouterr().out


# --- the page


@functools.cache
def counted() -> list[passes.Counts]:
    return [passes.count_operations(case) for case in CASES]


def test_no_more_operations_than_real_triton_leaves() -> None:
    ratios = {row.kernel: row.ours / row.theirs for row in counted()}
    assert not {name: ratio for name, ratio in ratios.items() if ratio > WORST}
    assert math.prod(ratios.values()) <= 1


def test_no_more_operations_than_all_passes_of_real_triton_leave() -> None:
    ratios = {row.kernel: row.ours / row.least for row in counted()}
    assert not {name: ratio for name, ratio in ratios.items() if ratio > WORST}
    assert math.prod(ratios.values()) <= 1


def test_the_page_is_current() -> None:
    page = passes.PAGE.read_text(encoding="utf-8")
    heading, _, table = passes.operations(counted())
    if heading not in page:
        oracles.unavailable(f"the page is about another version than Triton {triton.version()}")
    assert table in page, "run `python -m bench.passes`"
