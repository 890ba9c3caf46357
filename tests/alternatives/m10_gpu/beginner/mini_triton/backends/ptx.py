def accesses(ptx: str) -> Counter[Access]:
    found: Counter[Access] = Counter()
    for line in ptx.splitlines():
        access = _ACCESS.search(line)
        if access is not None:
            if access.group(1) == "ld":
                kind = "load"
            else:
                kind = "store"
            size = int(access.group(3)) // 8
            if access.group(2) is not None:
                size = size * int(access.group(2))
            found[(kind, size)] = found[(kind, size)] + 1
        copy = _COPY.search(line)
        if copy is not None:
            text = copy.group(1)
            if text.startswith("0x"):
                size = int(text[2:], 16)
            else:
                size = int(text)
            found[("copy", size)] = found[("copy", size)] + 1
    return found
