"""Fresh memory counts as uninitialized: the functions that allocate it, who writes it, and when it is freed."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mini_triton
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton import sanitizer
from mini_triton.environment import SANITIZE
from mini_triton.sanitizer import memory

from tests.support.sources import load

torch = pytest.importorskip("torch")

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)
"""
copy = load(KERNEL, "fresh_memory.py")["copy"]


@pytest.fixture(autouse=True)
def _track(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(SANITIZE, "uninitialized")
    with sanitizer.track_allocations():
        yield


def unwritten(x: Any) -> list[int]:
    """The elements of `x` that are uninitialized for a kernel."""
    count = x.size if isinstance(x, np.ndarray) else x.numel()
    found = []
    for at in range(count):
        with sanitizer.collect() as reports:
            zeros = np.zeros_like(x) if isinstance(x, np.ndarray) else torch.zeros_like(x)
            copy[(1,)](x.reshape(-1)[at:], zeros, 1, BLOCK=2)
        found += [at] * len(reports)
    return found


ALLOCATIONS = {
    "torch.empty": lambda: torch.empty(4),
    "torch.empty, several axes": lambda: torch.empty(2, 2, dtype=torch.float64),
    "empty_like": lambda: torch.empty_like(torch.zeros(4)),
    "new_empty": lambda: torch.zeros(1).new_empty(4, dtype=torch.int8),
    "empty_strided": lambda: torch.empty_strided((2, 2), (2, 1)),
    "a view, without the tensor itself": lambda: torch.empty(8)[4:],
    "with a gradient": lambda: torch.empty(4, requires_grad=True),
    "bfloat16": lambda: torch.empty(4, dtype=torch.bfloat16),
    "bool": lambda: torch.empty(4, dtype=torch.bool),
    "np.empty": lambda: np.empty(4),
    "np.empty_like": lambda: np.empty_like(np.zeros(4, np.int16)),
    "a view, without the array itself": lambda: np.empty((2, 8), np.float32)[1].reshape(2, 4)[1],
}
WRITTEN = {
    "zeros": lambda: torch.zeros(4),
    "full": lambda: torch.full((4,), 2.0),
    "ones": lambda: np.ones(4),
    "np.full": lambda: np.full(4, 7),
    "a sum": lambda: torch.empty(4) * 0 + 1,
    "filled in place": lambda: torch.empty(4).fill_(1),
    "bool, all true": lambda: torch.empty(4, dtype=torch.bool).fill_(True),
    "a parameter": lambda: torch.nn.Linear(2, 2).weight.detach(),
    "through a view": lambda: written_through_a_view(),
    "out=": lambda: np.add(np.ones(4), 1, out=np.empty(4)),
}


def written_through_a_view() -> Any:
    result = np.empty((2, 2), np.float32)
    result.T[...] = 3
    return result


@pytest.mark.parametrize("how", ALLOCATIONS)
def test_fresh_memory_is_uninitialized(how: str) -> None:
    assert unwritten(ALLOCATIONS[how]()) == [0, 1, 2, 3]


@pytest.mark.parametrize("how", WRITTEN)
def test_written_memory_is_initialized(how: str) -> None:
    assert unwritten(WRITTEN[how]()) == []


@given(st.binary(min_size=1, max_size=64), st.sampled_from(["uint8", "int8", "float16", "bool"]), st.integers(0, 60))
def test_bytes_that_look_like_garbage(data: bytes, dtype: str, left: int) -> None:
    """A word that the host writes counts as written, unless all of its bytes are garbage."""
    values = np.frombuffer(data * 2, dtype)
    x = np.empty(values.size + left, dtype)
    x[: values.size] = values
    whole = x[: values.size].view(np.uint8)
    words = np.zeros(-(-x.nbytes // 4) * 4, np.uint8)
    words[: whole.size] = whole != memory.FILL
    got = unwritten(x)
    written = np.repeat(words.reshape(-1, 4).any(1), 4)[: x.nbytes].reshape(x.size, -1).any(1)
    assert got == np.flatnonzero(~written).tolist()


def test_what_a_kernel_writes_is_initialized() -> None:
    out = torch.empty(4)
    copy[(1,)](torch.ones(4), out, 3, BLOCK=4)
    assert unwritten(out) == [3]


def test_nothing_is_kept_of_freed_memory() -> None:
    gc.collect()
    before = len(memory._spans)
    arrays = [np.empty(10), torch.empty(10), torch.empty((5, 2)).T, np.empty((5, 2)).T, torch.empty(0), np.empty(0)]
    assert len(memory._spans) == before + 4
    del arrays
    gc.collect()
    assert len(memory._spans) == before


def test_other_memory_is_left_alone() -> None:
    before = len(memory._spans)
    kept = [np.empty(3, dtype) for dtype in ("object", "complex128", "S3", "i4,f4")]
    assert len(memory._spans) == before, (kept, torch.empty(3, device="meta"))


def test_numpy_is_itself_again() -> None:
    before = np.empty, np.empty_like
    with sanitizer.track_allocations():
        assert (np.empty, np.empty_like) != before
    assert (np.empty, np.empty_like) == before


SCRIPT = """
import torch
import mini_triton as triton
import mini_triton.language as tl

class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, arguments=(), keywords=None):
        return function(*arguments, **(keywords or {}))

AROUND:
    @triton.jit
    def total(x, out, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(out, tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))

torch.set_default_device("meta")
assert torch.empty(1).is_meta
torch.set_default_device("cpu")
x, out = torch.empty(16), torch.empty(1)
x[:15] = 1
total[(1,)](x, out, 15, BLOCK=16)
print(out.item(), flush=True)
total[(1,)](x, out, 16, BLOCK=16)
"""


AROUND = [
    "if True",
    "with torch.device('cpu')",
    "with Mode()",
    "with Mode(), torch.device('cpu')",
    "torch.set_default_device('cpu')\nif True",
]
FORKS = """
import os, runpy, sys
import torch, mini_triton  # once, because this takes seconds

for script in sys.argv[1:]:
    if not os.fork():
        runpy.run_path(script)
        sys.exit("no defect was found")
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_the_environment_is_enough(tmp_path: Path) -> None:
    """Each script is a process of its own, because PyTorch's functions are replaced once in a process."""
    scripts = [tmp_path / f"script{n}.py" for n in range(len(AROUND))]
    for script, around in zip(scripts, AROUND, strict=True):
        script.write_text(SCRIPT.replace("AROUND", around))
    source = Path(str(mini_triton.__file__)).parents[1]
    env = {"PYTHONPATH": str(source), SANITIZE: "1", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", FORKS, *map(str, scripts)], capture_output=True, text=True, env=env)
    assert done.stdout == "15.0\n" * len(AROUND), done.stderr
    assert done.stderr.count("total: uninitialized: x[15] is read, but was never written") == len(AROUND), done.stderr
