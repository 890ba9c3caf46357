def check_devices(kernel: str, memory: Mapping[str, Any]) -> None:
    match list({device_of(value): name for name, value in memory.items()}.items()):
        case [] | [("cpu", _)]:
            return
        case [(device, name)]:
            kind, _, _ = device.partition(":")
            raise ValueError(f"{kernel}: {name} is on {device}; {BACK_ENDS.get(kind, 'no kernel runs there')}")
        case places:
            raise ValueError(f"{kernel}: two devices, {'; '.join(f'{name} on {device}' for device, name in places)}")
