"""Attention and its gradients as PyTorch computes them in fp64, how far a kernel may be off, and shared tests.

The fixture `causal` distinguishes tasks 8.10 and 8.11, and the fixture `gradients` tasks 8.12 and 8.13.

A kernel computes in fp32, and rounds the first operand of a second product to the dtype of the other operand. A score
is an exponent of 2, so an error of `e` in a score is a relative error of `e * log(2)` in a weight. Sums may be computed
in any order: a term takes part in at most as many additions as there are terms.
"""

import math
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import as_numpy, host_call, is_array, kernel_call, results_of, triton_call
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, SMALLEST, UNIT, U, dtype_of, guarded, normal, rounding

LOG2E = math.log2(math.e)
POWER = 4 * U  # the relative error of tl.exp2, tl.log2 and a division
GRADIENTS = ("dq", "dk", "dv")
HEADS = st.sampled_from([(1, 1), (2, 1), (1, 3), (2, 2)])  # batch, heads
LENGTHS = st.one_of(st.sampled_from([1, 2, 16, 17, 64, 65, 130]), st.integers(1, 140))
SIZES = st.sampled_from([16, 32, 64])
TILES = st.sampled_from([{"BLOCK_M": m, "BLOCK_N": n} for m, n in ((16, 16), (16, 64), (64, 16), (32, 64), (64, 32))])
CAUSAL = st.booleans()
NARROW = st.sampled_from(["float32", "float16"])
SCALES = st.sampled_from([None, 1.0, 0.01, 3.0])


def arguments(shape: tuple[int, ...], seed: int, dtype: str = "float32", count: int = 3) -> Any:
    """q, k and v, and dout if four are asked for."""
    return tuple(normal(shape, seed + place, dtype) for place in range(count))


class Attention:
    """`out` and `logsumexp` for q, k and v, in fp64, and `limits` for both.

    `exact`: the scores are computed without rounding, as those of small integers are.
    """

    def __init__(self, arrays: Any, causal: bool = False, scale: float | None = None, exact: bool = False) -> None:
        q, k, v = arrays
        self.dtype = dtype_of(q)
        self.q, self.k, self.v = (x.double() for x in (q, k, v))
        self.length, size = q.shape[2:]
        self.scale = size**-0.5 if scale is None else scale
        self.seen = torch.ones(self.length, self.length, dtype=torch.bool)
        if causal:
            self.seen = self.seen.tril()
        self.scores = self.scored(self.q, self.k)  # as powers of 2
        self.logsumexp = torch.logsumexp(self.scores / LOG2E, 3) * LOG2E
        self.weights = torch.exp2(self.scores - self.logsumexp[..., None])
        self.out = self.weights @ self.v
        # The sum has an error for each of its terms; the scale, log2(e), and both of their products are rounded.
        products = abs(self.scale) * LOG2E * (self.q.abs() @ self.k.abs().transpose(2, 3))
        finite = self.scores.masked_fill(~self.seen, 0.0)
        self.score_limit = 4 * U * finite.abs() if exact else (size + 4) * U * products

    def scored(self, q: Any, k: Any) -> Any:
        return (q @ k.transpose(2, 3) * (self.scale * LOG2E)).masked_fill(~self.seen, -math.inf)

    @property
    def limits(self) -> dict[str, Any]:
        """The limits of the errors of both results.

        For each block, the subtraction of the maximum, exp2 and the rescaling are rounded. The exponents of all
        rescalings add up to the distance from the last maximum. The weights are rounded to v's dtype; their sum is not
        rounded.
        """
        unit, least = UNIT[self.dtype], SMALLEST[self.dtype] + 2.0**-126
        distance = (self.scores.amax(3, keepdim=True) - self.scores).masked_fill(~self.seen, 0.0)
        blocks = math.ceil(self.length / 16)
        relative = math.log(2) * (self.score_limit + 2 * U * distance) + (2 + blocks) * POWER + self.length * U
        of_total = (self.weights * relative).sum(3)
        of_result = (self.weights * (relative + unit) + least) @ self.v.abs()
        out = of_result + self.out.abs() * (of_total[..., None] + POWER) + rounding(self.out, self.dtype)
        of_log = POWER * (1 + math.log2(max(self.length, 1)))
        return {"out": out, "logsumexp": of_total * LOG2E + of_log + 2 * U * self.logsumexp.abs()}

    def kept(self) -> tuple[Any, Any]:
        """The values that a forward pass keeps for the gradients, rounded."""
        return self.out.to(getattr(torch, self.dtype)), self.logsumexp.float()

    def gradients(self, dout: Any) -> dict[str, Any]:
        """The gradients of q, k and v, computed by PyTorch."""
        inputs = [x.clone().requires_grad_() for x in (self.q, self.k, self.v)]
        out = torch.softmax(self.scored(*inputs[:2]) / LOG2E, 3) @ inputs[2]
        return dict(zip(GRADIENTS, torch.autograd.grad(out, inputs, dout.double()), strict=True))

    def delta(self, dout: Any) -> tuple[Any, Any]:
        """The sum of out * dout for each row, and the limit of its error. `out` was rounded."""
        products = self.out * dout.double()
        far = (rounding(self.out, self.dtype) * dout.double().abs()).sum(3)
        return products.sum(3), far + (self.q.shape[3] + 1) * U * products.abs().sum(3)

    def gradient_limits(self, dout: Any) -> dict[str, Any]:
        """The limits of the errors. p and ds are rounded to the arrays' dtype before the products with these arrays."""
        unit, least = UNIT[self.dtype], SMALLEST[self.dtype] + 2.0**-126
        do = dout.double()
        delta, delta_limit = self.delta(dout)
        lse = self.logsumexp[..., None]
        distance = (self.scores - lse).masked_fill(~self.seen, 0.0).abs()
        relative = math.log(2) * (self.score_limit + U * (2 * lse.abs() + distance)) + POWER
        dp = do @ self.v.transpose(2, 3)
        dp_limit = (do.shape[3] + 1) * U * (do.abs() @ self.v.abs().transpose(2, 3)) + 2 * U * dp.abs()
        difference = (dp - delta[..., None]).abs()
        in_ds = relative * difference + dp_limit + (delta_limit + 2 * U * delta.abs())[..., None]
        sums = unit + (self.length + 2) * U  # rounding before the product, then its sum
        factor = abs(self.scale)
        ds_limit = factor * self.weights * (in_ds + sums * difference) + max(factor, 1.0) * least
        p_limit = self.weights * (relative + sums) + least
        limits = {
            "dq": ds_limit @ self.k.abs(),
            "dk": ds_limit.transpose(2, 3) @ self.q.abs(),
            "dv": p_limit.transpose(2, 3) @ do.abs(),
        }
        return {name: limits[name] + rounding(right, self.dtype) for name, right in self.gradients(dout).items()}


def check_attention(arrays: Any, because: str = "", exact: bool = False, **options: Any) -> None:
    """Check both results of the forward pass."""
    from kernels.flash_attention import attention

    right = Attention(arrays, options.get("causal", False), options.get("scale"), exact)
    compare_attention(host_call(attention, *arrays, **options), right, because)


def compare_attention(call: host_call, right: Attention, because: str = "") -> None:
    """Require both results. The logarithm is checked first, because it is wrong if the scores or the sums are."""
    out, logsumexp = call()
    of_scores = "" if right.dtype == "float32" else f"a scaled q would be rounded to {right.dtype} once more"
    of_result = "logsumexp is right, and so are the scores and `total`"
    for name, got, expected, dtype, reason in (
        ("logsumexp", logsumexp, right.logsumexp, torch.float32, of_scores),
        ("out", out, right.out, call.arguments[0].dtype, of_result),
    ):
        limit = right.limits[name]
        reasons = [because, reason, one_head(got, expected, limit)]
        call.compare(name, got, expected, limit, dtype, "; ".join(filter(None, reasons)))


def one_head(got: Any, expected: Any, limit: Any) -> str:
    """A remark if the first head is right, but most of the other heads are not."""
    if not is_array(got) or tuple(got.shape) != tuple(expected.shape):
        return ""
    near = abs(as_numpy(got) - as_numpy(expected)) <= as_numpy(limit)
    first, *others = near.reshape(-1, *near.shape[2:])
    wrong = [1 - head.mean() for head in others]
    return "only head [0, 0] is right" if first.all() and wrong and sum(wrong) > len(wrong) / 2 else ""


@given(HEADS, LENGTHS, SIZES, SEEDS, st.sampled_from(FLOATS))
@example((1, 1), 64, 16, 0, "float32")
@example((1, 1), 1, 16, 0, "float32")
@example((1, 1), 16, 16, 0, "float32")
@example((2, 2), 65, 16, 0, "float32")
@example((2, 2), 130, 64, 0, "float16")
@example((1, 2), 40, 128, 0, "float32")
@example((1, 2), 40, 256, 0, "float16")
def test_attention(causal: bool, heads: tuple[int, int], length: int, size: int, seed: int, dtype: str) -> None:
    because = "keys beyond the length must have no weight" if length % 64 else ""
    check_attention(arguments((*heads, length, size), seed, dtype), because, causal=causal)


@one_in(3)
@given(LENGTHS, SEEDS, TILES, NARROW, SCALES)
@example(17, 0, {"BLOCK_M": 16, "BLOCK_N": 16}, "float32", 1.0)
@example(65, 0, {"BLOCK_M": 16, "BLOCK_N": 64}, "float32", None)
@example(65, 0, {"BLOCK_M": 64, "BLOCK_N": 16}, "float32", None)
@example(128, 0, {"BLOCK_M": 32, "BLOCK_N": 64}, "float32", None)
def test_tiles_and_scales(
    causal: bool, length: int, seed: int, tiles: dict[str, int], dtype: str, scale: float | None
) -> None:
    check_attention(arguments((1, 2, length, 16), seed, dtype), causal=causal, scale=scale, tiles=tiles)


def test_attention_under_real_triton(causal: bool, device: str) -> None:
    from kernels.flash_attention import attention

    cases = [("float32", 37, {"BLOCK_M": 16, "BLOCK_N": 32}), ("float16", 65, {"BLOCK_M": 32, "BLOCK_N": 16})]
    if device == "cuda":  # real Triton's interpreter does not round bf16
        cases += [("bfloat16", 130, {}), ("float16", 1000, {})]
    for dtype, length, tiles in cases:
        arrays = arguments((1, 2, length, 16), 0, dtype)
        compare_attention(
            triton_call(device, attention, *arrays, causal=causal, tiles=tiles), Attention(arrays, causal)
        )


class Gradients(NamedTuple):
    """The gradients that a task is about."""

    function: Any  # the host function
    kernel: Any
    block: str  # the parameter whose value is the length of a program's block
    names: tuple[str, ...]

    def check(self, arrays: Any, because: str = "", exact: bool = False, **options: Any) -> None:
        """Require the gradients for the arrays q, k, v and dout; PyTorch computes logsumexp and delta."""
        *inputs, dout = arrays
        right = Attention(inputs, options.get("causal", False), options.get("scale"), exact)
        call = host_call(self.function, *arrays, right.kept()[1], right.delta(dout)[0].float(), **options)
        compare_gradients(call, dict(zip(self.names, results_of(call()), strict=True)), right, dout, because)


def compare_gradients(call: host_call, results: dict[str, Any], right: Attention, dout: Any, because: str = "") -> None:
    expected, limits = right.gradients(dout), right.gradient_limits(dout)
    for name, got in results.items():
        call.compare(name, got, expected[name], limits[name], call.arguments[0].dtype, because)


@one_in(2)
@given(HEADS, LENGTHS, SIZES, CAUSAL, SEEDS, st.sampled_from(FLOATS))
@example((1, 1), 16, 16, False, 0, "float32")
@example((2, 2), 65, 16, False, 0, "float32")
@example((2, 2), 130, 64, True, 0, "float16")
@example((1, 2), 40, 256, True, 0, "float16")
def test_gradients(
    gradients: Gradients, heads: tuple[int, int], length: int, size: int, causal: bool, seed: int, dtype: str
) -> None:
    gradients.check(arguments((*heads, length, size), seed, dtype, 4), causal=causal)


@one_in(3)
@given(LENGTHS, CAUSAL, SEEDS, TILES, NARROW, SCALES)
@example(17, False, 0, {"BLOCK_M": 16, "BLOCK_N": 16}, "float32", 1.0)
@example(65, True, 0, {"BLOCK_M": 16, "BLOCK_N": 64}, "float32", None)
@example(65, True, 0, {"BLOCK_M": 64, "BLOCK_N": 16}, "float32", None)
@example(128, True, 0, {"BLOCK_M": 64, "BLOCK_N": 32}, "float32", None)
def test_gradients_for_tiles_and_scales(
    gradients: Gradients, length: int, causal: bool, seed: int, tiles: dict[str, int], dtype: str, scale: float | None
) -> None:
    arrays = arguments((1, 2, length, 16), seed, dtype, 4)
    gradients.check(arrays, "dq and dk are scaled once; dv is not scaled", causal=causal, scale=scale, tiles=tiles)


@one_in(3)
@given(LENGTHS, CAUSAL, SEEDS, st.sampled_from([1, 64, 4096]))
def test_gradients_of_scores_far_apart(gradients: Gradients, length: int, causal: bool, seed: int, factor: int) -> None:
    q, k, v, dout = arguments((1, 2, length, 16), seed, count=4)
    because = f"scores are multiples of {factor}: probabilities are from 0 to 1, and nothing overflows"
    gradients.check((torch.sign(q) * factor, torch.sign(k), v, dout), because, True, causal=causal, scale=1.0)


@pytest.mark.parametrize("peaked", [False, True])
def test_sums_are_kept_in_fp32(gradients: Gradients, peaked: bool) -> None:
    ones = torch.ones(1, 1, 64, 16).half()
    signs = ones.clone()
    signs[:, :, 32:] = -1.0
    k = torch.zeros_like(ones)
    k[:, :, 0] = 64.0
    if peaked:  # every query looks at the first key: dv adds up all of dout
        arrays, scale = (ones, k, torch.zeros_like(ones), 3e4 * signs), 1.0
    else:  # all weights are equal: dq adds up ds * k, dk adds up ds * q
        arrays, scale = (128 * signs, 128 * ones, signs, 256 * ones), 2.0**-20
    because = "after half of the terms, a sum is larger than any fp16; the other half has the opposite sign"
    gradients.check(arrays, because, True, scale=scale, tiles={"BLOCK_M": 16, "BLOCK_N": 16})


@one_in(2)
@given(st.integers(1, 80), CAUSAL, SEEDS, TILES)
@example(17, False, 0, {"BLOCK_M": 16, "BLOCK_N": 64})
@example(33, True, 0, {"BLOCK_M": 64, "BLOCK_N": 16})
def test_the_kernel_touches_nothing_else(
    gradients: Gradients, length: int, causal: bool, seed: int, tiles: dict[str, int]
) -> None:
    *inputs, dout = arguments((1, 3, length, 16), seed, count=4)
    right = Attention(inputs, causal)
    expected, limits = right.gradients(dout), right.gradient_limits(dout)
    kept = (*inputs, dout, right.kept()[1], right.delta(dout)[0].float())
    results = {name: guarded(torch.zeros(1, 3, length, 16), -7) for name in gradients.names}
    arrays = [guarded(x, math.nan)[0] for x in kept] + [inner for inner, _ in results.values()]
    grid = (-(-length // tiles[gradients.block]), 3)
    call = kernel_call(gradients.kernel, grid, *arrays, 0.25, length, CAUSAL=causal, D=16, **tiles)
    call()
    for name, result in results.items():
        call.compare_guarded(name, result, expected[name], limits[name], "the memory around all arguments is NaN")


def test_fp32_is_not_cut_to_tf32(gradients: Gradients) -> None:
    results = [torch.zeros(1, 1, 16, 16) for _ in gradients.names]
    arrays = (*arguments((1, 1, 16, 16), 0, count=4), *[torch.zeros(1, 1, 16)] * 2, *results)
    options = {"CAUSAL": False, "BLOCK_M": 16, "BLOCK_N": 16, "D": 16}
    kernel_call(gradients.kernel, (1, 1), *arrays, 0.25, 16, **options).insist_on_fp32()
