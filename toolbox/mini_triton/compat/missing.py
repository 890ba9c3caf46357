"""Names that Triton has but this compiler lacks, with the reasons. Triton also lacks any other missing name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

INSIDE = "it is internal to Triton"
NEWER = "it is new in Triton 3.9"

MISSING = {
    "triton": {
        **dict.fromkeys(("AsyncCompileMode", "FutureKernel"), "mini_triton compiles kernels one at a time"),
        **dict.fromkeys(("InterpreterError", "backends", "must_use_result"), INSIDE),
        "aggregate": NEWER,
    },
    "tl": {
        "float8e4b15": "only NVIDIA GPUs before sm_89 support it; MLIR, NumPy and PyTorch have no such type",
        "slice": INSIDE,
        "_aggregate": "no value in a kernel is an aggregate",
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
    "triton.knobs": {
        **dict.fromkeys(("amd", "build", "language", "nvidia"), "it configures real Triton's back ends"),
        **{"proton": "it configures Triton's profiler", "redis": "compiled kernels are stored on disk only"},
    },
    "tensor": dict.fromkeys(("atomic_load", "atomic_store", "atomic_poll"), NEWER),
}


AREAS = {
    "_C": "the compiler of real Triton, in C++",
    "_filecheck": "tests of real Triton's compiler",
    "_internal_testing": "helpers of real Triton's own tests",
    "backends.amd": "AMD GPUs, for which mini_triton does not generate code",
    "backends.nvidia": "real Triton's back end; mini_triton passes it TTIR, and programs cannot call it",
    "experimental": "Gluon, a second language, in which kernels themselves choose layouts and shared memory",
    "instrumentation": "instrumentation of real Triton's GPU code",
    "language.extra.hip": "AMD GPUs, for which mini_triton does not generate code",
    "language.extra.tlx": "TLX, an extension of the language that is not part of Triton's releases",
    "profiler": "Proton, a profiler of real Triton's GPU code",
    "runtime.build": "the C compiler that builds real Triton's launchers",
    "runtime.interpreter": "real Triton's interpreter; mini_triton runs kernels on CPUs without it",
    "tools.disasm": 'a disassembler of GPU code: `kernel.asm["sass"]` has its result',
    "tools.ragged_tma": "access to ragged tensors by hardware that only some GPUs have",
}
"""Modules that Triton has but this compiler lacks, with their contents. They include the modules below them."""


def explain_module(name: str) -> str | None:
    """The message for a module of Triton that we lack: `triton.profiler`. None for any other module."""
    for area, content in AREAS.items():
        if f"{name}.".startswith(f"triton.{area}."):
            return f"mini_triton does not have {name}: triton.{area} is {content}"
    return None


def explain_missing(module: str, name: str, known: Iterable[str] = ()) -> str:
    """The message for a missing name: the reason, or that Triton does not have it, with the closest `known` name."""
    if reason := MISSING.get(module, {}).get(name):
        return f"mini_triton does not support {module}.{name}: {reason}"
    if reason := explain_module(f"{module}.{name}"):
        return reason
    close = get_close_matches(name, known, 1)
    advice = f": did you mean {close[0]}?" if close else ""
    return f"{module} has no {name}, and Triton does not have it either{advice}"
