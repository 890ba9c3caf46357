"""Names that Triton has and this compiler does not, with the reason; all others Triton does not have either."""

from __future__ import annotations

MISSING = {
    "triton": {
        **dict.fromkeys(("autotune", "Config", "heuristics"), "tuning is milestone 11"),
        **dict.fromkeys(("AsyncCompileMode", "FutureKernel"), "kernels are compiled one after the other"),
        **dict.fromkeys(("InterpreterError", "must_use_result"), "it belongs to the inside of Triton"),
        **dict.fromkeys(("backends", "profiler", "instrumentation"), "it belongs to real Triton's back ends"),
        "aggregate": "classes of values exist in Triton from 3.9 on",
    },
    "tl": {
        "float8e4b15": "only NVIDIA GPUs before sm_89 have it: MLIR, NumPy and PyTorch have no such type",
        **dict.fromkeys(("constexpr_type", "tuple_type", "void", "aggregate_replace"), "no value in a kernel has it"),
        **dict.fromkeys(
            ("atomic_load", "atomic_store", "atomic_poll", "expect_zero"), "it exists in Triton from 3.9 on"
        ),
    },
    "tl.extra.cuda": {
        **dict.fromkeys(("num_threads", "num_warps"), "a kernel does not know how many threads run it"),
        **dict.fromkeys(
            ("convert_custom_float8_sm70", "convert_custom_float8_sm80"), "there is no fp8e4b15, which they are for"
        ),
    },
}


def explain_missing(module: str, name: str) -> str:
    """The message for a name that is not here: because of what, or because Triton does not have it."""
    if reason := MISSING[module].get(name):
        return f"mini_triton does not support {module}.{name}: {reason}"
    return f"{module} has no {name}: neither has Triton"
