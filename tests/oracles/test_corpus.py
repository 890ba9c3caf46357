"""The corpus and the capstones are what real Triton makes of their kernels."""

from __future__ import annotations

import re

import pytest

from tests import oracles
from tests.oracles import capstones, modules, triton


@pytest.fixture(autouse=True)
def _needs_triton() -> None:
    if not triton.available():
        oracles.unavailable("real Triton is not installed")


def test_corpus_is_current() -> None:
    assert modules.check() == []


def test_corpus_names_no_machine() -> None:
    assert [name for name, text in modules.texts("located").items() if re.search(r'"/', text)] == []


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_capstones_compile_to_fast_code(target: str) -> None:
    add = triton.compile_ttir(capstones.add_reference(target=target).inlined, target)
    assert add.count("ld.global.v4") == add.count("ld.global") > 0
    matmul = triton.compile_ttir(capstones.matmul_reference(target=target).inlined, target)
    assert matmul.count("cp.async.c") > 0
    assert matmul.count("wgmma.mma_async" if target == "sm_90" else "mma.sync") > 0
