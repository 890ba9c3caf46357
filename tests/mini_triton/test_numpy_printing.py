"""`tl.device_print` on the CPU says what Triton says on a GPU, program by program, in every mode."""

import numpy as np
import pytest

from tests.oracles.triton import Source
from tests.support import sources
from tests.support.m06_codegen import numpy_backend
from tests.support.m06_codegen.numpy_backend import Mode

TEXT = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, out, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at)
    tl.device_print("value", values)
    if pid == 1:
        tl.device_print("pid", pid)
        tl.device_print("both", values, at, hex=True)
        tl.device_print("small", (values - 4).to(tl.int8).to(tl.uint8))
    tl.store(out + at, values)
"""
EXPECTED = """\
pid (0, 0, 0) idx (0) value: 0.5
pid (0, 0, 0) idx (1) value: 1.5
pid (1, 0, 0) idx (0) value: 2.5
pid (1, 0, 0) idx (1) value: 3.5
pid (1, 0, 0) idx () pid: 1
pid (1, 0, 0) idx (0) both: (operand 0) 0x40200000
pid (1, 0, 0) idx (1) both: (operand 0) 0x40600000
pid (1, 0, 0) idx (0) both: (operand 1) 0x00000002
pid (1, 0, 0) idx (1) both: (operand 1) 0x00000003
pid (1, 0, 0) idx (0) small: 255
pid (1, 0, 0) idx (1) small: 0
"""


@pytest.mark.parametrize("mode", numpy_backend.MODES)
def test_what_is_printed(mode: Mode, capsys: pytest.CaptureFixture[str]) -> None:
    source = Source(TEXT, "kernel", {"x": "*fp32", "out": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 2})
    x = np.arange(4, dtype=np.float32) + 0.5
    numpy_backend.run(sources.compiled(source), (2,), [x, np.zeros_like(x)], mode=mode)
    printed = capsys.readouterr().out
    assert sorted(printed.splitlines()) == sorted(EXPECTED.splitlines())
    if mode != "interpreted":  # there the second program begins when the first one is done
        assert printed == EXPECTED
