"""Compile-time values that users need not choose: `@autotune` tries configurations, `@heuristics` computes values.

Both decorators return an object that is launched like a kernel. Decorators stack, with the kernel itself at the bottom:

    @triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 1024}, num_warps=8)], key=["n"])
    @triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr): ...

    kernel[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](x, n)

Source: Triton's `python/triton/runtime/autotuner.py`.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mini_triton.errors import AutotunerError as AutotunerError
from mini_triton.errors import CompilationError, PTXASError
from mini_triton.errors import OutOfResources as OutOfResources  # users import it from here
from mini_triton.runtime.jit import KernelInterface
from mini_triton.tuning import results
from mini_triton.tuning.memory import benchmarker_for, copy_of, device_of, put_back, spared, zero
from mini_triton.tuning.timers import do_bench as time_runs
from mini_triton.tuning.timers import do_bench_cudagraph

QUANTILES = (0.5, 0.2, 0.8)
"""The quantiles that a trial's benchmark returns.

The first decides: the median. On a CPU, the default benchmark returns the minimum in its place.
"""
UNFIT = (OutOfResources, CompilationError, PTXASError)
"""Errors that only mean that a configuration does not suit the kernel or the device."""
NEVER = [math.inf] * len(QUANTILES)
"""The timings of a configuration that cannot run."""


class Config:
    """Compile-time values and launch options to try together: `Config({"BLOCK": 128}, num_warps=8)`.

    Before each launch with this configuration, `pre_hook` is called with a dictionary of all arguments by name. Two
    configurations are equal if their values, options and hooks are; the order of the names does not matter. (Given.)
    """

    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[..., Any] | None = None,
        ir_override: str | None = None,
    ) -> None:
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_ctas = num_ctas
        self.num_stages = num_stages
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self) -> dict[str, Any]:
        """The keywords that this configuration adds to a launch: `{"BLOCK": 128, "num_warps": 8, …}`."""
        options = {name: getattr(self, name) for name in ("num_warps", "num_ctas", "num_stages", "maxnreg")}
        options["ir_override"] = self.ir_override
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def __str__(self) -> str:
        options = {name: getattr(self, name) for name in ("num_warps", "num_ctas", "num_stages", "maxnreg")}
        return ", ".join(f"{name}: {value}" for name, value in {**self.kwargs, **options}.items())

    def __hash__(self) -> int:
        return hash((frozenset(self.all_kwargs().items()), self.pre_hook))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Config):
            return NotImplemented
        return (self.all_kwargs(), self.pre_hook) == (other.all_kwargs(), other.pre_hook)


class Autotuner(KernelInterface):
    """A kernel that finds its fastest configuration at its first launch, and again at each launch with a new key.

    It launches `fn` by `fn.run(*args, **kwargs)`. See `autotune` for the other parameters.
    """

    def __init__(
        self,
        fn: Any,
        arg_names: Sequence[str],
        configs: Sequence[Config],
        key: Sequence[str],
        reset_to_zero: Sequence[str] | None,
        restore_value: Sequence[str] | None,
        pre_hook: Callable[..., Any] | None = None,
        post_hook: Callable[..., Any] | None = None,
        prune_configs_by: Mapping[str, Any] | None = None,
        warmup: float | None = None,
        rep: float | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable[..., Any] | None = None,
        cache_results: bool = False,
    ) -> None:
        self.fn = fn
        self.base_fn = innermost(fn)
        self.arg_names = list(arg_names)
        self.configs = list(configs or [Config({})])
        for config in self.configs:
            if not isinstance(config, Config):
                raise TypeError(f"configs holds {config!r}, not a Config: write triton.Config({{'BLOCK': 64}})")
        self.keys = list(key or ())
        if unknown := [name for name in self.keys if name not in self.arg_names]:
            warnings.warn(f"autotune ignores names in key that are not parameters: {', '.join(unknown)}", stacklevel=3)
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        if absent := {*self.reset_to_zero, *self.restore_value} - {*self.arg_names}:
            names = ", ".join(sorted(absent))
            raise ValueError(f"reset_to_zero and restore_value name parameters of the kernel, but it has no {names}")
        self.restore_copies: dict[str, Any] = {}  # during a trial: copies of the memory that `restore_value` names
        self.pre_hook = pre_hook or self.prepare
        self.post_hook = post_hook or self.restore
        # read by PyTorch's compiler
        self.user_defined_pre_hook, self.user_defined_post_hook = pre_hook is not None, post_hook is not None
        self.use_cuda_graph = use_cuda_graph
        pruning = prune_configs_by or {}
        self.early_config_prune = pruning.get("early_config_prune")
        self.perf_model = pruning.get("perf_model")
        self.configs_top_k = pruning.get("top_k", 1.0)
        self.bench = do_bench
        if warmup is not None or rep is not None or use_cuda_graph:
            self.bench = deprecated_bench(warmup, rep, use_cuda_graph)
        self.cache_results = cache_results or results.are_kept()
        self.cache: dict[tuple[Any, ...], Config] = {}  # the fastest configuration by key
        self.nargs: dict[str, Any] = {}  # the positional arguments of a launch by name
        self.all_arguments: dict[str, Any] = {}  # all arguments of a launch by name
        self.best_config: Config | None = None  # the configuration of the last launch
        self.configs_timings: dict[Config, Any] = {}  # times of the last trials
        self.failures: dict[Config, Exception] = {}  # errors of configurations that could not run
        self.bench_time = 0.0  # seconds that the last trials took

    # --- a trial

    def prepare(self, arguments: Mapping[str, Any], reset_only: bool = False) -> None:
        """Prepare memory for a trial; with `reset_only`, for a launch that is not a trial.

        An argument may be absent or None.

        What trials of a kernel that adds 1 to x find in x, and what they leave there, if x = 5 at first:

            x is in            first trial    second trial
            neither list       5, then 6      6, then 7
            reset_to_zero      0, then 1      0, then 1
            restore_value      5, then 5      5, then 5
            both lists         0, then 0      0, then 0
        """
        # [task 11.2] Given: `tuning/memory.py`. `__init__` says what the attributes are for.
        for name in self.reset_to_zero:
            if arguments.get(name) is not None:
                zero(arguments[name])
        if not reset_only:
            self.restore_copies = {
                name: copy_of(arguments[name]) for name in self.restore_value if arguments.get(name) is not None
            }
        # [end]

    def restore(self, arguments: Mapping[str, Any], exception: Exception | None) -> None:
        """End a trial, so that memory is as in the table of `prepare`."""
        # [task 11.2] Given: `tuning/memory.py`. No copy outlives a trial, unless Ctrl-C ends it.
        for name, copy in self.restore_copies.items():
            put_back(arguments[name], copy)
        self.restore_copies = {}
        # [end]

    def trial(self, config: Config, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Launch `self.fn` once with a configuration, after `config.pre_hook` and `self.pre_hook`.

        `self.post_hook` ends the trial, with the launch's `Exception` or None as `exception`. No error is swallowed.
        Ctrl-C, a `KeyboardInterrupt`, propagates without another hook.
        """
        # [task 11.2] `Config` says what a hook takes.
        keywords = {**kwargs, **config.all_kwargs()}
        arguments = {**self.nargs, **keywords}
        if config.pre_hook:
            config.pre_hook(arguments)
        self.pre_hook(arguments)
        try:
            self.fn.run(*args, **keywords)
        except Exception as error:
            self.post_hook(arguments, exception=error)
            raise
        self.post_hook(arguments, exception=None)
        # [end]

    # --- fewer trials

    def prune_configs(self, kwargs: Mapping[str, Any]) -> list[Config]:
        """The configurations worth a trial, for a launch with the keyword arguments `kwargs`.

        `early_config_prune(configs, self.nargs, **kwargs)` selects configurations; if it selects none, raises
        `AutotunerError`. `perf_model(**arguments)` estimates the time of a configuration from all arguments, including
        the configuration's own. Either function may be None; without a `perf_model`, `top_k` is ignored. If at most
        `top_k` are left, all stay, in their order. If A, B and C, with the estimates 3, 1 and 2, are left of five
        `self.configs`, these remain:

            top_k     1    2      3        9        0.2    0.59    0.6      1.0      0.0
            remain    B    B C    A B C    A B C    B      B C     A B C    A B C    B

        Raises `TypeError` if `top_k` is neither an int of at least 1 nor a float from 0.0 to 1.0; the message contains
        "top_k".
        """
        # [task 11.3] `self.configs_top_k` is `top_k`.
        configs = list(self.configs)
        if self.early_config_prune:
            configs = list(self.early_config_prune(configs, self.nargs, **kwargs))
            if not configs:
                raise AutotunerError(
                    "No valid autotuner configs after pruning. `early_config_prune` should return at least one config."
                )
        if self.perf_model:
            count = self.configs_top_k
            if isinstance(count, float) and 0.0 <= count <= 1.0:
                count = max(1, int(len(self.configs) * count))
            elif not isinstance(count, int) or count < 1:
                raise TypeError("top_k must be an int of at least 1, or a float from 0.0 to 1.0")
            if len(configs) > count:
                estimates = {
                    config: self.perf_model(**self.nargs, **kwargs, **config.all_kwargs()) for config in configs
                }
                configs = sorted(estimates, key=lambda config: estimates[config])[:count]
        return configs
        # [end]

    # --- the choice

    def key_of(self, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
        """The key of a choice; launches with equal keys share a configuration.

        For a kernel with the parameters x, y, m and n, a float16 array h, and a float32 tensor t on the CPU:

            self.keys      arguments                                      key
            ["n"]          {"x": h, "y": t, "n": 100}                     (100, "float16", "torch.float32", "cpu")
            ["n", "m"]     {"m": 7, "n": 100, "y": t, "x": h}             (100, 7, "float16", "torch.float32", "cpu")
            ["num_warps"]  {"x": h, "y": None, "num_warps": 8, "out": t}  ("float16", "cpu")
            []             {"x": h, "m": 7, "backend": "numba"}           ("float16", "cpu, numba")
        """
        # [task 11.4] Given: `device_of`.
        own = {name: arguments[name] for name in self.arg_names if name in arguments}
        values = [own[name] for name in self.keys if name in own]
        return *values, *[str(value.dtype) for value in own.values() if hasattr(value, "dtype")], device_of(arguments)
        # [end]

    def time(self, config: Config, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of `self.do_bench` for trials of a configuration with these arguments, or `NEVER`.

        An `UNFIT` error of a trial is recorded in `self.failures`; any other error propagates, because the kernel is
        wrong. Raises `ValueError` if `kwargs` and `config.kwargs` both set a value; the message names all such values.
        """
        # [task 11.4] `autotune` says how a benchmark is called; pass `quantiles` as a keyword.
        if conflicts := kwargs.keys() & config.kwargs.keys():
            raise ValueError(
                f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}. "
                "Make sure that you don't re-define auto-tuned symbols."
            )
        try:
            return self.do_bench(lambda: self.trial(config, args, kwargs), quantiles=QUANTILES)
        except UNFIT as error:
            self.failures[config] = error
            return NEVER
        # [end]

    def choose(self, configs: Sequence[Config], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Config:
        """The fastest of these configurations. Raises `AutotunerError` if none can run.

        Afterwards, `self.configs_timings` and `self.failures` tell about these configurations only. If A takes 2 ms, B
        does not fit, and C takes 1 ms, there are three timings and one failure, and the result is C.
        """
        # [task 11.4] Given: `results.fastest`, and `explain_failures` for the message.
        self.failures = {}
        self.configs_timings = {config: self.time(config, args, kwargs) for config in configs}
        if len(self.failures) == len(self.configs_timings):
            raise AutotunerError(explain_failures(self.base_fn.__name__, self.failures))
        return results.fastest(self.configs_timings)
        # [end]

    def launch(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Launch with the fastest configuration for these arguments, and return the launch's result.

        Only a choice costs trials. For `key=["n"]` and the configurations A and B:

            n                     100          100    200          100    99, if there is no configuration but B
            the kernel runs as    A, B, … B    B      A, B, … A    B      B

        Raises `TypeError` if the launch and its configuration set the same option.
        """
        # [task 11.4] `__init__` says what the attributes are for, and `Config` when its hook is called.
        config, *others = self.configs
        if others:
            key = self.key_of({**self.nargs, **kwargs})
            if key not in self.cache:
                self.cache[key] = self.tune(key, args, kwargs)
            config = self.cache[key]
        self.best_config = config
        chosen = config.all_kwargs()
        if config.pre_hook:
            config.pre_hook({**self.nargs, **kwargs, **chosen})
        return self.fn.run(*args, **kwargs, **chosen)
        # [end]

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launch with arguments as the user writes them. (Given.)"""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        self.all_arguments = {**self.nargs, **kwargs}
        try:
            return self.launch(args, kwargs)
        finally:
            self.nargs, self.all_arguments = {}, {}  # they would keep memory alive

    def tune(self, key: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Config:
        """The choice for a key: read from disk, or made by trials. (Given.)

        Trials leave memory unchanged, except that arguments in `reset_to_zero` are 0 afterwards. Without trials, no
        memory changes. A kernel that needs zeros must therefore find zeros at every launch, as with real Triton.
        """
        configs = self.prune_configs(kwargs)
        entry = results.entry_for(self, key, configs) if self.cache_results else ""
        if entry and (timings := results.load(entry, configs)):
            self.configs_timings, self.failures = timings, {}
            return results.fastest(timings)
        start = time.perf_counter()
        with spared(self, configs, args, kwargs):
            config = self.choose(configs, args, kwargs)
        self.bench_time = time.perf_counter() - start
        self.pre_hook({**self.all_arguments, **config.all_kwargs()}, reset_only=True)
        if entry:
            results.store(entry, self.configs_timings, self.failures)
        results.report(self, key, config)
        return config

    @property
    def do_bench(self) -> Callable[..., Any]:
        """The benchmark that times configurations: the user's, or the default of the arguments' device. (Given.)"""
        return self.bench or benchmarker_for(self.all_arguments)

    def warmup(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Compile all configurations without running them. (Given.)"""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        return [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in self.prune_configs(kwargs)]


def autotune(
    configs: Sequence[Config],
    key: Sequence[str],
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Callable[..., Any] | None = None,
    post_hook: Callable[..., Any] | None = None,
    warmup: float | None = None,
    rep: float | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
) -> Callable[[Any], Autotuner]:
    """Decorate a kernel, to launch it with the fastest of some configurations. (Given.)

    key               names of arguments: a new value or dtype makes the tuner try the configurations again
    prune_configs_by  "early_config_prune", "perf_model" and "top_k": see `Autotuner.prune_configs`
    reset_to_zero     arguments that are set to 0 before each trial, and after the last trial; a launch without trials
                      does not set them to 0
    restore_value     arguments whose values are restored after each trial
    pre_hook          `pre_hook(arguments, reset_only=False)` prepares each trial, instead of `reset_to_zero` and
                      `restore_value`
    post_hook         `post_hook(arguments, exception)` ends each trial, instead of `restore_value`
    do_bench          the benchmark, `do_bench(function, quantiles)`; it returns one time or three
    cache_results     keep times on disk for other processes, as with `MINI_TRITON_CACHE_AUTOTUNING=1`

    `warmup`, `rep` and `use_cuda_graph` are deprecated: use `do_bench`. `MINI_TRITON_PRINT_AUTOTUNING=1` prints the
    result of each configuration.
    """

    def decorator(fn: Any) -> Autotuner:
        return Autotuner(
            *(fn, parameters_of(fn, "autotune"), configs, key, reset_to_zero, restore_value, pre_hook, post_hook),
            *(prune_configs_by, warmup, rep, use_cuda_graph, do_bench, cache_results),
        )

    return decorator


class Heuristics(KernelInterface):
    """A kernel with compile-time values that are computed from its other arguments."""

    def __init__(
        self, fn: Any, arg_names: Sequence[str], values: Mapping[str, Callable[[dict[str, Any]], Any]]
    ) -> None:
        self.fn = fn
        self.arg_names = list(arg_names)
        self.values = dict(values)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launch with the values that the functions in `self.values` compute, and return the launch's result.

        Each function takes a dictionary of arguments by name. For a kernel with the parameters x, n and BLOCK, and the
        functions `args["BLOCK"] * args["n"]` of BLOCK and `args["BLOCK"] % 2 == 0` of EVEN, in this order:

            run("memory", 5, BLOCK=16)        launches as `self.fn.run("memory", 5, BLOCK=80, EVEN=True)`
        """
        # [task 11.3] Launch `self.fn`. `self.arg_names` lists the kernel's parameters, in order.
        named = dict(zip(self.arg_names, args, strict=False))
        for name, compute in self.values.items():
            kwargs[name] = compute({**named, **kwargs})
        return self.fn.run(*args, **kwargs)
        # [end]


def heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Compute compile-time values of a kernel: `@heuristics({"EVEN": lambda args: args["n"] % 128 == 0})`. (Given.)"""
    if not (isinstance(values, Mapping) and all(map(callable, values.values()))):
        raise TypeError(f"heuristics takes functions by name, {{'BLOCK': lambda args: args['n']}}, not {values!r}")
    return lambda fn: Heuristics(fn, parameters_of(fn, "heuristics"), values)


def parameters_of(fn: Any, decorator: str) -> list[str]:
    """The names of a kernel's parameters. Raises `TypeError`, with the decorator's name, for a function. (Given.)"""
    if not hasattr(fn, "arg_names"):
        raise TypeError(f"{decorator} decorates a kernel, not {fn!r}: write @triton.{decorator} above @triton.jit")
    return fn.arg_names


def innermost(fn: Any) -> Any:
    """The Python function that decorators of kernels wrap. (Given.)"""
    while hasattr(fn, "fn"):
        fn = fn.fn
    return fn


def explain_failures(kernel: str, failures: Mapping[Config, Exception]) -> str:
    """The error message for a kernel none of whose configurations can run. (Given.)"""
    lines = [f"  {config}: {type(error).__name__}: {error}" for config, error in failures.items()]
    return "\n".join([f"no configuration of {kernel} can run:", *lines])


def deprecated_bench(warmup: float | None, rep: float | None, use_cuda_graph: bool) -> Callable[..., Any]:
    """The benchmark that deprecated parameters of `autotune` request. (Given.)"""
    warnings.warn("warmup, rep and use_cuda_graph of autotune are deprecated: use do_bench", DeprecationWarning, 3)
    warmup, rep = 25 if warmup is None else warmup, 100 if rep is None else rep
    if use_cuda_graph:
        return lambda call, quantiles: do_bench_cudagraph(call, rep=rep, quantiles=quantiles)
    return lambda call, quantiles: time_runs(call, warmup=warmup, rep=rep, quantiles=quantiles)
