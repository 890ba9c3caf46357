def check_devices(kernel: str, memory: Mapping[str, Any]) -> None:
    match list({device_of(value): name for name, value in memory.items()}.items()):
        case [] | [("cpu", _)]:
            return
        case [(device, name)]:
            kind, _, _ = device.partition(":")
            raise ValueError(f"{kernel}: {name} is on {device}; {BACK_ENDS.get(kind, 'no kernel runs there')}")
        case places:
            raise ValueError(f"{kernel}: two devices, {'; '.join(f'{name} on {device}' for device, name in places)}")


def check_writable(kernel: str, memory: Mapping[str, Any], stored: Collection[str]) -> None:
    for name, value in memory.items():
        match value:
            case np.ndarray(flags=flags) if name in stored and not flags.writeable:
                raise ValueError(f"{kernel}: {name} is read-only")


def explain_access(kernel: str, error: OutOfBounds, shape: tuple[int, ...]) -> AccessError:
    match error.buffer.name, error.element, error.program, error.place:
        case name, element, program, place:
            return AccessError(
                f"{source_line(place)}\n{place}: {kernel}, as program {program}, wants {name}[{element}] "
                f"of {math.prod(shape)}, shape {shape}"
            )
    raise AssertionError
