"""Everything that the compiler uses of Inductor's private interfaces. (Given.)

Inductor writes Triton kernels as Python source, and passes it to `AsyncCompile.triton`. The decorators in that source,
such as `@triton_heuristics.pointwise`, call `cached_autotune` with the candidate configurations. Without a GPU,
Inductor can be told to write Triton kernels for CPU tensors; it then asks real Triton for the current device.

Source: PyTorch's `torch/_inductor/async_compile.py` and `torch/_inductor/runtime/triton_heuristics.py`, in 2.9 to 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch

MakeKernel = Callable[[Any, list[Any], Mapping[str, Any], dict[str, Any]], Any]
"""Makes the object to launch from a function, its configurations, and two tables of metadata."""


class Target:
    """A stand-in for Triton's driver on a machine without a GPU. It only names the target of the kernels."""

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)


@contextmanager
def replaced(make_kernel: MakeKernel, cpu_backend: str) -> Iterator[None]:
    """Within this context, `make_kernel` makes the Triton kernels that Inductor launches.

    Inductor writes kernels for CPU tensors in C++ if `cpu_backend` is "cpp", and in Triton if it is "triton".
    """
    from torch._inductor import async_compile, config
    from torch._inductor.codecache import PyCodeCache
    from torch._inductor.runtime import triton_heuristics
    from triton.runtime import driver

    def load_kernel(_: Any, name: str, source: str, device_str: str = "cuda") -> Any:
        return getattr(PyCodeCache.load(source), name)

    def cached_autotune(
        size_hints: Any,
        configs: list[Any],
        triton_meta: Any,
        heuristic_type: Any,
        *_: Any,
        inductor_meta: Any = None,
        **__: Any,
    ) -> Any:
        return lambda function: make_kernel(function, configs, triton_meta, inductor_meta or {})

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(async_compile.AsyncCompile, "triton", load_kernel))
        stack.enter_context(mock.patch.object(triton_heuristics, "cached_autotune", cached_autotune))
        stack.enter_context(config.patch(cpu_backend=cpu_backend, compile_threads=1))
        if not torch.cuda.is_available() and hasattr(driver, "_active"):  # ours describes the CPU
            stack.enter_context(mock.patch.object(driver, "_active", Target()))
        yield


def grid_for(meta: Mapping[str, Any], config: Any, values: Mapping[str, Any]) -> tuple[int, int, int]:
    """The grid that Inductor computes for a configuration and the values of arguments."""
    from torch._inductor.runtime.triton_heuristics import GridExpr

    scope = {**values, **config.kwargs, **meta.get("extra_values", {})}
    return GridExpr.from_meta(dict(meta), config).eval_slow(scope)


def split(meta: dict[str, Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments without those for the launcher, which follow them and which `meta` then keeps for the grid.

    A kernel of a compiled program has such arguments: the program computes its grid.
    """
    names = meta.get("extra_launcher_args", ())
    count = len(arguments) - len(names)
    meta["extra_values"] = dict(zip(names, arguments[count:], strict=True))
    return arguments[:count]
