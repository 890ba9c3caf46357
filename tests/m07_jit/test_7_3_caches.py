"""Task 7.3, the second half: compiled kernels in memory, and on disk."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.language.constexpr import constexpr
from mini_triton.runtime import cache, compiler

from tests.checks import described
from tests.support.sources import load

# --- files

texts = st.text(max_size=8)
entries = st.dictionaries(texts, st.one_of(texts, st.booleans(), st.lists(texts, max_size=2)), max_size=3)


@contextmanager
def warned() -> Iterator[list[str]]:
    """The messages of all warnings inside."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
    messages += [str(warning.message) for warning in caught]


def stored(key: str, entry: cache.Entry) -> Path:
    """The file of an entry that has been stored without a warning."""
    with warned() as messages:
        described(f"store({key!r}, {entry!r})", cache.store, key, entry).succeeds()
    assert not messages, f"store({key!r}, {entry!r}) warns, but nothing is wrong: {messages[0]}"
    path = cache.path_of(key)
    assert path.exists(), f"store({key!r}, {entry!r}) makes no file path_of({key!r})"
    return path


def loads(key: str, expected: cache.Entry | None, because: str, warns: bool = False) -> None:
    """What `load` gives for a key, and whether it warns with the file's path."""
    with warned() as messages:
        described(f"load({key!r})", cache.load, key).returns(expected, because)
    if warns:
        told = any(str(cache.path_of(key)) in message for message in messages)
        assert told, f"load({key!r}) should warn with the path of the file, because {because}\n  warnings: {messages}"
    else:
        assert not messages, f"load({key!r}) warns, but nothing is wrong: {messages[0]}"


@given(entries, entries)
def test_what_is_stored_is_loaded(first: cache.Entry, second: cache.Entry) -> None:
    stored("key", first)
    stored("other", second)
    loads("key", first, because="it was stored")
    stored("key", second)
    loads("key", second, because="it was stored in place of the first")
    loads("other", second, because="it was stored under another key")


def test_nothing_there() -> None:
    loads("never-stored", None, because="there is no such file")


def test_the_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.DIRECTORY, str(tmp_path / "not" / "there"))
    loads("key", None, because="there is not even a folder")
    path = stored("key", {"ttir": "module {}"})
    assert path.parent == tmp_path / "not" / "there"
    others = sorted(file.name for file in path.parent.iterdir() if file != path)
    assert not others, f"store leaves other files behind: {others}"


ENTRY = {"ttir": "module {\n}\n", "stored": ["out"], "mode": "fast"}
CONTENT = cache.pack(ENTRY)


@given(st.integers(0, len(CONTENT) - 1))
def test_files_that_end_early(length: int) -> None:
    stored("key", ENTRY).write_bytes(CONTENT[:length])
    loads("key", None, because=f"only {length} of {len(CONTENT)} bytes are there", warns=True)


@given(st.integers(0, len(CONTENT) - 1), st.integers(1, 255))
def test_files_with_another_byte(place: int, change: int) -> None:
    damaged = bytearray(CONTENT)
    damaged[place] ^= change
    stored("key", ENTRY).write_bytes(bytes(damaged))
    loads("key", None, because=f"byte {place} is not as it was", warns=True)


@given(
    st.one_of(
        st.binary(max_size=40), st.sampled_from([b"", b"\n", b"\n{}", b"{}", b"null", CONTENT + b"\n", CONTENT * 2])
    )
)
def test_files_that_are_something_else(content: bytes) -> None:
    stored("key", ENTRY).write_bytes(content)
    loads("key", None, because=f"the file has {content!r}", warns=True)
    stored("key", ENTRY)
    loads("key", ENTRY, because="it was stored again, in place of the damaged file")


def test_a_file_that_cannot_be_read() -> None:
    cache.path_of("folder").mkdir(parents=True)
    loads("folder", None, because="a folder is where the file should be", warns=True)


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.DIRECTORY, str(tmp_path / "file"))
    with warned() as messages:
        described("store, where the cache's folder is a file", cache.store, "key", ENTRY).succeeds("a warning only")
    assert messages, "store should warn that it cannot make its folder"


def test_a_disk_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.DIRECTORY, str(tmp_path))
    stored("key", ENTRY)

    def fails(*_: object, **__: object) -> None:
        raise OSError("the disk is on fire")

    with monkeypatch.context() as patch, warned() as messages:
        patch.setattr(os, "replace", fails)
        words = "store, with an os.replace that raises an OSError"
        described(words, cache.store, "key", {"ttir": "new"}).succeeds("a warning only")
    assert any("the disk is on fire" in message for message in messages), f"store should say why: {messages}"
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == [cache.path_of("key").name], f"store leaves files behind when it fails: {names}"
    loads("key", ENTRY, because="the old file is untouched")


def test_a_file_appears_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.DIRECTORY, str(tmp_path))
    stored("key", ENTRY)
    new = {"ttir": "new"}
    seen: list[tuple[Path, bytes, bytes]] = []
    replace = os.replace

    def observed(source: Any, target: Any, **options: Any) -> None:
        seen.append((Path(source), Path(source).read_bytes(), Path(target).read_bytes()))
        replace(source, target, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", observed)
        stored("key", new)
    assert len(seen) == 1, f"store should rename one file, by os.replace: it renames {len(seen)}"
    source, content, before = seen[0]
    assert source.parent == tmp_path, f"the file that is renamed is not in the cache's folder: {source}"
    assert content == cache.pack(new), "when the file is renamed not all is written yet: is it closed by then?"
    assert before == CONTENT, "the old file has changed already before the new one replaces it"


def test_many_at_once() -> None:
    possible = [{"ttir": str(i) * 20_000} for i in range(4)]
    stored("shared", possible[0])
    wrong: list[Any] = []
    with warned() as messages:

        def write(entry: cache.Entry) -> None:
            for _ in range(25):
                cache.store("shared", entry)

        def read() -> None:
            for _ in range(100):
                if (entry := cache.load("shared")) not in possible:
                    wrong.append(entry)

        def run(task: Any, *arguments: Any) -> None:
            try:
                task(*arguments)
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=run, args=(write, entry)) for entry in possible]
        threads += [threading.Thread(target=run, args=(read,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong, f"while four store, a reader gets {wrong[0]!r:.80}, which none of them has stored"
    assert not messages, f"while four store, a reader is warned: {messages[0]}"


# --- in memory

KERNELS = """
import triton
import triton.language as tl
@triton.jit
def plus(v):
    return v + STEP
@triton.jit
def minus(v):
    return v - STEP
@triton.jit
def kernel(x, n, SIZE: tl.constexpr = 1, F: tl.constexpr = plus):
    tl.store(x, F(n) + SIZE + settings.BIAS)
"""


def kernels(text: str = KERNELS, file: str = "kernels_of_the_caches.py") -> dict[str, Any]:
    settings = ModuleType("settings")
    vars(settings).update(BIAS=constexpr(3))
    names = load(text, file)
    names.update(STEP=constexpr(2), settings=settings)
    return names


def warm(names: dict[str, Any], *arguments: Any, **keywords: Any) -> Any:
    """The compiled kernel for such arguments. Nothing runs."""
    return asked(names, *arguments, **keywords).succeeds()


def asked(names: dict[str, Any], *arguments: Any, **keywords: Any) -> described:
    shown = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in keywords.items())]
    words = f"kernel.run({', '.join([*shown, 'grid=(1,)', 'warmup=True'])}) in\n{KERNELS}"
    return described(words, names["kernel"].run, *arguments, **keywords, grid=(1,), warmup=True)


X = np.zeros(4, np.float32)


def test_equal_specializations_share_a_kernel() -> None:
    names = kernels()
    first = warm(names, X, 5)
    for arguments in ((X, 6), (np.ones(4, np.float32), -7), (np.zeros((2, 8), np.float32)[:, ::2], 5)):
        assert warm(names, *arguments) is first, f"kernel(x, 5) and kernel{arguments} need the same compiled kernel"
    assert warm(names, n=5, x=X, SIZE=1) is first, "it does not matter how arguments are given"
    assert warm(names, X, 5, num_warps=4) is first, "4 warps are what it has anyway"


def test_other_specializations_have_their_own() -> None:
    names = kernels()
    found = {
        "5": warm(names, X, 5),
        "16": warm(names, X, 16),
        "1": warm(names, X, 1),
        "2**31 + 1": warm(names, X, 2**31 + 1),
        "5.0": warm(names, X, 5.0),
        "True": warm(names, X, True),
        "5, of an fp16 array": warm(names, X.astype(np.float16), 5),
        "5, of an int32 array": warm(names, X.view(np.int32), 5),
        "5, of an array at an odd address": warm(names, X[1:], 5),
        "5, SIZE=2": warm(names, X, 5, SIZE=2),
        "5, SIZE=True": warm(names, X, 5, SIZE=True),
        "5, SIZE=1.0": warm(names, X, 5, SIZE=1.0),
        "5, F=minus": warm(names, X, 5, F=names["minus"]),
        "5, num_warps=8": warm(names, X, 5, num_warps=8),
    }
    kinds = list(found)
    for i, a in enumerate(kinds):
        for b in kinds[:i]:
            assert found[a] is not found[b], f"kernel(x, {a}) and kernel(x, {b}) must not share a compiled kernel"


def changed_after(change: Any, name: str, words: str, **keywords: Any) -> None:
    """A launch is refused after a change, and works again when that is undone."""
    names = kernels()
    first = warm(names, X, 5, **keywords)
    undo = change(names)
    asked(names, X, 5, **keywords).raises(RuntimeError, name, because=f"it was compiled with {words}")
    asked(names, X, 16, **keywords).raises(RuntimeError, name, because=f"another kind was compiled with {words}")
    undo()
    assert warm(names, X, 5, **keywords) is first, "all is as it was: the kernel that is there will do"


def rebound(path: str, value: Any) -> Any:
    """A change that gives a name, perhaps one of a module's, another value."""

    def change(names: dict[str, Any]) -> Any:
        owner, _, name = path.rpartition(".")
        space = vars(names[owner]) if owner else names
        old, space[name] = space[name], value
        return lambda: space.update({name: old})

    return change


def test_a_changed_global() -> None:
    changed_after(rebound("STEP", constexpr(9)), "STEP", "STEP = 2, which a callee reads")
    changed_after(rebound("STEP", constexpr(2.0)), "STEP", "the integer 2")


def test_a_changed_name_of_a_module() -> None:
    changed_after(rebound("settings.BIAS", constexpr(9)), "settings.BIAS", "settings.BIAS = 3")


def test_a_changed_callee() -> None:
    text = KERNELS.replace("F(n)", "plus(n)")
    names = kernels(text)
    warm(names, X, 5)
    names["plus"] = names["minus"]
    asked(names, X, 5).raises(RuntimeError, "plus", because="plus was another function when kernel was compiled")


def test_a_change_that_a_function_among_the_arguments_sees() -> None:
    text = KERNELS.replace("return v - STEP", "return v - OTHER")
    names = kernels(text)
    names["OTHER"] = constexpr(1)
    warm(names, X, 5, F=names["minus"])
    names["OTHER"] = constexpr(2)
    asked(names, X, 5, F=names["minus"]).raises(RuntimeError, "OTHER", because="minus was compiled with OTHER = 1")


def test_changes_that_do_not_matter() -> None:
    names = kernels()
    first = warm(names, X, 5)
    names["UNUSED"] = 1
    vars(names["settings"])["OTHER"] = 2
    names["STEP"] = constexpr(1 + 1)
    assert warm(names, X, 5) is first, "nothing that the kernel reads has changed: STEP is 2 again"


# --- from process to process, each of which loads the kernels once more


def test_found_on_disk() -> None:
    first = warm(kernels(), X, 5)
    with mock.patch.object(compiler, "run_stages", side_effect=AssertionError("it is compiled again")):
        again = warm(kernels(), X, 6)
    assert again.asm == first.asm, "what is on disk is not what was compiled"


def test_compiled_again_for_a_change() -> None:
    first = warm(kernels(), X, 5)
    names = kernels()
    names["STEP"] = constexpr(7)
    other = warm(names, X, 5)
    assert other.asm["ttir"] != first.asm["ttir"], "with STEP = 7 the kernel of STEP = 2 is found on disk"


def test_a_damaged_file_is_replaced() -> None:
    first = warm(kernels(), X, 5)
    path = cache.path_of(first.hash)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with warned() as messages:
        again = warm(kernels(), X, 5)
    assert any(str(path) in message for message in messages), f"no warning names the damaged file: {messages}"
    assert again.asm == first.asm and path.read_bytes() == whole, "the damaged file is not replaced"


def test_always_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    warm(kernels(), X, 5)
    monkeypatch.setenv(cache.ALWAYS_COMPILE, "1")
    with mock.patch.object(compiler, "run_stages", wraps=compiler.run_stages) as stages:
        warm(kernels(), X, 5)
    assert stages.call_count == 1, "with MINI_TRITON_ALWAYS_COMPILE=1 what is on disk should not be read"
