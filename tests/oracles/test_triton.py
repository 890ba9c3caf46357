"""Real Triton as a judge: it accepts, refuses, dies and comes back."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracles import kept, triton
from tests.oracles.process import ROOT, Server, Silent

GOOD = """
module {
  tt.func public @copy(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %s = tt.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %r, %s : tensor<64xi32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %q = tt.addptr %p, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %q, %m : tensor<64x!tt.ptr<f32>>
    tt.store %q, %v, %m : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
"""
BAD_TYPE = GOOD.replace("arith.cmpi slt, %r", "arith.cmpi slt, %n")
ABORTS_PARSER = """
tt.func @f(%a: tensor<64xi32>) {
  %e = tt.expand_dims %a {axis = -1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  tt.return
}
"""
ABORTS_COMPILER = GOOD.replace("f32", "i1")

needs_triton = pytest.mark.skipif(not triton.available(), reason="real Triton is not installed")


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real Triton itself answers."""
    monkeypatch.delenv(kept.FOLDER, raising=False)


def test_accepts_and_refuses() -> None:
    accepted = triton.accepts(GOOD)
    assert accepted and "tt.make_range" in accepted.text and "loc(" not in accepted.text
    refused = triton.accepts(BAD_TYPE)
    assert not refused and 'loc("module.ttir":6:26): error: use of value' in refused.diagnostic


def test_a_batch_goes_on_after_a_death() -> None:
    answers = triton.accepts_many([GOOD, ABORTS_PARSER, BAD_TYPE, GOOD, ABORTS_PARSER, GOOD])
    assert [answer.ok for answer in answers] == [True, False, False, True, False, True]
    assert "process aborted" in answers[1].diagnostic


def test_what_parses_may_not_compile() -> None:
    assert triton.accepts(ABORTS_COMPILER)
    assert "process aborted" in triton.compile_ttir(ABORTS_COMPILER).diagnostic
    assert triton.accepts(GOOD)


@needs_triton
@pytest.mark.parametrize(
    "name, value, reason",
    [
        ("ACCEPTED", BAD_TYPE, "real Triton is broken, because it refuses a valid module"),
        ("_version", lambda: "3.0.0", "real Triton 3.0.0 was replaced by"),
    ],
)
def test_a_broken_judge_is_nobodys_fault(
    name: str, value: object, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triton, name, value)
    with pytest.raises(pytest.skip.Exception, match=reason):
        triton.accepts(BAD_TYPE)


@needs_triton
def test_kept_answers_are_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kept.FOLDER, str(tmp_path))
    texts = [GOOD, BAD_TYPE]
    answers = triton.accepts_many(texts)
    monkeypatch.setattr(triton, "server", None)
    assert triton.accepts_many(texts) == answers and [answer.ok for answer in answers] == [True, False]


@needs_triton
def test_silence_is_no_verdict() -> None:
    server = Server()
    with pytest.raises(Silent):
        list(server.ask([{"do": "frontend.version"}], seconds=0.0))
    assert [answer["ok"] for answer in server.ask([{"do": "frontend.version"}], seconds=60.0)] == [True]
    server.close()


@needs_triton
def test_an_interrupted_question_is_never_answered() -> None:
    """A test's time limit may end it while it waits. The next question gets its own answer."""
    server = Server()

    def interrupt(*_: object) -> None:
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    with pytest.raises(InterruptedError):
        list(server.ask([{"do": "frontend.version"}], seconds=60.0))
    signal.signal(signal.SIGALRM, before)
    (answer,) = server.ask([{"do": "frontend.parse", "text": BAD_TYPE}], seconds=60.0)
    assert not answer["ok"]
    server.close()


def test_a_server_that_cannot_start_is_no_verdict() -> None:
    server = Server(python="/bin/false")
    with pytest.raises(Silent, match="ended with status 1"):
        list(server.ask([{"do": "frontend.parse", "text": GOOD * 1000}], seconds=60.0))
    server.close()


@needs_triton
def test_works_under_a_learners_memory_limit() -> None:
    script = (
        "import resource\n"
        "hard = resource.getrlimit(resource.RLIMIT_AS)[1]\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, hard))\n"
        "from tests.oracles import test_triton, triton\n"
        "assert triton.compile_ttir(test_triton.GOOD)\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
