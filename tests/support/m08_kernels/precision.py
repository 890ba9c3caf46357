"""That products are of fp32 where matrices are: on a CPU TF32 makes no difference, so values do not tell."""

from __future__ import annotations

import re

from tests.support.m08_kernels.host_calls import Words, kernel_call


def insist_on_fp32(call: kernel_call) -> None:
    """Fail if a product of fp32 matrices in this launch's kernel is cut to TF32."""
    __tracebackhide__ = True
    call()
    text = call.function(*call.arguments, **call.options).asm["ttir"]
    if cut := re.search(r"tt\.dot .*inputPrecision = tf32\b", text):
        because = "TF32, the default, has 11 bits of the 24 of fp32; on a CPU it makes no difference, on a GPU it does"
        call.fail('products with input_precision="ieee"', Words(cut[0]), because)
