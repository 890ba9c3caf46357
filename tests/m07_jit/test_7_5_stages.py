"""Task 7.5: stages run one after the other; every module is verified, and texts are made for inspection."""

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
from mini_triton.runtime.pipeline import Compilation, Form, Stage, build_module, run_stages, stages_for
from mini_triton.runtime.specialization import Specialized, specialize_constant

from tests.checks import described
from tests.support.m07_jit.broken_modules import BREAKS
from tests.support.sources import load

KERNELS = """
import triton
import triton.language as tl
@triton.jit
def copies(x, out, n, SIZE: tl.constexpr, FACTOR: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, mask=at < n) * FACTOR, mask=at < n)
@triton.jit
def fills(x, out, n, SIZE: tl.constexpr, FACTOR: tl.constexpr):
    x.store([0], tl.full([SIZE], FACTOR, x.dtype))
@triton.jit
def wrong(x, out, n, SIZE: tl.constexpr, FACTOR: tl.constexpr):
    tl.store(x, missing)
"""
kernels = load(KERNELS, "kernels_of_the_stages.py")


CONSTANTS = {"SIZE": 8, "FACTOR": 0.5}


def compilation(kernel: str = "copies", /, **arguments: Specialized) -> Compilation:
    """A kernel to compile, for pointers to fp32, an i32 and `CONSTANTS`, or for other given arguments."""
    usual = {"x": Specialized("*fp32"), "out": Specialized("*fp32"), "n": Specialized("i32")}
    all = usual | {name: specialize_constant(value) for name, value in CONSTANTS.items()} | arguments
    return Compilation(kernels[kernel], all, CONSTANTS, Options(), hash="key")


def run(stages: list[Stage], of: Compilation, *begin: Any) -> described:
    return described(f"run_stages([{', '.join(stage.name for stage in stages)}], ...)", run_stages, stages, of, *begin)


# --- the front end as a stage


POINTERS = ["*fp32", "*fp16", "*i64"]
DESCRIPTORS = ["tensordesc<fp32[8], zero, base>", "tensordesc<fp16[8], zero, >"]
x_types = st.one_of(
    st.tuples(st.just("copies"), st.sampled_from(POINTERS)), st.tuples(st.just("fills"), st.sampled_from(DESCRIPTORS))
)


@given(x_types, st.sets(st.sampled_from(["x", "out", "n"])), st.booleans())
@example(("copies", "*fp32"), {"x", "out"}, True)
@example(("fills", DESCRIPTORS[0]), {"out"}, False)
def test_the_module_of_a_kernel(x: tuple[str, str], divisible: set[str], wide: bool) -> None:
    kernel, type = x
    types = {"x": type, "out": "*fp32", "n": "i64" if wide else "i32"}
    arguments = {name: Specialized(type, name in divisible) for name, type in types.items()}
    expected = ast_to_ttir(kernels[kernel], types | dict.fromkeys(CONSTANTS, "constexpr"), CONSTANTS, divisible)
    source = kernels[kernel].source
    asked = described(
        f"print_module(build_module(source, compilation)), for {kernel}, {CONSTANTS} and {arguments}, of\n{KERNELS}",
        lambda: print_module(build_module(source, compilation(kernel, **arguments))),
    )
    asked.returns(
        print_module(expected), because="the module depends on the types, the constants and the multiples of 16"
    )


# --- running stages


def made_up(
    name: str,
    work: Callable[[Any], Any],
    text: Callable[[Any, str], Any] = lambda product, _: product,
    on_request: bool = False,
) -> Stage:
    """A stage whose products are texts, unless the function `text` makes their texts."""
    return Stage(name, lambda product, _: work(product), Form("txt", text=text), "", on_request=on_request)


def appending(name: str) -> Stage:
    form = Form("txt", text=lambda product, name: f"{name}: {product}", shown=str.upper)
    return Stage(name, lambda product, _: product + name, form, "")


@given(st.lists(st.sampled_from("abcde"), unique=True, max_size=4), st.text("xyz", max_size=3))
def test_each_stage_gets_the_previous_product(names: list[str], begin: str) -> None:
    stages = [appending(name) for name in names]
    texts = {name: f"{name}: {begin}{''.join(names[: i + 1])}" for i, name in enumerate(names)}
    because = (
        "each of these stages appends its name to its product, and `stage.text` writes the name before the product"
    )
    run(stages, compilation(), begin).returns((begin + "".join(names), texts), because)


def test_texts_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def expensive(product: str, _: str) -> str:
        made.append(product)
        return product

    later = made_up("expensive", lambda product: product + "b", expensive, on_request=True)
    stages = [made_up("cheap", lambda _: "a"), later]
    run(stages, compilation()).returns(("ab", {"cheap": "a"}), because="the second stage makes its text on request")
    assert not made, "a text that nobody has requested should not be made: it may be expensive"
    monkeypatch.setenv(inspection.DUMP, "1")
    run(stages, compilation()).returns(
        ("ab", {"cheap": "a", "expensive": "ab"}), because=f"{inspection.DUMP}=1 requests all texts"
    )
    dumped = inspection.dump_directory() / "key" / "copies.expensive.txt"
    described("the dump of the stage `expensive`", dumped.read_text).returns("ab", because="the text was requested")


@pytest.mark.parametrize("product", [None, "", b"", b"\x7fELF", 0])
def test_products_of_every_kind(product: Any) -> None:
    stages = [made_up("first", lambda _: product), made_up("second", lambda product: [product])]
    texts = {"first": product, "second": [product]}
    run(stages, compilation(), "begin").returns(([product], texts), because=f"the second stage gets {product!r}")


def test_a_product_that_changes_later() -> None:
    def extend(product: list[str]) -> list[str]:
        product.append("b")
        return product

    def join(product: list[str], _: str) -> str:
        return "".join(product)

    stages = [made_up("first", lambda _: ["a"], join), made_up("second", extend, join)]
    because = "the second stage changes the product in place, after the first stage's text was made"
    run(stages, compilation()).returns((["a", "b"], {"first": "a", "second": "ab"}), because)


def test_all_stages_of_a_kernel() -> None:
    program, texts = run(stages_for("cpu"), compilation()).succeeds()
    assert list(texts) == ["source", "ttir", "passes", "numpy"], (
        f"the stages for the CPU should have the texts source, ttir, passes and numpy, not {list(texts)}"
    )
    assert texts["source"] == kernels["copies"].source
    assert texts["numpy"] == program.source
    assert print_module(parse_module(str(texts["ttir"])), locations=True) == texts["ttir"]


# --- modules are verified


def passing(name: str, work: Callable[[Module], Any], on_request: bool = False) -> Stage:
    """A stage that changes the module in place."""

    def change(module: Module) -> Module:
        work(module)
        return module

    return made_up(name, change, lambda *_: "a module", on_request=on_request)


@pytest.mark.parametrize("kind", BREAKS)
@given(st.integers(0, 2), st.integers(0, 2), st.booleans())
def test_a_broken_module_is_refused(kind: str, before: int, after: int, on_request: bool) -> None:
    innocent = [passing(f"innocent{i}", lambda module: None) for i in range(before + after)]
    guilty = passing("guilty", BREAKS[kind], on_request)
    stages = [*stages_for("cpu")[:2], *innocent[:before], guilty, *innocent[before:]]
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
        inspection.dump(key, file, "a longer text from an earlier compilation" * 5)
        described(words, inspection.dump, key, file, text).succeeds()
        path = folder / key / file
        assert path.exists(), f"{words}\n  expected  a file {path}\n  got       {sorted(folder.rglob('*'))}"
        content = text if isinstance(text, bytes) else text.encode()
        described(f"the content of the file of {words}", path.read_bytes).returns(content)
