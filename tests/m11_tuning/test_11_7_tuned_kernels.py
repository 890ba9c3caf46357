"""Task 11.7: kernels that choose their tiles."""

import math
from typing import Any
from unittest import mock

import mini_triton as triton
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels import conv2d, dropout, flash_attention, matmul, softmax, tuned, vector_add
from kernels.tuned import attainable, shared_memory, that_differ, that_fit

from tests.checks import calling, described, one_in
from tests.oracles import pytorch as torch
from tests.oracles import tiles


def config(rows: int, columns: int, inner: int, stages: int, warps: int) -> Any:
    names = {"BLOCK_M": rows, "BLOCK_N": columns, "BLOCK_K": inner}
    return triton.Config(names, num_stages=stages, num_warps=warps)


def needed(product: tiles.Product) -> described:
    chosen = config(product.rows, product.columns, product.inner, product.stages, product.warps)
    words = f"shared_memory(Config({chosen}), itemsize={product.itemsize}, capability={product.capability})"
    return described(words, shared_memory, chosen, product.itemsize, product.capability)


# --- shared memory


def test_two_gpus() -> None:
    needed(tiles.Product("sm_90", "fp16", 128, 256, 64, 3, 8, 0)).returns(147456)
    needed(tiles.Product("sm_80", "fp16", 128, 256, 64, 3, 8, 0)).returns(98304)


def test_a_single_stage() -> None:
    call = needed(tiles.Product("sm_80", "fp16", 64, 64, 32, 1, 4, 0))
    call.returns(8192, because="operands always go through shared memory")


def test_every_recorded_answer() -> None:
    for product in tiles.load():
        needed(product).returns(product.shared, because=f"real Triton's matmul needs this much for {product}")


# --- which configurations are worth a trial


def fitting(candidates: list[Any], limit: int) -> described:
    shown = [str(candidate) for candidate in candidates]
    words = f"the places of that_fit(candidates, 2, 90, {limit}) in candidates = {shown}"
    return described(words, lambda: [candidates.index(one) for one in that_fit(candidates, 2, 90, limit)])


def test_what_fits() -> None:
    some = [
        config(128, 256, 64, 4, 8),
        config(64, 64, 32, 3, 4),
        config(128, 128, 128, 4, 8),
        config(128, 128, 64, 3, 8),
    ]
    fitting(some, 232448).returns([0, 1, 3], because="they need 196608, 24576, 262144 and 98304 bytes")
    fitting(some, 98304).returns([1, 3], because="a configuration that needs exactly the limit fits")


def test_the_smallest_if_nothing_fits() -> None:
    some = [config(128, 256, 64, 4, 8), config(64, 64, 32, 3, 4), config(128, 128, 128, 4, 8)]
    fitting(some, 1000).returns([1])


def test_configurations_that_differ_on_a_cpu() -> None:
    blocks = [{"BLOCK": 16}, {"BLOCK": 32}, {"BLOCK": 16}, {"BLOCK": 16, "GROUP": 8}, {"GROUP": 8, "BLOCK": 16}]
    blocks += [{"BLOCK": 8, "GROUP": 16}, {"GROUP": 16}]
    candidates = [triton.Config(names, num_warps=2**i, num_stages=i + 1) for i, names in enumerate(blocks)]
    candidates.append(triton.Config(blocks[0], pre_hook=print))
    call = described(
        f"the places of that_differ(candidates) in candidates = {[str(one) for one in candidates]}",
        lambda: [[one is other for other in candidates].index(True) for one in that_differ(candidates)],
    )
    call.returns([0, 1, 3, 5, 6], because="warps and stages change nothing on a CPU; the first of equals stays")


# --- the roof


@pytest.mark.parametrize(
    ("intensity", "peak", "bandwidth", "expected"),
    [
        *[(1.0, 9.9e14, 4e12, 4e12), (100.0, 9.9e14, 4e12, 4e14), (247.5, 9.9e14, 4e12, 9.9e14)],
        *[(1000.0, 9.9e14, 4e12, 9.9e14), (20.0, 2e13, 2e12, 2e13), (500.0, 1e15, 1e12, 5e14)],
    ],
)
def test_the_roof(intensity: float, peak: float, bandwidth: float, expected: float) -> None:
    call = calling(attainable, intensity, peak, bandwidth)
    got = call.succeeds(repr(expected))
    if not math.isclose(got, expected):
        call.fail(repr(expected), got)


# --- kernels


def heads() -> list[Any]:
    """Queries, keys and values for attention."""
    return [random(1, 2, 70, 32)] * 3


def attended(kernel: Any) -> Any:
    q, k, v = heads()
    return flash_attention.attention(q, k, v, kernel=kernel)[0]


def random(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


LAUNCHES = {
    "add": lambda kernel: vector_add.add(random(3001), random(3001), kernel=kernel),
    "dropout": lambda kernel: dropout.dropout(random(3001), 0.25, 7, kernel=kernel),
    "online_softmax": lambda kernel: softmax.softmax(random(5, 1300), kernel=kernel),
    "matmul": lambda kernel: matmul.matmul(random(70, 130), random(130, 90), kernel=kernel),
    "attention": attended,
    "conv2d": lambda kernel: conv2d.conv2d(random(2, 5, 9, 9), random(12, 5, 3, 3), padding=1, kernel=kernel),
}
PLAIN = {
    "add": lambda: random(3001) + random(3001),
    "dropout": lambda: dropout.dropout(random(3001), 0.25, 7),
    "online_softmax": lambda: random(5, 1300).softmax(1),
    "matmul": lambda: random(70, 130) @ random(130, 90),
    "attention": lambda: torch.nn.functional.scaled_dot_product_attention(*heads()),
    "conv2d": lambda: torch.nn.functional.conv2d(random(2, 5, 9, 9), random(12, 5, 3, 3), padding=1),
}


@pytest.mark.parametrize("name", list(LAUNCHES))
def test_a_tuned_kernel_computes_the_same(name: str) -> None:
    tuner = getattr(tuned, name)
    call = described(f"a launch of kernels.tuned.{name}", LAUNCHES[name], tuner)
    with mock.patch.object(tuner, "bench", lambda call, quantiles: call() or 1.0):
        got = call.succeeds("the result of PyTorch")
    torch.testing.assert_close(got, PLAIN[name](), rtol=1e-4, atol=1e-4)
    tried = [tuple(sorted(config.kwargs.items())) for config in tuner.configs_timings]
    assert len(set(tried)) == len(tried) > 1, f"{call}\n  should try each program once on a CPU, but it tried {tried}"


@one_in(10)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40))
def test_the_choice_is_made_for_each_shape(m: int, n: int, k: int) -> None:
    a, b = random(m, k), random(k, n)
    call = described(f"matmul of ({m}, {k}) by ({k}, {n}), tuned", matmul.matmul, a, b, kernel=tuned.matmul)
    with mock.patch.object(tuned.matmul, "bench", lambda call, quantiles: 1.0):
        got = call.succeeds()
    torch.testing.assert_close(got, a @ b, rtol=1e-4, atol=1e-4)
    assert any(key[:3] == (m, n, k) for key in tuned.matmul.cache)
