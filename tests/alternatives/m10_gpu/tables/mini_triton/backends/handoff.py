from itertools import product

TARGETS = {
    f"sm_{digits}": int(digits) for count in (2, 3) for digits in map("".join, product("0123456789", repeat=count))
}


def capability_of(name: str) -> int:
    if name not in TARGETS:
        raise ValueError(f"unknown target {name!r}")
    return TARGETS[name]
