"""Machine code on disk, for the next process. Not graded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import mini_triton as triton
import mini_triton.language as tl
import numpy as np
import pytest
from mini_triton.backends import triton_api
from mini_triton.language.constexpr import constexpr
from mini_triton.runtime import keys
from mini_triton.runtime.compiled_kernel import CompiledKernel

from tests.oracles import triton as oracle

pytestmark = pytest.mark.skipif(not oracle.available(), reason="real Triton is not installed")


@triton.jit
def double(x: Any, out: Any, BLOCK: constexpr) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * 2)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[dict[str, Any], int]]:
    """The texts of a kernel in what could be a new process, and how often real Triton compiled it."""
    counted = mock.Mock(wraps=triton_api.compile)
    monkeypatch.setattr(triton_api, "compile", counted)

    def run(dtype: Any = np.float32, target: str = "sm_90", **options: Any) -> tuple[dict[str, Any], int]:
        counted.reset_mock()
        kernel: CompiledKernel = double.warmup(dtype, dtype, BLOCK=64, **options)
        kernel.products.clear()
        found = kernel.lower(target).kernel
        facts = {name: getattr(found, name) for name in ("name", "num_warps", "shared", "scratch", "types")}
        facts |= {"hash": found.kernel.hash, "signature": found.kernel.src.signature, **found.asm}
        return facts, counted.call_count

    return run


def test_a_kernel_is_compiled_once(compiled: Any) -> None:
    first, second = compiled(), compiled()
    assert first[0] == second[0]
    assert (first[1], second[1]) == (1, 0)


@pytest.mark.parametrize(
    "other", [{"dtype": np.int8}, {"target": "sm_80"}, {"num_warps": 1}], ids=["dtype", "target", "option"]
)
def test_another_kernel_is_compiled(compiled: Any, other: dict[str, Any]) -> None:
    compiled()
    assert [compiled(**other)[1], compiled(**other)[1]] == [1, 0]


def test_changed_sources_compile_again(compiled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled()
    monkeypatch.setattr(keys, "hash_sources", lambda: "other sources")
    assert compiled()[1] == 1


@pytest.mark.parametrize("name, value", [("TRITON_ALWAYS_COMPILE", "1"), ("TRITON_DISABLE_LINE_INFO", "1")])
def test_a_setting_of_real_triton_compiles_again(
    compiled: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    compiled()
    monkeypatch.setenv(name, value)
    assert compiled()[1] == 1


def test_missing_files_are_made_again(compiled: Any, folder: Path) -> None:
    first = compiled()
    for file in folder.rglob("@double.*"):
        file.unlink()
    assert [compiled(), compiled()] == [(first[0], 1), (first[0], 0)]
