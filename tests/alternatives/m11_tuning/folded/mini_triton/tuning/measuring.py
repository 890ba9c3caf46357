"""A helper that records one run between two events; the quantile by `bisect`-free arithmetic on a sorted list."""

from itertools import pairwise


def recorded(interface: Any, work: Callable[[], Any]) -> Callable[[], float]:
    """Append some work to the queue between two events; what is returned asks for the time between them."""
    events = [interface.Event(enable_timing=True) for _ in range(2)]
    events[0].record()
    work()
    events[1].record()
    return lambda: events[0].elapsed_time(events[1])


def measure(device, fn, warmup, rep, grad_to_none=()):
    interface = device.get_device_interface()
    cache = device.get_empty_cache_for_benchmark()

    def cold() -> None:
        device.clear_cache(cache)
        fn()

    fn()
    interface.synchronize()
    total = recorded(interface, lambda: [cold() for _ in range(ESTIMATES)])
    interface.synchronize()
    estimate = total() / ESTIMATES

    def fitting(budget: float) -> int:
        if estimate == 0:
            return UNKNOWN
        return int(budget / estimate) or 1

    left = fitting(warmup)
    while left:
        fn()
        left -= 1
    times = []
    while len(times) < fitting(rep):
        for tensor in grad_to_none:
            tensor.grad = None
        device.clear_cache(cache)
        times.append(recorded(interface, fn))
    interface.synchronize()
    return [time() for time in times]


def quantile(times, q):
    if q < 0 or q > 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    ordered = sorted(times)
    if len(ordered) == 1:
        return ordered[0]
    place = q * (len(ordered) - 1)
    number = min(int(place), len(ordered) - 2)
    low, high = list(pairwise(ordered))[number]
    return low + (high - low) * (place - number)
