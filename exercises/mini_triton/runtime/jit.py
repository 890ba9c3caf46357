"""`@jit` and `kernel[grid](...)`: a launch binds its arguments, specializes, finds or compiles the kernel, and runs it.

Source: `JITFunction` in Triton's `python/triton/runtime/jit.py`.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mini_triton.compat.reinterpret import TensorWrapper as TensorWrapper  # also for both of these
from mini_triton.compat.reinterpret import reinterpret as reinterpret
from mini_triton.environment import choice, is_set
from mini_triton.errors import CompilationError
from mini_triton.frontend.compiler import without_internals
from mini_triton.frontend.function import ConstexprFunction as ConstexprFunction  # users look for it here
from mini_triton.frontend.function import KernelSource
from mini_triton.ir.device_assert import DeviceAssertionError
from mini_triton.runtime.arguments import mock
from mini_triton.runtime.back_ends import BACK_ENDS
from mini_triton.runtime.binding import Parameter, bind, parameters_of
from mini_triton.runtime.checks import AccessError
from mini_triton.runtime.grids import grid_of
from mini_triton.runtime.keys import Reference, compute_key, functions_in, references, resolve
from mini_triton.runtime.options import DEFAULTS, Options
from mini_triton.runtime.specialization import Specialized, specialize
from mini_triton.runtime.tuples import flatten_arguments
from mini_triton.sanitizer.reports import SanitizerError, wanted

if TYPE_CHECKING:
    from mini_triton.runtime.compiled_kernel import CompiledKernel
    from mini_triton.runtime.warm import WarmLaunches

Key = tuple[tuple[Specialized, ...], Options]

COMPILE_ONLY = object()
"""Stands for the grid in a launch that only compiles."""
DEBUG = "MINI_TRITON_DEBUG"
"""The environment variable that makes every kernel compile with `debug=True`."""
BACKEND = "MINI_TRITON_BACKEND"
"""The environment variable that names the back end of launches that do not name one."""


class KernelInterface:
    """An object that can be launched: `kernel[grid](...)` is `kernel.run(..., grid=grid, warmup=False)`."""

    fn: Any  # the kernel or the function that is decorated

    def run(self, *arguments: Any, grid: Any, warmup: bool, **keywords: Any) -> Any:
        raise NotImplementedError

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.fn(*arguments, **keywords)  # which explains that a kernel must be launched

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return functools.partial(self.run, grid=grid, warmup=False)

    def warmup(self, *arguments: Any, grid: Any = None, **keywords: Any) -> Any:
        """Compile for these arguments without running: `kernel.warmup(np.float32, 1024, BLOCK=64, grid=(16,))`.

        A dtype represents an aligned array of this dtype. (Given.)
        """
        mocked = {name: mock(value) for name, value in keywords.items()}
        return self.run(*map(mock, arguments), grid=grid, warmup=True, **mocked)


class JITFunction(KernelSource, KernelInterface):
    """A function that kernels can call and Python can launch."""

    def __init__(
        self,
        fn: Callable[..., Any],
        noinline: bool = False,
        do_not_specialize: Collection[int | str] = (),
        do_not_specialize_on_alignment: Collection[int | str] = (),
        repr: Callable[[Any], str] | None = None,
        debug: bool = False,
    ) -> None:
        super().__init__(fn, noinline)
        self.parameters = parameters_of(self.signature, do_not_specialize, do_not_specialize_on_alignment)
        self.kernels: dict[Key, CompiledKernel] = {}  # the kernels compiled in this process
        self.references: dict[tuple[Any, str], Reference] = {}  # the values with which kernels were compiled
        self.warm: WarmLaunches | None = None  # fast launches, if a GPU or Numba has run a kernel
        self.pre_run_hooks: list[Callable[..., None]] = []  # called with the arguments of each launch
        self.repr = repr
        self.flat: dict[Any, JITFunction] = {}  # the functions for launches with tuples
        self.elements: list[str] = []  # for such a function: the parameters that were elements of tuples
        self.debug = debug
        if "uninitialized" in wanted():
            from mini_triton.sanitizer.allocations import track_torch  # imported late: kernels run without it

            track_torch()

    @property
    def params(self) -> list[Parameter]:
        return list(self.parameters)

    @property
    def cache_key(self) -> str:
        """A string that changes with the source of this function and its callees, and with values that they read."""
        return compute_key(self, references(self), {}, DEFAULTS)

    def _unsafe_update_src(self, source: str) -> None:
        """Replace the source, without decorators. Triton's own tests vary their kernels in this way."""
        vars(self)["source"] = source
        vars(self).pop("tree", None)
        self.kernels.clear()

    def add_pre_run_hook(self, hook: Callable[..., None]) -> None:
        """Add a function to call before each launch, with its arguments."""
        self.pre_run_hooks.append(hook)

    def __getitem__(self, grid: Any) -> Callable[..., CompiledKernel]:
        """The function that launches a grid: `kernel[grid](x, y, BLOCK=64)`. It returns the compiled kernel."""
        return functools.partial(self.launch, grid)

    def launch(self, grid: Any, /, *arguments: Any, **keywords: Any) -> CompiledKernel:
        """Bind the arguments, find or compile the kernel, run it, and return it.

        If `grid` is `COMPILE_ONLY`, nothing runs. The traceback of an error in the kernel contains no compiler
        internals.
        """
        for hook in self.pre_run_hooks:
            hook(*arguments, **keywords)
        if self.debug or os.environ.get(DEBUG):
            keywords = self.with_debug(keywords)
        if "backend" not in keywords and (backend := choice(BACKEND, BACK_ENDS)):
            if "backend" not in self.signature.parameters:
                keywords["backend"] = backend
        try:
            if self.warm is not None and grid is not COMPILE_ONLY:
                if kernel := self.warm.repeat(grid, arguments, keywords):
                    return kernel
            if flat := flatten_arguments(self, arguments, keywords):
                return flat[0].launch(grid, **flat[1])
            # Task 7.9: Set `kernel` to the compiled kernel for these arguments and options, and run it. Given:
            # `kernel.launch`; `Options`, or `DEFAULTS` if there are none.
            raise NotImplementedError("Task 7.9: The launch")
            if kernel.launchers and grid is not COMPILE_ONLY:
                self.remember(kernel, arguments, keywords)
        except CompilationError as error:
            raise without_internals(error) from error.__cause__ or error.reason
        except (AccessError, DeviceAssertionError, SanitizerError) as error:
            raise error.with_traceback(None) from None
        return kernel

    def with_debug(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """The keywords of a launch, with the option `debug` if the environment or `@jit` requests it. (Given.)"""
        if "debug" in self.signature.parameters:
            return keywords
        wanted = keywords.get("debug", self.debug) or is_set(DEBUG)
        return {**keywords, "debug": wanted} if wanted else keywords

    def run(self, *arguments: Any, grid: Any = None, warmup: bool = False, **keywords: Any) -> CompiledKernel:
        """Launch a grid; with `warmup`, only compile. (Given.)"""
        if grid is None and not warmup:
            name = self.fn.__name__
            raise TypeError(f"{name} was launched without a grid: write {name}[(1,)](...), or run(..., grid=(1,))")
        return self.launch(COMPILE_ONLY if warmup else grid, *arguments, **keywords)

    def find(self, values: Mapping[str, Any], options: Options) -> CompiledKernel:
        """The kernel for these values: one already compiled in this process, or a new one.

        If the value of a name that the kernel reads from outside has changed since a kernel was compiled with it,
        raises `RuntimeError` with this name. Real Triton does the same, because it would otherwise be unclear which
        value a kernel uses.
        """
        # Task 7.6: Two launches with the same options share a kernel if `specialize` returns equal results for their
        # arguments. `self.kernels` holds the kernels, and `self.references`, by (`fn`, path), the references with which
        # they were compiled: those of this function, and of the functions in arguments. If a compilation fails, the
        # user may change a global and launch again. Given: `explain_change`, which returns the error's message.
        raise NotImplementedError("Task 7.6: Find or compile")

    def compile(
        self,
        arguments: Mapping[str, Specialized],
        values: Mapping[str, Any],
        options: Options,
        references: Sequence[Reference],
    ) -> CompiledKernel:
        """The kernel for specialized arguments, loaded from disk or compiled in all stages. (Given.)"""
        from mini_triton.runtime.compiled_kernel import compile_kernel  # kernels can be defined without a back end

        return compile_kernel(self, arguments, values, options, references)

    def remember(self, kernel: CompiledKernel, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        """Record a launch of fast code, so that a similar launch will be fast. (Given.)"""
        from mini_triton.runtime.warm import WarmLaunches

        if self.warm is None:
            self.warm = WarmLaunches(self.fn.__name__, self.parameters, self.references)
        self.warm.remember(kernel, arguments, keywords)


def explain_change(kernel: str, reference: Reference) -> str:
    """The message for a reference that has changed. (Given.)"""
    now = resolve(reference.function.globals, reference.path)
    return f"Global variable {reference.path} has changed since {kernel} was compiled, from {reference.known} to {now}"


def jit(
    fn: Callable[..., Any] | None = None,
    *,
    noinline: bool | None = None,
    do_not_specialize: Collection[int | str] | None = None,
    do_not_specialize_on_alignment: Collection[int | str] | None = None,
    debug: bool | None = None,
    version: Any = None,
    repr: Callable[..., str] | None = None,
    launch_metadata: Callable[..., Any] | None = None,
) -> Any:
    """Mark a function as a kernel, or as a function that kernels call: `@jit` or `@jit(do_not_specialize=["n"])`.
    (Given.)

    `repr` computes the name of a compiled kernel from its `signature` and `constants`. With `debug`, device assertions
    and integer overflow are checked. `version` and `launch_metadata` are for GPU tools and have no effect.
    """

    def decorate(fn: Callable[..., Any]) -> JITFunction:
        if not inspect.isfunction(fn):
            raise TypeError(f"jit decorates a function, not {fn!r}: write @triton.jit directly above its def")
        return JITFunction(
            *(fn, bool(noinline), do_not_specialize or (), do_not_specialize_on_alignment or (), repr, bool(debug))
        )

    return decorate if fn is None else decorate(fn)
