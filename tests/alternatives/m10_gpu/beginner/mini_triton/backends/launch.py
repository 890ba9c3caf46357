def gpu_of(kernel: str, memory: Mapping[str, Any]) -> int:
    gpu = None
    for name in memory:
        value = memory[name]
        device = -1
        if hasattr(value, "get_device"):
            device = value.get_device()
        if gpu is None:
            gpu = device
            first = name
        elif device != gpu:
            message = f"{kernel}: memory on several devices:"
            for name in memory:
                message += f" {name} is on {place(memory[name])}."
            raise ValueError(message)
    if gpu is None or gpu == -1:
        raise ValueError(f"{kernel}: all memory is on the cpu, that of {first}, for instance")
    return gpu


def place(value: Any) -> str:
    if not hasattr(value, "get_device") or value.get_device() < 0:
        return "cpu"
    return "cuda:" + str(value.get_device())


class Launcher:
    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        for size in grid:
            if size == 0:
                return
        with selected(self.gpu):
            self.lowered.kernel.launch(grid, arguments)
