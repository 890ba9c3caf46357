"""Task 4.9: matrix products and atomic operations, as in real Triton."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m04_language.arguments import DTYPES, Shape, alike_cast, tl_name, typed
from tests.support.m04_language.expressions import Scene, judge

SOME = one_in(3)  # each asks real Triton several times

SHAPES: tuple[Shape, ...] = ((), (4,), (1,), (2, 4), (4, 1))
NUMBERS = ("0", "1", "-1", "2.5")


# --- atomic operations

RMW = ("add", "max", "min", "xchg")
BITS = ("and", "or", "xor")
SAME = ("add", "xchg")  # of floats, too: the other two compare the bits of floats
FLOATS = ("fp32", "fp64")


@pytest.mark.parametrize("element", DTYPES)
def test_elements(element: str) -> None:
    """Atomics add floats, and refuse small integers."""
    names = SAME if element in FLOATS else RMW if "f" in element else RMW + BITS
    for shape in ((), (4,)):
        values = {"p": typed(f"*{element}", shape), "x": typed(element, shape), "m": typed("i1", shape)}
        judge(values, [f"tl.atomic_{name}(p, x, m)" for name in names] + [f"p.atomic_{name}(x)" for name in names])


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("number", ["2.5", "-2.5", "0.0", "-1.0 * 0.0", "float('inf')", "-float('inf')"])
@pytest.mark.parametrize("shape", [(), (4,)], ids=["scalar", "block"])
def test_maximum_and_minimum_of_floats(shape: Shape, number: str, element: str) -> None:
    """Only the right operation on the bits changes memory, and its result is returned, however the sign is found."""
    values = {"p": typed(f"*{element}", shape), "m": typed("i1", shape)}
    first, *factors = number.split(" * ")
    x = " * ".join([f"tl.full({shape}, {first}, {tl_name(element)})", *factors])
    judge(values, [f"tl.atomic_max(p, {x}, m)", f"tl.atomic_min(p, {x}, m)", f"p.atomic_max({x})"])


@SOME
@given(
    name=st.sampled_from(RMW),
    element=st.sampled_from(("i32", "u32", "i64", "u64", "fp32", "fp64")),
    dtype=st.sampled_from(DTYPES),
    shapes=st.tuples(*[st.sampled_from(SHAPES)] * 3),
    number=st.sampled_from(NUMBERS),
)
def test_operands(name: str, element: str, dtype: str, shapes: tuple[Shape, Shape, Shape], number: str) -> None:
    """The value is converted. Value and mask are broadcast to the pointers' shape, but their ranks must match."""
    pointer, value, mask = shapes
    if mask and not pointer:
        mask = ()
    if len({len(pointer), len(mask), 0}) == 3 or len({len(pointer), len(value), 0}) == 3:
        pointer, value, mask = ((*shape, 1, 1)[:2] if shape else () for shape in (pointer, value, mask))
    values = {"p": typed(f"*{element}", pointer), "x": typed(dtype, value), "m": typed("i1", mask)}
    expressions = [f"tl.atomic_{name}(p, {number}, mask=m)"]
    if alike_cast(dtype, element):
        x = "x" if element not in FLOATS or name in SAME else f"tl.full({value}, 1, tl.int32)"
        expressions += [f"tl.atomic_{name}(p, {x})", f"tl.atomic_{name}(p, val={x}, mask=m)"]
    judge(values, expressions)


@SOME
@given(
    name=st.sampled_from((*RMW, *BITS)),
    sem=st.sampled_from(("None", "''", "'acquire'", "'release'", "'acq_rel'", "'relaxed'", "'weak'", "S")),
    scope=st.sampled_from(("None", "'gpu'", "'cta'", "'sys'", "'all'")),
)
def test_order_and_scope(name: str, sem: str, scope: str) -> None:
    """The default is acquire and release, in the scope of the whole GPU; unknown words are refused."""
    values = {"p": "*i32[4]", "x": "i32[4]", "f": "*fp32", "S": "='relaxed'"}
    options = f"sem={sem}, scope={scope}"
    floats = [f"tl.atomic_{name}(f, 1.5, {options})"] if name in RMW else []
    judge(values, [f"tl.atomic_{name}(p, x, {options})", f"tl.atomic_cas(p, x, x, {options})", *floats])


@SOME
@given(
    element=st.sampled_from(DTYPES),
    dtypes=st.tuples(*[st.sampled_from(DTYPES)] * 2),
    shapes=st.tuples(*[st.sampled_from(((), (4,)))] * 3),
)
def test_compare_and_swap(element: str, dtypes: tuple[str, str], shapes: tuple[Shape, Shape, Shape]) -> None:
    """Both values must have the pointee's type, because nothing is converted or broadcast."""
    values = {"p": typed(f"*{element}", shapes[0]), "e": typed(element, shapes[0])}
    values |= {"x": typed(dtypes[0], shapes[1]), "y": typed(dtypes[1], shapes[2])}
    judge(values, ["tl.atomic_cas(p, e, e)", "tl.atomic_cas(p, x, y)", "tl.atomic_cas(p, e, x)", "p.atomic_cas(0, 1)"])


# --- dot products

OPERANDS = ("i8", "u8", "i16", "i32", "i64", "fp8e5", "fp8e4nv", "fp16", "bf16", "fp32", "fp64")


@pytest.mark.parametrize("dtype", OPERANDS)
def test_dtypes(dtype: str) -> None:
    """Both operands have one dtype, or any two fp8. It decides the result's dtype, sometimes with `out_dtype`."""
    others = {f"b_{other}": typed(other, (32, 16)) for other in OPERANDS}
    stacks = {"s": typed(dtype, (2, 16, 32)), "t": typed(dtype, (2, 32, 16))}
    outs = [f"tl.dot(a, b_{dtype}, out_dtype=tl.{out})" for out in ("float32", "float16", "bfloat16")]
    pairs = [f"tl.dot(a, {other})" for other in others]
    judge({"a": typed(dtype, (16, 32)), **others, **stacks}, [*pairs, *outs, "tl.dot(s, t)"])


def test_stacks_of_stacks() -> None:
    """The product of stacks with several batch dimensions has these dimensions, too."""
    values = {"a": "fp16[2, 4, 16, 32]", "b": "fp16[2, 4, 32, 8]", "c": "fp32[2, 4, 16, 8]", "d": "i8[1, 2, 2, 32, 32]"}
    judge(values, ["tl.dot(a, b)", "tl.dot(a, b, c)", "tl.dot(d, d)"])


PRODUCTS = (
    *(("i8", "tl.int32"), ("bf16", "tl.float32"), ("fp32", "tl.float32"), ("fp64", "tl.float64")),
    *(("fp8e4nv", "tl.float32"), ("fp8e4nv", "tl.float16"), ("fp16", "tl.float32"), ("fp16", "tl.float16")),
)


@SOME
@given(
    product=st.sampled_from(PRODUCTS),
    acc=st.sampled_from(("i32", "u32", "fp16", "bf16", "fp32", "fp64")),
    shape=st.sampled_from(((16, 16), (16, 16), (16, 16), (16, 32), (16,), (1, 16, 16))),
)
def test_accumulator(product: tuple[str, str], acc: str, shape: Shape) -> None:
    """The accumulator must have the shape and the dtype of the product."""
    dtype, out = product
    values = {"a": typed(dtype, (16, 32)), "b": typed(dtype, (32, 16)), "c": typed(acc, shape)}
    expressions = [f"tl.dot(a, b, c, out_dtype={out})"]
    if acc == "fp32" and out == "tl.float32":  # newer versions take the dtype of others from the accumulator as well
        expressions += ["tl.dot(a, b, c)", "tl.dot(a, b, acc=c)"]
    judge(values, expressions)


@pytest.mark.parametrize(("dtype", "acc"), [("fp16", "float16"), ("i8", "int32"), ("fp64", "float64")])
def test_dtype_of_the_accumulator(dtype: str, acc: str) -> None:
    """Without `out_dtype`, the result has the dtype of `acc`, as in Triton from 3.8 on."""
    call = f"tl.dot(a, a, tl.zeros((32, 32), tl.{acc})"
    Scene({"a": f"{dtype}[32, 32]"}).builds_alike(f"{call})", f"{call}, out_dtype=tl.{acc})")


@SOME
@example(precision=None, allow=None, imprecise="64", dtype="fp8e5")  # all products of a row
@given(
    precision=st.sampled_from((None, "'tf32'", "'tf32x3'", "'ieee'", "'bf16x6'", "'IEEE'", "'fp32'", "P")),
    allow=st.sampled_from((None, "True", "False")),
    imprecise=st.sampled_from((None, "0", "32", "64", "128")),
    dtype=st.sampled_from(("fp32", "fp16", "fp8e5")),
)
def test_precision(precision: str | None, allow: str | None, imprecise: str | None, dtype: str) -> None:
    """The precision is tf32 by default, or given in one of two ways. A limit counts imprecise sums of fp8 products."""
    options = {"input_precision": precision, "allow_tf32": allow, "max_num_imprecise_acc": imprecise}
    given = "".join(f", {name}={value}" for name, value in options.items() if value)
    judge({"a": typed(dtype, (32, 64)), "b": typed(dtype, (64, 32)), "P": "='tf32x3'"}, [f"tl.dot(a, b{given})"])


REFUSED: dict[str, tuple[type[Exception], tuple[str, ...]]] = {
    "tl.atomic_add(x, 1)": (ValueError, ("int32",)),
    "tl.atomic_add(c, 1.0)": (ValueError, ("Cannot store to a constant pointer",)),
    "tl.atomic_max(h, 1.0)": (ValueError, ("atomic_max does not support fp16",)),
    "tl.atomic_min(h, 1.0)": (ValueError, ("atomic_min does not support fp16",)),
    "tl.atomic_xchg(b, 1)": (ValueError, ("atomic_xchg does not support int8",)),
    "tl.atomic_add(i, x)": (ValueError, ("Value argument cannot be block type if pointer argument is not a block",)),
    "tl.atomic_add(i, 1, x == 1)": (ValueError, ("Mask argument cannot be block type",)),
    "tl.atomic_add(p, 1, x)": (ValueError, ("Mask must have boolean scalar type",)),
    "tl.atomic_add(p, y)": (ValueError, ("rank mismatch",)),
    "tl.atomic_min(p, 1, sem='weak')": (ValueError, ("weak",)),
    "tl.atomic_cas(f, 0, 1)": (TypeError, ("fp32", "int32")),
    "tl.atomic_cas(i, 0, 1.5)": (TypeError, ("int32", "fp32")),
    "tl.atomic_cas(i, 1.5, 0)": (TypeError, ("int32", "fp32")),
    "tl.atomic_cas(p, 0, 1)": (TypeError, ("int32",)),
    "tl.atomic_cas(b, n, n)": (ValueError, ("atomic_cas", "int8")),
    "tl.atomic_cas(n, 0, 1)": (ValueError, ("tl.atomic_cas",)),
    "tl.dot(a, b)": (TypeError, ("same dtype", "fp16", "fp32")),
    "tl.dot(i, i)": (TypeError, ("int32",)),
    "tl.dot(u, u)": (TypeError, ("uint8",)),
    "tl.dot(e, g)": (TypeError, ("fp8e5",)),
    "tl.dot(v, v)": (ValueError, ("equal ranks",)),
    "tl.dot(a, s)": (ValueError, ("equal ranks",)),
    "tl.dot(s, t)": (ValueError, ("equal batch shapes",)),
    "tl.dot(s, n)": (ValueError, ("equal batch shapes",)),
    "tl.dot(tl.reshape(t, (2, 2, 16, 16)), tl.reshape(t, (1, 4, 16, 16)))": (ValueError, ("equal batch shapes",)),
    "tl.dot(a, k)": (ValueError, ("equal reduction dimensions",)),
    "tl.dot(k.T, k)": (ValueError, ("K >= 16",)),
    "tl.dot(q, q)": (ValueError, ("K >= 32",)),
    "tl.dot(q.to(tl.int8, bitcast=True), q.to(tl.int8, bitcast=True))": (ValueError, ("K >= 32",)),
    "tl.dot(a, a, v)": (ValueError, ("accumulator shape",)),
    "tl.dot(a, a, k)": (ValueError, ("accumulator shape",)),
    "tl.dot(a, a, b, out_dtype=tl.float16)": (TypeError, ("fp32", "fp16")),
    "tl.dot(a, a, out_dtype=tl.bfloat16)": (ValueError, ("out_dtype=bfloat16 is unsupported",)),
    "tl.dot(a, a, h)": (ValueError, ("out_dtype=bfloat16 is unsupported",)),
    "tl.dot(a, a, h, out_dtype=tl.float16)": (TypeError, ("bf16", "fp16")),
    "tl.dot(o, o, w)": (TypeError, ("int32", "uint32")),
    "tl.dot(b, b, input_precision='fp32')": (ValueError, ("fp32",)),
}
ATOMICS = {"p": "*i32[4]", "i": "*i32", "f": "*fp32", "h": "*fp16", "b": "*i8", "c": "*kfp32", "n": "i32"}
ATOMICS |= {"x": "i32[4]", "y": "i32[1, 4]"}
DOTS = {"a": "fp16[16, 16]", "b": "fp32[16, 16]", "i": "i32[8, 8]", "k": "fp16[8, 16]", "q": "fp8e5[16, 16]"}
DOTS |= {"v": "fp16[16]", "s": "fp16[2, 16, 16]", "t": "fp16[4, 16, 16]", "n": "fp16[4, 32, 16]"}
DOTS |= {"e": "fp8e5[32, 32]", "g": "fp16[32, 32]", "h": "bf16[16, 16]"}
DOTS |= {"o": "i8[32, 32]", "u": "u8[32, 32]", "w": "u32[32, 32]"}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    error, names = REFUSED[expression]
    Scene(DOTS if "dot" in expression else ATOMICS).refuses(expression, error, *names)
    if "dot" in expression:
        judge(DOTS, ["tl.dot(k, k.T)", expression])
