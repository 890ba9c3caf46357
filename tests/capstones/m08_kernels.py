"""The kernels, for arrays of random sizes.

A submission only compiles its kernels, and the reference's functions launch them, so a submission cannot compute a
result with NumPy.
"""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask

_ARRAYS = """
import numpy as np
random = np.random.default_rng(SEED)
def some(*shape, dtype="float32"):
    return random.normal(size=shape).astype(dtype)
def heads(count=3):
    return [some(1, 2, LENGTH, 16) for _ in range(count)]
"""

_KEYS = """
import mini_triton.runtime.jit as jit
def key(function, arguments):
    return f"{function.fn.__name__}: {', '.join(f'{n} {a.type} {a.value}' for n, a in arguments.items())}"
jit.original, jit.compiled = getattr(jit, "original", jit.JITFunction.compile), getattr(jit, "compiled", {})
"""
RECORD = (
    _KEYS
    + """
def record(self, arguments, values, options, references):
    kernel = jit.original(self, arguments, values, options, references)
    jit.compiled[key(self, arguments)] = str(kernel.asm["ttir"])
    return kernel
jit.JITFunction.compile = record
"""
)
"""`jit.compiled`: the modules of all kernels so far, by their names and arguments."""

REPLAY = (
    _KEYS
    + """
from types import SimpleNamespace
from mini_triton.ir import interpreter
from mini_triton.ir.parser import parse_module
from mini_triton.ir.storage import Buffer
from mini_triton.ir.verifier import verify
def replay(self, arguments, values, options, references):
    if (asked := key(self, arguments)) not in given:
        raise LookupError(f"no kernel was compiled for this launch of the course's: {asked}")
    module = parse_module(given[asked])
    verify(module)
    names = [name for name, argument in arguments.items() if argument.type != "constexpr"]
    def launch(grid, values):
        held = [Buffer.of(n, values[n]) if arguments[n].type[0] == "*" else values[n] for n in names]
        interpreter.run(module, grid, held)
    return SimpleNamespace(launch=launch, launchers={})
jit.JITFunction.compile = replay
"""
)
"""Replaces each kernel by its module in `given`, and lets the interpreter run the module."""


def questions(random: Random) -> Iterator[Question]:
    seed, length = random.randrange(1 << 20), random.randrange(20, 90)
    n, m = random.randrange(50, 3000), random.randrange(3, 20)
    columns = random.randrange(20, 700)

    def compute(tasks: str, about: str, code: str, needs: str = "") -> Question:
        program = (_ARRAYS + code).replace("SEED", str(seed)).replace("LENGTH", str(length))
        return ask(tasks, about, f"{RECORD}{program}\nresult = jit.compiled", REPLAY + program, needs=needs)

    yield compute("8.1", "a vector addition", f"from kernels.vector_add import add\nresult = add(some({n}), some({n}))")
    yield compute("8.2", "a softmax", f"from kernels.softmax import softmax\nresult = softmax(some({m}, {columns}))")
    block = 2 ** random.randrange(4, 6)
    yield compute(
        "8.3",
        "a softmax in blocks",
        f"from kernels.softmax import softmax\nresult = softmax(some({m}, {columns}), block={block})",
    )
    yield compute(
        "8.4",
        "which program has which tile",
        f"""
import mini_triton as triton
import mini_triton.language as tl
import linecache
from kernels.matmul import tile_of
text = "@triton.jit\\ndef order(out, m, n, GROUP: tl.constexpr):\\n    p = tl.program_id(0)\\n    i, j = tile_of(p, m, n, GROUP)\\n"
text += "    tl.store(out + 2 * p, i)\\n    tl.store(out + 2 * p + 1, j)\\n"
linecache.cache["order.py"] = len(text), None, text.splitlines(keepends=True), "order.py"
names = {{"triton": triton, "tl": tl, "tile_of": tile_of, "__name__": "order", "__file__": "order.py"}}
exec(compile(text, "order.py", "exec"), names)
result = []
for m, n, group in {[(random.randrange(1, 9), random.randrange(1, 9), random.randrange(1, 5)) for _ in range(4)]}:
    out = np.zeros(2 * m * n, np.int32)
    names["order"][(m * n,)](out, m, n, GROUP=group)
    result.append(out)
""",
    )
    k = random.randrange(10, 90)
    for activation in ("", random.choice(("relu", "leaky_relu"))):
        yield compute(
            "8.5",
            "a matrix product",
            f"from kernels.matmul import matmul\nresult = matmul(some({m + 20}, {k}), some({k}, {columns % 60 + 9}), {activation!r})",
        )
    yield compute(
        "8.6",
        "dropout",
        f"from kernels.dropout import dropout\nresult = dropout(some({n}), {random.random():.2f}, {random.randrange(10**6)})",
    )
    norm = f"x, weight, bias = some({m}, {columns}), some({columns}), some({columns})\nfrom kernels import layer_norm as ln\n"
    yield compute("8.7", "a layer norm", norm + "result = ln.layer_norm(x, weight, bias)")
    yield compute(
        "8.8",
        "sums of columns",
        f"""
from kernels.layer_norm import sum_parts_kernel
parts = [some({m}, {columns}) for _ in range(2)]
out = [np.zeros({columns}, np.float32) for _ in range(2)]
sum_parts_kernel[(-(-{columns} // 16),)](*out, *parts, {m}, {columns}, BLOCK_P=8, BLOCK=16)
result = out
""",
    )
    statistics = "mean = x.mean(1)\nrstd = 1 / np.sqrt(x.var(1) + 1e-5)\n"
    yield compute(
        "8.9",
        "the gradients of a layer norm",
        norm + statistics + f"result = ln.layer_norm_backward(some({m}, {columns}), x, weight, mean, rstd)",
    )
    attend = "from kernels import flash_attention as fa\nq, k, v = heads()\n"
    yield compute("8.10", "attention", attend + "result = fa.attention(q, k, v)")
    yield compute("8.11", "causal attention", attend + "result = fa.attention(q, k, v, causal=True)")
    backward = (
        attend
        + f"causal = {random.random() < 0.5}\n"
        + """
scores = q @ k.transpose(0, 1, 3, 2) / 4
if causal:
    scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
powers = np.exp(scores - scores.max(-1, keepdims=True))
out = (powers / powers.sum(-1, keepdims=True) @ v).astype(np.float32)
logsumexp = ((np.log(powers.sum(-1)) + scores.max(-1)) / np.log(2)).astype(np.float32)
dout = some(*q.shape)
"""
    )
    yield compute(
        "8.12",
        "the gradient of the queries",
        backward + "delta = fa.products_of(out, dout)\n"
        "result = [delta, fa.gradient_of_q(q, k, v, dout, logsumexp, delta, causal=causal, scale=None, tiles=None)]",
    )
    yield compute(
        "8.13",
        "the gradients of the keys and values",
        backward + "delta = (out * dout).sum(-1).astype(np.float32)\n"
        "result = fa.gradients_of_kv(q, k, v, dout, logsumexp, delta, causal=causal, scale=None, tiles=None)",
    )
    options = f"stride={random.randrange(1, 3)}, padding={random.randrange(3)}, dilation={random.randrange(1, 3)}"
    for task, direct in (("8.14", True), ("8.15", False)):
        groups = random.choice((1, 2))
        yield compute(
            task,
            "a convolution",
            f"from kernels.conv2d import conv2d\nx, w = some(2, 4, 9, {random.randrange(8, 14)}), some(6, {4 // groups}, 3, 2)\n"
            f"result = conv2d(x, w, {options}, groups={groups}, direct={direct})",
        )
    yield compute(
        "8.16",
        "modules of PyTorch",
        f"""
import torch
from kernels.modules import Dropout, LayerNorm, SelfAttention
torch.manual_seed({random.randrange(10**6)})
result = []
for module in (LayerNorm(32), SelfAttention(32, 2), Dropout(0.3)):
    x = torch.randn(2, {random.randrange(5, 30)}, 32, requires_grad=True)
    y = module(x)
    y.square().sum().backward()
    result += [y.detach().numpy(), x.grad.numpy(), *(p.grad.numpy() for p in module.parameters())]
    module.eval()
    result.append(module(x).detach().numpy())
""",
        needs="torch",
    )
