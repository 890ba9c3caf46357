def check_devices(kernel: str, memory: Mapping[str, Any]) -> None:
    first = None
    for name in memory:
        if first is None:
            first = name
        here = device_of(memory[first])
        there = device_of(memory[name])
        if here != there:
            raise ValueError(f"{kernel}: {first} is on {here}, {name} is on {there}")
    if first is not None:
        device = device_of(memory[first])
        if device != "cpu":
            reason = ""
            for kind in BACK_ENDS:
                if device.startswith(kind):
                    reason = ": " + BACK_ENDS[kind]
            raise ValueError(f"{kernel}: {first} is on {device}{reason}")


def check_writable(kernel: str, memory: Mapping[str, Any], stored: Collection[str]) -> None:
    for name in memory:
        if name in stored:
            if isinstance(memory[name], np.ndarray):
                if not memory[name].flags.writeable:
                    raise ValueError(f"{kernel}: {name} is read-only, and cannot be stored to")


def explained(kernel: str, error: OutOfBounds, shape: tuple[int, ...]) -> AccessError:
    count = 1
    for size in shape:
        count = count * size
    message = "In " + kernel + " the element " + error.buffer.name + "[" + str(error.element) + "] is accessed, "
    message += "but " + error.buffer.name + " has " + str(count) + " elements and the shape " + str(shape) + ".\n"
    message += "The program is " + str(error.program) + ", and the line is " + error.place + ":\n"
    message += source_line(error.place)
    return AccessError(message)
