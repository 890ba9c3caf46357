"""One list of stages: a stage added to it is everywhere, a broken module names it, and the key covers all sources."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mini_triton
import numpy as np
import pytest
from mini_triton import environment
from mini_triton.backends.page import write_page
from mini_triton.compat import toolbox
from mini_triton.errors import VerificationError
from mini_triton.ir.core import Module
from mini_triton.runtime import inspection, keys, pipeline
from mini_triton.runtime.options import Options
from mini_triton.runtime.pipeline import STAGES, TTIR, Stage, change

from tests.oracles import triton
from tests.support.m07_jit.broken_modules import BREAKS
from tests.support.sources import load

KERNEL = """
import triton
import triton.language as tl
@triton.jit
def copies(x, out, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)
"""
FILL = """
import triton
import triton.language as tl
@triton.jit
def fill(x):
    tl.store(x, 5)
"""
ROOTS = {Path(mini_triton.__file__).parent, toolbox.FOLDER}
FILES = sorted(file for root in ROOTS for file in root.rglob("*.py"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MINI_TRITON_CACHE_DIR", str(tmp_path))
    yield
    keys.hash_sources.cache_clear()


def warm() -> Any:
    return load(KERNEL, "copies.py")["copies"].warmup(np.float32, np.float32, 100, SIZE=64)


def add_pass(monkeypatch: pytest.MonkeyPatch, name: str, work: Any) -> None:
    """Add a pass to the list, in the place of passes."""
    before = [stage for stage in STAGES if not stage.device]
    stages = [*before, Stage(name, change(work), TTIR, "what a test adds"), *STAGES[len(before) :]]
    monkeypatch.setattr(pipeline, "STAGES", stages)


def nothing(module: Module) -> None:
    """The smallest pass."""


# --- a pass is one line


def test_a_pass_that_does_nothing_is_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = warm()
    add_pass(monkeypatch, "nothing", nothing)
    monkeypatch.setenv(environment.PRINT, "stages")
    monkeypatch.setenv(inspection.DUMP, "1")
    monkeypatch.setenv(inspection.DUMP_DIRECTORY, str(tmp_path / "dump"))
    kernel = warm()
    assert kernel.hash != first.hash, "the key knows the list of stages"
    assert list(kernel.asm) == ["source", "ttir", "passes", "nothing", "numpy"]
    assert kernel.asm["nothing"] == kernel.asm["passes"]
    assert "──── copies: nothing, " in capsys.readouterr().out
    files = {path.name for path in (tmp_path / "dump" / kernel.hash).iterdir()}
    assert files == {f"copies.{name}" for name in ("source.py", "ttir", "passes.ttir", "nothing.ttir", "numpy.py")}


def test_both_back_ends_get_what_the_last_pass_made(monkeypatch: pytest.MonkeyPatch) -> None:
    if not triton.available():
        triton.version()  # ends the test as unavailable

    def five_is_seven(module: Module) -> None:
        (constant,) = (operation for operation in module.walk() if operation.name == "arith.constant")
        constant.attributes["value"] = 7

    add_pass(monkeypatch, "five_is_seven", five_is_seven)
    for _ in range(2):  # the second time it is on disk
        x = np.zeros(1, np.int32)
        kernel = load(FILL, "fill.py")["fill"][(1,)](x)
        assert x[0] == 7 and "constant 5" in kernel.asm["ttir"] and "constant 7" in kernel.asm["five_is_seven"]
        kernel.lower()
        assert "constant 7" in kernel.asm["llir"] or "i32 7" in kernel.asm["llir"]
        assert "\nfive_is_seven" in write_page(kernel)


# --- a broken module names its stage


@pytest.mark.parametrize("kind", BREAKS)
def test_every_stage_that_breaks_a_module_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    makers = [stage for stage in STAGES if stage.form is TTIR]
    assert makers, "the front end at least makes a module"
    for guilty in makers:

        def broken(product: Any, compilation: Any, guilty: Stage = guilty) -> Module:
            module: Module = guilty.run(product, compilation)
            BREAKS[kind](module)
            return module

        changed = [Stage(s.name, broken, s.form, s.adds) if s is guilty else s for s in STAGES]
        with monkeypatch.context() as patch, pytest.raises(VerificationError, match=f"stage '{guilty.name}'"):
            patch.setattr(pipeline, "STAGES", changed)
            warm()
    add_pass(monkeypatch, "guilty", BREAKS[kind])
    with pytest.raises(VerificationError, match="stage 'guilty'"):
        warm()


# --- the key


def test_an_edit_in_any_file_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(FILES) > 100
    kernel = load(KERNEL, "copies.py")["copies"]

    def key() -> str:
        keys.hash_sources.cache_clear()
        return keys.compute_key(kernel, [], {}, Options())

    first, files = key(), [*keys.source_files()]
    monkeypatch.setattr(keys, "source_files", lambda: files)
    contents = {file: file.read_bytes() for file in files}
    found = {first}
    for file in FILES:
        monkeypatch.setattr(Path, "read_bytes", lambda path, f=file: contents[path] + b"\n" * (path == f))
        found.add(key())
    monkeypatch.undo()
    assert len(found) == len(FILES) + 1, "each file's edit gives a key of its own"
    assert key() == first


# --- once


def test_nothing_is_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    from mini_triton.codegen import kernel as generated

    calls: dict[str, int] = {}

    def counting(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def counted(*arguments: Any, **options: Any) -> Any:
            calls[name] = calls.get(name, 0) + 1
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, counted)

    for owner, name in (
        (generated.NumpyKernel, "__post_init__"),
        (pipeline, "ast_to_ttir"),
        (pipeline, "print_module"),
        (pipeline, "compile_module"),
        (generated, "origins"),
        (generated, "generate"),
        (keys, "paths"),
    ):
        counting(owner, name)
    warm()
    assert calls.pop("print_module") == len([stage for stage in STAGES if stage.form is TTIR])
    assert set(calls.values()) == {1}, f"how often each is called on a cold launch: {calls}"
