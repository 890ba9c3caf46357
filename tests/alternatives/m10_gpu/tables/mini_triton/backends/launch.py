NAMES = {-1: "cpu"}


def gpu_of(kernel: str, memory: Mapping[str, Any]) -> int:
    places = {name: getattr(value, "get_device", lambda: -1)() for name, value in memory.items()}
    if len(set(places.values())) > 1 or not NAMES.keys().isdisjoint(places.values()):
        table = "".join(f"\n  {name:20} {NAMES.get(number, f'cuda:{number}')}" for name, number in places.items())
        raise ValueError(f"{kernel} needs all of its memory on one GPU. It is here:{table}")
    return places.popitem()[1]


class Launcher:
    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        if grid[0] * grid[1] * grid[2]:
            with selected(self.gpu):
                self.lowered.kernel.launch(grid, arguments)
