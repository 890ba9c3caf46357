"""Each form of an instruction beside what an H200 computed, on awkward operands."""

from __future__ import annotations

import numpy as np
import pytest
from mini_triton.emulator.arithmetic import ROWS

from tests.support.emulator import forms


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
