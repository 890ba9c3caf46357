"""Task 7.6: looking at what the stages make, and compiling without running."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.errors import CompilationError
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.runtime import inspection
from mini_triton.runtime.arguments import OF_NUMPY, MockTensor

from tests.checks import described
from tests.support.sources import load

STAGES = {"source": 1, "ttir": 2, "numpy": 3}

KERNELS = """
import triton
import triton.language as tl
@triton.jit
def copies(x, out, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)
@triton.jit
def wrong(x):
    tl.store(x, missing)
"""


def kernels() -> dict[str, Any]:
    """Kernels that nothing has been compiled of yet in this process."""
    return load(KERNELS, "kernels_to_look_into.py")


# --- titles

names = st.from_regex(r"[a-z_]{1,20}", fullmatch=True)
lines = st.lists(st.text(st.characters(codec="ascii", exclude_categories=["C"]), min_size=1, max_size=10), min_size=1)


@given(names, st.sampled_from(list(STAGES)), lines, st.integers(0, 2))
@example("add", "ttir", ["module {", "}"], 1)
def test_titles(kernel: str, stage: str, lines: list[str], empty: int) -> None:
    text = "\n".join(lines) + "\n" * empty
    title = f"──── {kernel}: {STAGES[stage]} {stage}, {len(lines)} lines "
    expected = title + "─" * (100 - len(title)) + "\n" + "\n".join(lines)
    asked = described(f"titled({kernel!r}, {stage!r}, {text!r})", inspection.titled, kernel, stage, text)
    asked.returns(expected, because="the title has 100 characters, and no empty lines end the text")


# --- dumps


@given(names, st.sampled_from(list(STAGES)), st.text(st.characters(codec="utf-8", exclude_characters="\r")))
@example("add", "ttir", "module {\n}\n")
def test_dumps(kernel: str, stage: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        folder = inspection.dump_directory() / "not" / "there"
        patch.setenv(inspection.DUMP_DIRECTORY, str(folder))
        words = f"dump({kernel!r}, 'key', {stage!r}, {text!r})"
        described(words, inspection.dump, kernel, "key", stage, text).succeeds()
        ending = {"source": "source.py", "ttir": "ttir", "numpy": "numpy.py"}[stage]
        path = folder / "key" / f"{kernel}.{ending}"
        assert path.exists(), f"{words}\n  expected  a file {path}\n  got       {sorted(folder.rglob('*'))}"
        described(f"the file of {words}", path.read_text, encoding="utf-8").returns(text)


def test_dumps_of_a_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(inspection.DUMP, "1")
    monkeypatch.setenv(inspection.DUMP_DIRECTORY, str(tmp_path))
    compiled = kernels()["copies"][(1,)](np.ones(8), np.zeros(8), 8, SIZE=8)
    found = {path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.*")}
    folder = compiled.hash
    assert found == {
        f"{folder}/copies.source.py": compiled.asm["source"],
        f"{folder}/copies.ttir": compiled.asm["ttir"],
        f"{folder}/copies.numpy.py": compiled.asm["numpy"],
    }, f"after a launch with {inspection.DUMP}=1 the files are {sorted(found)}"


# --- printing


def printed(launch: Callable[[], Any]) -> tuple[Any, str]:
    """What a launch gives, and what it prints, with the switch that lets it print its stages."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as output:
        patch.setenv(inspection.PRINT, "stages")
        result = launch()
    return result, output.getvalue()


def test_stages_are_printed() -> None:
    for _ in range(2):  # the second time it is on disk, and shown nevertheless
        compiled, text = printed(lambda: kernels()["copies"][(1,)](np.ones(8), np.zeros(8), 8, SIZE=8))
        expected = "".join(inspection.titled("copies", stage, compiled.asm[stage]) + "\n" for stage in STAGES)
        described(f"what a launch with {inspection.PRINT}=stages prints", lambda text=text: text).returns(expected)


def test_a_stage_that_fails() -> None:
    kernel = kernels()["wrong"]
    asked = described(f"wrong[(1,)](x) in\n{KERNELS}", kernel[(1,)], np.zeros(4))
    _, text = printed(lambda: asked.raises(CompilationError, "missing"))
    expected = inspection.titled("wrong", "source", kernel.source) + "\n"
    described("what is printed before the front end refuses it", lambda: text).returns(expected)


# --- warmup


def warm(kernel: Any, words: str, *arguments: Any, **keywords: Any) -> described:
    return described(f"copies.warmup({words}) in\n{KERNELS}", kernel.warmup, *arguments, **keywords)


def test_nothing_runs() -> None:
    x, out = np.ones(8), np.zeros(8)
    kernel = kernels()["copies"]
    compiled = warm(kernel, "x, out, 8, SIZE=8, grid=(1,)", x, out, 8, SIZE=8, grid=(1,)).succeeds()
    assert not out.any(), f"a warmup must not run the kernel, but out is {out}"
    assert kernel[(1,)](x, out, 8, SIZE=8) is compiled, "the launch after a warmup must find what it has compiled"
    assert out.all(), f"the launch after a warmup gives {out}"


def test_dtypes_stand_for_arrays() -> None:
    for dtype, spelling in OF_NUMPY.items():
        forms: dict[str, Any] = {f"np.dtype({dtype.name!r})": dtype, f"MockTensor({dtype})": MockTensor(dtype)}
        if issubclass(dtype.type, np.generic):
            forms[f"np.{dtype.type.__name__}"] = dtype.type
        for shown, form in forms.items():
            words = f"{shown}, {shown}, 8, SIZE=8, grid=(1,)"
            compiled = warm(kernels()["copies"], words, form, form, 8, SIZE=8, grid=(1,)).succeeds()
            signature = {"x": f"*{spelling}", "out": f"*{spelling}", "n": "i32", "SIZE": "constexpr"}
            described(
                f"the signature after copies.warmup({words})", lambda c=compiled: dict(c.metadata.signature)
            ).returns(signature)
            assert compiled.asm["ttir"].count("tt.divisibility = 16") == 2, (
                f"copies.warmup({words}): the arrays that dtypes stand for are aligned, n = 8 is no multiple of 16\n"
                f"{compiled.asm['ttir']}"
            )


def test_dtypes_by_name() -> None:
    compiled = warm(
        kernels()["copies"], "out=np.float32, x=np.float32, n=8, SIZE=8", out=np.float32, x=np.float32, n=8, SIZE=8
    ).succeeds()
    described("its signature", lambda: compiled.metadata.signature["out"]).returns("*fp32")


def test_constants_stay_what_they_are() -> None:
    text = """
import triton
import triton.language as tl
@triton.jit
def fills(x, VALUE: tl.constexpr):
    tl.store(x, VALUE)
"""
    kernel = load(text, "fills.py")["fills"]
    compiled = described(f"fills.warmup(np.int32, 5) in\n{text}", kernel.warmup, np.int32, 5).succeeds()
    assert "arith.constant 5 : i32" in compiled.asm["ttir"], f"5 is the constant\n{compiled.asm['ttir']}"
    options = described(
        f"fills.warmup(np.int32, 5, num_warps=8) in\n{text}",
        lambda: kernel.warmup(np.int32, 5, num_warps=8).metadata.num_warps,
    )
    options.returns(8)


def test_what_a_compiled_kernel_has() -> None:
    kernel = kernels()["copies"]
    compiled = warm(kernel, "np.float32, np.float32, 8, SIZE=8", np.float32, np.float32, 8, SIZE=8).succeeds()
    assert compiled.asm["source"] == kernel.source
    assert print_module(parse_module(compiled.asm["ttir"])) == compiled.asm["ttir"], "asm['ttir'] is TTIR"
    compile(compiled.asm["numpy"], "numpy", "exec")
    assert compiled.name == compiled.metadata.name == "copies"
