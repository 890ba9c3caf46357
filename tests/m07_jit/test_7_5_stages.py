"""Task 7.5: stages run one after the other; every module is verified, and texts are made for inspection."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton import environment
from mini_triton.errors import VerificationError
from mini_triton.frontend.compiler import ast_to_ttir
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.runtime import inspection
from mini_triton.runtime.options import Options
from mini_triton.runtime.pipeline import TTIR, Compilation, Form, Stage, build_module, run_stages, stages_for
from mini_triton.runtime.specialization import Specialized, specialize_constant

from tests.checks import described
from tests.support.m07_jit.broken_modules import BREAKS
from tests.support.sources import load

KERNELS = """
import triton
import triton.language as tl
@triton.jit
def copies(x, out, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)
@triton.jit
def wrong(x, out, n, SIZE: tl.constexpr):
    tl.store(x, missing)
"""
kernels = load(KERNELS, "kernels_of_the_stages.py")


def compilation(kernel: str = "copies", /, **arguments: Specialized) -> Compilation:
    """A kernel to compile, for pointers to fp32, an i32 and a block of 8, or for other given arguments."""
    usual = {"x": Specialized("*fp32"), "out": Specialized("*fp32"), "n": Specialized("i32")}
    all = usual | {"SIZE": specialize_constant(8)} | arguments
    return Compilation(kernels[kernel], all, {"SIZE": 8}, Options(), hash="key")


def run(stages: list[Stage], of: Compilation, *begin: Any) -> described:
    return described(f"run_stages([{', '.join(stage.name for stage in stages)}], ...)", run_stages, stages, of, *begin)


# --- the front end as a stage


@given(st.sets(st.sampled_from(["x", "out", "n"])), st.sampled_from(["*fp32", "*fp16", "*i64"]), st.booleans())
@example({"x", "out"}, "*fp32", True)
def test_the_module_of_a_kernel(divisible: set[str], type: str, wide: bool) -> None:
    types = {"x": type, "out": "*fp32", "n": "i64" if wide else "i32"}
    arguments = {name: Specialized(type, name in divisible) for name, type in types.items()}
    expected = ast_to_ttir(kernels["copies"], types | {"SIZE": "constexpr"}, {"SIZE": 8}, divisible)
    source = kernels["copies"].source
    asked = described(
        f"print_module(build_module(source, compilation)), for SIZE = 8 and {arguments}, of\n{KERNELS}",
        lambda: print_module(build_module(source, compilation(**arguments))),
    )
    asked.returns(
        print_module(expected), because="the module depends on the types, the constants and the multiples of 16"
    )


# --- running stages


def made_up(name: str, work: Callable[[Any], Any], **options: Any) -> Stage:
    """A stage whose products are texts."""
    return Stage(name, lambda product, _: work(product), Form("txt"), "", **options)


def appending(name: str) -> Stage:
    return made_up(name, lambda product: product + name)


@given(st.lists(st.sampled_from("abcde"), unique=True, max_size=4), st.text("xyz", max_size=3))
def test_each_stage_gets_the_previous_product(names: list[str], begin: str) -> None:
    stages = [appending(name) for name in names]
    texts = {name: begin + "".join(names[: i + 1]) for i, name in enumerate(names)}
    because = "each of these stages appends its name to the text that it gets"
    run(stages, compilation(), begin).returns((begin + "".join(names), texts), because)


def test_texts_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = [made_up("cheap", lambda _: "a"), made_up("expensive", lambda product: product + "b", on_request=True)]
    run(stages, compilation()).returns(("ab", {"cheap": "a"}), because="the second stage makes its text on request")
    monkeypatch.setenv(inspection.DUMP, "1")
    run(stages, compilation()).returns(
        ("ab", {"cheap": "a", "expensive": "ab"}), because=f"{inspection.DUMP}=1 requests all texts"
    )


def test_all_stages_of_a_kernel() -> None:
    program, texts = run(stages_for("cpu"), compilation()).succeeds()
    assert list(texts) == ["source", "ttir", "passes", "numpy"], (
        f"the stages for the CPU should have the texts source, ttir, passes and numpy, not {list(texts)}"
    )
    assert texts["source"] == kernels["copies"].source
    assert texts["numpy"] == program.source
    assert print_module(parse_module(str(texts["ttir"])), locations=True) == texts["ttir"]


# --- modules are verified


def passing(name: str, work: Callable[[Module], Any]) -> Stage:
    """A stage that changes the module in place."""

    def run(module: Module, _: Compilation) -> Module:
        work(module)
        return module

    return Stage(name, run, TTIR, "")


@pytest.mark.parametrize("kind", BREAKS)
@given(st.integers(0, 2), st.integers(0, 2))
def test_a_broken_module_is_refused(kind: str, before: int, after: int) -> None:
    innocent = [passing(f"innocent{i}", lambda module: None) for i in range(before + after)]
    stages = [*stages_for("cpu")[:2], *innocent[:before], passing("guilty", BREAKS[kind]), *innocent[before:]]
    asked = run(stages, compilation())
    asked.raises(VerificationError, "guilty", because=f"this stage returns an invalid module: {kind}")
    assert "innocent" not in str(failure(asked)), f"the message should not name the stage `innocent`: {failure(asked)}"


def failure(asked: described) -> Exception:
    with pytest.raises(VerificationError) as caught:
        asked()
    return caught.value


def test_a_broken_module_of_the_front_end(monkeypatch: pytest.MonkeyPatch) -> None:
    from mini_triton.runtime import pipeline

    def broken(*arguments: Any, **named: Any) -> Module:
        module = ast_to_ttir(*arguments, **named)
        BREAKS["a value is used before it is defined"](module)
        return module

    monkeypatch.setattr(pipeline, "ast_to_ttir", broken)
    run(stages_for("cpu"), compilation()).raises(
        VerificationError, "ttir", because="the front end returns an invalid module"
    )


# --- texts are reported


def printed(asked: described) -> str:
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as output:
        patch.setenv(environment.PRINT, "stages")
        asked()
    return output.getvalue()


def test_texts_are_reported() -> None:
    _, texts = run_stages(stages_for("cpu"), compilation())
    shown = {stage.name: str(stage.form.shown(texts[stage.name])).rstrip("\n") for stage in stages_for("cpu")}
    titles = {
        name: f"──── copies: {name}, {len(text.splitlines())} lines ".ljust(100, "─") for name, text in shown.items()
    }
    expected = "".join(f"{titles[name]}\n{text}\n" for name, text in shown.items())
    asked = run(stages_for("cpu"), compilation())
    described(f"what {asked} prints with {environment.PRINT}=stages", lambda: printed(asked)).returns(expected)


def test_a_stage_that_fails() -> None:
    shown = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(shown):
        patch.setenv(environment.PRINT, "stages")
        run(stages_for("cpu"), compilation("wrong")).raises(Exception, "missing")
    assert ": source" in shown.getvalue() and ": ttir" not in shown.getvalue(), (
        f"the source should be reported before the front end refuses it, and no ttir\n  printed   {shown.getvalue()!r}"
    )


names = st.from_regex(r"[a-z_]{1,20}", fullmatch=True)


@given(names, names, st.one_of(st.text(st.characters(codec="utf-8")), st.binary()))
@example("add.ttir", "key", "module {\n}\n")
@example("add.cubin", "key", b"\x7fELF")
def test_dumps(file: str, key: str, text: str | bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        folder = inspection.dump_directory() / "not" / "there"
        patch.setenv(inspection.DUMP_DIRECTORY, str(folder))
        words = f"dump({key!r}, {file!r}, {text!r})"
        described(words, inspection.dump, key, file, text).succeeds()
        path = folder / key / file
        assert path.exists(), f"{words}\n  expected  a file {path}\n  got       {sorted(folder.rglob('*'))}"
        content = text if isinstance(text, bytes) else text.encode()
        described(f"the content of the file of {words}", path.read_bytes).returns(content)
