"""How many threads multiply matrices in the NumPy back end."""

import mini_triton as triton
import mini_triton.language as tl
import numpy as np
import pytest
from mini_triton.codegen.library import threads

pytest.importorskip("threadpoolctl")


@triton.jit
def product(x, y, out, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    tl.store(out + i * N + j, tl.dot(tl.load(x + i * K + k[None, :]), tl.load(y + k[:, None] * N + j)))


@pytest.mark.parametrize("size, expected", [(32, "all"), (64, "all"), (128, 1), (256, 1), (512, "all")])
def test_products_of_medium_size_run_on_one_thread(
    size: int, expected: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def threads_now() -> list[int]:
        return [library["num_threads"] for library in threads.controller().info()]

    before, during = threads_now(), []
    matmul = np.matmul

    def watched(*arguments: np.ndarray) -> np.ndarray:
        during.append(threads_now())
        return matmul(*arguments)

    monkeypatch.setattr(np, "matmul", watched)
    x, y = np.random.default_rng(0).random((2, size, size), np.float32)
    out = np.zeros((size, size), np.float32)
    product[(1,)](x, y, out, N=size, K=size)
    np.testing.assert_allclose(out, x @ y, rtol=1e-4)
    assert during == [before if expected == "all" else [1] * len(before)] and threads_now() == before
