BITS = ("8", "16", "32", "64", "128")


def accesses(ptx: str) -> Counter[Access]:
    kinds = {"ld": "load", "st": "store"}
    widths = {(many, bits): int(many or "1") * int(bits) // 8 for many in ("", "2", "4", "8") for bits in BITS}
    memory = [(kinds[name], widths[many, bits]) for name, many, bits in _ACCESS.findall(ptx)]
    copies = [("copy", int(size, 16 if size.startswith("0x") else 10)) for size in _COPY.findall(ptx)]
    return Counter(memory + copies)
