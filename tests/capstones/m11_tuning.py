"""Tuning: times from a simulated device, trials of a toy kernel, and the arithmetic of occupancy."""

from collections.abc import Iterator
from random import Random

from tests.capstones import Question, ask

DEVICE = """
class Event:
    def __init__(self, device):
        self.device, self.moment = device, None
    def record(self):
        self.moment = self.device.queue(0.0)
    def elapsed_time(self, end):
        if max(self.moment, end.moment) > self.device.now:
            raise RuntimeError("not reached yet")
        return end.moment - self.moment
class Device:
    \"\"\"A queue in numbers: a launch takes the host a quarter of a millisecond, and the device the next of some times.\"\"\"
    def __init__(self, times, cold):
        self.times, self.cold, self.now, self.free, self.runs, self.warm = times, cold, 0.0, 0.0, 0, False
    def queue(self, time):
        self.free = max(self.now, self.free) + time
        return self.free
    def get_device_interface(self):
        return self
    def get_empty_cache_for_benchmark(self):
        return self
    def clear_cache(self, cache):
        assert cache is self
        self.queue(0.5)
        self.warm = False
    def Event(self, enable_timing=False):
        return Event(self)
    def synchronize(self):
        self.now = max(self.now, self.free)
    def run(self):
        self.now += 0.25 if self.runs else 64.0
        self.queue(self.times[self.runs % len(self.times)] + (0.0 if self.warm else self.cold))
        self.warm, self.runs = True, self.runs + 1
"""
"""`Device(times, cold)`: its `run` takes the next of the times, and `cold` more after its cache was cleared."""

TOY = """
import numpy as np
from mini_triton.errors import OutOfResources
from mini_triton.tuning.autotuner import Autotuner, Config, Heuristics
class Toy:
    \"\"\"A kernel that tells what it is launched with, adds to its memory, and may fail.\"\"\"
    arg_names = ["x", "n", "BLOCK", "EVEN"]
    __name__ = "toy"
    def __init__(self, story, unfit=()):
        self.story, self.unfit, self.last = story, unfit, None
    def run(self, *args, **kwargs):
        named = dict(zip(self.arg_names, args)) | kwargs
        self.story.append(["run", shown(named)])
        named["x"] += 1
        self.last = named["BLOCK"]
        if self.last in self.unfit:
            raise self.unfit[self.last]
        return f"launched {self.last}"
def shown(named):
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in sorted(named.items())}
def tuner(fn, blocks, key=(), reset=(), restore=(), **more):
    configs = [Config({"BLOCK": block}, num_warps=warps) for block, warps in blocks]
    return Autotuner(fn, fn.arg_names, configs, key, reset, restore, **more)
"""
"""`tuner(Toy(story), blocks)`: an autotuner of a toy kernel that records what happens to it."""


def questions(random: Random) -> Iterator[Question]:
    def number() -> int:
        return random.randrange(2, 90)

    times = [random.randrange(1, 40) / 8 for _ in range(random.randrange(3, 9))]
    yield ask(
        "11.1",
        "the times of runs, and their quantiles",
        DEVICE
        + """
from mini_triton.tuning.measuring import measure, quantile
result = []
for warmup, rep, cold in CASES:
    device = Device(TIMES, cold)
    result += [measure(device, device.run, warmup, rep), device.runs]
result += [quantile(TIMES, share) for share in SHARES]
""",
        TIMES=times,
        CASES=[(random.randrange(1, 20), random.randrange(1, 60), random.choice((0.0, 1.5))) for _ in range(3)],
        SHARES=[0.0, 1.0, 0.5, *(random.random() for _ in range(4))],
    )
    blocks = [(2**power, random.choice((4, 8))) for power in random.sample(range(3, 10), 4)]
    yield ask(
        "11.2",
        "trials that leave no trace",
        TOY
        + """
result = []
for reset, restore in HOOKS:
    toy = Toy(result, {BLOCKS[1][0]: ValueError("unlucky")})
    made = tuner(toy, BLOCKS, (), reset, restore)
    made.configs[0].pre_hook = lambda named: result.append(["hook", shown(named)])
    x = np.arange(3.0) + NUMBER
    made.nargs = {"x": x, "n": NUMBER}
    for config in made.configs:
        try:
            made.trial(config, (x, NUMBER), {"EVEN": True})
        except ValueError as error:
            result.append(str(error))
        result.append(x.tolist())
    made.prepare({"x": x, "n": NUMBER}, reset_only=True)
    result += [x.tolist(), len(made.restore_copies)]
""",
        HOOKS=[([], []), (["x"], []), ([], ["x"])],
        BLOCKS=blocks,
        NUMBER=number(),
    )
    costs = dict(zip((block for block, _ in blocks), random.sample(range(2, 90), len(blocks)), strict=True))
    kept = random.sample([block for block, _ in blocks], 3)
    yield ask(
        "11.3",
        "the configurations that pruning leaves, and heuristics",
        TOY
        + """
def early(configs, named, **kwargs):
    return [config for config in configs if config.kwargs["BLOCK"] in KEPT and named["n"] < kwargs["most"]]
result = []
for top, is_early in TOPS:
    pruning = {"perf_model": lambda BLOCK, n, **_: ESTIMATES[BLOCK] + n / 1e6, "top_k": top}
    made = tuner(Toy(result), BLOCKS, prune_configs_by=pruning | ({"early_config_prune": early} if is_early else {}))
    made.nargs = {"n": NUMBER}
    for most in (NUMBER + 1, NUMBER):
        try:
            result.append([config.kwargs["BLOCK"] for config in made.prune_configs({"most": most})])
        except NotImplementedError:
            raise
        except Exception as error:
            result.append(kind_of(error))
values = {"BLOCK": lambda named: named["n"] * 2, "EVEN": lambda named: named["BLOCK"] % 3 == 0}
result.append(Heuristics(Toy(result), Toy.arg_names, values).run(np.zeros(2), NUMBER, EVEN=None))
""",
        BLOCKS=blocks,
        ESTIMATES=costs,
        KEPT=kept,
        NUMBER=number(),
        TOPS=[(random.randrange(1, 5), True), (random.choice((0.5, 1.0)), False), ("two", False)],
    )
    unfit = random.choice(blocks)[0]
    yield ask(
        "11.4",
        "the fastest configuration",
        TOY
        + """
result = []
def bench(call, quantiles):
    call()
    time = COSTS[toy.last] * (x.size % 7 + 1)
    result.append(["bench", list(quantiles)])
    return [time, time + 1, time + 2]
toy = Toy(result, {UNFIT: OutOfResources(2, 1, "shared memory")})
made = tuner(toy, BLOCKS, ["n"], do_bench=bench)
for n, dtype in LAUNCHES:
    x = np.zeros(n % 5 + 1, dtype)
    result += [made.run(x, n, EVEN=True), str(made.best_config), len(made.cache), len(made.failures)]
x, n, y = np.zeros(2, "int8"), 5, 1.5
result.append(list(made.key_of({"x": x, "n": n, "other": y})))
for given in ({"BLOCK": 1}, {}):
    toy.unfit = {block: OutOfResources(2, 1, "registers") for block, _ in BLOCKS}
    try:
        made.run(x, 10**6, **given)
    except NotImplementedError:
        raise
    except Exception as error:
        result.append(kind_of(error))
""",
        BLOCKS=blocks,
        COSTS=costs,
        UNFIT=unfit,
        LAUNCHES=[(random.choice((3, 8, 20)), random.choice(("float32", "int64"))) for _ in range(5)],
    )
    names = ["m", "n", "k"][: random.randrange(1, 4)]
    places = [random.choice((number(), [number() for _ in names])) for _ in range(4)]
    yield ask(
        "11.5",
        "a benchmark's calls and results",
        """
        from mini_triton.tuning.reports import Benchmark, collect
        result = []
        def timed(**arguments):
            result.append(sorted(arguments.items()))
            value = sum(arguments[name] for name in NAMES) * arguments["scale"]
            return (value, value - 1, value + 1) if arguments["provider"] == "best" else value
        benchmark = Benchmark(NAMES, PLACES, "provider", LINES, LINES, "plot", {"scale": SCALE})
        for row in collect(timed, benchmark, {"more": True}):
            result.append([list(row.x), [list(point) for point in row.points]])
        try:
            collect(timed, Benchmark(NAMES, [(1, 2, 3, 4)], "provider", LINES, LINES, "plot", {"scale": 1}), {})
        except ValueError:
            result.append("refused")
        """,
        NAMES=names,
        PLACES=places,
        LINES=random.sample(["ours", "torch", "best"], 2),
        SCALE=random.choice((0.5, 2)),
    )
    yield ask(
        "11.6",
        "how many warps a multiprocessor holds",
        """
        from mini_triton.backends.occupancy import GPUS, limits, occupancy
        result = []
        for target, warps, registers, shared in KERNELS:
            reached = occupancy(GPUS[target], warps, registers, shared)
            result += [limits(GPUS[target], warps, registers, shared)]
            result += [[reached.blocks, reached.warps, reached.share, list(reached.limiters)]]
        """,
        KERNELS=[
            (
                random.choice(("sm_75", "sm_80", "sm_86", "sm_89", "sm_90")),
                random.randrange(1, 17),
                random.randrange(16, 256),
                random.choice((0, random.randrange(60000))),
            )
            for _ in range(15)
        ],
    )
    tiles = [[2 ** random.randrange(4, 9) for _ in range(3)] for _ in range(5)]
    yield ask(
        "11.7",
        "kernels that choose their tiles",
        """
        import mini_triton as triton
        from kernels.tuned import attainable, shared_memory, that_differ, that_fit
        configs = [
            triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=warps, num_stages=stages)
            for (m, n, k), warps, stages in CHOICES
        ]
        def place(config):
            return next(i for i, one in enumerate(configs) if one is config)
        result = [[shared_memory(config, size, chip) for size in (1, 2, 4) for chip in (80, 90)] for config in configs]
        result += [[place(config) for config in that_fit(configs, 2, 90, limit)] for limit in LIMITS]
        result += [[place(config) for config in that_differ(configs)]]
        result += [attainable(*numbers) for numbers in ROOFS]
        """,
        CHOICES=[(random.choice(tiles), random.choice((2, 4, 8)), random.randrange(1, 5)) for _ in range(8)],
        LIMITS=[2 ** random.randrange(13, 18) for _ in range(3)] + [1],
        ROOFS=[(number() / 4, float(number()), number() / 8) for _ in range(3)],
    )
    yield ask(
        "11.8",
        "the row of a comparison, and what its peers did",
        """
import numpy as np
from mini_triton.tuning.comparison import Call, Memory, Peer, Row, Step
from mini_triton.tuning.comparison import compare, footprint, gain, mean_gain, solve, traffic
result = []
def peer(name, results, times, steps):
    left = list(times)
    def time():
        result.append(name)
        return left.pop(0)
    return Peer(name, lambda: [np.array(x, "float32") for x in results], time, (lambda: steps) if steps else None)
places = [Memory(*place) for place in PLACES]
result += [footprint(place) for place in places]
steps = [Step("k", [places[i] for i in reads], [places[i] for i in writes]) for reads, writes in STEPS]
result += list(traffic(steps))
peers = [peer(name, values, times, steps[:count]) for name, values, times, count in PEERS]
row = compare("p", peers, TURNS)
result += [sorted(row.times.items()), sorted((k, list(v)) for k, v in row.traffic.items()), sorted(row.refused)]
rows = [row] + [Row("q", times) for times in TIMES]
for ours in ("ours", "judge", "nobody"):
    for name in ("judge", "wrong", "ours"):
        gains = [gain(one, name, ours) for one in rows]
        mean = mean_gain(rows, name, ours)
        result += [gains, None if mean is None else round(mean, 9)]
x = np.arange(3.0)
def run():
    x[:] += CHANGE
    return x.sum(), (x[1:],)
result += [one.tolist() for one in solve(Call(run, [x]))] + [x.tolist()]
""",
        PLACES=[
            (
                64 * i,
                (number(), 3, number() % 4),
                (random.choice((0, 12)), random.choice((0, 4)), 1),
                random.choice((2, 4)),
            )
            for i in range(4)
        ],
        STEPS=[([random.randrange(4) for _ in range(3)], [random.randrange(4)]) for _ in range(4)],
        PEERS=[
            (name, values, [number() / 8 for _ in range(5)], random.randrange(4))
            for values in [[[number() / 4, number()], [float("nan")]]]
            for name, values in (
                ("judge", values),
                ("ours", values),
                ("wrong", [values[0], [1.0]]),
                ("short", values[:1]),
                ("far", [[x * 1.001 for x in values[0]], values[1]]),
            )
        ],
        TURNS=random.randrange(2, 6),
        TIMES=[{"judge": number() / 8, "ours": number() / 8}, {"ours": 1.0}, {"judge": number() / 8, "ours": 2.0}],
        CHANGE=number(),
    )
    yield ask(
        "11.8",
        "the time of a call that changes memory",
        DEVICE
        + """
import numpy as np
from mini_triton.tuning.comparison import Call, median_time
device, x = Device(DURATIONS, 1.5), np.arange(3.0)
def run():
    device.run()
    device.queue(float(x[0]))
    x[:] += CHANGE
result = [median_time(device, Call(run, [x]), 4, 40), x.tolist(), device.runs]
""",
        after="11.1",
        DURATIONS=times,
        CHANGE=number(),
    )
