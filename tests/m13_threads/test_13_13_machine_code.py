"""Task 13.13: machine code from the disk. A stand-in for the assembler counts its runs."""

import builtins
import os
import sys
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.backends.threads import assembler, by_hand
from mini_triton.backends.threads.assembler import assemble

from tests.checks import calling, described
from tests.oracles import assembler as nvidia
from tests.support.m13_threads.assembling import StandIn, expected

REQUEST = st.tuples(
    st.text("ab 0\n'", max_size=3),
    st.sampled_from(["sm_80", "sm_90", "sm_90a"]),
    st.booleans(),
    st.sampled_from(["ptxas 12.8", "ptxas 12.9"]),
)


def check_runs(stand_in: StandIn, runs: int, asked: calling, because: str) -> None:
    """Require a number of runs so far."""
    __tracebackhide__ = True
    if stand_in.runs != runs:
        asked.fail(f"{runs} runs of the assembler", f"{stand_in.runs} runs", because)


def test_machine_code() -> None:
    with StandIn() as stand_in:
        calling(assemble, "a text", "sm_90").returns(expected("a text", "sm_90"))
        calling(assemble, "a text", "sm_90", False).returns(expected("a text", "sm_90", False))
        assert stand_in.runs == 2, f"two requests need two runs of the assembler, not {stand_in.runs}"


def test_second_call() -> None:
    with StandIn() as stand_in:
        asked = calling(assemble, "a text", "sm_90")
        for _ in range(3):
            asked.returns(expected("a text", "sm_90"))
        check_runs(stand_in, 1, asked, "the machine code is on the disk after the first call")


def test_other_process() -> None:
    """In another process, Python's `hash` has other results, and the process has another number."""
    with StandIn() as stand_in:
        asked = calling(assemble, "a text", "sm_90")
        asked.returns(expected("a text", "sm_90"))
        real = builtins.hash
        other_hash = mock.patch.object(builtins, "hash", lambda value: real(value) ^ 0x5A5A5A)
        with other_hash, mock.patch.object(os, "getpid", lambda: 1):
            asked()
        check_runs(stand_in, 1, asked, "what one process has made serves all, and each has its own `hash`")


@given(st.lists(REQUEST, max_size=8))
@example([(text, "sm_90", True, "ptxas 12.8") for text in ("a", "a ", " a", "A", "a\n", "")])
@example([("a ", "sm_90", True, "ptxas 12.8"), (" ", "sm_90a", True, "ptxas 12.8")])
def test_all_that_machine_code_depends_on(requests: list[tuple[str, str, bool, str]]) -> None:
    with StandIn() as stand_in:
        for number, (ptx, target, fused, version) in enumerate(requests):
            stand_in.version = version
            words = f"assemble({ptx!r}, {target!r}, {fused}) by {version}, after {requests[:number]}"
            asked = described(words, assemble, ptx, target, fused)
            asked.returns(expected(ptx, target, fused, version))
            check_runs(stand_in, len(set(requests[: number + 1])), asked, "each new request needs one run")
        check_files(stand_in, len(set(requests)))


def check_files(stand_in: StandIn, count: int) -> None:
    """Require a number of files in the folder "ptx", and no others."""
    __tracebackhide__ = True
    names = [str(file.relative_to(stand_in.cache)) for file in stand_in.files()]
    if len(names) != count or not all(name.startswith("ptx/") for name in names):
        words = f"the files in the cache after {stand_in.runs} runs"
        described(words, lambda: None).fail(f"{count} files in the folder ptx", ", ".join(names) or "no file")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_errors(error: type[BaseException]) -> None:
    def fail() -> NoReturn:
        raise error("in the middle of the file")

    with StandIn() as stand_in:
        assemble("another text", "sm_90")
        stand_in.meanwhile = fail
        try:
            got: Any = assemble("a text", "sm_90")
        except error:
            got = error
        asked = calling(assemble, "a text", "sm_90")
        if got is not error:
            asked.fail(f"the error of `run`, {error.__name__}", got)
        check_files(stand_in, 1)
        asked.returns(expected("a text", "sm_90"), because="the last call failed, and this one tries again")


def test_a_folder_that_cannot_be_written() -> None:
    with StandIn() as stand_in:
        stand_in.cache.write_text("a file in the folder's place")
        calling(assemble, "a text", "sm_90").raises(OSError, because="otherwise, every process would assemble again")


def test_killed() -> None:
    """The folder as it was when half of the machine code was written."""
    with StandIn() as stand_in:
        left: dict[Path, bytes] = {}
        stand_in.meanwhile = lambda: left.update({file: file.read_bytes() for file in stand_in.files()})
        assemble("a text", "sm_90")
        before = stand_in.cache
        stand_in.use(stand_in.folder / "later")
        for file, content in left.items():
            copy = stand_in.cache / file.relative_to(before)
            copy.parent.mkdir(parents=True)
            copy.write_bytes(content)
        because = "the process before was killed while the assembler wrote"
        calling(assemble, "a text", "sm_90").returns(expected("a text", "sm_90"), because)


def test_a_file_under_its_name_is_always_complete() -> None:
    """Look at the files whenever a function is called or returns."""
    seen: list[dict[Path, bytes]] = []
    with StandIn() as stand_in:
        asked, before = calling(assemble, "a text", "sm_90"), sys.getprofile()
        sys.setprofile(lambda *_: seen.append({file: file.read_bytes() for file in stand_in.files()}))
        try:
            asked()
        finally:
            sys.setprofile(before)
        (kept,) = stand_in.files()
        if parts := {files[kept] for files in seen if kept in files} - {kept.read_bytes()}:
            because = "another process may read it now, and this one may be killed"
            asked.fail("no file under its name, or a complete one", f"for a moment, one with {parts.pop()!r}", because)


def test_two_at_once() -> None:
    with StandIn() as stand_in:
        inner: list[bytes] = []
        stand_in.meanwhile = lambda: inner.append(assemble("a text", "sm_90"))
        asked = calling(assemble, "a text", "sm_90")
        asked.returns(expected("a text", "sm_90"), because="another process assembles the same text at the same time")
        if inner != [expected("a text", "sm_90")]:
            asked.fail(f"{expected('a text', 'sm_90')!r} in the other process", inner)
        check_files(stand_in, 1)


def test_two_at_once_of_which_one_fails() -> None:
    def fail() -> NoReturn:
        assemble("a text", "sm_90")
        raise RuntimeError("refused")

    with StandIn() as stand_in:
        stand_in.meanwhile = fail
        asked = calling(assemble, "a text", "sm_90")
        asked.raises(RuntimeError, "refused", because="the assembler refuses the text")
        asked.returns(expected("a text", "sm_90"))
        check_runs(stand_in, 2, asked, "the other process has made the machine code")


def test_where_the_assembler_writes() -> None:
    with StandIn() as stand_in:
        asked = calling(assemble, "a text", "sm_90")
        asked.succeeds("machine code")
        if not stand_in.made[0].is_relative_to(stand_in.cache / "ptx"):
            because = "a file can be renamed in one step only within a file system"
            asked.fail(f"a file inside {stand_in.cache / 'ptx'}", str(stand_in.made[0]), because)


def test_a_shared_folder() -> None:
    with StandIn() as stand_in:
        (stand_in.cache / "ptx").mkdir(parents=True)
        (stand_in.cache / "ptx" / "note").write_text("a file of another program")
        calling(assemble, "a text", "sm_90").returns(expected("a text", "sm_90"))
        assert (stand_in.cache / "ptx" / "note").read_text() == "a file of another program"
        check_files(stand_in, 2)


@pytest.mark.parametrize("target, fused", [("sm_80", True), ("sm_90", True), ("sm_90", False)])
def test_real_machine_code(target: str, fused: bool) -> None:
    ptx = by_hand.kernel(4, target)

    def run(ptx: str, made: Any, *options: str) -> str:
        answer = nvidia.assemble(ptx, *options)
        made.write_bytes(answer.cubin)
        return answer.said

    options = assembler.options_for(target, fused)
    code = nvidia.assemble(ptx, *options).cubin
    with StandIn(), mock.patch.object(assembler, "run", run):
        got = described(f"assemble(by_hand.kernel(4), {target!r}, {fused})", assemble, ptx, target, fused).succeeds()
    assert got == code, f"{len(code)} bytes of machine code, not {len(got)}"
