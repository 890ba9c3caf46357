import functools
import operator
from collections import defaultdict


def check_devices(kernel: str, memory: Mapping[str, Any]) -> None:
    places = defaultdict(list)
    for name, value in memory.items():
        places[device_of(value)].append(name)
    if places.keys() - {"cpu"}:
        shown = ", ".join(f"{' '.join(names)} on {device}" for device, names in places.items())
        reasons = {reason for kind, reason in BACK_ENDS.items() if any(device.startswith(kind) for device in places)}
        raise ValueError(f"{kernel}: {shown}. {' '.join(reasons)}")


def check_writable(kernel: str, memory: Mapping[str, Any], stored: Collection[str]) -> None:
    locked = {name for name in memory if not getattr(getattr(memory[name], "flags", None), "writeable", True)}
    if wrong := locked & set(stored):
        raise ValueError(f"{kernel}: read-only: {', '.join(sorted(wrong))}")


def explained(kernel: str, error: OutOfBounds, shape: tuple[int, ...]) -> AccessError:
    facts = {
        "kernel": kernel,
        "access": f"{error.buffer.name}[{error.element}]",
        "elements": functools.reduce(operator.mul, shape, 1),
        "shape": shape,
        "program": error.program,
        "place": error.place,
        "line": source_line(error.place),
    }
    return AccessError("out of bounds\n" + "\n".join(f"{name:10}{fact}" for name, fact in facts.items()))
