"""The corpus and the capstones are what real Triton makes of their kernels."""

from __future__ import annotations

import re

import pytest

from tests import oracles
from tests.oracles import capstones, corpus, modules, triton


@pytest.fixture(autouse=True)
def _needs_triton() -> None:
    if not triton.available():
        oracles.unavailable("real Triton is not installed")


def test_corpus_is_current() -> None:
    assert corpus.check() == []
    assert modules.check() == []


def test_real_triton_accepts_the_corpus() -> None:
    texts = corpus.texts()
    answers = dict(zip(texts, triton.accepts_many(list(texts.values())), strict=True))
    refused = {name: answer.diagnostic for name, answer in answers.items() if not answer}
    if triton.version().startswith("3.6."):  # 3.7 prints a barrier that 3.6 does not know
        refused = {name: said for name, said in refused.items() if "'ttg.barrier' is unknown" not in said}
    assert len(answers) >= 70 and refused == {}


def test_corpus_names_no_machine() -> None:
    assert [name for name, text in corpus.texts().items() if re.search(r'"/', text)] == []


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_capstones_compile_to_fast_code(target: str) -> None:
    add = triton.compile_ttir(capstones.add_reference(target=target).inlined, target)
    assert add.count("ld.global.v4") == add.count("ld.global") > 0
    matmul = triton.compile_ttir(capstones.matmul_reference(target=target).inlined, target)
    assert matmul.count("cp.async.c") > 0
    assert matmul.count("wgmma.mma_async" if target == "sm_90" else "mma.sync") > 0


def test_capstones_lower_to_ptx() -> None:
    reference = capstones.matmul_reference(out_dtype="fp32", lower=True)
    assert "wgmma.mma_async" in reference.ptx
    assert triton.canonical(reference.raw) == reference.canonical
    assert "tt.call" in reference.raw and "tt.call" not in reference.inlined
    assert "peers.py" in reference.raw_with_locations
