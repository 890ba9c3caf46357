"""Kernels with random numbers, by the features that they need, and arguments for these kernels."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

_DEF = "@triton.jit\ndef {name}({parameters}):\n"


@dataclass(frozen=True)
class Kernel:
    """The text of a kernel named `kernel`, and of kernels that it may call, with a launch."""

    feature: str
    text: str
    signature: dict[str, str]
    constants: dict[str, Any] = field(default_factory=dict)
    given: dict[str, int | float] = field(default_factory=dict)  # the arguments that are numbers
    grid: tuple[int, ...] = (1,)


def kernel(
    feature: str, body: str, before: str = "", **arguments: str | int | float | tuple[str, int | float]
) -> Kernel:
    """A kernel with this body. An argument is a type, a type and a number, or a number that the compiler knows."""
    signature: dict[str, str] = {}
    constants: dict[str, Any] = {}
    given: dict[str, int | float] = {}
    for name, argument in arguments.items():
        if isinstance(argument, str):
            signature[name] = argument
        elif isinstance(argument, tuple):
            signature[name], given[name] = argument
        else:
            signature[name], constants[name] = "constexpr", argument
    names = [f"{name}: tl.constexpr" if name in constants else name for name in signature]
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    text = before + _DEF.format(name="kernel", parameters=", ".join(names)) + lines
    return Kernel(feature, text, signature, constants, given, (3, 2))


_BLOCK = """
pid = tl.program_id(0) + 3 * tl.program_id(1)
at = pid * B + tl.arange(0, B)
"""


def draw(random: Random) -> Iterator[Kernel]:
    """Every kernel, with random numbers."""
    b = 2 ** random.randrange(3, 6)
    k = [random.randrange(1, 9) for _ in range(8)]
    number = f"{random.uniform(0.5, 3):.3f}"
    fp = random.choice(("fp32", "fp16", "fp64"))
    whole = random.choice(("i32", "i16", "i64", "u8"))
    single = {"x": "*fp32", "y": "*i32", "out": "*fp32"}
    whole_numbers = {"x": "*i32", "y": "*i32", "out": "*i32"}
    plain: dict[str, Any] = {"x": f"*{fp}", "y": f"*{whole}", "out": f"*{fp}"}
    sized = {**plain, "n": ("i32", 6 * b - k[0])}
    yield kernel("simple", f"tl.store(out, ({number}).value)", **plain)
    yield kernel("simple", f"tl.store(out, tl.exp(v))\ntl.store(y, ({k[0]}).value)", **plain, v=("fp32", 0.25))
    yield kernel(
        "arithmetic", f"tl.store(out + tl.program_id(0), v * {number} - ({k[0]} * 2).value)", **single, v=("fp32", 1.5)
    )
    yield kernel(
        "arithmetic",
        f"tl.store(out + tl.arange(0, B)[:, None] * 4 + tl.arange(0, 4)[None, :], "
        f"(tl.arange(0, B)[:, None] * {k[0]} + -tl.arange(0, 4)[None, :]) < ({k[2]}).value)",
        **single, B=b,
    )  # fmt: skip
    helper = _DEF.format(name="twice", parameters=f"v, by={k[3]}") + "    v += by\n    return v * 2, v - by\n"
    yield kernel(
        "assignment",
        f"{_BLOCK}a = tl.load(x + at, mask=at < n, other={number})\na *= {k[1]}\nb, c = twice(a)\ne = -{2 * k[4] + 1}\n"
        f"(b, c), d = (c, b), twice(c, by={k[2]})[0]\ntl.store(out + at, b + c * d + e // 2, mask=at < n)",
        helper, **sized, B=b,
    )  # fmt: skip
    yield kernel(
        "static",
        f"{_BLOCK}total = tl.load(x + at)\nfor i in tl.static_range({k[4]}):\n    total = total + i * S\n"
        f"if S > {k[5]}:\n    total = total * 2\nelif S == {k[6]}:\n    total = total - 1\nelse:\n    total = -total\n"
        "tl.static_assert(B > 1)\nw: tl.constexpr = S * 2\ntl.store(out + at, total + w)\nif B < 0:\n    tl = missing",
        **plain, B=b, S=k[7],
    )  # fmt: skip
    yield kernel(
        "for",
        f"{_BLOCK}total = tl.zeros((B,), tl.int32)\ncount = {k[1]}\nfor i in range(0, r, {k[2]}):\n"
        "    total += tl.load(x + at + i) * count\n    for j in range(i, r):\n        count += j\n"
        "tl.store(out + at, total)\ntl.store(y + at, count)",
        **whole_numbers, r=("i32", k[3] + 2), B=b,
    )  # fmt: skip
    yield kernel(
        "branches",
        f"{_BLOCK}v = tl.load(y + pid).to(tl.int32)\nsteps = 0\nwhile v > 1 and steps < {20 + k[0]}:\n"
        "    if (v & 1) == 0:\n        v = v - 5\n    else:\n        v = v * 3 - 40\n    steps += 1\n"
        f"w = steps if not steps > {k[1]} or pid == 0 else -steps\n"
        f"if pid == {k[2] % 6}:\n    tl.store(out + at, w)\n    return\nelif pid > 2:\n    w += {k[4]}\n"
        "tl.store(out + at, w * 2 + tl.arange(0, B))",
        **whole_numbers, B=b,
    )  # fmt: skip
    yield kernel(
        "branch",
        f"{_BLOCK}v = tl.load(x + at)\nif (pid & 1) == {k[3] % 2}:\n    v = v * {k[0]} + pid\n    tl.store(y + at, pid)\n"
        f"else:\n    if pid > {k[1] % 5}:\n        v = -v\ntl.store(out + at, v)",
        **whole_numbers, B=b,
    )  # fmt: skip
    yield kernel(
        "combining",
        f"{_BLOCK}v = tl.load(x + at)\ntl.store(out + at, tl.sum(v * {k[6]}, 0) + tl.cumsum(v, 0) - tl.xor_sum(v, 0))\n"
        "tl.store(y + at, tl.associative_scan(v, 0, apart, reverse=True))",
        _DEF.format(name="apart", parameters="a, b") + "    return a & b\n", **whole_numbers, B=b,
    )  # fmt: skip
    yield kernel(
        "products",
        f"{_BLOCK}v = tl.load(x + at)\nm = tl.max(v, 0)\ne = tl.exp((v - m).to(tl.float32))\n"
        "tl.store(out + at, e / tl.sum(e, 0))\n"
        "tl.store(y + at, tl.cumsum(tl.load(y + at).to(tl.int32), 0) + tl.argmin(v, 0))",
        **single, B=b,
    )  # fmt: skip
    yield kernel(
        "combining",
        "i = tl.arange(0, 16)\na = tl.load(x + i[:, None] * 16 + i[None, :])\n"
        f"tl.store(out + i[:, None] * 16 + i[None, :], tl.dot(a, tl.trans(a) * {k[1]}, input_precision='ieee'))",
        x="*fp32", out="*fp32",
    )  # fmt: skip
    yield kernel(
        "products",
        "i = tl.arange(0, 16)\na = tl.load(x + i[:, None] * 16 + i[None, :])\nc = tl.zeros((16, 16), tl.float32)\n"
        f"for k in range(0, {k[0] % 3 + 1}):\n    c = tl.dot(a, tl.trans(a), c, out_dtype=tl.float32, input_precision='ieee')\n"
        "tl.store(out + i[:, None] * 16 + i[None, :], c + tl.program_id(0))",
        x="*fp16", out="*fp32",
    )  # fmt: skip
    yield kernel(
        "atomics",
        f"{_BLOCK}v = tl.load(y + at) & 15\ntl.atomic_add(z + v, 1)\ntl.atomic_max(z + 20 + v, at * {k[0]}, mask=at > {k[1]})\n"
        "tl.atomic_xor(z + 40 + at * 0, at)",
        y="*i32", z="*i32", B=b,
    )  # fmt: skip
    yield kernel(
        "exact",
        f"{_BLOCK}a = tl.load(y + at)\nb = tl.load(z + at) | 1\nq = a // b\nr = a % b\n"
        f"tl.store(out + at, q * {k[0]} + r + (a >> {k[1] % 4}) * (a << {k[2] % 5}) + tl.umulhi(a, b))",
        y=f"*{random.choice(('i32', 'i64'))}", z="*i32", out="*i64", B=b,
    )  # fmt: skip
