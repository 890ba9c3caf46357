"""Every name of the language in a one-line kernel, except for names that the larger kernels of the corpus use.

A row is a name and its expression, which may follow statements. The kernel stores the value of the expression
in 32 elements. The expression can use

    at     0, 1, 2, …          x, xs   floats, and a pointer to them
    y      positive floats     n, ns   integers from 0 to 7, and a pointer to them
    m      a 4-by-8 matrix of floats
"""

import ast
from collections.abc import Iterator, Mapping

from mini_triton.language.extra import libdevice

from tests.corpus import CASES, scaled, views
from tests.corpus.cases import Case
from tests.oracles.triton import Source

PRELUDE = """\
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def first(p: tl.const):
    return tl.load(p)


@triton.jit
def kernel(out, xs, ns):
    at = tl.arange(0, 32)
    x = tl.load(xs + at)
    y = tl.abs(x) + 0.5
    n = tl.load(ns + at)
    m = tl.reshape(x, (4, 8))
"""
FOUR = "a, b, c, d = {}\na + b - c * d"
DESCRIPTOR = "d = tl.make_tensor_descriptor(xs, [32], [1], [32])\n"

FUNCTIONS = {
    "TRITON_MAX_TENSOR_NUMEL": "tl.TRITON_MAX_TENSOR_NUMEL",
    "add": "tl.add(x, y)",
    "bitonic_merge": "tl.bitonic_merge(x)",
    "block_type": "t = x.type\nt.is_block() + 2 * t.is_ptr() + 4 * t.is_int() + t.get_block_shapes()[0] + t.nbytes",
    "broadcast": "a, b = tl.broadcast(x, y)\na + b",
    "condition": "i = 0\nwhile tl.condition(i < 3):\n    i += 1\ni",
    "const": "first(xs)",
    "core": "tl.core.cast(x, tl.float16)",
    "dtype": "isinstance(x.dtype, tl.dtype)",
    "expand_dims": "tl.expand_dims(x, 0).reshape(32)",
    "float8e4nv": "x.to(tl.float8e4nv).to(tl.float32)",
    "float8e4b8": "x.to(tl.float8e4b8).to(tl.float32)",
    "float8e5b16": "x.to(tl.float8e5b16).to(tl.float32)",
    "int1": "n.to(tl.int1)",
    "map_elementwise": "tl.map_elementwise(plus, x, y)",
    "mul": "tl.mul(x, y)",
    "pair_uniform_to_normal": "a, b = tl.pair_uniform_to_normal(tl.rand(0, at), tl.rand(1, at))\na + b",
    "philox": FOUR.format("tl.philox(7, at, at, at, at)"),
    "philox_impl": "u = n.to(tl.uint32)\n" + FOUR.format("tl.philox_impl(u, u, u, u, u, u)"),
    "pi32_t": "tl.load(xs.to(tl.pi32_t, bitcast=True) + at) > 0",
    "rand4x": FOUR.format("tl.rand4x(7, at)"),
    "randn4x": FOUR.format("tl.randn4x(7, at)"),
    "random": "tl.random.rand(7, at)",
    "reduce_or": "tl.reduce_or(n, 0)",
    "softmax": "tl.softmax(x)",
    "sort": "tl.sort(x)",
    "squeeze": "tl.squeeze(x[None, :], 0)",
    "standard": "tl.standard.sum(x)",
    "str_to_ty": "x.to(tl.str_to_ty('fp16', None))",
    "sub": "tl.sub(x, y)",
    "swizzle2d": "a, b = tl.swizzle2d(n, n, 8, 8, 2)\na * 8 + b",
    "target_info": "tl.target_info.cuda_capability_geq(200, 0)",
    "tensor": "isinstance(x, tl.tensor)",
    "tensor_descriptor_type": DESCRIPTOR + "isinstance(d.type, tl.tensor_descriptor_type)",
    "to_tensor": "tl.to_tensor(1.5) + x",
    "topk": "tl.sum(tl.topk(x, 8), 0)",
    "tuple": "isinstance((x, y), tl.tuple)",
    "uint64": "n.to(tl.uint64)",
    "uint_to_uniform_float": "tl.uint_to_uniform_float(n)",
    "unsqueeze": "tl.unsqueeze(x, 0).reshape(32)",
}
ATOMICS = {f"atomic_{name}": f"(ns + at).atomic_{name}(at)" for name in "add and max min or xchg xor".split()}
METHODS = {
    "T": "m.T.reshape(32)",
    "abs": "x.abs()",
    "advance": "p = tl.make_block_ptr(xs, (32,), (1,), (0,), (32,), (0,))\ntl.load(p.advance((0,)))",
    "argmax": "x.argmax(0)",
    "argmin": "x.argmin(0)",
    "associative_scan": "x.associative_scan(0, plus)",
    **ATOMICS,
    "atomic_cas": "(ns + at).atomic_cas(n, at)",
    "broadcast_to": "x[None, :].broadcast_to(4, 32).sum(0)",
    "cast": "x.cast(tl.float16)",
    "cdiv": "n.cdiv(3)",
    "cumprod": "n.cumprod(0)",
    "cumsum": "n.cumsum(0)",
    "expand_dims": "x.expand_dims(0).reshape(32)",
    "flip": "x.flip(0)",
    "gather": "x.gather(n, 0)",
    "histogram": "n.histogram(32)",
    "item": "x[None, :].sum(1).item()",
    "logical_and": "(x > 0).logical_and(y > 1)",
    "logical_or": "(x > 0).logical_or(y > 1)",
    "max": "x.max()",
    "min": "x.min()",
    "permute": "m.permute(1, 0).reshape(32)",
    "ravel": "m.ravel()",
    "reduce": "n.reduce(0, plus)",
    "reduce_or": "n.reduce_or(0)",
    "reshape": "m.reshape(32)",
    "sigmoid": "x.sigmoid()",
    "softmax": "x.softmax()",
    "sort": "x.sort()",
    "split": "a, b = x.reshape(16, 2).split()\na.sum() - b.sum()",
    "store": "(ns + at).store(at)\ntl.load(ns + at)",
    "sum": "n.sum()",
    "to": "x.to(tl.int32)",
    "trans": "m.trans().reshape(32)",
    "view": "m.view(32)",
    "xor_sum": "n.xor_sum()",
}
UNARY = "abs ceil cos erf exp exp2 floor log log2 rsqrt sin sqrt sqrt_rn"
METHODS |= {name: f"y.{name}()" for name in UNARY.split()}
MATH = {name: f"tl.math.{name}(y)" for name in UNARY.split()} | {
    "div_rn": "tl.math.div_rn(x, y)",
    "fdiv": "tl.math.fdiv(x, y)",
    "fma": "tl.math.fma(x, y, x)",
    "umulhi": "tl.math.umulhi(n * 1000000000, n * 1000000000)",
}
DTYPES = {
    f"is_{name}": f"n.dtype.is_{name}() + 2 * x.dtype.is_{name}() + 4 * (ns + at).dtype.is_{name}()"
    for name in (
        "bf16 block bool const floating fp16 fp32 fp64 fp8 fp8e4b15 fp8e4b8 fp8e4nv fp8e5 fp8e5b16 int int1 int16 "
        "int32 int64 int8 int_signed int_unsigned ptr standard_floating uint16 uint32 uint64 uint8"
    ).split()
} | {
    "SIGNEDNESS": "n.dtype.int_signedness == tl.dtype.SIGNEDNESS.SIGNED",
    "codegen_name": "x.dtype.codegen_name() == 'fp32'",
    "get_int_max_value": "n.dtype.get_int_max_value()",
    "get_int_min_value": "n.dtype.get_int_min_value()",
    "scalar": "n.to(x.dtype.scalar)",
    "with_element_ty": "n.to(n.dtype.with_element_ty(tl.float16))",
}
CUDA = {
    "libdevice": "tl.extra.cuda.libdevice.abs(x)",
    "num_threads": "tl.extra.cuda.num_threads()",
    "num_warps": "tl.extra.cuda.num_warps()",
}
ON_GPUS = {
    "tl": {"inline_asm_elementwise": "tl.inline_asm_elementwise('neg.s32 $0, $1;', '=r,r', [n], tl.int32, True, 1)"},
    "tl.extra.cuda": {
        "gdc_launch_dependents": "tl.extra.cuda.gdc_launch_dependents()\nx",
        "gdc_wait": "tl.extra.cuda.gdc_wait()\nx",
        "globaltimer": "tl.extra.cuda.globaltimer()",
        "smid": "tl.extra.cuda.smid()",
    },
}
"""What only GPUs can do."""
ON_CPUS = {"tl": ("float8e4b8", "float8e5b16"), "tensor": (), "dtype": (), "tl.math": ()}
"""Names that NVIDIA GPUs do not support."""

HOST = {
    "Config": "str(triton.Config({'BLOCK': 64}, num_warps=8))",
    "autotune": "triton.autotune([], [])(twice).arg_names",
    "heuristics": "triton.heuristics({'y': square})(twice).arg_names",
    "CompilationError": "issubclass(triton.CompilationError, Exception)",
    "JITFunction": "isinstance(twice, triton.JITFunction)",
    "KernelInterface": "isinstance(twice, triton.KernelInterface)",
    "MockTensor": "triton.MockTensor(FORMAT).data_ptr()",
    "OutOfResources": "str(triton.OutOfResources(2, 1, 'shared memory'))",
    "TensorWrapper": "isinstance(triton.reinterpret(Memory(), FORMAT), triton.TensorWrapper)",
    "TritonError": "issubclass(triton.TritonError, Exception)",
    "cdiv": "triton.cdiv(7, 2)",
    "compile": "callable(triton.compile)",
    "compiler": "triton.compiler.ASTSource.__name__",
    "constexpr_function": "triton.constexpr_function(square)(3)",
    "errors": "triton.errors.TritonError is triton.TritonError",
    "jit": "twice.__name__",
    "knobs": "triton.knobs.compilation.always_compile",
    "language": "str(triton.language.float32)",
    "next_power_of_2": "triton.next_power_of_2(100)",
    "reinterpret": "str(triton.reinterpret(Memory(), FORMAT).dtype)",
    "runtime": "triton.runtime.JITFunction is triton.JITFunction",
    "set_allocator": "triton.set_allocator(None)",
    "testing": "callable(triton.testing.assert_close)",
    "tools": "__import__(triton.__name__ + '.tools.tensor_descriptor').__name__ == triton.__name__",
}
"""Names for programs rather than kernels. Each has an expression over the names in `host_names.py`, whose value is the
same with real Triton."""


def libdevice_calls() -> dict[str, str]:
    """A call of each function of the device library, with operands of the first dtypes that it takes."""
    rows = {}
    for name, versions in libdevice.TABLE.items():
        dtypes = next(iter(versions))
        operands = ", ".join(f"y.to(tl.{dtype.codegen_name()})" for dtype in dtypes)
        rows[name] = f"libdevice.{name}({operands})"
    return rows


LIBDEVICE_ON_GPUS = ("cyl_bessel_i1", "j0", "j1", "jn", "y0", "y1", "yn")
"""Bessel functions that NumPy does not have."""
LIBDEVICE = libdevice_calls()
NOT_INTERPRETED: Mapping[str, tuple[str, ...]] = {
    "tl": ("condition", "float8e4b8", "float8e5b16", "map_elementwise", "str_to_ty", "tuple"),
    "tensor": ("atomic_cas", "broadcast_to", "sort", *UNARY.split()),
    "tl.math": ("umulhi",),
    "tl.extra.cuda": tuple(CUDA),
    "tl.extra.libdevice": tuple(libdevice.TABLE),
}
"""What real Triton's interpreter does not know, or computes differently from compiled Triton."""
REFUSED: Mapping[str, tuple[str, ...]] = {"tl": ("str_to_ty",), "tensor": ("sort",)}
"""What real Triton's front end refuses, although Triton has the name."""
ROWS: Mapping[str, Mapping[str, str]] = {
    "tl": FUNCTIONS,
    "tensor": METHODS,
    "dtype": DTYPES,
    "tl.math": MATH,
    "tl.extra.libdevice": LIBDEVICE,
    "tl.extra.cuda": CUDA,
}
"""The expressions, by place."""


def expression(place: str, name: str) -> str:
    """The expression for a name."""
    return ROWS[place].get(name) or ON_GPUS[place][name]


def source(expression: str) -> Source:
    """The kernel that stores an expression."""
    *statements, last = expression.split("\n")
    lines = [*statements, f"tl.store(out + at, {last})"]
    text = PRELUDE + "".join(f"    {line}\n" for line in lines)
    return Source(text, "kernel", {"out": "*fp32", "xs": "*fp32", "ns": "*i32"}, {}, ("out", "xs", "ns"))


def used() -> Iterator[str]:
    """The names that kernels with a launch use, such as `tl.abs` and `tl.math.exp2`."""
    cases: tuple[Case, ...] = (*CASES, *views.CASES, *scaled.CASES)
    for path in {case.path for case in cases}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                yield ast.unparse(node)
