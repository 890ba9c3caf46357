"""The corpus: real Triton's own TTIR of real kernels, as files, for the tests of the parser and of back ends.

`NAME.ttir` is the inlined module, `NAME.optimised.ttir` the same after Triton's passes. A few have a
`NAME.raw.ttir` (calls and all) and a `NAME.locations.ttir`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.oracles import triton
from tests.oracles.records import LEADING

FOLDER = Path(__file__).parent
FOLDERS = re.compile(
    r'(?<=")/[^"]*/(?=(?:triton/language|tests/oracles)/)'
)  # where a machine keeps the sources
IN_FULL = ("add_kernel", "softmax_row", "matmul_kernel", "while_loop", "early_return", "argmax")


@dataclass(frozen=True)
class Kernel:
    """A kernel and what it is compiled for: its arguments' types by name, and its constants."""

    name: str
    arguments: Mapping[str, str]
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    suffix: str = ""  # tells specialisations of one kernel apart

    @property
    def file(self) -> str:
        """The stem of its files."""
        return f"{self.name}{self.suffix}"

    def ask(self) -> triton.Frontend:
        """What real Triton makes of it."""
        types = {name: kind.removesuffix(":16") for name, kind in self.arguments.items()}
        divisible = [name for name, kind in self.arguments.items() if kind.endswith(":16") or kind[0] == "*"]
        signature = {**types, **dict.fromkeys(self.constexprs, "constexpr")}
        return triton.frontend(self.name, signature, dict(self.constexprs), divisible)


def arguments(text: str) -> dict[str, str]:
    """`"x y: *fp32, n: i32:16"` as types by name. `:16` is a multiple of 16, as pointers always are."""
    groups = (group.split(": ", 1) for group in text.split(", "))
    return {name: kind for names, kind in groups for name in names.split()}


def attention(name: str, tensors: str) -> Iterator[Kernel]:
    """A kernel of attention, causal and not."""
    for causal, suffix in ((True, "_causal"), (False, "")):
        blocks = {"CAUSAL": causal, "BLOCK_M": 64, "BLOCK_N": 32, "D": 64}
        yield Kernel(name, arguments(f"{tensors}, scale: fp32, length: i32"), blocks, suffix)


UNIT = {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1}
TILES = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
NORM = "x weight mean rstd: *fp32"

KERNELS = (
    Kernel("add_kernel", arguments("x y out: *fp32, n: i32:16"), {"BLOCK": 1024}),
    Kernel(
        "matmul_kernel",
        arguments("a b c: *fp16, M N K stride_am stride_bk stride_cm: i32:16"),
        UNIT | TILES,
    ),
    Kernel("softmax_row", arguments("out x: *fp32, stride: i32:16, columns: i32"), {"BLOCK": 1024}),
    Kernel("softmax_online", arguments("out x: *fp32, stride: i32:16, columns: i32"), {"BLOCK": 256}),
    Kernel(
        "matmul_activation",
        arguments("a b c: *fp16, M N K stride_a stride_b stride_c: i32:16"),
        {"ACTIVATION": "leaky_relu"} | TILES | {"GROUP": 8},
    ),
    Kernel("dropout", arguments("out x: *fp32, n: i32:16, p: fp32, seed: i32"), {"BLOCK": 1024}),
    Kernel(
        "layer_norm_forward",
        arguments(
            "out x: *fp16, weight bias mean_out rstd_out: *fp32, stride: i32:16, columns: i32, eps: fp32"
        ),
        {"BLOCK": 512},
    ),
    Kernel(
        "layer_norm_backward_lock",
        arguments(f"dx dy dw db: *fp32, {NORM}, locks: *i32, stride: i32:16, columns: i32"),
        {"GROUP": 64, "BLOCK": 512},
    ),
    Kernel(
        "layer_norm_backward_rows",
        arguments(f"dx dy dw db: *fp32, {NORM}, stride: i32:16, rows columns: i32"),
        {"ROWS": 16, "BLOCK": 512},
    ),
    Kernel(
        "layer_norm_backward_sum",
        arguments("dw db out_w out_b: *fp32, rows columns: i32"),
        {"BLOCK_M": 32, "BLOCK_N": 128},
    ),
    *attention("attention_forward", "q k v out: *fp16, lse: *fp32"),
    Kernel(
        "attention_backward_delta",
        arguments("out dout: *fp16, delta: *fp32, length: i32"),
        {"BLOCK": 64, "D": 64},
    ),
    *attention("attention_backward_dkdv", "q k v dout dk dv: *fp16, lse delta: *fp32"),
    *attention("attention_backward_dq", "q k v dout dq: *fp16, lse delta: *fp32"),
    Kernel(
        "conv2d_direct",
        arguments("out x w: *fp32, C H W K P Q stride padding: i32"),
        {"R": 3, "S": 3, "BLOCK": 256},
    ),
    Kernel("conv2d_implicit_gemm", arguments("out x w: *fp16, N C H W K P Q R S stride padding: i32"), TILES),
    Kernel("cumsum", arguments("out x: *fp32, n: i32"), {"BLOCK": 256}),
    Kernel("linear_recurrence", arguments("out a b: *fp32"), {"BLOCK": 256}),
    Kernel(
        "argmax", arguments("values_out: *fp32, indices_out: *i32, x: *fp32, columns: i32"), {"BLOCK": 256}
    ),
    Kernel("atomics", arguments("floats: *fp32, integers: *i32, x: *fp32, n: i32"), {"BLOCK": 256}),
    Kernel("histogram", arguments("out x: *i32, n: i32"), {"BLOCK": 256, "BINS": 32}),
    Kernel("while_loop", arguments("out x: *i32")),
    Kernel("early_return", arguments("out x: *fp32, n: i32"), {"BLOCK": 256}),
    Kernel("shapes", arguments("out x: *fp32"), {"BLOCK": 64}),
    Kernel("conversions", arguments("out x: *fp32, bits: *i32, flags: *i1, n: i32"), {"BLOCK": 128}),
    Kernel("math_functions", arguments("out x y: *fp32"), {"BLOCK": 128}),
    Kernel("hints", arguments("out x: *fp32, n: i32"), {"BLOCK": 64}),
    Kernel("sort", arguments("out x: *fp32"), {"BLOCK": 16}),
    Kernel("grouped_sum", arguments("out: *fp32, addresses: *i64, sizes: *i32, groups: i32"), {"BLOCK": 256}),
)


def texts() -> dict[str, str]:
    """The recorded files, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.ttir"))}


def write() -> list[str]:
    """Record the corpus anew. Only with the version that the project is pinned to."""
    if triton.version() != LEADING:
        return [f"the corpus is recorded with Triton {LEADING}, this is {triton.version()}"]
    current = emit()
    for name in set(texts()) - set(current):
        (FOLDER / name).unlink()
    for name, text in current.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return []


def check() -> list[str]:
    """The files that the installed Triton would write otherwise."""
    if triton.version() != LEADING:
        return []
    recorded, current = texts(), emit()
    return [
        f"corpus: {name}" for name in sorted({*recorded, *current}) if recorded.get(name) != current.get(name)
    ]


def emit() -> dict[str, str]:
    """The files as the installed Triton would have them."""
    files = {}
    for kernel in KERNELS:
        answer = kernel.ask()
        files[f"{kernel.file}.ttir"] = answer.inlined
        files[f"{kernel.file}.optimised.ttir"] = answer.optimised
        if kernel.name in IN_FULL:
            files[f"{kernel.file}.raw.ttir"] = answer.raw
            files[f"{kernel.file}.locations.ttir"] = FOLDERS.sub("", answer.inlined_with_locations)
    return files
