"""Task 10.3: which thread holds which element. The judge is a GPU, whose threads recorded their numbers."""

import functools
import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.layouts import Blocked, layouts

from tests import corpus, oracles
from tests.checks import described
from tests.corpus.cases import Case
from tests.oracles import triton
from tests.oracles.records import FOLDER

OTHERS = """
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#loc = loc("k.py":1:0)
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%x: tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>) { tt.return }
}
"""


@functools.cache
def recorded() -> list[dict[str, Any]]:
    file = json.loads((FOLDER / "threads.json").read_text())
    oracles.note("triton", f"records {file['machine']['triton']}")
    return file["tensors"]


def definition(layout: Blocked, name: str) -> str:
    sizes = zip(
        ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"),
        (layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta, layout.order),
        strict=True,
    )
    return f"#{name} = #ttg.blocked<{{{', '.join(f'{key} = {list(value)}' for key, value in sizes)}}}>"


@st.composite
def blocked(draw: st.DrawFn) -> Blocked:
    """Layouts of one to three axes, with 32 threads in a warp."""
    rank = draw(st.integers(1, 3))
    lanes, warps = [1] * rank, [1] * rank
    for _ in range(5):
        lanes[draw(st.integers(0, rank - 1))] *= 2
    for _ in range(draw(st.integers(0, 3))):
        warps[draw(st.integers(0, rank - 1))] *= 2
    each = tuple(draw(st.sampled_from([1, 2, 4, 8])) for _ in range(rank))
    return Blocked(each, tuple(lanes), tuple(warps), tuple(draw(st.permutations(range(rank)))))


@given(st.lists(blocked(), max_size=3))
def test_definitions(found: list[Blocked]) -> None:
    names = ["blocked", "blocked1", "blocked2"][: len(found)]
    text = "\n".join(map(definition, found, names)) + OTHERS
    expected = {f"#{name}": layout for name, layout in zip(names, found, strict=True)}
    described(f"layouts({text!r})", layouts, text).returns(expected)


@pytest.mark.parametrize("case", corpus.named("matmul_kernel", "layer_norm_forward", "attention_forward"), ids=str)
def test_real_ttgir(case: Case) -> None:
    (made,) = triton.frontends([case.source()], lower=True)
    text = made.compiled.ttgir
    found = layouts(text)
    lines = [line for line in text.splitlines() if "= #ttg.blocked<" in line]
    again = [definition(layout, name.removeprefix("#")) for name, layout in found.items()]
    assert sorted(again) == sorted(lines), (
        f"the blocked layouts in the TTGIR of {case}\n  expected  {lines}\n  got       {again}"
    )


def test_threads_of_a_real_gpu() -> None:
    for entry in recorded():
        (layout,) = layouts(entry["layout"]).values()
        got = layout.owners(tuple(entry["shape"]))
        expected = entry["threads"]
        for index in np.argwhere(got != np.reshape(expected, got.shape)).tolist()[:1]:
            call = described(f"{layout}.owner{tuple(index)}", layout.owner, *index)
            because = f"this thread of an H200 held the element; the tensor has the shape {entry['shape']}"
            call.returns(np.reshape(expected, got.shape)[tuple(index)].item(), because)


@given(blocked())
def test_every_thread_has_its_share(layout: Blocked) -> None:
    parts = zip(layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta, strict=True)
    shape = tuple(map(math.prod, parts))
    if len(shape) == 3 and math.prod(shape) > 4096:
        return
    each, threads = math.prod(layout.size_per_thread), math.prod(layout.threads_per_warp + layout.warps_per_cta)
    asked = described(
        f"the number of elements of the pattern {shape} that each thread owns, by {layout}.owners",
        lambda: dict(sorted(Counter(layout.owners(shape).flatten().tolist()).items())),
    )
    asked.returns(dict.fromkeys(range(threads), each), because=f"each of {threads} threads holds {each} elements")
