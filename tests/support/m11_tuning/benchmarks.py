"""Benchmarks of a function that computes instead of taking time: real Triton's `perf_report` and ours run them."""

import random
from typing import Any

Case = dict[str, Any]

UNITS = ("GB/s", "ms", "")


def draw(seed: int) -> Case:
    """The keywords of a random `Benchmark`."""
    chance = random.Random(seed)
    names = ["M", "N", "K"][: chance.randint(1, 3)]
    places: list[Any] = [chance.randint(1, 9) * 128 for _ in range(chance.randint(1, 4))]
    if chance.random() < 0.5:
        places = [tuple(chance.randint(1, 9) for _ in names) if chance.random() < 0.6 else place for place in places]
    lines = chance.sample(["ours", "torch", "best", "none"], chance.randint(1, 4))
    return {
        "x_names": names,
        "x_vals": places,
        "line_arg": "provider",
        "line_vals": lines,
        "line_names": [line.title() for line in lines],
        "plot_name": f"case-{seed}",
        "args": {"scale": chance.choice((1, 2.5))} if chance.random() < 0.5 else {},
        "ylabel": chance.choice(UNITS),
    }


class Function:
    """The benchmarked function. It records its calls; the provider decides if it returns one number, three, or none."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def __call__(self, **arguments: Any) -> Any:
        self.calls.append(arguments)
        numbers = [value for value in arguments.values() if not isinstance(value, str)]
        value = sum(numbers) / 7 + len(arguments["provider"])
        if arguments["provider"] == "none":
            return None
        return (value, value - 1, value + 1) if arguments["provider"] == "best" else value
