"""Elementwise operations and awkward numbers for them: questions about arithmetic, which a GPU's records answer.

    question = elementwise.QUESTIONS["arith.fptosi f32 -> i8"]
    question.text                     # a kernel of one operation, as TTIR, with its loads and its store
    question.operands()               # a thousand elements of each operand, the same on every machine
    values.answer(question)           # the operation's results on a GPU

A boolean is a byte in memory, 0 or 1.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

LANES = 1024
PAIRED = 32  # the number of awkward numbers that are paired with each other
GRID = (1,)

INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
FP8 = ("f8E5M2", "f8E4M3FN")
DTYPES = {
    "i1": np.dtype(np.int8),
    **{f"i{width}": np.dtype(f"int{width}") for width in (8, 16, 32, 64)},
    **{f"f{width}": np.dtype(f"float{width}") for width in (16, 32, 64)},
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
}

# The first 32 are paired with each other; casts and functions of one number get all of them.
_AWKWARD = (
    *(0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 0.1),
    *(2.0**-149, -(2.0**-149), 2.0**-126, 2.0**-24, 2.0**-14, 3.4028234663852886e38, -3.4028234663852886e38),
    *(65504.0, -65504.0, 1e5, -1e5, 7.25, -7.75, 1.0009765625, 1.0078125, 0.333251953125, 3.14159265),
    *(127.5, 128.0, 128.5, -128.5, -129.0, 254.99, 255.5, 256.0, 300.7, -300.7, 32767.5, -32769.0, 65535.5, 65536.0),
    *(2147483520.0, 2147483647.5, 2147483648.0, -2147483648.0, -2147483904.0, 4294967040.0, 4294967296.0, 1e10, -1e10),
    *(9.2e18, 9223372036854775808.0, -9223372036854775808.0, 1.8e19, 18446744073709551616.0, 1e20, -1e20, 1e300),
    *(57344.0, 61439.0, 61440.0, 65519.0, 65520.0, 448.0, 463.9, 464.0, 464.1, 480.0, -464.1, 2.0**-16, 2.0**-17),
    *(2.0**-9, 2.0**-10, 3 * 2.0**-10, 5e-324, 2.0**-150, 2.0**-133, 2.0**-134, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1e-3),
    *(1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-24, 1 + 3 * 2.0**-24),
    *(88.72, 88.73, -87.5, -103.9, -104.5, 709.7, 710.0),
    *(1.5707963, 4.712389, 6.2831855, 100.0, -100.0, 1e4, 16777216.0, 16777217.0, 10.0, 0.7, 0.99999994, 1.0000001),
)

_LIBRARY = """
f32 -> f32: acosf acoshf asinf asinhf atanf atanhf cbrtf cosf coshf cospif cyl_bessel_i0f erff erfcf erfcinvf erfcxf
f32 -> f32: erfinvf expf exp10f exp2f expm1f lgammaf logf log10f log1pf log2f logbf normcdff normcdfinvf rcbrtf rintf
f32 -> f32: roundf rsqrtf sinf sinhf sinpif tanf tanhf tgammaf truncf nearbyintf saturatef frcp_rn fsqrt_rd frsqrt_rn
f32 -> f32: fast_expf fast_logf fast_sinf fast_cosf
f32 f32 -> f32: powf atan2f hypotf rhypotf fmodf copysignf fdimf remainderf nextafterf fadd_rd fmul_ru fdiv_rz
f32 f32 f32 -> f32: fmaf_rd norm3df
f32 i32 -> f32: powif ldexpf
f32 -> i32: isnanf isinff finitef signbitf ilogbf float2int_rn float2int_rz float2int_rd float2int_ru float2uint_rn
f32 -> i64: llrintf llroundf float2ll_rz float2ull_rd
i32 -> f32: int2float_rz int2float_ru uint2float_rn
i64 -> f32: ll2float_rd ull2float_rn
i32 -> i32: clz popc ffs brev abs
i64 -> i32: clzll popcll ffsll
i64 -> i64: brevll llabs
i32 i32 -> i32: mulhi umulhi mul24 umul24 hadd uhadd rhadd urhadd
i64 i64 -> i64: mul64hi umul64hi
i32 i32 i32 -> i32: byte_perm sad usad
"""


@dataclass(frozen=True)
class Question:
    """One operation on given types: `{t}` is the tensor type of its operands, and `{r}` the type of its result."""

    operation: str  # its text: "arith.addi %a, %b : {t}"
    name: str  # the name of the question
    types: Sequence[str]
    result: str

    @property
    def text(self) -> str:
        """The kernel, as TTIR."""
        names = "abc"[: len(self.types)]
        stored = [*(_in_memory(kind) for kind in self.types), _in_memory(self.result)]
        parameters = ", ".join(f"%{name}s: !tt.ptr<{kind}>" for name, kind in zip([*names, "r"], stored, strict=True))
        lines = [f"%lanes = tt.make_range {{end = {LANES} : i32, start = 0 : i32}} : {_tensor('i32')}"]
        for name, kind in zip([*names, "r"], stored, strict=True):
            pointer = f"!tt.ptr<{kind}>"
            lines.append(f"%{name}_all = tt.splat %{name}s : {pointer} -> {_tensor(pointer)}")
            lines.append(f"%{name}_at = tt.addptr %{name}_all, %lanes : {_tensor(pointer)}, {_tensor('i32')}")
        if "i1" in self.types:
            lines.append(f"%zero = arith.constant dense<0> : {_tensor('i8')}")
        for name, kind in zip(names, self.types, strict=True):
            loaded = f"{name}_byte" if kind == "i1" else name
            lines.append(f"%{loaded} = tt.load %{name}_at : {_tensor(f'!tt.ptr<{_in_memory(kind)}>')}")
            if kind == "i1":
                lines.append(f"%{name} = arith.cmpi ne, %{name}_byte, %zero : {_tensor('i8')}")
        lines.append("%r = " + self.operation.format(t=_tensor(self.types[0]), r=_tensor(self.result)))
        if self.result == "i1":
            lines.append(f"%r_byte = arith.extui %r : {_tensor('i1')} to {_tensor('i8')}")
        stored_value = "%r_byte" if self.result == "i1" else "%r"
        lines.append(f"tt.store %r_at, {stored_value} : {_tensor(f'!tt.ptr<{stored[-1]}>')}")
        body = "\n    ".join([*lines, "tt.return"])
        return f"module {{\n  tt.func public @question({parameters}) {{\n    {body}\n  }}\n}}\n"

    def operands(self) -> list[np.ndarray]:
        """The operands of the operation."""
        columns = [_numbers(kind, len(self.types)) for kind in self.types]
        if len(columns) == 3:  # the third operand has a different order
            columns[2] = np.roll(columns[2].reshape(PAIRED, PAIRED), 5, axis=0).T.ravel()
        if len(columns) > 1:
            columns[1] = columns[1].reshape(PAIRED, PAIRED).T.ravel()
        if self.operation.startswith(("arith.div", "arith.rem")) and self.types[0] in INTEGERS:
            x, y = columns
            y[y == 0] = 3  # division by zero, and of the least number by -1, is undefined
            x[(y == -1) & (x == np.iinfo(x.dtype).min)] += 1
        if self.operation.startswith("arith.sh"):
            columns[1] = np.abs(np.resize(np.arange(width(self.types[1]) + 2), LANES)).astype(columns[1].dtype)
        return [np.ascontiguousarray(column) for column in columns]

    def result_before(self) -> np.ndarray:
        """The buffer for the result, before the launch."""
        return np.zeros(LANES, DTYPES[self.result])


def width(kind: str) -> int:
    """The number of bits of a type."""
    return 8 if kind in FP8 else int(kind.lstrip("bfi"))


def _tensor(element: str) -> str:
    return f"tensor<{LANES}x{element}>"


def _in_memory(kind: str) -> str:
    return "i8" if kind == "i1" else kind


def _numbers(kind: str, operands: int) -> np.ndarray:
    """A thousand numbers, awkward ones first; for several operands, the first 32 numbers, each 32 times."""
    random = np.random.PCG64(width(kind)).random_raw(LANES)
    dtype = DTYPES[kind]
    if kind == "i1":
        numbers = (random & np.uint64(1)).astype(dtype)
    elif kind in INTEGERS:
        numbers = random.view(dtype)[:LANES].copy()
        awkward = _awkward_integers(width(kind))
        numbers[: len(awkward)] = awkward
    elif kind in FP8:
        numbers = np.resize(np.arange(256, dtype=np.uint8).view(dtype), LANES)
    else:
        numbers = random.view(f"u{dtype.itemsize}")[:LANES].view(dtype).copy()  # all exponents
        half = (random.view(np.int64) >> np.int64(40)) / 2.0**20  # within ±8
        numbers[LANES // 2 :] = half[LANES // 2 :].astype(dtype)
        with np.errstate(over="ignore"):
            numbers[: len(_AWKWARD)] = np.array(_AWKWARD).astype(dtype)
    return numbers if operands == 1 else np.repeat(numbers[:PAIRED], PAIRED)


def _awkward_integers(bits: int) -> np.ndarray:
    top = 1 << (bits - 1)
    small = (0, 1, -1, 2, -2, 3, -3, 5, 7, -7, 8, 10, -10, 16, 31, 63, 100, -100)
    return np.array([*small, top - 1, -top, top - 2, 1 - top, top // 2, -top // 2, top // 3, -(top // 5)])


def _same(operations: str, kinds: Sequence[str], operands: int) -> Iterator[Question]:
    """Operations whose result has the type of the operands."""
    arguments = ", ".join(f"%{name}" for name in "abc"[:operands])
    for operation, kind in itertools.product(operations.split(), kinds):
        yield Question(f"{operation} {arguments} : {{t}}", f"{operation} {kind}", [kind] * operands, kind)


def _comparisons() -> Iterator[Question]:
    for kind, predicate in itertools.product(INTEGERS, "eq ne slt sle sgt sge ult ule ugt uge".split()):
        yield Question(f"arith.cmpi {predicate}, %a, %b : {{t}}", f"arith.cmpi {predicate} {kind}", [kind] * 2, "i1")
    for kind, predicate in itertools.product(FLOATS, "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split()):
        yield Question(f"arith.cmpf {predicate}, %a, %b : {{t}}", f"arith.cmpf {predicate} {kind}", [kind] * 2, "i1")


def _casts() -> Iterator[Question]:
    pairs = list(itertools.permutations(("i1", *INTEGERS, *FLOATS), 2))
    for source, target in pairs:
        integers = source[0] == "i", target[0] == "i"
        wider = width(source) < width(target)
        operations: tuple[str, ...] = ()
        match integers:
            case (True, True):
                operations = ("arith.extsi", "arith.extui") if wider else ("arith.trunci",)
            case (True, False):
                operations = ("arith.sitofp", "arith.uitofp")
            case (False, True) if target != "i1":
                operations = ("arith.fptosi", "arith.fptoui")
            case (False, False) if width(source) != width(target):
                operations = ("arith.extf",) if wider else ("arith.truncf",)
        for operation in operations:
            yield Question(f"{operation} %a : {{t}} to {{r}}", f"{operation} {source} -> {target}", [source], target)
    for small, large in itertools.product(FP8, FLOATS[:3]):
        yield _fp_to_fp(small, large)
        yield _fp_to_fp(large, small, "rtne")
    for target in ("f16", "bf16"):
        yield _fp_to_fp("f32", target, "rtz")


def _fp_to_fp(source: str, target: str, rounding: str = "") -> Question:
    stated = f", rounding = {rounding}" if rounding else ""
    name = f"tt.fp_to_fp {rounding} {source} -> {target}".replace("  ", " ")
    return Question(f"tt.fp_to_fp %a{stated} : {{t}} -> {{r}}", name, [source], target)


def _library() -> Iterator[Question]:
    """Functions of NVIDIA's device library."""
    for line in _LIBRARY.strip().splitlines():
        types, names = line.split(": ")
        sources, target = types.split(" -> ")
        kinds = sources.split()
        operands = ", ".join(f"%{letter}" for letter in "abc"[: len(kinds)])
        tensors = ", ".join(map(_tensor, kinds))
        for symbol in (f"__nv_{name}" for name in names.split()):
            called = '{{libname = "", libpath = "", pure = true, symbol = "' + symbol + '"}}'
            text = f"tt.extern_elementwise {operands} {called} : ({tensors}) -> {{r}}"
            yield Question(text, symbol, kinds, target)


def _clamps() -> Iterator[Question]:
    for kind, nan in itertools.product(FLOATS[:3], ("none", "all")):
        text = f"tt.clampf %a, %b, %c, propagateNan = {nan} : {{t}}"
        yield Question(text, f"tt.clampf {nan} {kind}", [kind] * 3, kind)


QUESTIONS = {
    question.name: question
    for question in (
        *_same("arith.addi arith.subi arith.muli arith.andi arith.ori arith.xori", ("i1", *INTEGERS), 2),
        *_same("arith.divsi arith.divui arith.remsi arith.remui", INTEGERS, 2),
        *_same("arith.maxsi arith.maxui arith.minsi arith.minui", INTEGERS, 2),
        *_same("arith.shli arith.shrsi arith.shrui", INTEGERS, 2),
        *_same("tt.mulhiui", ("i32", "i64"), 2),
        *_same("math.absi", INTEGERS, 1),
        *_same("arith.addf arith.subf arith.mulf", FLOATS, 2),
        *_same("arith.maxnumf arith.minnumf arith.maximumf arith.minimumf", FLOATS, 2),
        *_same("arith.divf arith.remf", ("f32", "f64"), 2),  # the front end widens other types
        *_same("math.fma", FLOATS, 3),
        *_clamps(),
        *_same("math.absf math.floor math.ceil", ("f32", "f64"), 1),
        *_same("math.exp math.exp2 math.log math.log2 math.sin math.cos math.erf", ("f32",), 1),
        *_same("math.sqrt math.rsqrt tt.precise_sqrt", ("f32",), 1),
        *_same("tt.precise_divf", ("f32",), 2),
        *_comparisons(),
        *_casts(),
        *_library(),
    )
}
