"""Names that Triton has but this compiler lacks, with the reasons. Triton also lacks any other missing name."""

from __future__ import annotations

INSIDE = "it is internal to Triton"
NEWER = "it is new in Triton 3.9"

MISSING = {
    "triton": {
        **dict.fromkeys(("AsyncCompileMode", "FutureKernel"), "mini_triton compiles kernels one at a time"),
        **dict.fromkeys(("InterpreterError", "backends", "must_use_result"), INSIDE),
        **dict.fromkeys(("profiler", "instrumentation"), "it belongs to real Triton's back ends"),
        "aggregate": NEWER,
    },
    "tl": {
        "float8e4b15": "only NVIDIA GPUs before sm_89 support it; MLIR, NumPy and PyTorch have no such type",
        "slice": INSIDE,
        **dict.fromkeys(("constexpr_type", "tuple_type", "void"), "no value in a kernel has this type"),
        "aggregate_replace": "no value in a kernel is an aggregate",
        **dict.fromkeys(("atomic_load", "atomic_store", "atomic_poll", "expect_zero"), NEWER),
    },
    "tl.extra.cuda": {
        **dict.fromkeys(
            ("convert_custom_float8_sm70", "convert_custom_float8_sm80"),
            "it converts to fp8e4b15, which is not supported",
        ),
        **dict.fromkeys(("gdc", "utils"), "its functions are in tl.extra.cuda"),
    },
    "tl.extra.libdevice": {
        "fast_tanhf": "only AMD's device library has it",
        "rcp64h": "it is an approximation that only GPUs compute",
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
    return f"{module} has no {name}, and Triton does not have it either"
