"""Typical PyTorch programs. Each is compiled, run forward and backward, and compared with eager execution."""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

Program = tuple[Callable[..., Any], tuple[Any, ...]]


def r(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype)


def g(*shape: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype).requires_grad_(True)


def odd(*shape: int) -> torch.Tensor:
    """Numbers with NaN, infinities and both zeros among them."""
    result = torch.randn(*shape)
    for place, number in enumerate((float("nan"), float("inf"), -float("inf"), 0.0, -0.0)):
        result.view(-1)[3 * place] = number
    return result


PROGRAMS: dict[str, Callable[[], Program]] = {
    # --- pointwise
    "add_mul": lambda: (lambda x, y: x * y + x, (g(33, 65), g(33, 65))),
    "gelu": lambda: (lambda x: F.gelu(x), (g(64, 100),)),
    "gelu_tanh": lambda: (lambda x: F.gelu(x, approximate="tanh"), (g(64, 100),)),
    "silu_mul": lambda: (lambda x, y: F.silu(x) * y, (g(64, 100), g(64, 100))),
    "activations": lambda: (
        lambda x: (
            F.relu(x)
            + F.leaky_relu(x)
            + F.elu(x)
            + F.softplus(x)
            + F.hardtanh(x)
            + F.mish(x)
            + torch.sigmoid(x)
            + torch.tanh(x)
        ),
        (g(50, 77),),
    ),
    "special_values": lambda: (
        lambda x: (
            torch.relu(x),
            torch.maximum(x, -x),
            torch.clamp(x, -1, 1),
            torch.sign(x),
            torch.isnan(x),
            torch.where(x > 0, x, 2.0),
            torch.nan_to_num(x),
            torch.isinf(x),
        ),
        (odd(7, 11),),
    ),
    "roots_logs": lambda: (
        lambda x: (
            torch.sqrt(x.abs())
            + torch.rsqrt(x.abs() + 1)
            + torch.log(x.abs() + 1)
            + torch.exp(-x)
            + torch.log1p(x.abs())
            + torch.expm1(x)
        ),
        (g(31, 17),),
    ),
    "trig": lambda: (
        lambda x: torch.sin(x) * torch.cos(x) + torch.tan(x) + torch.atan(x) + torch.erf(x) + torch.atan2(x, x + 3),
        (g(40, 40),),
    ),
    "pow": lambda: (lambda x: x**2 + x**3 + (x.abs() + 0.1) ** 0.5 + 2**x, (g(40, 40),)),
    "rounding": lambda: (
        lambda x: torch.floor(x) + torch.ceil(x) + torch.round(x) + torch.trunc(x) + torch.frac(x),
        (r(40, 40),),
    ),
    "fmod_remainder": lambda: (lambda x, y: (torch.fmod(x, y), torch.remainder(x, y), x // y), (r(40, 40), r(40, 40))),
    "ints": lambda: (
        lambda x, y: (x + y, x * y, x // y, x % y, x & y, x | y, x ^ y, x << 2, x >> 1, -x, ~x, x.abs()),
        (torch.randint(-100, 100, (33, 9)), torch.randint(1, 50, (33, 9))),
    ),
    "int_div_trunc": lambda: (
        lambda x, y: (torch.div(x, y, rounding_mode="trunc"), torch.div(x, y, rounding_mode="floor"), x / y),
        (torch.randint(-100, 100, (33, 9)), torch.randint(1, 50, (33, 9))),
    ),
    "int8_uint8": lambda: (
        lambda x, y: (x + x, x * 3, y + 1, y * y, y.float() + x),
        (torch.randint(-100, 100, (33, 9), dtype=torch.int8), torch.randint(0, 255, (33, 9), dtype=torch.uint8)),
    ),
    "int16_32": lambda: (
        lambda x, y: (x + y, x.float() / y, x < y),
        (torch.randint(-100, 100, (33, 9), dtype=torch.int16), torch.randint(1, 50, (33, 9), dtype=torch.int32)),
    ),
    "bools": lambda: (
        lambda x, y: (x & y, x | y, x ^ y, ~x, x.float() + y, x == y, torch.logical_and(x, y), torch.logical_not(x)),
        (torch.rand(20, 20) > 0.5, torch.rand(20, 20) > 0.5),
    ),
    "half": lambda: (lambda x, y: F.gelu(x * y) + x, (g(40, 40, dtype=torch.float16), g(40, 40, dtype=torch.float16))),
    "bfloat": lambda: (
        lambda x, y: torch.sigmoid(x * y) + x - 1.5,
        (g(40, 40, dtype=torch.bfloat16), g(40, 40, dtype=torch.bfloat16)),
    ),
    "double": lambda: (
        lambda x, y: torch.exp(x) * y + torch.sin(y),
        (g(40, 40, dtype=torch.float64), g(40, 40, dtype=torch.float64)),
    ),
    "mixed": lambda: (
        lambda x, y, z: x * y + z,
        (r(40, 40, dtype=torch.float16), r(40, 40), torch.randint(0, 5, (40, 40))),
    ),
    "broadcast": lambda: (lambda x, y, z: x + y * z, (g(8, 1, 33), g(5, 33), g(8, 5, 1))),
    "scalars": lambda: (lambda x, s: x * s + 2, (g(40, 40), g(()))),
    "strided_in": lambda: (lambda x: x.t() * 2 + x[:, ::1].t(), (g(40, 30),)),
    "slices": lambda: (lambda x: x[1:, ::2] * x[:-1, 1::2] + 1, (g(40, 30),)),
    "cat": lambda: (lambda x, y: torch.cat([x * 2, y + 1], 1), (g(20, 30), g(20, 11))),
    "stack": lambda: (lambda x, y: torch.stack([x, y], 1).sin(), (g(20, 30), g(20, 30))),
    "pad": lambda: (lambda x: F.pad(x, (1, 2, 3, 0), value=1.5) * 2, (g(20, 30),)),
    "arange_full": lambda: (
        lambda x: (
            x
            + torch.arange(30, device=x.device) * torch.full((20, 1), 2.0, device=x.device)
            + torch.ones(30, device=x.device)
        ),
        (g(20, 30),),
    ),
    "tril_mask": lambda: (lambda x: torch.tril(x) + torch.triu(x, 1) * 2 + x.masked_fill(x > 0, -1.0), (g(30, 30),)),
    "views": lambda: (
        lambda x: (x.view(6, 5, 4).permute(2, 0, 1).reshape(4, 30) * 2).unsqueeze(1).expand(4, 3, 30) + 1,
        (g(30, 4),),
    ),
    "roll_flip": lambda: (lambda x: torch.roll(x, 3, 1) + torch.flip(x, [0]), (g(20, 30),)),
    "repeat": lambda: (lambda x: x.repeat(2, 3) + x.repeat_interleave(2, 0).repeat(1, 3), (g(20, 30),)),
    "empty": lambda: (lambda x: (x * 2).sum() + 1, (r(0, 30),)),
    "powers": lambda: (
        lambda x, y: (x**2.0, x**0.5, x**3, y ** (-0.5), y**0.5, y ** (-1), y**1.5, y.bool() ** 2),
        (torch.randint(1, 2**40, (5, 7)), odd(5, 7).abs()),
    ),
    "rounded_to_decimals": lambda: (
        lambda x: (torch.round(x, decimals=2), torch.round(x * 100, decimals=-1)),
        (r(5, 7),),
    ),
    "shifted_by_padding": lambda: (
        lambda x: (F.pad(x, (1, -1)), F.pad(x, (-1, 1), value=3.0), F.pad(x, (2, -1, -1, 1))),
        (g(5, 7),),
    ),
    "bits": lambda: (
        lambda x, y: (x.view(torch.int32) >> 3, (y * 1).view(torch.int16) & 255, x.view(torch.int16)),
        (r(5, 8), r(5, 8, dtype=torch.float16)),
    ),
    "cat_of_nothing": lambda: (lambda x, y: (torch.cat([x, x]), torch.cat([x, y, x]) + 1), (torch.empty(0), r(3, 4))),
    "large_ranges": lambda: (
        lambda x: (torch.arange(2**40, 2**40 + 5, device=x.device) + x, torch.arange(5, device=x.device) * 2**31),
        (torch.arange(5),),
    ),
    "numbers_out_of_range": lambda: (
        lambda x, y: (x + 300, x > -1, x - 1, torch.where(x > 200, x, -1), y + 2**31, y * (2**31 + 1)),
        (torch.randint(0, 255, (9,), dtype=torch.uint8), torch.randint(-9, 9, (9,), dtype=torch.int32)),
    ),
    # --- reductions
    "degrees_of_freedom": lambda: (
        lambda x: (x.var(1, correction=3), x.var(1, correction=2), torch.var_mean(x, 1, correction=5)),
        (r(5, 2),),
    ),
    "sums": lambda: (lambda x: (x.sum(), x.sum(0), x.sum(1), x.sum((0, 2)), x.mean(-1, keepdim=True)), (g(20, 30, 7),)),
    "sum_outer": lambda: (lambda x: (x * 2).sum(0) + 1, (g(300, 70),)),
    "sum_long": lambda: (lambda x: (x * x).sum(1), (g(3, 20000),)),
    "sum_all_long": lambda: (lambda x: x.exp().sum(), (g(300, 700),)),
    "max_min": lambda: (lambda x: (x.amax(1), x.amin(0), x.max(), x.min()), (g(20, 30),)),
    "max_nan": lambda: (lambda x: (x.amax(1), x.amin(0), x.sum(1)), (odd(20, 30),)),
    "arg_max": lambda: (
        lambda x, y: (x.argmax(1) * 2**30, x.argmin(0), x.max(1), y.argmax(1) * 2**20),
        (r(20, 30), r(3, 5000)),
    ),
    "prod_any_all": lambda: (lambda x: (x.prod(1), (x > 0).any(1), (x > -3).all(0), (x > 0).sum(1)), (r(20, 30),)),
    "var_std": lambda: (lambda x: (x.var(1), x.std(0), torch.var_mean(x, 1, correction=0)), (g(20, 30),)),
    "norm": lambda: (lambda x: x / x.norm(dim=-1, keepdim=True), (g(20, 30),)),
    "logsumexp": lambda: (lambda x: torch.logsumexp(x, 1), (g(20, 30),)),
    "softmax": lambda: (lambda x: torch.softmax(x * 3, -1) * 2, (g(40, 100),)),
    "softmax_outer": lambda: (lambda x: torch.softmax(x, 0), (g(40, 100),)),
    "log_softmax": lambda: (lambda x: F.log_softmax(x, -1), (g(40, 100),)),
    "softmax_long": lambda: (lambda x: torch.softmax(x, -1), (g(3, 10000),)),
    "softmax_half": lambda: (lambda x: torch.softmax(x, -1), (g(40, 100, dtype=torch.float16),)),
    "layer_norm": lambda: (lambda x, w, b: F.layer_norm(x, (100,), w, b), (g(40, 100), g(100), g(100))),
    "rms_norm": lambda: (
        lambda x, w: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-05) * w,
        (g(40, 100), g(100)),
    ),
    "residual_norm": lambda: (
        lambda x, y, w, b: F.layer_norm(F.gelu(x) + y, (100,), w, b),
        (g(40, 100), g(40, 100), g(100), g(100)),
    ),
    "group_norm": lambda: (lambda x, w, b: F.group_norm(x, 4, w, b), (g(2, 8, 6, 6), g(8), g(8))),
    "batch_norm": lambda: (nn.BatchNorm2d(6), (g(3, 6, 5, 5),)),
    "batch_norm_eval": lambda: (nn.BatchNorm2d(6).eval(), (g(3, 6, 5, 5),)),
    "cumsum": lambda: (lambda x: (x.cumsum(1), x.cumsum(0)), (g(20, 30),)),
    "cumprod": lambda: (lambda x: x.cumprod(1), (r(20, 30),)),
    "mse": lambda: (lambda x, y: F.mse_loss(x, y), (g(40, 100), r(40, 100))),
    "cross_entropy": lambda: (lambda x, t: F.cross_entropy(x, t), (g(40, 100), torch.randint(0, 100, (40,)))),
    "bce": lambda: (lambda x, y: F.binary_cross_entropy_with_logits(x, y), (g(40, 10), torch.rand(40, 10))),
    "max_pool": lambda: (lambda x: F.max_pool2d(x, 2), (g(2, 3, 8, 8),)),
    "avg_pool": lambda: (lambda x: F.avg_pool2d(x, 3, 2, 1), (g(2, 3, 9, 9),)),
    "adaptive_pool": lambda: (lambda x: F.adaptive_avg_pool2d(x, (1, 1)), (g(2, 3, 9, 9),)),
    "interpolate": lambda: (lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), (g(2, 3, 5, 5),)),
    # --- indexing
    "embedding": lambda: (lambda t, w: F.embedding(t, w) * 2, (torch.randint(0, 50, (4, 10)), g(50, 16))),
    "gather": lambda: (lambda x, i: x.gather(1, i) + 1, (g(20, 30), torch.randint(0, 30, (20, 5)))),
    "index": lambda: (
        lambda x, i, j: x[i, j] * 2 + x[i].sum(1),
        (g(20, 30), torch.randint(-20, 20, (5,)), torch.randint(0, 30, (5,))),
    ),
    "index_select": lambda: (lambda x, i: x.index_select(0, i).cos(), (g(20, 30), torch.randint(0, 20, (7,)))),
    "scatter": lambda: (
        lambda x, i, y: x.scatter(1, i, y) * 2,
        (r(20, 30), torch.stack([torch.randperm(30)[:5] for _ in range(20)]), r(20, 5)),
    ),
    "scatter_add": lambda: (
        lambda x, i, y: x.scatter_add(1, i, y) * 2,
        (r(20, 30), torch.randint(0, 30, (20, 5)), r(20, 5)),
    ),
    "index_put": lambda: (
        lambda x, i, y: x.index_put((i,), y, accumulate=True),
        (r(20, 30), torch.randint(0, 20, (7,)), r(7, 30)),
    ),
    "index_add": lambda: (lambda x, i, y: x.index_add(0, i, y), (r(20, 30), torch.randint(0, 20, (7,)), r(7, 30))),
    "one_hot": lambda: (lambda t: F.one_hot(t, 10).float(), (torch.randint(0, 10, (20,)),)),
    "topk_sort": lambda: (lambda x: (x.topk(3, 1), x.sort(1)), (r(20, 30),)),
    "nonzero": lambda: (lambda x: (x > 0).nonzero(), (r(20, 30),)),
    # --- products
    "linear": lambda: (lambda x, w, b: F.linear(x, w, b), (g(40, 64), g(32, 64), g(32))),
    "linear_relu": lambda: (lambda x, w, b: F.relu(F.linear(x, w, b)), (g(40, 64), g(32, 64), g(32))),
    "mm_epilogue": lambda: (lambda x, w, y: F.gelu(x @ w) * y + 1, (g(40, 64), g(64, 32), g(40, 32))),
    "mm_softmax": lambda: (lambda x, w: torch.softmax(x @ w, -1), (g(40, 64), g(64, 32))),
    "bmm": lambda: (lambda x, y: torch.bmm(x, y.transpose(1, 2)) * 0.5, (g(4, 20, 16), g(4, 20, 16))),
    "mm_half": lambda: (lambda x, w: F.relu(x @ w), (g(40, 64, dtype=torch.float16), g(64, 32, dtype=torch.float16))),
    "sdpa": lambda: (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        (g(2, 3, 16, 8), g(2, 3, 16, 8), g(2, 3, 16, 8)),
    ),
    "mlp": lambda: (nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32)), (g(20, 32),)),
    "mlp_3d": lambda: (nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8)), (g(4, 5, 32),)),
    "conv_block": lambda: (
        nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        (g(2, 3, 8, 8),),
    ),
    "inner_size_of_one": lambda: (lambda x, y: torch.sin(x) @ y.transpose(-1, -2), (g(33, 8, 1), g(33, 1, 1))),
    "rows_of_one_element": lambda: (
        lambda x: x.var(1, correction=0).var(0, correction=0, keepdim=True).mean(0, keepdim=True),
        (g(3, 5),),
    ),
    "reduced_padding": lambda: (lambda x: F.pad(x, (1, 2), value=1).var(0, correction=0).mean(0), (g(5, 8),)),
    "resnet_block": lambda: (ResBlock(8), (g(2, 8, 8, 8),)),
    "gpt_block": lambda: (GPTBlock(), (g(2, 16, 32),)),
    "llama_block": lambda: (LlamaBlock(), (g(2, 16, 32),)),
}
"""Functions that make a program and its inputs, by name. The backward pass runs if an input requires a gradient."""


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[make.__name__] = make
    return make


# --- pointwise
@program
def inplace():
    def f(x):
        y = x.clone()
        y.add_(1).mul_(2)
        y[:, 0] = 5
        return y

    return f, (r(20, 30),)


@program
def mutate_input():
    def f(x, y):
        x.add_(y * 2)
        return x.sin()

    return f, (r(20, 30), r(20, 30))


# --- arguments that are overwritten, and memory that tensors share
@program
def swapped() -> Program:
    def f(x, y):
        old = x.clone()
        x.copy_(y)
        y.copy_(old)

    return f, (r(20, 30), r(20, 30))


@program
def swapped_and_transposed() -> Program:
    def f(x, y):
        old = x.clone()
        x.copy_(y.t())
        y.copy_(old.t())

    return f, (r(30, 30), r(30, 30))


@program
def turned_in_a_circle() -> Program:
    def f(x, y, z):
        a, b, c = x.clone(), y.clone(), z.clone()
        x.copy_(b)
        y.copy_(c.flip(0))
        z.copy_(a.flip(1))

    return f, (r(20, 20), r(20, 20), r(20, 20))


@program
def overwritten_after_a_softmax_of_long_rows() -> Program:
    def f(x):
        y = torch.softmax(x, -1)
        x.mul_(2)
        return y

    return f, (r(3, 9000),)


@program
def overwritten_with_a_softmax_of_long_rows() -> Program:
    def f(x):
        y = torch.softmax(x, -1)
        x.copy_(y)
        return y.sum()

    return f, (r(3, 9000),)


@program
def overwritten_with_a_product() -> Program:
    def f(x, w):
        x.copy_(torch.tanh(x @ w))
        return x * 2

    return f, (r(100, 70), r(70, 70))


@program
def overwritten_after_a_choice() -> Program:
    def f(x, y):
        old = torch.cat([x[:2], y[2:]]), torch.cat([x[:3], y[3:]])
        x.mul_(2)
        y.add_(1)
        return old

    return f, (r(20, 8), r(20, 8))


@program
def overwritten_by_pytorch() -> Program:
    def f(x, y):
        z = y + x
        x.mul_(2)
        y.copy_(z)

    return f, (r(20, 20)[::2, ::2], r(10, 10))


@program
def view_by_pytorch_of_a_buffer() -> Program:
    def f(x):
        y = (x @ x).unfold(0, 4, 4)
        z = torch.softmax(x @ x.t(), -1) @ x
        return y * z.reshape(8, 32, 4)

    return f, (r(32, 32),)


# --- products
@program
def attention_plain():
    def f(q, k, v):
        s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        s = s.masked_fill(torch.ones(16, 16, device=q.device).triu(1).bool(), float("-inf"))
        return torch.softmax(s, -1) @ v

    return f, (g(2, 3, 16, 8), g(2, 3, 16, 8), g(2, 3, 16, 8))


class ResBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a = nn.Conv2d(c, c, 3, padding=1)
        self.b = nn.BatchNorm2d(c)
        self.c = nn.Conv2d(c, c, 3, padding=1)
        self.d = nn.BatchNorm2d(c)

    def forward(self, x):
        return F.relu(x + self.d(self.c(F.relu(self.b(self.a(x))))))


class GPTBlock(nn.Module):
    def __init__(self, c=32, h=4):
        super().__init__()
        self.h = h
        self.l1 = nn.LayerNorm(c)
        self.l2 = nn.LayerNorm(c)
        self.qkv = nn.Linear(c, 3 * c)
        self.o = nn.Linear(c, c)
        self.u = nn.Linear(c, 4 * c)
        self.d = nn.Linear(4 * c, c)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.h, -1).transpose(1, 2) for t in self.qkv(self.l1(x)).split(C, 2))
        s = (q @ k.transpose(-1, -2)) / math.sqrt(C // self.h)
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), float("-inf"))
        y = (torch.softmax(s, -1) @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.o(y)
        return x + self.d(F.gelu(self.u(self.l2(x))))


class LlamaBlock(nn.Module):
    def __init__(self, c=32, h=4):
        super().__init__()
        self.h = h
        self.w1 = nn.Parameter(torch.ones(c))
        self.w2 = nn.Parameter(torch.ones(c))
        self.q = nn.Linear(c, c, bias=False)
        self.k = nn.Linear(c, c, bias=False)
        self.v = nn.Linear(c, c, bias=False)
        self.o = nn.Linear(c, c, bias=False)
        self.g = nn.Linear(c, 2 * c, bias=False)
        self.u = nn.Linear(c, 2 * c, bias=False)
        self.d = nn.Linear(2 * c, c, bias=False)

    def norm(self, x, w):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w

    def rope(self, x):
        T, D = x.shape[-2:]
        inv = 1.0 / (10000 ** (torch.arange(0, D, 2, device=x.device).float() / D))
        f = torch.outer(torch.arange(T, device=x.device).float(), inv)
        cos = torch.cat([f, f], -1).cos()
        sin = torch.cat([f, f], -1).sin()
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat([-b, a], -1) * sin

    def forward(self, x):
        B, T, C = x.shape
        n = self.norm(x, self.w1)
        q, k, v = (p(n).view(B, T, self.h, -1).transpose(1, 2) for p in (self.q, self.k, self.v))
        x = x + self.o(
            F.scaled_dot_product_attention(self.rope(q), self.rope(k), v, is_causal=True)
            .transpose(1, 2)
            .reshape(B, T, C)
        )
        n = self.norm(x, self.w2)
        return x + self.d(F.silu(self.g(n)) * self.u(n))


# --- optimizers
@program
def sgd_step():
    def f(p, gr, m):
        m.mul_(0.9).add_(gr)
        p.sub_(m, alpha=0.1)
        return p.sum()

    return f, (r(30, 30), r(30, 30), r(30, 30))


@program
def adam_step():
    def f(p, gr, m, v):
        m.lerp_(gr, 0.1)
        v.mul_(0.999).addcmul_(gr, gr, value=0.001)
        p.addcdiv_(m / 0.1, (v / 0.001).sqrt() + 1e-8, value=-0.01)

    return f, (r(30, 30), r(30, 30), r(30, 30), torch.rand(30, 30))


@program
def adam_foreach():
    def f(ps, gs, ms):
        torch._foreach_mul_(ms, 0.9)
        torch._foreach_add_(ms, gs, alpha=0.1)
        torch._foreach_sub_(ps, ms)

    return f, ([r(5, 6), r(7)], [r(5, 6), r(7)], [r(5, 6), r(7)])


def on(device: str, x: Any) -> Any:
    """Inputs of a program, copied to a device with their strides."""
    if isinstance(x, torch.Tensor):
        copy = x.detach().clone(memory_format=torch.preserve_format).to(device)
        return copy.requires_grad_(x.requires_grad)
    return type(x)(on(device, element) for element in x) if isinstance(x, list | tuple) else x


def tensors_in(x: Any) -> list[torch.Tensor]:
    """All tensors of a nested result."""
    return [t for t in torch.utils._pytree.tree_leaves(x) if isinstance(t, torch.Tensor)]


def run(function: Any, inputs: Any, model: Any) -> dict[str, list[Any]]:
    """Everything that a program computes: results, inputs afterwards, gradients, and a module's buffers."""
    results = tensors_in(function(*inputs))
    leaves = [x for x in tensors_in(list(inputs)) if x.requires_grad]
    buffers: list[torch.Tensor] = []
    if isinstance(model, nn.Module):
        leaves += list(model.parameters())
        buffers = [buffer.clone() for buffer in model.buffers()]
    differentiable = [x for x in results if x.requires_grad]
    gradients: list[Any] = []
    if differentiable:
        torch.manual_seed(7)
        seeds = [torch.randn_like(x) for x in differentiable]
        gradients = list(torch.autograd.grad(differentiable, leaves, seeds, allow_unused=True))
    after = [x.detach().clone() for x in tensors_in(list(inputs))]
    return {"result": [x.detach() for x in results], "input": after, "gradient": gradients, "buffer": buffers}


TOLERANCES = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 2e-5, torch.float64: 1e-10}


def compare(expected: dict[str, list[Any]], got: dict[str, list[Any]], strides: bool = True) -> None:
    """Raise `AssertionError` unless two runs agree in values, dtypes, shapes, and strides of results."""
    for kind in expected:
        for number, (x, y) in enumerate(zip(expected[kind], got[kind], strict=True)):
            what = f"{kind} {number}"
            assert (x is None) == (y is None), f"{what}: expected {x}, got {y}"
            if x is None:
                continue
            assert (x.dtype, x.shape) == (y.dtype, y.shape), f"{what}: {x.dtype} {x.shape}, got {y.dtype} {y.shape}"
            if strides and kind == "result" and x.numel() > 1:
                assert x.stride() == y.stride(), f"{what}: expected strides {x.stride()}, got {y.stride()}"
            tolerance = TOLERANCES.get(x.dtype, 0)
            torch.testing.assert_close(
                y, x, rtol=tolerance, atol=4 * tolerance, equal_nan=True, msg=lambda m, w=what: f"{w}: {m}"
            )
