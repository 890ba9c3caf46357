"""Each instruction of the emulator, beside a meaning that does not share its code: Python's exact numbers, or NumPy's.

The meanings are those of NVIDIA's "PTX ISA". Rows whose results a GPU approximates (`.approx`) are compared with the
correctly rounded result. `test_emulator_records.py` compares instructions with the answers of a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mini_triton.emulator import PtxError, emulate
from mini_triton.emulator.arithmetic import ROWS
from mini_triton.emulator.machine import INSTRUCTIONS

from tests.support.emulator.forms import DTYPES, program, width

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 3.0, -7.25, 1e-40, 1e30, -1e30, 65504.0, math.inf, -math.inf, math.nan]
THREADS = 256


def numbers(kind: str, seed: int) -> np.ndarray:
    """Awkward and random numbers of a type."""
    generator = np.random.default_rng(seed)
    dtype = np.dtype(DTYPES[kind])
    if kind == "pred":
        return generator.random(THREADS) < 0.5
    if kind[0] in "fbe" and kind[1] != "8" and kind not in ("b16", "b32", "b64"):
        with np.errstate(all="ignore"):
            some = (generator.standard_normal(THREADS) * 10.0 ** generator.integers(-3, 3, THREADS)).astype(dtype)
            grid = np.array(FLOATS).astype(dtype)
        some[:128] = (np.repeat(grid, 16) if seed % 2 else np.tile(grid, 16))[:128] if seed < 2 else some[:128]
        return some
    info = np.iinfo(dtype)
    edges = np.array([0, 1, info.max, info.min, info.max - 1, 2, 3, 7], dtype)
    some = generator.integers(info.min, info.max, THREADS, dtype, endpoint=True)
    some[:64] = np.repeat(edges, 8) if seed % 2 else np.tile(edges, 8)
    return some


def run(text: str, inputs: Sequence[tuple[str, np.ndarray]], output: str) -> np.ndarray:
    """The result of instructions for each thread."""
    out = np.zeros(len(inputs[0][1]), DTYPES[output])
    emulate(program(text, [kind for kind, _ in inputs], output, len(out)), (1,), [*(array for _, array in inputs), out])
    return out


def same(got: np.ndarray, wanted: np.ndarray) -> None:
    """Check that numbers are equal bit by bit, but for the bits of NaN."""
    __tracebackhide__ = True
    got, wanted = np.asarray(got), np.asarray(wanted).astype(got.dtype)
    bits = f"u{got.dtype.itemsize}"
    equal = got.view(bits) == wanted.view(bits)
    if got.dtype.kind not in "iub":
        equal |= np.isnan(got.astype(np.float64)) & np.isnan(wanted.astype(np.float64))
    assert equal.all(), f"lane {np.argmin(equal)}: got {got[~equal][:4]}, wanted {wanted[~equal][:4]}"


def exactly(function: Callable[..., Any], kind: str) -> Callable[..., np.ndarray]:
    """A function of Python's exact integers, applied lane by lane, modulo the type's size."""
    dtype = np.dtype(DTYPES[kind])

    def apply(*arrays: np.ndarray) -> np.ndarray:
        results = [function(*map(int, lane)) for lane in zip(*arrays, strict=True)]
        return np.array([r % (1 << dtype.itemsize * 8) for r in results], f"u{dtype.itemsize}").view(dtype)

    return apply


def rounded_fma(x: Any, y: Any, z: Any, kind: str) -> Any:
    """x * y + z of finite numbers, rounded once, from exact fractions."""
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    guess = np.dtype(DTYPES[kind]).type(float(exact)) if abs(exact) < 10**300 else np.dtype(DTYPES[kind]).type(math.inf)
    if not np.isfinite(guess) or exact == 0:
        return guess
    bits = guess.view(f"i{guess.itemsize}")
    near = [np.array(bits + step, bits.dtype).view(guess.dtype)[()] for step in (-1, 0, 1)]
    near = [n for n in near if np.isfinite(n)]
    return min(near, key=lambda n: (abs(Fraction(float(n)) - exact), int(n.view(bits.dtype)) & 1))


def by_sign(x: Any) -> tuple[float, float]:
    """A key by which -0 is smaller than 0."""
    return float(x), math.copysign(1, float(x))


def without_tiny(x: np.ndarray) -> np.ndarray:
    """Zeros for subnormal numbers."""
    return np.where(np.abs(x) < 2.0**-126, np.copysign(0, x), x).astype(np.float32)


def truncated(x: int, y: int) -> int:
    return -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


Question = tuple[str, tuple[str, ...], str, Callable[..., np.ndarray]]
QUESTIONS: dict[str, Question] = {}


def ask(text: str, inputs: str, output: str, meaning: Callable[..., Any]) -> None:
    QUESTIONS[text] = (f"{text};", tuple(inputs.split()), output, meaning)


for t in ("s16", "u16", "s32", "u32", "s64", "u64"):
    ask(f"add.{t} %o, %a0, %a1", f"{t} {t}", t, exactly(lambda x, y: x + y, t))
    ask(f"sub.{t} %o, %a0, %a1", f"{t} {t}", t, exactly(lambda x, y: x - y, t))
    ask(f"mul.lo.{t} %o, %a0, %a1", f"{t} {t}", t, exactly(lambda x, y: x * y, t))
    half = int(t[1:])
    ask(f"mul.hi.{t} %o, %a0, %a1", f"{t} {t}", t, exactly(lambda x, y, n=half: x * y >> n, t))
    ask(f"mad.lo.{t} %o, %a0, %a1, %a2", f"{t} {t} {t}", t, exactly(lambda x, y, z: x * y + z, t))
    ask(f"mad.hi.{t} %o, %a0, %a1, %a2", f"{t} {t} {t}", t, exactly(lambda x, y, z, n=half: (x * y >> n) + z, t))
    ask(f"div.{t} %o, %a0, %a1", f"{t} {t}", t, exactly(truncated, t))
    ask(f"rem.{t} %o, %a0, %a1", f"{t} {t}", t, exactly(lambda x, y: x - y * truncated(x, y) if y else -1, t))
    ask(f"min.{t} %o, %a0, %a1", f"{t} {t}", t, np.minimum)
    ask(f"max.{t} %o, %a0, %a1", f"{t} {t}", t, np.maximum)
    w = half
    shift = (lambda x, y, n=w: x >> min(y, 63) if y < n else (x >> 63)) if t[0] == "s" else None
    ask(f"shr.{t} %o, %a0, %a1", f"{t} u32", t, exactly(shift or (lambda x, y, n=w: x >> y if y < n else 0), t))
    ask(f"shl.b{t[1:]} %o, %a0, %a1", f"{t} u32", t, exactly(lambda x, y, n=w: x << y if y < n else 0, t))
for t in ("s16", "u16", "s32", "u32"):
    twice = f"{t[0]}{int(t[1:]) * 2}"
    ask(f"mul.wide.{t} %o, %a0, %a1", f"{t} {t}", twice, exactly(lambda x, y: x * y, twice))
    ask(f"mad.wide.{t} %o, %a0, %a1, %a2", f"{t} {t} {twice}", twice, exactly(lambda x, y, z: x * y + z, twice))
for t in ("b16", "b32", "b64"):
    for name, operator in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        ask(f"{name}.{t} %o, %a0, %a1", f"{t} {t}", t, operator)
    ask(f"not.{t} %o, %a0", t, t, np.invert)
    ask(f"cnot.{t} %o, %a0", t, t, lambda x: x == 0)
    ask(f"selp.{t} %o, %a0, %a1, %a2", f"{t} {t} pred", t, lambda x, y, p: np.where(p, x, y))
for t in ("s32", "s64"):
    ask(f"neg.{t} %o, %a0", t, t, exactly(lambda x: -x, t))
    ask(f"abs.{t} %o, %a0", t, t, exactly(abs, t))
for n in (32, 64):
    bit = exactly(lambda x: x.bit_count(), "u32")
    ask(f"popc.b{n} %o, %a0", f"u{n}", "u32", bit)
    ask(f"clz.b{n} %o, %a0", f"u{n}", "u32", exactly(lambda x, n=n: n - x.bit_length(), "u32"))
    ask(f"brev.b{n} %o, %a0", f"u{n}", f"u{n}", exactly(lambda x, n=n: int(f"{x:0{n}b}"[::-1], 2), f"u{n}"))
    ask(f"bfind.u{n} %o, %a0", f"u{n}", "u32", exactly(lambda x: x.bit_length() - 1, "u32"))
    ask(
        f"bfind.shiftamt.u{n} %o, %a0",
        f"u{n}",
        "u32",
        exactly(lambda x, n=n: n - x.bit_length() if x else -1, "u32"),
    )


def field(x: int, start: int, length: int, bits: int, signed: bool) -> int:
    """bfe, bit by bit, as NVIDIA's pseudocode has it."""
    start, length = start & 255, length & 255
    x &= (1 << bits) - 1
    sign = (x >> min(start + length - 1, bits - 1) & 1) if signed and length else 0
    found = [(x >> start + n & 1) if n < length and start + n < bits else sign for n in range(bits)]
    return sum(bit << n for n, bit in enumerate(found))


for t in ("u32", "s32", "u64", "s64"):
    extract = exactly(lambda x, s, n, b=int(t[1:]), g=t[0] == "s": field(x, s % 70, n % 70, b, g), t)
    ask(
        f"rem.u32 %a1, %a1, 70; rem.u32 %a2, %a2, 70; bfe.{t} %o, %a0, %a1, %a2",
        f"{t} u32 u32",
        t,
        extract,
    )


def inserted(x: int, y: int, start: int, length: int) -> int:
    start, length = start % 40, length % 40
    for n in range(length):
        if start + n < 32:
            y = y & ~(1 << start + n) | (x >> n & 1) << start + n
    return y


ask(
    "rem.u32 %a2, %a2, 40; rem.u32 %a3, %a3, 40; bfi.b32 %o, %a0, %a1, %a2, %a3",
    "u32 u32 u32 u32",
    "u32",
    exactly(inserted, "u32"),
)


def picked(x: int, y: int, selector: int) -> int:
    source = (y << 32 | x).to_bytes(8, "little")
    chosen = [selector >> 4 * n & 15 for n in range(4)]
    return sum((source[c & 7] if c < 8 else 255 * (source[c & 7] >> 7)) << 8 * n for n, c in enumerate(chosen))


ask("prmt.b32 %o, %a0, %a1, %a2", "u32 u32 u32", "u32", exactly(picked, "u32"))
for mode, take in (("wrap", lambda n: n & 31), ("clamp", lambda n: min(n, 32))):
    left = exactly(lambda x, y, n, f=take: ((y << 32 | x) << f(n)) >> 32, "u32")
    ask(f"shf.l.{mode}.b32 %o, %a0, %a1, %a2", "u32 u32 u32", "u32", left)
    right = exactly(lambda x, y, n, f=take: (y << 32 | x) >> f(n), "u32")
    ask(f"shf.r.{mode}.b32 %o, %a0, %a1, %a2", "u32 u32 u32", "u32", right)
ask("lop3.b32 %o, %a0, %a1, %a2, 0xE8", "u32 u32 u32", "u32", lambda x, y, z: (x & y) | (x & z) | (y & z))
ask("lop3.b32 %o, %a0, %a1, %a2, 0x96", "u32 u32 u32", "u32", lambda x, y, z: x ^ y ^ z)
ask("sad.s32 %o, %a0, %a1, %a2", "s32 s32 u32", "u32", exactly(lambda x, y, z: abs(x - y) + z, "u32"))
ask("slct.b32.s32 %o, %a0, %a1, %a2", "u32 u32 s32", "u32", lambda x, y, z: np.where(z >= 0, x, y))
dot = lambda x, y, z: sum(a * b for a, b in zip(x.to_bytes(4, "little"), y.to_bytes(4, "little"), strict=True)) + z  # noqa: E731
ask("dp4a.u32.u32 %o, %a0, %a1, %a2", "u32 u32 u32", "u32", exactly(dot, "u32"))
ask("add.sat.s32 %o, %a0, %a1", "s32 s32", "s32", lambda x, y: np.clip(x.astype(int) + y, -(2**31), 2**31 - 1))
carried = exactly(lambda x, y: (x + y >> 32) + 5, "u32")
ask("add.cc.u32 %x0, %a0, %a1; addc.u32 %o, 5, 0", "u32 u32", "u32", carried)
borrowed = exactly(lambda x, y: 5 - (x < y), "u32")
ask("sub.cc.u32 %x0, %a0, %a1; subc.u32 %o, 5, 0", "u32 u32", "u32", borrowed)
long_product = exactly(lambda x, y, z: (x * y + z) >> 32, "u32")
ask("mad.lo.cc.u32 %x0, %a0, %a1, %a2; madc.hi.u32 %o, %a0, %a1, 0", "u32 u32 u32", "u32", long_product)

for t in ("f16", "bf16", "f32", "f64"):
    up = (lambda f: lambda *x: f(*(v.astype(np.float64) for v in x))) if t == "bf16" else (lambda f: f)
    rn = "" if t == "bf16" else ".rn"
    ask(f"add.{t} %o, %a0, %a1", f"{t} {t}", t, up(np.add))
    ask(f"sub.{t} %o, %a0, %a1", f"{t} {t}", t, up(np.subtract))
    ask(f"mul.{t} %o, %a0, %a1", f"{t} {t}", t, up(np.multiply))
    ask(f"neg.{t} %o, %a0", t, t, np.negative)
    ask(f"abs.{t} %o, %a0", t, t, np.abs)
    # Python's min and max of pairs decide zeros by their sign, as PTX does.
    for name, pick in (("min", min), ("max", max)):
        choose = lambda x, y, pick=pick: np.array(  # noqa: E731
            [b if a != a else a if b != b else pick(a, b, key=by_sign) for a, b in zip(x, y, strict=True)], x.dtype
        )
        ask(f"{name}.{t} %o, %a0, %a1", f"{t} {t}", t, choose)
        strict = lambda x, y, choose=choose: np.where(np.isnan(x) | np.isnan(y), x.dtype.type(math.nan), choose(x, y))  # noqa: E731
        if t != "f64":
            ask(f"{name}.NaN.{t} %o, %a0, %a1", f"{t} {t}", t, strict)
    single = lambda x, y, z, t=t: np.array(  # noqa: E731
        [
            rounded_fma(a, b, c, t)
            if np.isfinite([float(a), float(b), float(c)]).all() and (float(a) * float(b) or float(c))
            else np.dtype(DTYPES[t]).type(np.float64(a) * np.float64(b) + np.float64(c))
            for a, b, c in zip(x, y, z, strict=True)
        ]
    )
    ask(f"fma.rn.{t} %o, %a0, %a1, %a2", f"{t} {t} {t}", t, single)
for t in ("f32", "f64"):
    ask(f"div.rn.{t} %o, %a0, %a1", f"{t} {t}", t, np.divide)
    ask(f"sqrt.rn.{t} %o, %a0", t, t, np.sqrt)
    ask(f"rcp.rn.{t} %o, %a0", t, t, lambda x: 1 / x)
    ask(f"copysign.{t} %o, %a0, %a1", f"{t} {t}", t, lambda x, y: np.copysign(y, x))
    ask(f"testp.finite.{t} %o, %a0", t, "pred", np.isfinite)
    ask(f"testp.subnormal.{t} %o, %a0", t, "pred", lambda x: (x != 0) & (np.abs(x) < np.finfo(x.dtype).tiny))
for name, function in (("ex2", np.exp2), ("lg2", np.log2), ("sin", np.sin), ("cos", np.cos), ("tanh", np.tanh)):
    ask(f"{name}.approx.f32 %o, %a0", "f32", "f32", function)
ask("rsqrt.approx.f32 %o, %a0", "f32", "f32", lambda x: np.float32(1) / np.sqrt(x))
ask("mul.ftz.f32 %o, %a0, %a1", "f32 f32", "f32", lambda x, y: without_tiny(without_tiny(x) * without_tiny(y)))
ask("add.sat.f32 %o, %a0, %a1", "f32 f32", "f32", lambda x, y: np.where(np.isnan(x + y), 0, np.clip(x + y, 0, 1)) + 0.0)

compares = {"eq": np.equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
for name, compare in compares.items():
    ask(f"setp.{name}.s32 %o, %a0, %a1", "s32 s32", "pred", compare)
    ask(f"setp.{name}.f32 %o, %a0, %a1", "f32 f32", "pred", compare)
    either = lambda x, y, compare=compare: compare(x, y) | np.isnan(x) | np.isnan(y)  # noqa: E731
    ask(f"setp.{name}u.f32 %o, %a0, %a1", "f32 f32", "pred", either)
ask("setp.ne.f32 %o, %a0, %a1", "f32 f32", "pred", lambda x, y: (x < y) | (x > y))
ask("setp.neu.f32 %o, %a0, %a1", "f32 f32", "pred", np.not_equal)
ask("setp.nan.f32 %o, %a0, %a1", "f32 f32", "pred", lambda x, y: (x != x) | (y != y))
ask("setp.num.f32 %o, %a0, %a1", "f32 f32", "pred", lambda x, y: (x == x) & (y == y))
ask("set.gt.u32.s32 %o, %a0, %a1", "s32 s32", "u32", lambda x, y: np.where(x > y, np.uint32(0xFFFFFFFF), np.uint32(0)))
ask("set.leu.f32.f32 %o, %a0, %a1", "f32 f32", "f32", lambda x, y: ~(x > y))
ask("setp.lo.u32 %o, %a0, %a1", "u32 u32", "pred", np.less)
ask("setp.hs.u64 %o, %a0, %a1", "u64 u64", "pred", np.greater_equal)
ask("setp.lt.and.s32 %o, %a0, %a1, %a2", "s32 s32 pred", "pred", lambda x, y, p: (x < y) & p)
ask("setp.lt.or.s32 %p|%o, %a0, %a1, %a2", "s32 s32 pred", "pred", lambda x, y, p: (x >= y) | p)


def to_integer(kind: str, whole: Callable[[float], int]) -> Callable[[np.ndarray], np.ndarray]:
    """Floats as integers, one by one, those out of range as the nearest integer."""
    limits = np.iinfo(DTYPES[kind])

    def convert(x: np.ndarray) -> np.ndarray:
        strange = limits.min if limits.bits == 64 and kind[0] == "s" else 1 << 63 if limits.bits == 64 else 0
        return np.array(
            [
                strange
                if v != v
                else min(max(whole(v) if math.isfinite(v) else int(math.copysign(2**70, v)), limits.min), limits.max)
                for v in map(float, x)
            ],
            DTYPES[kind],
        )

    return convert


for t in ("s8", "s16", "s32", "u32", "s64", "u64"):
    ask(f"cvt.rzi.{t}.f32 %o, %a0", "f32", t, to_integer(t, math.trunc))
    ask(f"cvt.rni.{t}.f32 %o, %a0", "f32", t, to_integer(t, round))
    ask(f"cvt.rmi.{t}.f32 %o, %a0", "f32", t, to_integer(t, math.floor))
    ask(f"cvt.rpi.{t}.f32 %o, %a0", "f32", t, to_integer(t, math.ceil))
    ask(f"cvt.rn.f32.{t} %o, %a0", t, "f32", lambda x: np.array([np.float32(v) for v in x]))
for first, second in (("s16", "s8"), ("s32", "s16"), ("u32", "u16"), ("s64", "s32"), ("u64", "u32"), ("u16", "u64")):
    ask(f"cvt.{first}.{second} %o, %a0", second, first, lambda x, t=first: x.astype(DTYPES[t]))
ask("cvt.sat.s8.s32 %o, %a0", "s32", "s8", lambda x: np.clip(x, -128, 127))
ask("cvt.sat.u8.s32 %o, %a0", "s32", "u8", lambda x: np.clip(x, 0, 255))
for t in ("f16", "bf16"):
    ask(f"cvt.rn.{t}.f32 %o, %a0", "f32", t, lambda x, t=t: x.astype(DTYPES[t]))
    ask(f"cvt.f32.{t} %o, %a0", t, "f32", lambda x: x.astype(np.float32))
ask("cvt.rn.f32.f64 %o, %a0", "f64", "f32", lambda x: x.astype(np.float32))
ask("cvt.f64.f32 %o, %a0", "f32", "f64", lambda x: x.astype(np.float64))
ask("cvt.rni.f32.f32 %o, %a0", "f32", "f32", np.rint)
ask("cvt.rmi.f32.f32 %o, %a0", "f32", "f32", np.floor)
ask("cvt.sat.f32.f32 %o, %a0", "f32", "f32", lambda x: np.where(x != x, 0, np.clip(x, 0, 1)) + 0.0)


def neighbors(kind: str, way: str) -> Callable[[np.ndarray], np.ndarray]:
    """A conversion from f32 that rounds in a direction, by a search among all numbers of a 16-bit type."""
    every = np.arange(1 << 16, dtype=np.uint16).view(DTYPES[kind])
    finite = np.sort(every[np.isfinite(every.astype(np.float32))].astype(np.float64))

    def convert(x: np.ndarray) -> np.ndarray:
        result = []
        for v in map(float, x):
            if not math.isfinite(v):
                result.append(v)
                continue
            down = way == "rm" or (way == "rz" and v > 0)
            fit = finite[finite <= v][-1:] if down else finite[finite >= v][:1]
            result.append(float(fit[0]) if len(fit) else (-math.inf if down else math.inf))
        return np.copysign(np.array(result), x).astype(DTYPES[kind])

    return convert


for t in ("f16", "bf16"):
    for way in ("rz", "rm", "rp") if t == "f16" else ("rz",):
        ask(f"cvt.{way}.{t}.f32 %o, %a0", "f32", t, neighbors(t, way))


@pytest.mark.parametrize("text", QUESTIONS)
def test_instruction(text: str) -> None:
    code, inputs, output, meaning = QUESTIONS[text]
    arrays = [numbers(kind, seed) for seed, kind in enumerate(inputs)]
    with np.errstate(all="ignore"):
        wanted = np.asarray(meaning(*arrays))
        same(run(code, list(zip(inputs, arrays, strict=True)), output), wanted)


def test_every_row_is_asked_about() -> None:
    asked = {part.strip().partition(".")[0] for text in QUESTIONS for part in text.split(";")}
    assert set(ROWS) - asked == set()


def test_packed_halves() -> None:
    for kind in ("f16", "bf16"):
        x, y = (np.ascontiguousarray(numbers(kind, seed)) for seed in (3, 4))
        with np.errstate(all="ignore"):
            wanted = (x.astype(np.float32) + y.astype(np.float32)).astype(DTYPES[kind])
        got = run(f"add.{kind}x2 %o, %a0, %a1;", [("b32", x.view(np.uint32)), ("b32", y.view(np.uint32))], "b32")
        same(got.view(DTYPES[kind]), wanted)


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_eight_bit_floats(kind: str) -> None:
    every = np.arange(256, dtype=np.uint8)
    pairs = np.stack([every, every[::-1]], 1).copy().view(np.uint16)[:, 0]
    got = run(f"cvt.rn.f16x2.{kind}x2 %o, %a0;", [("b16", pairs)], "b32").view(np.float16).reshape(-1, 2)
    same(got[:, 0], every.view(DTYPES[kind]).astype(np.float16))
    x = numbers("f32", 2)
    wide = {"e4m3": 448, "e5m2": 57344}[kind]
    packed = run(f"cvt.rn.satfinite.{kind}x2.f32 %o, %a0, %a1;", [("f32", x), ("f32", -x)], "b16")
    halves = packed.view(np.uint8).reshape(-1, 2)
    same(halves[:, 1].copy().view(DTYPES[kind]), np.clip(x, -wide, wide).astype(DTYPES[kind]))
    same(halves[:, 0].copy().view(DTYPES[kind]), np.clip(-x, -wide, wide).astype(DTYPES[kind]))


def test_tf32_rounds_ties_away_from_zero() -> None:
    x = numbers("f32", 2)
    got = run("cvt.rna.tf32.f32 %o, %a0;", [("f32", x)], "b32").view(np.float32)
    scale = 2.0 ** (np.floor(np.log2(np.abs(x.astype(np.float64)))) - 10)
    wanted = np.copysign(np.floor(np.abs(x.astype(np.float64)) / scale + 0.5) * scale, x)
    same(got, wanted.astype(np.float32))


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles(mode: str) -> None:
    x = numbers("u32", 0)
    for by, clamp in ((1, 0 if mode == "up" else 31), (5, 0x0800 if mode == "up" else 0x181F), (16, 31)):
        got = run(f"shfl.sync.{mode}.b32 %o, %a0, {by}, {clamp}, -1;", [("u32", x)], "u32")
        for lane in range(len(x)):
            n, segment, limit = lane % 32, clamp >> 8 & 31, clamp & 31
            last, first = (n & segment) | (limit & ~segment & 31), n & segment
            other = {"up": n - by, "down": n + by, "bfly": n ^ by, "idx": first | (by & ~segment & 31)}[mode]
            valid = other >= last if mode == "up" else other <= last
            assert got[lane] == x[lane - n + other if valid else lane], (by, clamp, lane)


def test_votes_and_reductions() -> None:
    p = numbers("pred", 5)
    warps = p.reshape(-1, 32)
    ballots = run("vote.sync.ballot.b32 %o, %a0, -1;", [("pred", p)], "u32").reshape(-1, 32)
    assert (ballots == (warps * (1 << np.arange(32, dtype=np.uint64))).sum(1)[:, None]).all()
    said = run("vote.sync.any.pred %o, %a0, -1;", [("pred", p)], "pred").reshape(-1, 32)
    assert (said == warps.any(axis=1, keepdims=True)).all()
    x = numbers("s32", 6)
    for name, reduce in (("add", np.sum), ("min", np.min), ("max", np.max)):
        got = run(f"redux.sync.{name}.s32 %o, %a0, -1;", [("s32", x)], "s32").reshape(-1, 32)
        assert (got == reduce(x.reshape(-1, 32), axis=1).astype(np.int32)[:, None]).all()
    for name, fold in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        got = run(f"redux.sync.{name}.b32 %o, %a0, -1;", [("u32", x.view("u4"))], "u32").reshape(-1, 32)
        assert (got == fold.reduce(x.view("u4").reshape(-1, 32), axis=1)[:, None]).all()
    same_lanes = run("match.any.sync.b32 %o, %a0, -1;", [("u32", x.view("u4") % 3)], "u32").reshape(-1, 32)
    threes = (x.view("u4") % 3).reshape(-1, 32)
    for warp in range(len(threes)):
        for lane in range(32):
            assert same_lanes[warp, lane] == sum(1 << n for n in range(32) if threes[warp, n] == threes[warp, lane])


@pytest.mark.parametrize(
    ("name", "kind", "fold"),
    [
        ("add", "u32", lambda old, x: (old + x) % 2**32),
        ("add", "f32", lambda old, x: float(np.float32(old) + np.float32(x))),
        ("min", "s32", min),
        ("max", "u32", max),
        ("and", "b32", lambda old, x: old & x),
        ("or", "b32", lambda old, x: old | x),
        ("xor", "b64", lambda old, x: old ^ x),
        ("exch", "b32", lambda old, x: x),
        ("inc", "u32", lambda old, x: 0 if old >= x else old + 1),
        ("dec", "u32", lambda old, x: x if old == 0 or old > x else old - 1),
    ],
)
def test_atomics_take_turns(name: str, kind: str, fold: Any) -> None:
    start = np.array([5, 7, 0, 2], DTYPES[kind])
    x = np.arange(THREADS).astype(DTYPES[kind])
    out = np.zeros(THREADS, DTYPES[kind])
    size = width(kind) // 8
    text = program(
        f"and.b32 %x0, %t, 3; ld.param.u64 %d3, [p1]; mad.wide.u32 %d3, %x0, {size}, %d3; "
        f"atom.global.gpu.relaxed.{name}.{kind} %o, [%d3], %a0;",
        [kind, kind],
        kind,
        THREADS,
    ).replace(f"ld.global.b{width(kind)} %a1, [%d1];", "")
    cells = start.copy()
    emulate(text, (1,), [x, cells, out])
    model = [v.item() for v in start]
    for lane in range(THREADS):
        assert out[lane] == model[lane % 4], lane
        model[lane % 4] = fold(model[lane % 4], x[lane].item())
    assert cells.tolist() == model


def test_shared_and_local_memory_and_generic_addresses() -> None:
    body = """
    .shared .align 16 .b8 pool[4096];
    .local .align 8 .b8 own[16];
    mov.u32 %x0, pool;
    mad.lo.s32 %x1, %t, 4, %x0;
    st.shared.b32 [%x1], %a0;
    bar.sync 0;
    xor.b32 %x2, %t, 33;
    mad.lo.s32 %x1, %x2, 4, %x0;
    cvt.u64.u32 %d7, %x1;
    cvta.shared.u64 %d7, %d7;
    ld.u32 %x3, [%d7];
    mov.u64 %d6, own;
    st.local.v2.b32 [%d6+8], {%x3, %t};
    cvta.local.u64 %d6, %d6;
    ld.v2.u32 {%o, %x4}, [%d6+8];
    """
    x = numbers("u32", 1)
    assert (run(body, [("u32", x)], "u32") == x[np.arange(THREADS) ^ 33]).all()


def test_unknown_instructions_are_refused_with_their_line() -> None:
    with pytest.raises(PtxError, match=r"line \d+: teleport\.b32 %o, %a0: the emulator does not know teleport"):
        run("teleport.b32 %o, %a0;", [("u32", numbers("u32", 0))], "u32")
    with pytest.raises(PtxError, match="does not know this form of mma"):
        run(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%o}, {%a0}, {%a0}, {%a0};",
            [("f64", numbers("f64", 0))],
            "f64",
        )
    with pytest.raises(PtxError, match="mapa"):
        run("mapa.u32 %o, %a0, 1;", [("u32", numbers("u32", 0))], "u32")
    text = program("mov.b32 %o, %a0;", ["u32"], "u32", THREADS).replace(
        ".reqntid 256", ".reqntid 256 .reqnctapercluster 2"
    )
    with pytest.raises(PtxError, match="clusters"):
        emulate(text, (1,), [numbers("u32", 0), numbers("u32", 0)])


def test_instructions_are_known_by_name() -> None:
    names = {name.partition(".")[0] for name in INSTRUCTIONS}
    assert {"ld", "st", "atom", "mma", "wgmma", "ldmatrix", "cp", "mbarrier", "cvt", "setp", "bar"} <= names
