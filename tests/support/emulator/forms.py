"""Forms of PTX instructions, each as a small kernel with awkward operands, so that a GPU can record what they compute.

    form = FORMS["add.s16 %o, %a0, %a1"]
    form.program()      # PTX
    form.operands()     # an array for each of %a0, %a1, …, with a number for each thread
    form.emulated()     # what the emulator computes
    recorded()[...]     # what a GPU computed

`python -m bench.emulator_gpu --to FOLDER` records the answers on a machine with a GPU.
"""

import functools
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from mini_triton.emulator import emulate

from tests.corpus.inputs import checksum

RECORDS = Path(__file__).parents[2] / "oracles" / "records" / "ptx_instructions.npz"
THREADS = 512
DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
DTYPES |= {"pred": np.bool_, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
for bits in (8, 16, 32, 64):
    DTYPES |= {f"s{bits}": f"i{bits // 8}", f"u{bits}": f"u{bits // 8}", f"b{bits}": f"u{bits // 8}"}
SPECIAL = {"by": "u32", "angle": "f32", "middle": "f32", "small": "f16"}
"""Operands that are not all numbers of a type: distances of shifts, angles, and numbers of moderate size."""
DISTANCES = [0, 1, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 2**32 - 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -3.0, 100.25, -7e4, 1e30, math.inf, -math.inf, math.nan]


@dataclass(frozen=True)
class Form:
    """An instruction, or a few, that compute %o from %a0, %a1, …

    Where a GPU approximates, its answer may differ from the right result by `absolute`, or by `relative` times the
    result; the emulator rounds the right result, so half an ulp comes on top. Or the GPU's answer may differ from the
    emulator's by `ulps`. The bounds are those of NVIDIA's "PTX ISA", sections 9.7.3.8 (div) to 9.7.3.22 (tanh), of
    which 9.7.3.18 and 9.7.3.19 are sin and cos, 9.7.4.9 and 9.7.4.10.
    """

    text: str
    inputs: tuple[str, ...]
    output: str
    absolute: float = 0.0
    relative: float = 0.0
    ulps: float = 0.0

    def program(self) -> str:
        """The kernel."""
        return program(f"{self.text};", [register(kind) for kind in self.inputs], self.output, THREADS)

    def operands(self) -> list[np.ndarray]:
        """The numbers of the threads, the same on all machines."""
        return [numbers(kind, place, len(self.inputs)) for place, kind in enumerate(self.inputs)]

    def blank(self) -> np.ndarray:
        """The memory for the results."""
        return np.zeros(THREADS, DTYPES[self.output])

    def emulated(self) -> np.ndarray:
        """What the emulator computes."""
        out = self.blank()
        emulate(self.program(), (1,), [*self.operands(), out])
        return out

    def wrong(self, got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Which results differ. All NaN are equal."""
        different = got.view(f"u{got.itemsize}") != wanted.view(f"u{got.itemsize}")
        if got.dtype.kind in "iub":
            return different
        with np.errstate(all="ignore"):
            x, y = got.astype(np.float64), wanted.astype(np.float64)
            bound = np.maximum(self.absolute, self.relative * np.abs(y))
            near = np.abs(x - y) <= bound + (self.ulps or 0.5) * np.spacing(np.abs(got)).astype(np.float64)
        is_approximate = bool(self.absolute or self.relative or self.ulps)
        return different & ~(np.isnan(x) & np.isnan(y)) & ~(near & is_approximate)


def register(kind: str) -> str:
    """The type of a register for an operand."""
    return "b32" if kind.endswith("x2") else SPECIAL.get(kind, kind)


def width(kind: str) -> int:
    return 8 if kind == "pred" else np.dtype(DTYPES[kind]).itemsize * 8


def program(text: str, inputs: list[str], output: str, threads: int) -> str:
    """A kernel that runs instructions on the numbers of each thread; they are %a0, %a1, … and the result is %o."""
    declared = lambda kind: f".b{max(width(kind), 16)}" if kind != "pred" else ".pred"  # noqa: E731
    lines = [".version 8.7", ".target sm_90a", ".address_size 64", ".visible .entry k("]
    lines.append(",\n".join(f".param .u64 p{n}" for n in range(len(inputs) + 1)))
    lines += [f") .reqntid {threads}", "{", ".reg .b64 %d<9>;", ".reg .b32 %t;", ".reg .b16 %h<9>;"]
    lines += [f".reg {declared(kind)} %a{n};" for n, kind in enumerate(inputs)] + [f".reg {declared(output)} %o;"]
    lines += [".reg .pred %p;", ".reg .b32 %x<20>;", ".shared .align 16 .b8 room[8192];", "mov.u32 %t, %tid.x;"]
    for n, kind in enumerate([*inputs, output]):
        lines += [f"ld.param.u64 %d{n}, [p{n}];", f"mad.wide.u32 %d{n}, %t, {width(kind) // 8}, %d{n};"]
    for n, kind in enumerate(inputs):
        if kind == "pred":
            lines += [f"ld.global.u8 %h0, [%d{n}];", f"setp.ne.u16 %a{n}, %h0, 0;"]
        else:
            lines.append(f"ld.global.b{width(kind)} %a{n}, [%d{n}];")
    lines += [text]
    if output == "pred":
        lines += ["selp.b16 %h0, 1, 0, %o;", f"st.global.b8 [%d{len(inputs)}], %h0;"]
    else:
        lines.append(f"st.global.b{width(output)} [%d{len(inputs)}], %o;")
    return "\n".join([*lines, "ret;", "}"])


def edges(kind: str) -> np.ndarray:
    """The awkward numbers of a type."""
    if kind == "by":
        return np.array(DISTANCES, np.uint32)
    dtype = np.dtype(DTYPES[SPECIAL.get(kind, kind)])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        near = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2, info.max // 3]
        return np.array([0, 1, 2, 3, 7, 8, 100, *near, *([-1, -2, -7] if info.min else [4, 5, 6])], dtype)
    if dtype == np.bool_:
        return np.array([False, True])
    if kind in ("angle", "small"):
        return np.array(FLOATS[:9]).clip(-4, 4).astype(dtype)
    with np.errstate(all="ignore"):
        some = np.array(FLOATS).astype(dtype)
    if kind == "middle":
        return some[:9]
    return np.concatenate([some, np.array([1, (1 << ml_dtypes.finfo(dtype).nmant) - 1], _bits(dtype)).view(dtype)])


def _bits(dtype: np.dtype) -> str:
    return f"u{dtype.itemsize}"


@functools.cache
def numbers(kind: str, place: int, count: int) -> np.ndarray:
    """An operand: 256 combinations of edges, then 128 numbers with random bits, then 128 of moderate size."""
    if kind.endswith("x2"):
        halves = [numbers(kind[:-2], (place + n) % max(count, 2), max(count, 2)) for n in range(2)]
        return np.stack(halves, 1).view(np.uint32)[:, 0].copy()
    some = edges(kind)
    generator = np.random.PCG64(100 * count + place)
    raw = generator.random_raw(THREADS)
    if count == 1:
        chosen = np.resize(some, 256)
    elif count == 2:
        chosen = np.resize(np.repeat(some, len(some)) if place else np.tile(some, len(some)), 256)
    else:
        chosen = some[(raw[:256] >> np.uint64(20)) % np.uint64(len(some))]
    dtype = some.dtype
    random = raw[256:384].view(dtype if dtype != np.bool_ else np.uint8)[:128]
    moderate = (raw[384:].view(np.int64) >> 40) / (1 << np.array(place + 20 if dtype.itemsize > 2 else 20))
    if dtype == np.bool_:
        return np.concatenate([chosen, (raw[256:] >> np.uint64(7)) % np.uint64(2) == 1])
    if kind in ("angle", "middle"):
        random = (moderate[::-1] / 2).astype(dtype)
    if kind == "angle":
        random, moderate = random.clip(-6.28, 6.28), moderate.clip(-6.28, 6.28)
    if kind == "small":
        random, moderate = ((part % np.uint64(7)).astype(np.int64) - 3 for part in (raw[256:384], raw[384:]))
        chosen, random = np.trunc(chosen), random.astype(dtype)
    if dtype.kind in "iu":
        moderate = (moderate * 64).astype(np.int64).astype(dtype)
    return np.concatenate([chosen, random, moderate.astype(dtype)])


# --- the forms

INTEGERS = ("s16", "u16", "s32", "u32", "s64", "u64")
ALL_FLOATS = ("f16", "bf16", "f32", "f64")


def forms() -> Iterator[Form]:
    """All forms."""
    for t in INTEGERS:
        for name in "add sub mul.lo mul.hi div rem min max".split():
            yield Form(f"{name}.{t} %o, %a0, %a1", (t, t), t)
        for name in ("mad.lo", "mad.hi"):
            yield Form(f"{name}.{t} %o, %a0, %a1, %a2", (t, t, t), t)
        yield Form(f"shr.{t} %o, %a0, %a1", (t, "by"), t)
        for compare in ("eq", "ne", "lt", "le", "gt", "ge", *(("lo", "ls", "hi", "hs") if t[0] == "u" else ())):
            yield Form(f"setp.{compare}.{t} %o, %a0, %a1", (t, t), "pred")
        if t[1:] != "64":
            twice = f"{t[0]}{int(t[1:]) * 2}"
            yield Form(f"mul.wide.{t} %o, %a0, %a1", (t, t), twice)
            yield Form(f"mad.wide.{t} %o, %a0, %a1, %a2", (t, t, twice), twice)
        if t[0] == "s":
            yield Form(f"neg.{t} %o, %a0", (t,), t)
            yield Form(f"abs.{t} %o, %a0", (t,), t)
        if t[1:] != "16":
            yield Form(f"bfe.{t} %o, %a0, %a1, %a2", (t, "by", "by"), t)
            yield Form(f"bfind.{t} %o, %a0", (t,), "u32")
            yield Form(f"bfind.shiftamt.{t} %o, %a0", (t,), "u32")
        yield Form(f"sad.{t} %o, %a0, %a1, %a2", (t, t, f"u{t[1:]}"), f"u{t[1:]}")
    for n in (16, 32, 64):
        b = f"b{n}"
        for name in ("and", "or", "xor"):
            yield Form(f"{name}.{b} %o, %a0, %a1", (b, b), b)
        yield Form(f"not.{b} %o, %a0", (b,), b)
        yield Form(f"cnot.{b} %o, %a0", (b,), b)
        yield Form(f"shl.{b} %o, %a0, %a1", (b, "by"), b)
        yield Form(f"selp.{b} %o, %a0, %a1, %a2", (b, b, "pred"), b)
        yield Form(f"slct.{b}.s32 %o, %a0, %a1, %a2", (b, b, "s32"), b)
        if n > 16:
            yield Form(f"popc.{b} %o, %a0", (b,), "u32")
            yield Form(f"clz.{b} %o, %a0", (b,), "u32")
            yield Form(f"brev.{b} %o, %a0", (b,), b)
            yield Form(f"bfi.{b} %o, %a0, %a1, %a2, %a3", (b, b, "by", "by"), b)
    for name in ("and", "or", "xor"):
        yield Form(f"{name}.pred %o, %a0, %a1", ("pred", "pred"), "pred")
    yield Form("not.pred %o, %a0", ("pred",), "pred")
    yield Form("slct.f32.f32 %o, %a0, %a1, %a2", ("f32", "f32", "f32"), "f32")
    yield Form("prmt.b32 %o, %a0, %a1, %a2", ("b32", "b32", "b32"), "b32")
    for way, mode in itertools.product("lr", ("wrap", "clamp")):
        yield Form(f"shf.{way}.{mode}.b32 %o, %a0, %a1, %a2", ("b32", "b32", "by"), "b32")
    for table in ("0xE8", "0x96", "0x2A"):
        yield Form(f"lop3.b32 %o, %a0, %a1, %a2, {table}", ("b32", "b32", "b32"), "b32")
    for x, y in itertools.product("su", "su"):
        kind = "u32" if x == y == "u" else "s32"
        yield Form(f"dp4a.{x}32.{y}32 %o, %a0, %a1, %a2", ("b32", "b32", kind), kind)
    yield Form("add.sat.s32 %o, %a0, %a1", ("s32", "s32"), "s32")
    yield Form("sub.sat.s32 %o, %a0, %a1", ("s32", "s32"), "s32")
    yield Form("add.cc.u32 %x0, %a0, %a1; addc.u32 %o, %a0, 0", ("u32", "u32"), "u32")
    yield Form("sub.cc.u32 %x0, %a0, %a1; subc.u32 %o, %a0, 0", ("u32", "u32"), "u32")
    yield Form("mad.lo.cc.u32 %x0, %a0, %a1, %a2; madc.hi.u32 %o, %a0, %a1, 0", ("u32", "u32", "u32"), "u32")
    yield Form("setp.lt.and.s32 %o, %a0, %a1, %a2", ("s32", "s32", "pred"), "pred")
    yield Form("setp.lt.or.s32 %p|%o, %a0, %a1, %a2", ("s32", "s32", "pred"), "pred")
    yield from floats()
    yield from conversions()
    yield from warps()


def floats() -> Iterator[Form]:
    """Arithmetic of floats."""
    for t in ALL_FLOATS:
        ways = ("rn", "rz", "rm", "rp") if t == "f32" else ("rn",)
        for way in ways:
            for name in ("add", "sub", "mul"):
                yield Form(f"{name}.{way}.{t} %o, %a0, %a1", (t, t), t)
            yield Form(f"fma.{way}.{t} %o, %a0, %a1, %a2", (t, t, t), t)
        yield Form(f"neg.{t} %o, %a0", (t,), t)
        yield Form(f"abs.{t} %o, %a0", (t,), t)
        for name in ("min", "max"):
            yield Form(f"{name}.{t} %o, %a0, %a1", (t, t), t)
            if t != "f64":
                yield Form(f"{name}.NaN.{t} %o, %a0, %a1", (t, t), t)
        compares = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"
        for compare in compares.split():
            yield Form(f"setp.{compare}.{t} %o, %a0, %a1", (t, t), "pred")
    for t in ("f32", "f64"):
        yield Form(f"div.rn.{t} %o, %a0, %a1", (t, t), t)
        yield Form(f"sqrt.rn.{t} %o, %a0", (t,), t)
        yield Form(f"rcp.rn.{t} %o, %a0", (t,), t)
        yield Form(f"copysign.{t} %o, %a0, %a1", (t, t), t)
        for test in "finite infinite number notanumber normal subnormal".split():
            yield Form(f"testp.{test}.{t} %o, %a0", (t,), "pred")
    for d, t in ("u32", "f32"), ("s32", "f32"), ("f32", "f32"), ("f32", "s32"), ("u32", "u64"), ("f32", "f64"):
        for compare in ("lt", "ne", "geu", "nan") if t[0] == "f" else ("lt", "ne"):
            yield Form(f"set.{compare}.{d}.{t} %o, %a0, %a1", (t, t), d)
    yield Form("set.ltu.ftz.u32.f32 %o, %a0, %a1", ("f32", "f32"), "u32")
    for t in ("f16x2", "bf16x2"):
        for compare in ("lt", "nan"):
            yield Form(f"set.{compare}.{t}.{t} %o, %a0, %a1", (t, t), t)
    for way in ("rz", "rm", "rp"):
        yield Form(f"div.{way}.f32 %o, %a0, %a1", ("f32", "f32"), "f32")
        yield Form(f"sqrt.{way}.f32 %o, %a0", ("f32",), "f32")
        yield Form(f"rcp.{way}.f32 %o, %a0", ("f32",), "f32")
    for name in ("add", "sub", "mul"):
        for more in ("ftz.", "sat.", "ftz.sat."):
            yield Form(f"{name}.{more}f32 %o, %a0, %a1", ("f32", "f32"), "f32")
    for more in ("ftz.", "sat.", "ftz.sat."):
        yield Form(f"fma.rn.{more}f32 %o, %a0, %a1, %a2", ("f32", "f32", "f32"), "f32")
    for name in ("min", "max", "div.rn"):
        yield Form(f"{name}.ftz.f32 %o, %a0, %a1", ("f32", "f32"), "f32")
    for name in ("sqrt.rn", "rcp.rn", "neg", "abs"):
        yield Form(f"{name}.ftz.f32 %o, %a0", ("f32",), "f32")
    yield Form("setp.eq.ftz.f32 %o, %a0, %a1", ("f32", "f32"), "pred")
    for t in ("f16", "bf16"):
        for name in ("add", "sub", "mul", "min", "max"):
            yield Form(f"{name}.{t}x2 %o, %a0, %a1", (f"{t}x2", f"{t}x2"), f"{t}x2")
        yield Form(f"fma.rn.{t}x2 %o, %a0, %a1, %a2", (f"{t}x2",) * 3, f"{t}x2")
        yield Form(f"fma.rn.relu.{t} %o, %a0, %a1, %a2", (t, t, t), t)
    for more in ("", "ftz."):
        yield Form(f"ex2.approx.{more}f32 %o, %a0", ("f32",), "f32", ulps=2)
        yield Form(f"lg2.approx.{more}f32 %o, %a0", ("f32",), "f32", 2.0**-22, 2.0**-22)
        for name in ("sin", "cos"):  # the first bound is for [-2 pi, 2 pi], the second for [-100 pi, 100 pi]
            yield Form(f"{name}.approx.{more}f32 %o, %a0", ("angle",), "f32", 2.0**-20.5)
            far = f"mul.f32 %a0, %a0, 0f42000000; {name}.approx.{more}f32 %o, %a0"
            yield Form(far, ("angle",), "f32", 2.0**-14.7)
        yield Form(f"rsqrt.approx.{more}f32 %o, %a0", ("f32",), "f32", 0.0, 2.0**-22.9)
        yield Form(f"sqrt.approx.{more}f32 %o, %a0", ("f32",), "f32", 0.0, 2.0**-23)
        yield Form(f"rcp.approx.{more}f32 %o, %a0", ("f32",), "f32", ulps=1)
        yield Form(f"div.full.{more}f32 %o, %a0, %a1", ("middle", "middle"), "f32", ulps=2)
        yield Form(f"div.approx.{more}f32 %o, %a0, %a1", ("middle", "middle"), "f32", ulps=2)
    for name in ("rcp", "rsqrt"):  # the last bit of the upper half: PTX names no bound
        yield Form(f"{name}.approx.ftz.f64 %o, %a0", ("f64",), "f64", 0.0, 2.0**-19)
    yield Form("tanh.approx.f32 %o, %a0", ("f32",), "f32", 0.0, 2.0**-11)
    yield Form("tanh.approx.f16 %o, %a0", ("f16",), "f16", 2.0**-10.987)
    yield Form("tanh.approx.bf16 %o, %a0", ("bf16",), "bf16", 2.0**-8)
    yield Form("ex2.approx.f16 %o, %a0", ("f16",), "f16", 2.0**-24, 2.0**-9.9)  # subnormal results: the last bit
    yield Form("ex2.approx.ftz.bf16 %o, %a0", ("bf16",), "bf16", 0.0, 2.0**-7)


def conversions() -> Iterator[Form]:
    """cvt."""
    integers = ("s8", "u8", *INTEGERS)
    for to, source in itertools.permutations(integers, 2):
        yield Form(f"cvt.{to}.{source} %o, %a0", (source,), to)
        if not np.can_cast(DTYPES[source], DTYPES[to]):
            yield Form(f"cvt.sat.{to}.{source} %o, %a0", (source,), to)
    for t, f in itertools.product(integers, ("f16", "f32", "f64", "bf16")):
        if f == "bf16" and t[1:] == "8":
            continue
        for way in ("rni", "rzi", "rmi", "rpi"):
            yield Form(f"cvt.{way}.{t}.{f} %o, %a0", (f,), t)
        for way in ("rn", "rz", "rm", "rp"):
            yield Form(f"cvt.{way}.{f}.{t} %o, %a0", (t,), f)
    for t in ("f16", "bf16"):
        for way in ("rn", "rz", "rm", "rp") if t == "f16" else ("rn", "rz"):
            yield Form(f"cvt.{way}.{t}.f32 %o, %a0", ("f32",), t)
        for way in ("rn", "rz"):
            for more in ("", "relu.", "satfinite.", "relu.satfinite."):
                yield Form(f"cvt.{way}.{more}{t}x2.f32 %o, %a0, %a1", ("f32", "f32"), f"{t}x2")
        yield Form(f"cvt.f32.{t} %o, %a0", (t,), "f32")
    for way in ("rn", "rz", "rm", "rp"):
        yield Form(f"cvt.{way}.f32.f64 %o, %a0", ("f64",), "f32")
        yield Form(f"cvt.{way}.f16.f64 %o, %a0", ("f64",), "f16")
    for source, to in (("f16", "f64"), ("f32", "f64")):
        yield Form(f"cvt.{to}.{source} %o, %a0", (source,), to)
    for t in ("f16", "f32", "f64"):
        for way in ("rni", "rzi", "rmi", "rpi"):
            yield Form(f"cvt.{way}.{t}.{t} %o, %a0", (t,), t)
    yield Form("cvt.sat.f32.f32 %o, %a0", ("f32",), "f32")
    yield Form("cvt.ftz.f32.f16 %o, %a0", ("f16",), "f32")
    yield Form("cvt.rni.ftz.s32.f32 %o, %a0", ("f32",), "s32")
    yield Form("cvt.rn.ftz.f16.f32 %o, %a0", ("f32",), "f16")
    for way in ("rn", "rna", "rz"):
        yield Form(f"cvt.{way}.tf32.f32 %o, %a0", ("f32",), "b32")
    for t in ("e4m3", "e5m2"):
        for more in ("", "relu."):
            yield Form(f"cvt.rn.satfinite.{more}{t}x2.f32 %o, %a0, %a1", ("f32", "f32"), "b16")
            yield Form(f"cvt.rn.satfinite.{more}{t}x2.f16x2 %o, %a0", ("f16x2",), "b16")
            yield Form(f"cvt.rn.{more}f16x2.{t}x2 %o, %a0", ("b16",), "f16x2")


OWN_PLACE = "mov.u32 %x0, room; mad.lo.s32 %x1, %t, 8, %x0; "
MATRICES = "mov.u32 %x0, room; mad.lo.s32 %x1, %t, 4, %x0; st.shared.b32 [%x1], %a0; bar.sync 0; "
MATRICES += "and.b32 %x2, %t, 31; mul.lo.s32 %x2, %x2, 16; add.s32 %x2, %x2, %x0; "
FOUR = "xor.b32 %o, %x4, %x5; shf.l.wrap.b32 %o, %o, %o, 7; xor.b32 %o, %o, %x6; shf.l.wrap.b32 %o, %o, %o, 5; "
FOUR += "xor.b32 %o, %o, %x7"
"""One number from four registers."""


def warps() -> Iterator[Form]:
    """What lanes do together, atomic operations, and matrices."""
    for mode, (by, clamp) in itertools.product(("up", "down", "bfly", "idx"), ((1, 31), (5, 0x181F), (16, 31), (3, 7))):
        limit = clamp & ~31 if mode == "up" else clamp
        yield Form(f"shfl.sync.{mode}.b32 %o|%p, %a0, {by}, {limit}, -1", ("b32",), "b32")
        yield Form(f"shfl.sync.{mode}.b32 %x0|%o, %a0, {by}, {limit}, -1", ("b32",), "pred")
    yield Form("shfl.sync.idx.b32 %o, %a0, %a1, 31, -1", ("b32", "by"), "b32")
    yield Form("vote.sync.ballot.b32 %o, %a0, -1", ("pred",), "b32")
    for mode in ("any", "all", "uni"):
        yield Form(f"vote.sync.{mode}.pred %o, %a0, -1", ("pred",), "pred")
    for name in ("add", "min", "max"):
        for t in ("s32", "u32"):
            yield Form(f"redux.sync.{name}.{t} %o, %a0, -1", (t,), t)
    for name in ("and", "or", "xor"):
        yield Form(f"redux.sync.{name}.b32 %o, %a0, -1", ("b32",), "b32")
    yield Form("match.any.sync.b32 %o, %a0, -1", ("u32",), "b32")
    yield Form("elect.sync %x0|%o, -1", ("pred",), "pred")
    yield Form("activemask.b32 %o", ("b32",), "b32")
    for how in ("popc.u32", "and.pred", "or.pred"):
        yield Form(f"bar.red.{how} %o, 0, %a0", ("pred",), "u32" if how[0] == "p" and how[1] == "o" else "pred")
    atomics = {"add": ("u32", "s32", "u64", "f32", "f64"), "exch": ("b32", "b64"), "inc": ("u32",), "dec": ("u32",)}
    atomics |= dict.fromkeys(("min", "max"), ("s32", "u32", "s64", "u64"))
    atomics |= dict.fromkeys(("and", "or", "xor"), ("b32", "b64"))
    atomics["add.noftz"] = ("f16", "f16x2", "bf16", "bf16x2")
    for name, types in atomics.items():
        for t in types:
            n = 32 if t.endswith("x2") else width(t)
            atom = f"{OWN_PLACE}st.shared.b{n} [%x1], %a0; atom.shared.{name}.{t} %a0, [%x1], %a1; "
            yield Form(f"{atom}ld.shared.b{n} %o, [%x1]", (t, t), t)
            yield Form(f"{atom}mov.b{n} %o, %a0", (t, t), t)
    for n in (32, 64):
        swap = f"{OWN_PLACE}st.shared.b{n} [%x1], %a0; atom.shared.cas.b{n} %a0, [%x1], %a1, %a2; "
        yield Form(f"{swap}ld.shared.b{n} %o, [%x1]", (f"b{n}",) * 3, f"b{n}")
    for how in ("", "trans."):
        load = f"ldmatrix.sync.aligned.m8n8.x4.{how}shared.b16 {{%x4, %x5, %x6, %x7}}, [%x2]; "
        yield Form(MATRICES + load + FOUR, ("b32",), "b32")
        own = "and.b32 %x3, %t, 480; mad.lo.s32 %x2, %x3, 4, %x2; "  # each warp stores 128 bytes
        store = f"{MATRICES}{own}stmatrix.sync.aligned.m8n8.x1.{how}shared.b16 [%x2], {{%a0}}; bar.sync 0; "
        yield Form(f"{store}ld.shared.b32 %o, [%x1]", ("b32",), "b32")
    operands = "{%a0, %a1, %a0, %a1}, {%a2, %a3}"
    for t, kind, k in (("f16", "smallx2", 16), ("s8", "b32", 32), ("u8", "b32", 32)):
        total = "s32" if t[1:] == "8" else "f32"
        product = f"mma.sync.aligned.m16n8k{k}.row.col.{total}.{t}.{t}.{total} {{%x4, %x5, %x6, %x7}}, "
        start = "mov.b32 %x8, 0; " if total == "f32" else "mov.b32 %x8, %a0; "
        yield Form(f"{start}{product}{operands}, {{%x8, %x8, %x8, %x8}}; {FOUR}", (kind,) * 4, "b32")
    half = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%x4, %x5}, "
    together = "xor.b32 %o, %x4, %x5"
    yield Form(f"mov.b32 %x8, 0; {half}{operands}, {{%x8, %x8}}; {together}", ("smallx2",) * 4, "b32")


for packed in ("f16x2", "bf16x2", "smallx2"):
    DTYPES[packed] = np.uint32
FORMS = {form.text: form for form in forms()}


# --- records


def save(path: Path, answers: Mapping[str, np.ndarray], refused: Mapping[str, str], facts: Mapping[str, Any]) -> None:
    """Write the answers of a GPU."""
    texts = list(answers)
    asked = {text: checksum(FORMS[text].operands()) for text in texts}
    about = {**facts, "asked": asked, "refused": dict(refused)}
    data = np.concatenate([answers[text].view(np.uint8) for text in texts])
    np.savez_compressed(path, allow_pickle=False, about=np.array(json.dumps(about)), answers=data)


@functools.cache
def recorded(path: Path = RECORDS) -> dict[str, np.ndarray]:
    """The answers of a GPU by form, if the forms' operands are still the same."""
    answers, at = {}, 0
    with np.load(path) as loaded:
        asked, data = json.loads(str(loaded["about"]))["asked"], loaded["answers"]
    for text, known in asked.items():
        form = FORMS[text]
        size = form.blank().nbytes
        assert checksum(form.operands()) == known, f"{text} was recorded for other operands"
        answers[text] = data[at : at + size].view(form.blank().dtype)
        at += size
    return answers
