"""Programs of whole models on disk, for the next process. (Given.)

PyTorch's cache of AOTAutograd keeps them, as it keeps Inductor's. A program found there is not traced, differentiated,
partitioned and lowered again. PyTorch's key depends on Dynamo's graph, on the dtypes, sizes, strides and devices of the
arguments, and on PyTorch's version and settings; ours adds the options, and the sources of this package.

Source: `AOTAutogradCache` in PyTorch's `torch/_functorch/_aot_autograd/autograd_cache.py`; `AOTEagerOutputCode` in its
`torch/_dynamo/backends/debugging.py`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.backends import common
from torch._functorch import config
from torch._functorch._aot_autograd.autograd_cache import BypassAOTAutogradCache
from torch._inductor.output_code import OutputCode
from torch.compiler import config as settings

from mini_triton.environment import CACHE_PROGRAMS, OFF, ON, choice, is_set
from mini_triton.fusion.channels_last import choose_layouts
from mini_triton.fusion.cuda_graphs import MODES, record_passes, records
from mini_triton.runtime import cache
from mini_triton.runtime.keys import digest, versions

SHORT = 1.0
"""A program that is compiled in fewer seconds is not kept."""
OURS = "mini_triton "
"""The start of each key of ours."""
SWITCHES = {"force_autograd_cache": True, "bundled_autograd_cache": True, "force_non_lazy_backward_lowering": True}
"""What PyTorch itself sets to keep the programs of a back end. The backward pass is compiled with the forward pass."""
CONSTANTS = (bool, int, float, complex, str, torch.dtype, torch.device, torch.layout, torch.memory_format)
Pass = Callable[[list[Any]], Any]


def load(source: str, calls: dict[str, Any]) -> Pass:
    """The function of a program's source, in a file, because the compiler reads a kernel's source from its file.

    `calls` are the operators and constants that the source names.
    """
    name = f"fused_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    file = Path(cache.directory(), "fusion", f"{name}.py")
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        temporary = file.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(source)
        os.replace(temporary, file)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(calls)
    run: Any = module.call
    run._boxed_call = True  # `run` empties its argument list, so that memory can be freed early
    run.parts = source, calls
    return run


class Program(OutputCode):
    """A compiled pass as PyTorch keeps it: source, the names of operators, and constants."""

    def __init__(self, run: Pass, seconds: list[float]) -> None:
        self.run, self.seconds = run, seconds
        self._boxed_call = True

    def __call__(self, inputs: Any) -> Any:
        return self.run(inputs)

    def prepare_for_serialization(self) -> None:
        if sum(self.seconds) < SHORT:
            raise BypassAOTAutogradCache("it is compiled fast enough")
        if not hasattr(self.run, "parts"):
            raise BypassAOTAutogradCache("its function has no source")
        source, calls = self.run.parts
        self.parts = source, {name: spell(value) for name, value in calls.items()}
        self.recording = getattr(self.run, "recording", None)
        del self.run, self.seconds

    def post_compile(self, *_: Any) -> None:
        source, calls = self.parts
        self.run = load(source, {name: find(value) for name, value in calls.items()})
        if self.recording:
            self.run = self.recording.wrap(self.run)

    def set_triton_bundle(self, triton_bundle: Any) -> None:
        """PyTorch has no kernels to keep."""


class Operator(str):
    """The name of an operator: aten.convolution.default."""


def spell(value: Any) -> Any:
    """An operator's name, or a constant. Raises `BypassAOTAutogradCache` for a value that cannot be kept."""
    if isinstance(value, torch._ops.OpOverload):
        return Operator(value)
    if type(value) is not torch.Tensor and not isinstance(value, CONSTANTS):
        raise BypassAOTAutogradCache(f"{type(value).__name__} cannot be kept")
    return value


def find(value: Any) -> Any:
    """The inverse of `spell`."""
    return functools.reduce(getattr, value.split("."), torch.ops) if isinstance(value, Operator) else value


def keep(compile: Callable[..., Any]) -> Any:
    """A back end that knows `MODES`, and whose programs are kept, unless `MINI_TRITON_CACHE_PROGRAMS` is 0."""

    @functools.wraps(compile)
    def call(graph: Any, inputs: Any, options: Any = None, mode: str = "default") -> Any:
        if mode not in MODES:
            raise ValueError(f"the back end mini_triton has no mode {mode!r}; the modes are {', '.join(MODES)}")
        token = records.set(MODES[mode])
        try:
            if is_set(cache.ALWAYS_COMPILE) or choice(CACHE_PROGRAMS, (*ON, *OFF), "1") in OFF:
                return compile(graph, inputs, options)
            key = digest([settings.cache_key_tag, *versions(), repr(options), mode])
            with settings.patch(cache_key_tag=OURS + key):
                return compile(graph, inputs, options)
        finally:
            records.reset(token)

    return call


def aot_autograd(**keywords: Any) -> Callable[..., Any]:
    """`torch._dynamo.backends.common.aot_autograd`, which chooses layouts, and keeps the programs that `keep` marks."""
    keywords = choose_layouts(record_passes(keywords))
    seconds: list[float] = []

    def wrap(compile_pass: Callable[..., Pass]) -> Callable[..., Program]:
        def compile(graph: Any, inputs: Any) -> Program:
            start = time.perf_counter()
            run = compile_pass(graph, inputs)
            seconds.append(time.perf_counter() - start)
            return Program(run, seconds)

        return compile

    def compile(graph: Any, inputs: Any) -> Any:
        if not settings.cache_key_tag.startswith(OURS):
            return common.aot_autograd(**keywords)(graph, inputs)
        kept = {name: wrap(value) if name.endswith("_compiler") else value for name, value in keywords.items()}
        with config.patch(SWITCHES):
            return common.aot_autograd(**kept)(graph, inputs)

    return compile
