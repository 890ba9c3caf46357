"""Kernels written for Triton become mini_triton's: only their imports are changed."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from mini_triton.errors import CompilationError
from mini_triton.ir.printer import print_module

from tests.oracles.triton import Code, Source
from tests.support.sources import compiled, load, translated

TEXT = """import triton
import triton.language as tl


@triton.jit
def copy(out, x, BLOCK: tl.constexpr, DTYPE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(DTYPE))
"""
SIGNATURE = {"out": "*fp16", "x": "*fp32", "BLOCK": "constexpr", "DTYPE": "constexpr"}
SOURCE = Source(TEXT, "copy", SIGNATURE, {"BLOCK": 64, "DTYPE": Code("tl.float16")}, divisible=("x",))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("import triton", "import mini_triton as triton"),
        ("import triton as tt", "import mini_triton as tt"),
        ("import triton.language as tl", "import mini_triton.language as tl"),
        ("from triton import jit, cdiv", "from mini_triton import jit, cdiv"),
        ("from triton.language import arange", "from mini_triton.language import arange"),
        ("from triton.language.extra import libdevice", "from mini_triton.language.extra import libdevice"),
        ("import tritonclient", "import tritonclient"),
        ("x = 'import triton'", "x = 'import triton'"),
    ],
)
def test_imports(line: str, expected: str) -> None:
    assert translated(f"# a\n{line}\n# b\n") == f"# a\n{expected}\n# b\n"


def test_the_source_is_found() -> None:
    assert inspect.getsource(load(TEXT)["copy"].fn) == TEXT[TEXT.index("@") :]


def test_a_kernel_is_compiled() -> None:
    text = print_module(compiled(SOURCE))
    assert "@copy(%out: !tt.ptr<f16>, %x: !tt.ptr<f32> {tt.divisibility = 16 : i32})" in text
    assert "arith.truncf" in text and "tensor<64xf16>" in text


def test_errors_have_the_lines_of_the_text() -> None:
    wrong = Source(TEXT.replace("tl.load(x", "tl.load(y"), "copy", SIGNATURE, SOURCE.constexprs)
    with pytest.raises(CompilationError, match=r"wrong\.py:8:\d+: ") as caught:
        compiled(wrong, "wrong.py")
    assert "tl.load(y + at)" in str(caught.value)


def test_triton_is_not_imported() -> None:
    root = Path(__file__).parents[2]
    script = (
        "import sys\n"
        f"sys.path[:0] = [{str(root)!r}, {str(root / 'solutions')!r}]\n"
        "from tests.mini_triton.test_sources import SOURCE, compiled\n"
        "compiled(SOURCE)\n"
        "assert 'triton' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
