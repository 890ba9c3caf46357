"""Task 4.5: loads, stores and casts, as in real Triton."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.language.dtypes import int8, pointer_type
from mini_triton.language.memory import as_bytes
from mini_triton.language.signature import parse_type
from mini_triton.language.tensor import tensor
from mini_triton.language.tracing import trace

from tests.checks import calling, one_in
from tests.support.m04_language.arguments import DTYPES, Shape, alike_cast, tl_name, typed
from tests.support.m04_language.expressions import Scene, judge

SOME = one_in(3)  # each asks real Triton several times

FLOATS = ("fp8e5", "fp8e4nv", "fp16", "bf16", "fp32", "fp64")
SHAPES: tuple[Shape, ...] = ((), (4,), (1,), (2, 4), (4, 1), (8,))
NUMBERS = ("0", "1", "-1", "300", "True", "2.5", "float('-inf')")


VALUES = {"p": "*fp32[4]", "q": "*fp32", "m": "i1[4]", "n": "i1[8]", "x": "i32[4]", "y": "fp32[2, 4]", "h": "fp16"}


# --- loads


@SOME
@given(
    element=st.sampled_from(DTYPES),
    shapes=st.tuples(*[st.sampled_from(SHAPES)] * 3),
    dtype=st.sampled_from(DTYPES),
    number=st.sampled_from(NUMBERS),
)
def test_load(element: str, shapes: tuple[Shape, Shape, Shape], dtype: str, number: str) -> None:
    """Loads through pointers of every type, with a mask, and with `other` values of a different dtype."""
    pointer, mask, other = shapes
    values = {"p": typed(f"*{element}", pointer), "m": typed("i1", mask), "o": typed(dtype, other)}
    expressions = ["tl.load(p)", "tl.load(p, m)", "tl.load(p, mask=True)", f"tl.load(p, m, {number})"]
    if alike_cast(dtype, "i8" if element == "i1" else element):
        expressions += ["tl.load(p, m, o)", "tl.load(p, mask=False, other=o)"]
    judge(values, expressions)


def test_hints() -> None:
    """`volatile` and the hints for caches become attributes."""
    judge(VALUES, ["tl.load(p, volatile=True)", "tl.load(p, m, volatile=False)", "tl.load(q, volatile=True)"])
    loads = [f"tl.load(p, m, cache_modifier='{modifier}')" for modifier in (".ca", ".cg", ".cv")]
    stores = [f"tl.store(p, 1.0, cache_modifier='{modifier}')" for modifier in (".wb", ".cg", ".cs", ".wt")]
    judge(VALUES, [*loads, "tl.load(p, eviction_policy='evict_last')", "tl.load(q, m, 0, cache_modifier='')"])
    judge(VALUES, [*stores, "tl.store(q, 1, eviction_policy='evict_first')", "tl.store(q, 1, cache_modifier=None)"])


def test_an_access_has_one_hint() -> None:
    """NVIDIA's GPUs have no instructions with two of them."""
    scene = Scene(VALUES)
    scene.builds_alike("tl.load(p, cache_modifier='.cg', volatile=True)", "tl.load(p, volatile=True)")
    modifier, priority = "cache_modifier='.cg'", "eviction_policy='evict_last'"
    scene.builds_alike(f"tl.load(p, {modifier}, {priority})", f"tl.load(p, {modifier})")
    scene.builds_alike(f"tl.store(p, 1.0, {modifier}, {priority})", f"tl.store(p, 1.0, {modifier})")


# --- stores


@SOME
@given(element=st.sampled_from(DTYPES), shapes=st.tuples(*[st.sampled_from(SHAPES)] * 3), data=st.data())
def test_store(element: str, shapes: tuple[Shape, Shape, Shape], data: st.DataObject) -> None:
    """The value is converted and broadcast, and the mask is broadcast; the pointers are not."""
    pointer, value, mask = shapes
    kinds = [dtype for dtype in DTYPES if alike_cast(dtype, element)] if element != "i1" else ["i1"]
    dtype = data.draw(st.sampled_from(kinds), "dtype of the value")
    values = {"p": typed(f"*{element}", pointer), "x": typed(dtype, value), "m": typed("i1", mask)}
    number = "True" if element == "i1" else data.draw(st.sampled_from(NUMBERS), "number")
    judge(values, ["tl.store(p, x)", "tl.store(p, x, m)", f"tl.store(p, {number}, mask=m)", "tl.store(p, x, True)"])


@pytest.mark.parametrize("expression", ["tl.load(p, m, h)", "tl.store(p, h)"])
def test_conversions_come_first(expression: str) -> None:
    """A scalar is converted before it is broadcast: one conversion instead of one for each element."""
    scene = Scene(VALUES)
    converted = [line.strip() for line in scene.outcomes([expression])[1].splitlines() if "arith.extf" in line]
    if any("tensor" in line for line in converted):
        scene.fail(expression, "f16 to f32", "; ".join(converted), "convert the scalar `h` before you broadcast it")


def test_constant_pointers() -> None:
    """A load accepts a constant pointer like any other pointer; a store refuses it."""
    scene = Scene({"c": "*kfp32", "d": "*kfp32[4]", "b": "*ki1"})
    for expression in ("tl.store(c, 1.0)", "tl.store(d, 2)", "tl.store(b, True)", "tl.store(c + 1, 1.0)"):
        scene.refuses(expression, ValueError, "Cannot store to a constant pointer")
    for dtype in ("fp32", "i1"):
        constant, plain = (Scene({"p": f"*{kind}{dtype}"}).outcomes(["tl.load(p)"])[1] for kind in ("k", ""))
        assert constant == plain, f"tl.load(p) through *k{dtype} should build what it builds through *{dtype}"

    def kernel(p: tensor) -> None:
        got = calling(as_bytes, p).succeeds().dtype
        assert got == pointer_type(int8, const=True), f"as_bytes of a constant pointer to int1 returned a {got}"

    trace(kernel, {"p": "*ki1"})


# --- casts


@pytest.mark.parametrize("source", DTYPES)
def test_cast(source: str) -> None:
    """Every dtype is cast to every other one, for scalars and blocks, with every spelling of a cast."""
    targets = [tl_name(target) for target in DTYPES if alike_cast(source, target)]
    forms = ("x.to({})", "tl.cast(s, {})", "x.cast({})", "s.to(dtype={})")
    judge({"x": typed(source, (4,)), "s": source}, [form.format(t) for form, t in zip(itertools.cycle(forms), targets)])
    judge({"x": typed(source, (2, 4))}, [f"tl.cast(x, {target})" for target in targets])


@pytest.mark.parametrize("source", ["*fp32", "*i1", "i64", "u64", "fp32", "fp16"])
def test_cast_pointers(source: str) -> None:
    """An address is an integer of 64 bits; a pointer can be cast to another pointer."""
    targets = ["*fp16"]
    if source.startswith("*"):
        targets += ["i64", "u64", "i32", "i1", "fp32", "fp64", "*fp32"]
    judge(
        {"x": typed(source, (4,)), "s": source},
        [f"{name}.to({tl_name(target)})" for name in "xs" for target in targets],
    )


@SOME
@given(
    source=st.sampled_from((*FLOATS, "i32", "u8", "i1")),
    target=st.sampled_from((*FLOATS, "i32", "i1")),
    shape=st.sampled_from(SHAPES),
)
def test_rounding(source: str, target: str, shape: Shape) -> None:
    """A rounding mode is allowed only where a float is narrowed. A cast to the same dtype ignores it."""
    modes = ("'rtne'", "'rtz'", "'up'", "''", "None", "M")
    expressions = [
        f"x.to({tl_name(target)}, fp_downcast_rounding={mode})" for mode in modes if alike_cast(source, target)
    ]
    judge({"x": typed(source, shape), "M": "='rtz'"}, expressions)


@pytest.mark.parametrize("source", DTYPES)
def test_bitcast(source: str) -> None:
    """A bitcast keeps the number of bits. If the numbers differ, it is refused, and the message names both."""
    targets = [tl_name(target) for target in DTYPES]
    judge({"x": typed(source, (4,)), "s": source}, [f"{name}.to({t}, bitcast=True)" for t in targets for name in "xs"])
    size = parse_type(source).ir_type.width
    for target in DTYPES:
        if (other := parse_type(target).ir_type.width) != size:
            message = f"Cannot bitcast data-type of size {size} to data-type of size {other}"
            Scene({"x": source}).refuses(f"x.to({tl_name(target)}, bitcast=True)", ValueError, message)


EXAMPLES = {
    "a pointer with an offset, an integer used as a pointer": [
        "tl.load(p + x)", "tl.load(tl.load(a).to(tl.pointer_type(tl.int8)))", "tl.load(q + A)", "~tl.load(b + x)",
    ],
    "effects stay in order: a load after a store reads what was stored": [
        "tl.load(p)", "tl.store(p, x)", "(tl.load(p))", "p.store(1, m)", "q.store(2.0)", "tl.load(p, m)",
    ],
    "a pointer is converted as without `bitcast`": [
        f"p.to({dtype}, bitcast=True)" for dtype in ("tl.pointer_type(tl.int8)", "tl.int64", "tl.int32")
    ] + ["tl.load(a).to(tl.pointer_type(tl.int8), bitcast=True)"],
    "a boolean in memory is a byte": [
        "tl.load(b, True, 256)", "tl.load(b, True, 2)", "tl.load(b, True, 2.5)", "tl.store(b, 2)",
    ],
    "a bitcast rounds nothing": ["y.to(tl.int32, 'rtz', bitcast=True)", "h.to(tl.bfloat16, 'up', bitcast=True)"],
    "numbers": [
        "tl.cast(3, tl.float16)", "tl.cast(1.5, tl.int32, bitcast=True)", "tl.cast(-1, tl.uint32)",
        "tl.cast(B, tl.int8)", "tl.cast(True, tl.float32)", "tl.cast(B, tl.int16, bitcast=True)",
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", EXAMPLES)
def test_examples(what: str) -> None:
    judge(VALUES | {"a": "*i64[4]", "b": "*i1", "A": "=2", "B": "=300"}, EXAMPLES[what])


REFUSED: dict[str, tuple[str, ...]] = {
    "tl.load(x)": ("Unsupported ptr type", "tl.load"),
    "tl.load(p, other=0.0)": ("`other` cannot be provided without `mask`",),
    "tl.load(p, x)": ("Mask must have boolean scalar type", "int32"),
    "tl.load(q, m)": ("Mask argument cannot be block type if pointer argument is not a block",),
    "tl.load(q, True, x)": ("Other argument cannot be block type if pointer argument is not a block",),
    "tl.load(p, n)": ("4 and 8",),
    "tl.load(p, m, y)": ("[2, 4]", "[4]"),
    "tl.load(p, boundary_check=(0,))": ("boundary_check",),
    "tl.load(p, padding_option='zero')": ("padding_option",),
    "tl.load(p, cache_modifier='.wb')": ("Cache modifier .wb not supported",),
    "tl.load(p, eviction_policy='first')": ("Eviction policy first not supported",),
    "tl.store(x, x)": ("Unsupported ptr type", "tl.store"),
    "tl.store(q, x)": ("Value argument cannot be block type if pointer argument is not a block",),
    "tl.store(q, 1.0, m)": ("Mask argument cannot be block type if pointer argument is not a block",),
    "tl.store(p, y)": ("Expected pointer argument to have shape [2, 4] but got [4]",),
    "tl.store(p, 1.0, m[:, None])": ("[4, 4]", "[4]"),
    "tl.store(p, 1.0, x)": ("Mask must have boolean scalar type",),
    "tl.store(p, 1.0, cache_modifier='.ca')": ("Cache modifier .ca not supported",),
    "y.to(tl.float16, 'up')": ("Invalid rounding mode: up",),
    "h.to(tl.float32, 'rtz')": ("fp_downcast_rounding", "fp16", "fp32"),
    "h.to(tl.int8, 'rtne')": ("fp_downcast_rounding", "fp16", "int8"),
    "p.to(tl.int64, 'rtne')": ("fp_downcast_rounding", "pointer<fp32>", "int64"),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    """Each refusal is a ValueError. Hints that Triton's versions treat differently are not compared with Triton."""
    Scene(VALUES).refuses(expression, ValueError, *REFUSED[expression])
    if not any(option in expression for option in ("boundary", "padding", "cache", "eviction")):
        judge(VALUES, [expression])
