import itertools
import operator


def device_of(value: Any) -> int:
    """The number of an argument's device."""
    try:
        number: int = value.get_device()
    except AttributeError:
        return -1
    return number


def gpu_of(kernel: str, memory: Mapping[str, Any]) -> int:
    by_device = operator.itemgetter(1)
    placed = sorted(((name, device_of(value)) for name, value in memory.items()), key=by_device)
    match [(device, next(names)[0]) for device, names in itertools.groupby(placed, by_device)]:
        case [(gpu, _)] if gpu >= 0:
            return gpu
        case places:
            spelled = {device: f"cuda:{device}" if device >= 0 else "cpu" for device, _ in places}
            last = {value: name for name, value in placed}  # any argument of a device will do
            where = ", ".join(f"{last[device]}: {spelled[device]}" for device, _ in places)
            raise ValueError(f"memory of {kernel} that is not on the same GPU as all other: {where}")


class Launcher:
    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        if all(grid):
            with selected(self.gpu):
                self.lowered.kernel.launch(grid, arguments)
