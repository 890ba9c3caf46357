"""The capstone kernels (`peers.py`) as real Triton's front end makes them, specialised as at a real launch.

Arguments that are multiples of 16 say so, unit strides are constants.
"""

from __future__ import annotations

from tests.oracles import triton


def add_reference(
    block: int = 1024, dtype: str = "fp32", target: str = "sm_90", lower: bool = False
) -> triton.Frontend:
    """The masked sum of two vectors. Parameters: x, y, out, n. `lower` compiles it to PTX too."""
    return triton.frontend(
        "add_kernel",
        {"x": f"*{dtype}", "y": f"*{dtype}", "out": f"*{dtype}", "n": "i32", "BLOCK": "constexpr"},
        {"BLOCK": block},
        divisible=("x", "y", "out", "n"),
        target=target,
        lower=lower,
    )


def matmul_reference(
    block: tuple[int, int, int] = (64, 64, 32),
    out_dtype: str = "fp16",
    target: str = "sm_90",
    lower: bool = False,
) -> triton.Frontend:
    """A product of row-major fp16 matrices. Parameters: a, b, c, M, N, K, stride_am, stride_bk, stride_cm."""
    pointers = {"a": "*fp16", "b": "*fp16", "c": f"*{out_dtype}"}
    integers = ("M", "N", "K", "stride_am", "stride_bk", "stride_cm")
    unit_strides = dict.fromkeys(("stride_ak", "stride_bn", "stride_cn"), 1)
    blocks = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), block, strict=True))
    constexprs = unit_strides | blocks
    order = (
        "M",
        "N",
        "K",
        "stride_am",
        "stride_ak",
        "stride_bk",
        "stride_bn",
        "stride_cm",
        "stride_cn",
        *blocks,
    )
    return triton.frontend(
        "matmul_kernel",
        pointers | {name: "constexpr" if name in constexprs else "i32" for name in order},
        constexprs,
        divisible=(*pointers, *integers),
        target=target,
        lower=lower,
    )
