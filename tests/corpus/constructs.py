"""What the language has: reductions, scans, memory, control flow, calls, shapes, numbers, hints."""

from __future__ import annotations

from collections.abc import Iterator

from tests.corpus.cases import ORDER, Case
from tests.oracles.triton import Code

TILE = {"M": 16, "N": 64}

REDUCTIONS = (
    Case("reductions", "reduce_axes", "sums highest: *fp32[81], lowest x: *fp32[1024]", TILE),
    Case("reductions", "arg_reductions", "indices: *i32[176], values_out: *fp32[80], x: *fp32[1024]", TILE),
    Case(
        "reductions",
        "integer_reductions",
        "out: *i32[96], narrow: *i8[1024], x: *i32[1024] = bits",
        TILE,
    ),
    Case("reductions", "custom_reductions", "out: *fp32[97], indices: *i32[16], x: *fp32[1024]", TILE),
    Case("reductions", "half_reductions", "out: *fp32[4], x: *fp16[128], y: *bf16[128]", {"N": 128}),
    Case(
        "oracles/kernels_small",
        "argmax",
        "values_out: *fp32[4], indices_out: *i32[4], x: *fp32[4 * 200], columns: i32 = 200",
        {"BLOCK": 256},
        (4,),
    ),
)

SCANS = (
    Case("scans", "scan_axes", "out: *fp32[4096], x: *fp32[1024] = ones", TILE),
    Case("scans", "segmented_sum", "out x: *fp32[256], starts: *i32[256] = below 2, n: i32 = 200", {"BLOCK": 256}),
    Case("scans", "recurrence_chunked", "out a b: *fp32[100 * 16], length: i32 = 100", {"BLOCK": 32, "CHANNELS": 16}),
    Case("scans", "running_maximum", "out x: *fp32[1000], n: i32 = 1000", {"BLOCK": 128}),
    Case("scans", "compact", "out: *i32[256] = zeros, count: *i32[1], x: *i32[256], n: i32 = 200", {"BLOCK": 256}),
    Case("oracles/kernels_small", "cumsum", "out x: *fp32[256], n: i32 = 200", {"BLOCK": 256}),
    Case("oracles/kernels_small", "linear_recurrence", "out a b: *fp32[256]", {"BLOCK": 256}),
)

MEMORY = (
    Case(
        "memory",
        "atomic_integers",
        "out: *i32[48], wide: *i64[9], unsigned: *u32[16], old: *i32[2000], x: *i32[1000] = bits, n: i32 = 1000",
        {"BLOCK": 256},
        (4,),
    ),
    Case(
        "memory",
        "atomic_floats",
        "out: *fp32[10], halves: *fp16[4], doubles: *fp64[4], x: *fp32[1000], n: i32 = 1000",
        {"BLOCK": 256},
        (4,),
        inexact=ORDER,
    ),
    Case(
        "memory", "compare_and_swap", "out: *i32[1] = zeros, winners: *i32[256] = -1, n: i32 = 200", {"BLOCK": 64}, (4,)
    ),
    Case(
        "memory",
        "last_block_sums",
        "total: *fp32[1], partial: *fp32[4], counter: *i32[1] = zeros, x: *fp32[1000], n: i32 = 1000",
        {"PROGRAMS": 4, "BLOCK": 256},
        (4,),
    ),
    Case(
        "memory",
        "gather_rows",
        "out: *fp16[20 * 100], table: *fp16[50 * 100], ids: *i32[20] = below 50, n: i32 = 20, width: i32 = 100",
        {"PADDING": 3, "BLOCK": 128},
        (24,),
    ),
    Case("memory", "cache_hints", "out x y: *fp32[1000], n: i32 = 1000", {"BLOCK": 256}, (4,)),
    Case(
        "memory",
        "pointer_kinds",
        "out x: *fp32[256], flags: *i32[2] = 1, addresses: *i64[2] = addresses x x",
        {"backwards": True, "BLOCK": 256},
    ),
    Case("memory", "pointer_walk", "out: *fp32[64], x: *fp32[1024], steps: i32 = 5", {"BLOCK": 64}),
    Case(
        "oracles/kernels_small",
        "atomics",
        "floats: *fp32[32] = zeros, integers: *i32[1100] = zeros, x: *fp32[1000], n: i32 = 1000",
        {"BLOCK": 256},
        (4,),
        inexact=ORDER,
    ),
    Case(
        "oracles/kernels_small",
        "histogram",
        "out: *i32[32], x: *i32[1000] = below 32, n: i32 = 1000",
        {"BLOCK": 256, "BINS": 32},
        (4,),
    ),
    Case(
        "oracles/kernels_small",
        "grouped_sum",
        "out: *fp32[3], addresses: *i64[3] = addresses a b c, a b c: *fp32[256], sizes: *i32[3] = 100 0 256, "
        "groups: i32 = 3",
        {"BLOCK": 256},
        (2,),
    ),
)

LOOPS = (
    Case(
        "loops",
        "loop_bounds",
        "out: *i32[1], start: i32 = 3, stop: i32 = 17, step: i32 = 2, wide: *i64[2] = 9",
        {"BLOCK": 16},
    ),
    Case(
        "loops", "nested_loops", "out: *fp32[5 * 32], x: *fp32[30 * 32], rows: i32 = 4, columns: i32 = 7", {"BLOCK": 32}
    ),
    Case("loops", "carried_kinds", "out: *fp32[64], x: *fp32[10 * 64], n: i32 = 9", {"BLOCK": 64}),
    Case("loops", "unchanged_carry", "out x: *fp32[64], n: i32 = 9", {"BLOCK": 64}),
    Case("loops", "while_newton", "out: *fp32[100], x: *fp32[100] = 2 3 0.5, n: i32 = 100", {"BLOCK": 64}, (2,)),
    Case("loops", "while_nested", "out: *i32[16], x: *i32[8] = below 5000", {"LIMIT": 20}, (8,)),
    Case(
        "loops",
        "binary_search",
        "out: *i32[100], sorted_values: *i32[300] = ascending, wanted: *i32[100], size: i32 = 300, n: i32 = 100",
        {"BLOCK": 64},
        (2,),
    ),
    Case("loops", "range_options", "out: *fp32[64], x: *fp32[7 * 64], n: i32 = 7", {"BLOCK": 64}),
    Case("oracles/kernels_small", "while_loop", "out: *i32[16], x: *i32[16] = below 1000", grid=(16,)),
)


def modes(count: int) -> Iterator[Case]:
    """The same kernels, led through other branches."""
    for mode in range(count):
        text = f"out: *fp32[65], x: *fp32[64], mode: i32 = {mode + 9 * (mode > 3)}, n: i32 = 50"
        yield Case("branches", "branch_results", text, {"BLOCK": 64}, suffix=f"_{mode}")


BRANCHES = (
    *modes(5),
    *(
        Case(
            "branches",
            "conditions",
            f"out: *i32[1], a: i32 = {a}, b: i32 = {b}, p: *i32[1] = 7",
            {"LIMIT": limit},
            suffix=suffix,
        )
        for a, b, limit, suffix in ((5, 3, 4, ""), (0, 200, 0, "_zero"), (-2, -2, 2, "_equal"))
    ),
    *(
        Case(
            "branches",
            "constant_branches",
            "out x bias: *fp32[64]",
            {"KIND": kind, "BIAS": bias, "DEPTH": depth, "BLOCK": 64},
            suffix=f"_{kind}",
        )
        for kind, bias, depth in (("double", True, 2), ("square", None, 0))
    ),
    *(
        Case("branches", "ternaries", f"out x: *fp32[64], n: i32 = {n}", {"FLIP": flip, "BLOCK": 64}, suffix=suffix)
        for n, flip, suffix in ((64, True, ""), (20, False, "_short"))
    ),
    *(
        Case(
            "branches",
            "early_exits",
            f"out x: *fp32[260], n: i32 = 250, mode: i32 = {mode}",
            {"BLOCK": 64},
            (6,),
            f"_{mode}",
        )
        for mode in (3, 4, 2)
    ),
    Case("branches", "branch_in_loop", "out: *fp32[64], x: *fp32[9 * 64], n: i32 = 9", {"BLOCK": 64}),
    Case("oracles/kernels_small", "early_return", "out x: *fp32[1000], n: i32 = 700", {"BLOCK": 256}, (4,)),
)

CALLS = (
    Case("calls", "arguments", "out x: *fp32[64], n: i32 = 60"),
    Case("calls", "several_results", "out: *fp32[129], x: *fp32[64], n: i32 = 60", {"BLOCK": 64}),
    Case("calls", "pairwise", "out x y: *fp32[64], n: i32 = 60", {"FUNCTION": Code("difference"), "BLOCK": 64}),
    Case("calls", "helper_returns", "out: *fp32[2], x: *fp32[64], i: i32 = 70, n: i32 = 64"),
    Case(
        "calls",
        "constants",
        "out: *fp16[64], x: *fp32[64]",
        {"COEFFICIENTS": (0.5, -1, 2), "DTYPE": Code("tl.float16"), "BLOCK": 64},
    ),
    Case(
        "calls",
        "constants",
        "out: *fp32[64], x: *i32[64]",
        {"COEFFICIENTS": (3,), "DTYPE": Code("tl.float32"), "BLOCK": 64},
        suffix="_wide",
    ),
)

SHAPES = (
    Case("shapes", "transpose", "out x: *fp32[512]", {"M": 16, "N": 32}),
    Case("shapes", "three_axes", "out: *fp32[512], x: *fp32[256]", {"A": 4, "B": 8, "C": 8}),
    Case("shapes", "rotary", "out x: *fp32[4 * 64], cosines sines: *fp32[4 * 32]", {"HALF": 32}, (4,)),
    Case("shapes", "creation", "out: *i64[256], n: i64 = 7", {"BLOCK": 16}),
    Case("shapes", "pick", "out: *i32[256], x: *i32[64] = below 16, n: i32 = 60", {"BLOCK": 64}),
    Case("shapes", "concatenated", "out: *i32[1], x y: *i32[64]", {"BLOCK": 64}),
    Case(
        "shapes", "stencil", "out x: *fp32[40 * 50], H: i32 = 40, W: i32 = 50", {"BLOCK_H": 16, "BLOCK_W": 32}, (2, 3)
    ),
    Case("oracles/kernels_small", "shapes", "out x: *fp32[64]", {"BLOCK": 64}),
)

NUMBERS = (
    Case(
        "numbers",
        "integer_arithmetic",
        "out: *i32[512], unsigned_out: *u32[256], x: *i32[256] = bits, y: *i32[256], u: *u32[256] = bits",
        {"BLOCK": 256},
    ),
    Case("numbers", "narrow_integers", "out: *i32[64], bytes: *i8[64] = bits, words: *i16[64] = bits", {"BLOCK": 64}),
    Case(
        "numbers",
        "float_arithmetic",
        "out x y: *fp32[64], h: *fp16[64], b: *bf16[64], d: *fp64[64], scale: fp32 = 0.3",
        {"BLOCK": 64},
    ),
    Case("numbers", "eight_bit_floats", "out: *fp32[192], x: *fp32[64], codes: *fp8e5[64]", {"BLOCK": 64}),
    Case(
        "numbers",
        "quantise",
        "out: *i8[4 * 100], scales: *fp32[4], x: *fp32[4 * 100], columns: i32 = 100",
        {"BLOCK": 128},
        (4,),
    ),
    Case(
        "numbers",
        "unpack_four_bits",
        "out: *fp16[400], words: *u8[200] = bits, scale: fp32 = 0.1, zero: fp32 = 8.0, n: i32 = 200",
        {"BLOCK": 128},
        (2,),
    ),
    Case("numbers", "bit_tricks", "out: *i32[64], x: *fp32[64]", {"BLOCK": 64}),
    Case("numbers", "special_values", "out: *fp32[64], x: *fp32[64] = 1 -0.0 inf -inf nan 1e-40", {"BLOCK": 64}),
    Case(
        "oracles/kernels_small",
        "conversions",
        "out x: *fp32[128], bits: *i32[128] = bits, flags: *i1[128], n: i32 = 100",
        {"BLOCK": 128},
    ),
)

HINTS = (
    Case("hints", "promises", "out x: *fp32[1000], n: i32 = 1000, stride: i32:16 = 256", {"BLOCK": 256}, (4,)),
    Case("hints", "messages", "out x: *fp32[16], n: i32 = 10", {"BLOCK": 16}),
    *(
        Case(
            "functions",
            "activations",
            "out x: *fp16[1000], n: i32 = 1000",
            {"KIND": kind, "BLOCK": 256},
            (4,),
            f"_{kind}",
        )
        for kind in ("gelu", "gelu_tanh", "silu")
    ),
    Case("functions", "elementary", "out x y: *fp32[64]", {"BLOCK": 64}),
    Case("functions", "library", "out: *fp32[128], x y: *fp32[64]", {"BLOCK": 64}),
    Case("oracles/kernels_small", "math_functions", "out x y: *fp32[128]", {"BLOCK": 128}),
    Case("oracles/kernels_small", "hints", "out x: *fp32[64], n: i32 = 60", {"BLOCK": 64}, targets=("sm_90",)),
)

BLOCK_POINTERS = (
    Case(
        "blocks",
        "block_copy",
        "out x: *fp32[50 * 70], M: i32 = 50, N: i32 = 70",
        {"BLOCK_M": 32, "BLOCK_N": 32},
        (2, 3),
        until="3.7",
    ),
    Case(
        "blocks",
        "block_row_sums",
        "out: *fp32[50], x: *fp16[50 * 70], M: i32 = 50, N: i32 = 70",
        {"BLOCK_M": 32, "BLOCK_N": 32},
        (2,),
        until="3.7",
    ),
    Case(
        "blocks",
        "block_matmul",
        "a: *fp16[208 * 96], b: *fp16[96 * 144], c: *fp16[208 * 144], M: i32:16 = 208, N: i32:16 = 144, "
        "K: i32:16 = 96, stride_a: i32:16 = 96, stride_b stride_c: i32:16 = 144",
        {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32},
        (4, 3),
        until="3.7",
    ),
)

CASES = (
    *REDUCTIONS,
    *SCANS,
    *MEMORY,
    *LOOPS,
    *BRANCHES,
    *CALLS,
    *SHAPES,
    *NUMBERS,
    *HINTS,
    *BLOCK_POINTERS,
)
