"""Task 7.4: compiled kernels on disk."""

import errno
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.runtime import cache

from tests.checks import described

texts = st.text(max_size=8)
entries = st.dictionaries(texts, st.one_of(texts, st.booleans(), st.lists(texts, max_size=2)), max_size=3)


@contextmanager
def warned() -> Iterator[list[str]]:
    """The messages of all warnings in the `with` block."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
    messages += [str(warning.message) for warning in caught]


def stored(key: str, entry: cache.Entry) -> Path:
    """The file of an entry that has been stored without a warning."""
    with warned() as messages:
        described(f"store({key!r}, {entry!r})", cache.store, key, entry).succeeds()
    assert not messages, f"store({key!r}, {entry!r}) should not warn, but warns: {messages[0]}"
    path = cache.path_of(key)
    assert path.exists(), f"store({key!r}, {entry!r}) makes no file path_of({key!r})"
    return path


def loads(key: str, expected: cache.Entry | None, because: str, warns: bool = False) -> None:
    """Require that `load` returns the expected entry for a key, and warns with the path only if `warns` is true."""
    with warned() as messages:
        described(f"load({key!r})", cache.load, key).returns(expected, because)
    if warns:
        is_warned = any(str(cache.path_of(key)) in message for message in messages)
        assert is_warned, (
            f"load({key!r}) should warn with the path of the file, because {because}\n  warnings: {messages}"
        )
    else:
        assert not messages, f"load({key!r}) should not warn, but warns: {messages[0]}"


@given(entries, entries)
def test_what_is_stored_is_loaded(first: cache.Entry, second: cache.Entry) -> None:
    stored("key", first)
    stored("other", second)
    loads("key", first, because="it was stored")
    stored("key", second)
    loads("key", second, because="it was stored in place of the first")
    loads("other", second, because="it was stored under a different key")


def test_the_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.DIRECTORY, str(tmp_path / "not" / "there"))
    loads("key", None, because="the cache folder does not exist")
    path = stored("key", {"ttir": "module {}"})
    assert path.parent == tmp_path / "not" / "there"
    others = sorted(file.name for file in path.parent.iterdir() if file != path)
    assert not others, f"store leaves other files behind: {others}"


ENTRY = {"ttir": "module {\n}\n", "stored": ["out"], "mode": "fast"}
CONTENT = cache.pack(ENTRY)
places = st.integers(0, len(CONTENT) - 1)


@given(
    st.one_of(
        st.sampled_from([b"", b"\n", b"\n{}", b"{}", b"null", CONTENT + b"\n", CONTENT.replace(b"\n", b"\r", 1)]),
        st.binary(max_size=40),
        st.builds(lambda length: CONTENT[:length], places),
        st.builds(
            lambda place, byte: CONTENT[:place] + bytes([byte]) + CONTENT[place + 1 :], places, st.integers(0, 255)
        ),
    ).filter(lambda content: content != CONTENT)
)
def test_files_that_are_something_else(content: bytes) -> None:
    stored("key", ENTRY).write_bytes(content)
    loads("key", None, because=f"the file contains {content!r}", warns=True)
    stored("key", ENTRY)
    loads("key", ENTRY, because="it was stored again, in place of the damaged file")


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.DIRECTORY, str(tmp_path / "file"))
    loads("key", None, because="a file has the path of the cache folder", warns=True)
    with warned() as messages:
        described("store, where the path of the cache folder is a file's", cache.store, "key", ENTRY).succeeds(
            "a warning only"
        )
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


@contextmanager
def full_disk() -> Iterator[bool]:
    """Let no file grow beyond 1000 bytes, and yield True; False on Windows, where files have no such limit."""
    try:
        import resource
    except ImportError:
        yield False
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        yield True
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("length", [2_000, 200_000])
def test_a_full_disk(length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short entry fits in a buffer, so the error may come only when the file is closed."""
    monkeypatch.setenv(cache.DIRECTORY, str(tmp_path))
    stored("key", ENTRY)
    new = {"ttir": "x" * length}
    with warned() as messages, full_disk() as is_full:
        words = f"store, for an entry of {length} characters and a full disk"
        described(words, cache.store, "key", new).succeeds("a warning only")
    is_warned = any(os.strerror(errno.EFBIG) in message for message in messages)
    assert is_warned or not is_full, f"store should say why: {messages}"
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == [cache.path_of("key").name], f"store leaves files behind when the disk is full: {names}"
    loads("key", ENTRY if is_full else new, because="on a full disk, the old file is untouched")


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
    assert len(seen) == 1, f"store should rename one file with os.replace, but renames {len(seen)}"
    source, content, before = seen[0]
    assert source.parent == tmp_path, f"the file to rename should be in the cache folder, {tmp_path}, not {source}"
    assert content == cache.pack(new), "the file is renamed before everything is written: close it first"
    assert before == CONTENT, "the old file must not change before the new one replaces it"


def test_many_at_once() -> None:
    possible = [{"ttir": str(i) * 20_000} for i in range(4)]
    stored("shared", possible[0])

    def write(entry: cache.Entry) -> list[Any]:
        found = []
        for _ in range(25):
            cache.store("shared", entry)
            found.append(cache.load("shared"))
        return found

    with warned() as messages, ThreadPoolExecutor(len(possible)) as threads:
        wrong = [entry for found in threads.map(write, possible) for entry in found if entry not in possible]
    assert not wrong, (
        f"while four threads store, a reader should get an entry that one of them stored, not {wrong[0]!r:.80}"
    )
    assert not messages, f"while four threads store, a reader should not warn, but warns: {messages[0]}"
