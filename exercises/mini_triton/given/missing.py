"""Names that Triton has and this compiler does not, with the reason; all others Triton does not have either."""

from __future__ import annotations

INSIDE = "it belongs to the inside of Triton"
NEWER = "it exists in Triton from 3.9 on"

MISSING = {
    "triton": {
        **dict.fromkeys(("AsyncCompileMode", "FutureKernel"), "kernels are compiled one after the other"),
        **dict.fromkeys(("InterpreterError", "backends", "must_use_result"), INSIDE),
        **dict.fromkeys(("profiler", "instrumentation"), "it belongs to real Triton's back ends"),
        "aggregate": NEWER,
    },
    "tl": {
        "float8e4b15": "only NVIDIA GPUs before sm_89 have it: MLIR, NumPy and PyTorch have no such type",
        "slice": INSIDE,
        **dict.fromkeys(("constexpr_type", "tuple_type", "void", "aggregate_replace"), "no value in a kernel has it"),
        **dict.fromkeys(("atomic_load", "atomic_store", "atomic_poll", "expect_zero"), NEWER),
    },
    "tl.extra.cuda": {
        **dict.fromkeys(("convert_custom_float8_sm70", "convert_custom_float8_sm80"), "it is for fp8e4b15"),
        **dict.fromkeys(("gdc", "utils"), "all that it has is in tl.extra.cuda"),
    },
    "tl.extra.libdevice": {
        "fast_tanhf": "only AMD's library has it",
        "rcp64h": "an approximation that only GPUs compute",
    },
    "dtype": dict.fromkeys(
        (
            *("FP_TYPES", "KIND", "OTHER_TYPES", "SINT_TYPES", "STANDARD_FP_TYPES", "UINT_TYPES"),
            *("cache_key_part", "is_dtype", "is_void", "kind", "mangle", "to_ir"),
        ),
        INSIDE,
    ),
    "tensor": dict.fromkeys(("atomic_load", "atomic_store", "atomic_poll"), NEWER),
}


def explain_missing(module: str, name: str) -> str:
    """The message for a missing name: the reason, or that Triton does not have it."""
    if reason := MISSING.get(module, {}).get(name):
        return f"mini_triton does not support {module}.{name}: {reason}"
    return f"{module} has no {name}: neither has Triton"
