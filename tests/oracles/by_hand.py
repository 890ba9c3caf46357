"""Modules of the kernels of task 3.7, from real Triton's front end, specialized as at a real launch.

Arguments that are multiples of 16 are marked as such, and unit strides are constants.
"""

from pathlib import Path

from tests.oracles import triton
from tests.oracles.triton import Made, Source

TEXT = (Path(__file__).parents[1] / "corpus" / "kernels" / "by_hand.py").read_text(encoding="utf-8")


def add_reference(block: int = 1024, dtype: str = "fp32", target: str = "sm_90") -> Made:
    """The masked sum of two vectors. Parameters: x, y, out, n."""
    pointers = dict.fromkeys(("x", "y", "out"), f"*{dtype}")
    signature = {**pointers, "n": "i32", "BLOCK": "constexpr"}
    return _made(Source(TEXT, "add_kernel", signature, {"BLOCK": block}, (*pointers, "n"), target))


def matmul_reference(
    block: tuple[int, int, int] = (64, 64, 32), out_dtype: str = "fp16", target: str = "sm_90"
) -> Made:
    """A product of row-major fp16 matrices. Parameters: a, b, c, M, N, K, stride_am, stride_bk, stride_cm."""
    pointers = {"a": "*fp16", "b": "*fp16", "c": f"*{out_dtype}"}
    integers = ("M", "N", "K", "stride_am", "stride_bk", "stride_cm")
    constants = dict.fromkeys(("stride_ak", "stride_bn", "stride_cn"), 1)
    constants |= dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), block, strict=True))
    signature = pointers | dict.fromkeys(integers, "i32") | dict.fromkeys(constants, "constexpr")
    return _made(Source(TEXT, "matmul_kernel", signature, constants, (*pointers, *integers), target))


def _made(source: Source) -> Made:
    (made,) = triton.frontends([source], steps=True)
    assert made, made.diagnostic
    return made
