"""Stories of autotuned kernels, as plain data; real Triton's decorators and ours must give the same stories.

A toy stands for the kernel: it has parameters, changes its memory, and fails if the scenario says so. A benchmark
without a clock stands for `do_bench`: the times of the configurations are part of the scenario. A story lists every
call to a hook, a heuristic, a model, the benchmark or the toy, with its arguments and the contents of memory.

    {"configs": [{"kwargs": {"BLOCK": 16}, "num_warps": 4}, …], "key": ["n"], "times": [[2.0, 1.0], …], …}
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Scenario = dict[str, Any]
Story = list[list[Any]]

PARAMETERS = ("x", "y", "n", "m", "flag", "BLOCK", "GROUP", "EVEN", "WIDE")
SIZES = (4, 8, 12, 100)
DTYPES = ("float32", "float64", "int32")
ERRORS = ("OutOfResources", "PTXASError", "ValueError")
LENGTH = 3  # the number of elements in the memory


class Player:
    """Plays one scenario with the decorators of `triton`, real or ours, and records the events."""

    def __init__(self, triton: Any, scenario: Scenario) -> None:
        from torch import Tensor

        self.tensor = Tensor
        self.triton, self.scenario = triton, scenario
        self.story: Story = []
        self.fn = toy  # its name is the kernel's name
        self.arg_names = list(PARAMETERS)
        self.last: dict[str, Any] = {}

    # --- events of a story

    def tell(self, *what: Any) -> None:
        self.story.append([self.shown(one) for one in what])

    def shown(self, value: Any) -> Any:
        """A value in JSON's form; for memory, its contents."""
        if isinstance(value, self.tensor):
            return [str(value.dtype).removeprefix("torch."), *value.tolist()]
        if isinstance(value, Mapping):
            return {name: self.shown(one) for name, one in sorted(value.items()) if name not in ("grid", "warmup")}
        if isinstance(value, BaseException):
            return type(value).__name__
        if isinstance(value, list | tuple):
            return [self.shown(one) for one in value]
        return self.shown(value.all_kwargs()) if hasattr(value, "all_kwargs") else value

    # --- the kernel

    def run(self, *args: Any, **kwargs: Any) -> str:
        """The toy: reads its memory, adds to it, and may fail."""
        arguments = {**dict(zip(self.arg_names, args, strict=False)), **kwargs}
        self.tell("run", arguments)
        self.last = arguments
        arguments["x"] += 1
        if arguments.get("y") is not None:
            arguments["y"] += arguments["n"]
        if error := self.fate(arguments)["error"]:
            raise self.error(error)
        return f"launched with {arguments['BLOCK']}"

    def warmup(self, *args: Any, **kwargs: Any) -> str:
        self.tell("warmup", {**dict(zip(self.arg_names, args, strict=False)), **kwargs})
        return "compiled"

    def fate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The outcome of a launch with these arguments."""
        block, size = arguments["BLOCK"], SIZES.index(arguments["n"])
        return self.scenario["fates"][f"{block} {arguments.get('num_warps', 4)}"][size]

    def error(self, name: str) -> Exception:
        if name == "OutOfResources":
            return self.triton.OutOfResources(2, 1, "shared memory")
        if name == "PTXASError":
            errors = __import__(f"{self.triton.__name__}.runtime.errors", fromlist=["PTXASError"])
            return errors.PTXASError("it does not assemble")
        return ValueError("something else is wrong")

    def bench(self, call: Any, quantiles: Sequence[float]) -> Any:
        """Calls a function as often as the scenario says. Returns a time, or a time for each quantile."""
        self.tell("bench", quantiles)
        for _ in range(self.scenario["calls"]):
            call()
        time = self.fate(self.last)["time"]
        return [time, time + 1, time + 2] if self.scenario["lists"] else time

    # --- decorators

    def kernel(self) -> Any:
        """The toy with all decorators of the scenario."""
        kernel: Any = self
        for name in reversed(self.scenario["decorators"]):
            kernel = getattr(self, name)(kernel)
        return kernel

    def inner(self, kernel: Any) -> Any:
        """Heuristics below the tuner, which see the tuner's choice."""
        return self.triton.heuristics(
            {
                "EVEN": self.logged("EVEN", lambda args: args["n"] % args["BLOCK"] == 0),
                "WIDE": self.logged("WIDE", lambda args: args["EVEN"] and args["BLOCK"] > 16),
            }
        )(kernel)

    def outer(self, kernel: Any) -> Any:
        """A heuristic above the tuner, which does not see the tuner's choice."""
        return self.triton.heuristics({"flag": self.logged("flag", lambda args: args["n"] > 10)})(kernel)

    def logged(self, name: str, function: Any) -> Any:
        """A function that records its arguments."""

        def telling(args: Any) -> Any:
            self.tell("heuristic", name, args)
            return function(args)

        return telling

    def tuned(self, kernel: Any) -> Any:
        """The autotuner."""
        scenario = self.scenario
        hooks: dict[str, Any] = {}
        if "pre_hook" in scenario["hooks"]:
            hooks["pre_hook"] = lambda args, reset_only=False: self.tell("pre_hook", args, reset_only)
        if "post_hook" in scenario["hooks"]:
            hooks["post_hook"] = lambda args, exception: self.tell("post_hook", args, exception)
        pruning: dict[str, Any] = {}
        if scenario["early"] is not None:
            pruning["early_config_prune"] = self.early
        if scenario["estimates"] is not None:
            pruning["perf_model"] = self.model
        if scenario["top_k"] is not None:
            pruning["top_k"] = scenario["top_k"]
        return self.triton.autotune(
            configs=[self.config(one) for one in scenario["configs"]],
            key=scenario["key"],
            prune_configs_by=pruning or None,
            reset_to_zero=scenario["reset_to_zero"],
            restore_value=scenario["restore_value"],
            do_bench=self.bench,
            **hooks,
        )(kernel)

    def config(self, data: Mapping[str, Any]) -> Any:
        hook = (lambda args: self.tell("config's hook", args)) if data.get("hook") else None
        return self.triton.Config(data["kwargs"], pre_hook=hook, **data["options"])

    def early(self, configs: Any, named: Any, **kwargs: Any) -> Any:
        self.tell("early", configs, named, kwargs)
        return [config for config in configs if config.kwargs["BLOCK"] in self.scenario["early"]]

    def model(self, **arguments: Any) -> float:
        self.tell("model", arguments)
        return self.scenario["estimates"][str(arguments["BLOCK"])]

    # --- the stories

    def arguments(self) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """The arguments of all launches, by position and by name, each with new memory."""
        import torch

        for launch in self.scenario["launches"]:
            dtype = getattr(torch, launch["dtype"])
            memory = [torch.arange(LENGTH, dtype=dtype), torch.ones(LENGTH, dtype=dtype)]
            values = [*memory, launch["n"], launch["m"]]
            named = dict(zip(PARAMETERS, values, strict=False))
            split = launch["positional"]
            yield values[:split], dict(list(named.items())[split:]) | launch["extra"]

    def launches(self) -> None:
        """All launches, one after the other."""
        kernel = self.kernel()
        for args, kwargs in self.arguments():
            try:
                self.tell("launched", kernel[(1,)](*args, **kwargs), args, kwargs)
            except NotImplementedError:  # a stub
                raise
            except Exception as error:
                self.tell("failed", error)
            self.tell("best", self.best(kernel))

    def trials(self, attempt: Callable[..., None]) -> None:
        """A trial of each configuration for each launch."""
        tuner = self.tuned(self)
        for args, kwargs in self.arguments():
            tuner.nargs = dict(zip(PARAMETERS, args, strict=False))
            for config in tuner.configs:
                self.tell("trial", config)
                try:
                    attempt(tuner, config, args, kwargs)
                except NotImplementedError:  # a stub
                    raise
                except Exception as error:
                    self.tell("failed", error)
                self.tell("after", args, kwargs)

    def prunings(self) -> None:
        """The configurations that remain for each launch after pruning."""
        tuner = self.tuned(self)
        for args, kwargs in self.arguments():
            tuner.nargs = dict(zip(PARAMETERS, args, strict=False))
            try:
                self.tell("left", tuner.prune_configs(kwargs))
            except NotImplementedError:  # a stub
                raise
            except Exception as error:
                self.tell("failed", error)

    def best(self, kernel: Any) -> Any:
        """The tuner's report of its last choice."""
        while kernel is not self and not hasattr(kernel, "configs"):
            kernel = kernel.fn
        return None if kernel is self else getattr(kernel, "best_config", None)


def toy() -> None:
    """The name of a kernel."""


def play(triton: Any, scenario: Scenario, story: str = "launches", *ways: Callable[..., None]) -> Story:
    """A story of a scenario with these decorators: a list of what happened, in order."""
    player = Player(triton, scenario)
    getattr(player, story)(*ways)
    return player.story


def simple(scenario: Scenario) -> Scenario:
    """The scenario without pruning and heuristics, which later tasks add."""
    launches = [launch | {"extra": {}} for launch in scenario["launches"]]
    return scenario | {"early": None, "estimates": None, "decorators": ["tuned"], "launches": launches}


def draw(seed: int) -> Scenario:
    """A random scenario, which depends only on the seed, not on the version of Python.

    A scenario contains nothing that versions of Triton treat differently: trials of a single configuration, a `top_k`
    that rounds down to none, names in `key` that are not parameters, or absent memory in `reset_to_zero`.
    """
    chance = random.Random(seed)
    blocks = chance.sample((4, 8, 16, 32, 64), chance.randint(2, 5))
    configs: list[dict[str, Any]] = [
        {"kwargs": {"BLOCK": block, "GROUP": chance.choice((1, 2))}, "options": options(chance)} for block in blocks
    ]
    if chance.random() < 0.3:
        chance.choice(configs)["hook"] = True
    whole = chance.random() < 0.3  # seconds as whole numbers, so that some are equal
    fates = {}
    for config in configs:
        name = f"{config['kwargs']['BLOCK']} {config['options'].get('num_warps', 4)}"
        fates[name] = [fate(chance, whole) for _ in SIZES]
    early = chance.sample(blocks, chance.randint(2, len(blocks))) if chance.random() < 0.4 else None
    left = len(early) if early else len(blocks)
    estimates = {str(block): float(chance.randint(1, 6)) for block in blocks} if chance.random() < 0.5 else None
    shares = [share for share in (0.4, 0.5, 0.75, 1.0) if int(share * len(blocks)) == int(share * left) >= 2]
    tops = [*range(2, left + 2), *shares, None]
    with_memory = lambda: chance.choice((None, [], ["x"], ["y"], ["x", "y"]))  # noqa: E731
    reset, restored = with_memory(), with_memory()
    decorators = [name for name in ("outer", "tuned", "inner") if name == "tuned" or chance.random() < 0.4]
    return {
        "configs": configs,
        "key": chance.choice(([], ["n"], ["m"], ["n", "m"], ["n", "flag"])),
        "fates": fates,
        "calls": chance.randint(1, 3),
        "lists": chance.random() < 0.8 or any(one["error"] for fate in fates.values() for one in fate),
        "early": early,
        "estimates": estimates,
        "top_k": chance.choice(tops) if estimates else None,
        "reset_to_zero": reset,
        "restore_value": restored,
        "hooks": [name for name in ("pre_hook", "post_hook") if not restored and chance.random() < 0.3],
        "decorators": decorators,
        "launches": [launch(chance) for _ in range(chance.randint(1, 5))],
    }


def options(chance: random.Random) -> dict[str, int]:
    """Options of a configuration, some of them defaults."""
    known = {"num_warps": (2, 4, 8), "num_stages": (2, 4), "num_ctas": (1, 2), "maxnreg": (64, 128)}
    return {name: chance.choice(values) for name, values in known.items() if chance.random() < 0.3}


def fate(chance: random.Random, whole: bool) -> dict[str, Any]:
    """The time of a configuration for a size, or its failure."""
    error = chance.choices(("", *ERRORS), (90, 6, 3, 1))[0]
    return {"time": float(chance.randint(1, 4)) if whole else chance.random() * 8, "error": error}


def launch(chance: random.Random) -> dict[str, Any]:
    """Arguments of a launch, the number of positional arguments, and some options."""
    extra: dict[str, Any] = {"flag": chance.random() < 0.5} if chance.random() < 0.3 else {}
    return {
        "n": chance.choice(SIZES),
        "m": chance.choice((1, 2)),
        "dtype": chance.choice(DTYPES),
        "positional": chance.randint(0, 4),
        "extra": extra,
    }


def told_alike(ours: Story, theirs: Story) -> bool:
    """Whether two stories are equal up to the point at which no configuration can run.

    At this point, real Triton launches the first configuration, which fails; our tuner raises an error that names all
    configurations.
    """
    if ours == theirs:
        return True
    end = next((number for number, event in enumerate(ours) if event == ["failed", "AutotunerError"]), None)
    if end is None or ours[:end] != theirs[:end]:
        return False
    failed = next(event for event in theirs[end:] if event[0] in ("failed", "launched"))
    return failed[0] == "failed" and failed[1] in ERRORS[:2]
