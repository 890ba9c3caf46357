"""Each instruction of the emulator beside what an H200 computed, on awkward operands, or beside a model in Python."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mini_triton.emulator import PtxError, emulate
from mini_triton.emulator.arithmetic import ROWS

from tests.support.emulator import forms
from tests.support.emulator.forms import DTYPES, program, width

THREADS = 256


@pytest.mark.parametrize("text", forms.FORMS)
def test_record(text: str) -> None:
    form, wanted = forms.FORMS[text], forms.recorded()[text]
    got = form.emulated()
    bad = np.flatnonzero(form.wrong(got, wanted))
    operands = [operand[bad[:4]] for operand in form.operands()]
    assert not len(bad), f"{len(bad)} lanes: {operands} give {wanted[bad[:4]]} on the GPU, {got[bad[:4]]} here"


def test_every_row_has_a_form() -> None:
    named = {part.strip().partition(".")[0] for text in forms.FORMS for part in text.split(";")}
    assert set(ROWS) - named == set()


@pytest.mark.parametrize("kind", forms.ALL_FLOATS)
@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_floats_are_rounded_to_nearest_by_default(name: str, kind: str) -> None:
    form = forms.FORMS[f"{name}.rn.{kind} %o, %a0, %a1"]
    unnamed = replace(form, text=form.text.replace(".rn", ""))
    assert not form.wrong(unnamed.emulated(), forms.recorded()[form.text]).any()


def run(text: str) -> tuple[np.ndarray, np.ndarray]:
    """A number for each thread, and the result of instructions for it."""
    given, out = np.random.default_rng(0).integers(0, 2**32, THREADS, np.uint32), np.zeros(THREADS, np.uint32)
    emulate(program(text, ["b32"], "b32", THREADS), (1,), [given, out])
    return given, out


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
def test_atomics_take_turns(name: str, kind: str, fold: Callable[[Any, Any], Any]) -> None:
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
    x, found = run("""
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
    """)
    assert (found == x[np.arange(THREADS) ^ 33]).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("teleport.b32 %o, %a0;", r"line \d+: teleport\.b32 %o, %a0: the emulator does not know teleport"),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%o}, {%a0}, {%a0}, {%a0};", "this form of mma"),
        ("mapa.u32 %o, %a0, 1;", "mapa"),
    ],
)
def test_unknown_instructions_are_refused_with_their_line(text: str, message: str) -> None:
    with pytest.raises(PtxError, match=message):
        run(text)


def test_clusters_are_refused() -> None:
    text = program("mov.b32 %o, %a0;", ["u32"], "u32", THREADS).replace(".reqntid", ".reqnctapercluster 2 .reqntid")
    with pytest.raises(PtxError, match="clusters"):
        emulate(text, (1,), [np.zeros(THREADS, np.uint32)] * 2)
